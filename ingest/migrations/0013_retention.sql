-- 0013: what was pruned or forgotten.

-- A history of what was taken out. before: what was older went; NULL where a run was forgotten, which nothing names.
-- rates_kept: the generations stay, without their texts, and point here (generations.pruning, events.pruning).
-- detectors: who had judged them by then; nobody else ever can. One row for each such set of detectors.
CREATE TABLE prunings (
    pruning_id INTEGER, pruned_at TIMESTAMP, before TIMESTAMP, rates_kept BOOLEAN, detectors VARCHAR[],
    generations BIGINT
);
ALTER TABLE generations ADD COLUMN pruning INTEGER;
-- The length of a tool list that was pruned.
ALTER TABLE generations ADD COLUMN tools_offered INTEGER;
ALTER TABLE events ADD COLUMN pruning INTEGER;

-- A view keeps the columns that its table had when it was made.
DROP VIEW facts;
CREATE VIEW facts AS
SELECT g.* REPLACE (
    coalesce(g.model, r.model) AS model, coalesce(g.provider, r.provider) AS provider,
    coalesce(g.engine, r.engine) AS engine, coalesce(g.engine_version, r.engine_version) AS engine_version,
    coalesce(g.template, r.template) AS template, coalesce(g.tool_parser, r.tool_parser) AS tool_parser,
    coalesce(g.client, r.client) AS client, coalesce(g.client_version, r.client_version) AS client_version
)
FROM generations g LEFT JOIN run_series r ON r.run_id = g.run_id;
