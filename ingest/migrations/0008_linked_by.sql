-- 0008: what links a generation to the one before it in its run (records.LinkedBy); NULL: the source gave the numbers.
ALTER TABLE generations ADD COLUMN linked_by VARCHAR;

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
