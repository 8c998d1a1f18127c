-- 0001: uploads and what they brought, verdicts per detector version, labels.
-- No primary keys and no indexes: uniqueness is an anti-join inside the one writer's transaction.

CREATE SEQUENCE upload_ids;

-- state: loading (not visible yet; left behind by a crash), done
CREATE TABLE uploads (
    upload_id INTEGER, path VARCHAR, format VARCHAR, state VARCHAR, created_at TIMESTAMP, settings VARCHAR,
    lines BIGINT, mapped BIGINT, skipped BIGINT, duplicate BIGINT, quarantined BIGINT,
    generations BIGINT, new_generations BIGINT, events BIGINT
);
CREATE TABLE quarantine (upload_id INTEGER, line BIGINT, reason VARCHAR, excerpt VARCHAR);
CREATE TABLE skipped (upload_id INTEGER, reason VARCHAR, lines BIGINT);

-- Content-addressed: a row no generation points at is swept when an upload fails or is deleted.
CREATE TABLE texts (hash UUID, text VARCHAR USING COMPRESSION zstd);
CREATE TABLE tool_lists (hash UUID, tools VARCHAR USING COMPRESSION zstd);

-- content, reasoning, tool_calls, raw_text: texts.hash; tools: tool_lists.hash.
-- nulls names the fields that are null in the source, which differs from absent (NULL and not named).
-- Facts derived when read: tools_known, mode (call_mode or what its absence means), eligible, reply.
CREATE TABLE generations (
    key UUID, verdict_key UUID, upload_id INTEGER, line BIGINT, position INTEGER,
    run_id VARCHAR, generation_id VARCHAR, turn INTEGER, round INTEGER, attempt INTEGER, started_at TIMESTAMP,
    model VARCHAR, provider VARCHAR, engine VARCHAR, engine_version VARCHAR, template VARCHAR,
    tool_parser VARCHAR, client VARCHAR, client_version VARCHAR,
    call_mode VARCHAR, status VARCHAR, role VARCHAR,
    finish_reason VARCHAR, finish_fidelity VARCHAR, text_fidelity VARCHAR, tool_choice VARCHAR,
    content UUID, reasoning UUID, tool_calls UUID, tools UUID, raw_text UUID,
    usage VARCHAR, tags VARCHAR, extra VARCHAR, nulls VARCHAR[], inferred_names VARCHAR[],
    tools_known BOOLEAN, mode VARCHAR, eligible BOOLEAN, reply VARCHAR
);
-- The records that an upload holds too, though an earlier one brought them: it inherits them on deletion.
CREATE TABLE sightings (upload_id INTEGER, line BIGINT, key UUID);

-- generation: the key of the generation that the event tells of, NULL while none is known.
CREATE TABLE events (
    key UUID, upload_id INTEGER, line BIGINT, run_id VARCHAR, generation_id VARCHAR, round INTEGER,
    reported_at TIMESTAMP, markup VARCHAR, leak INTEGER, retried BOOLEAN, detector VARCHAR,
    extra VARCHAR, nulls VARCHAR[], generation UUID
);
CREATE TABLE runs (
    key UUID, upload_id INTEGER, line BIGINT, run_id VARCHAR,
    model VARCHAR, provider VARCHAR, engine VARCHAR, engine_version VARCHAR, template VARCHAR,
    tool_parser VARCHAR, client VARCHAR, client_version VARCHAR,
    tags VARCHAR, extra VARCHAR, nulls VARCHAR[]
);
-- verdict_key: what the label sticks to, NULL while its generation is not here.
CREATE TABLE labels (
    key UUID, upload_id INTEGER, line BIGINT, generation_id VARCHAR, run_id VARCHAR,
    leak BOOLEAN, kind VARCHAR, by_whom VARCHAR, labelled_at TIMESTAMP, note VARCHAR,
    extra VARCHAR, nulls VARCHAR[], verdict_key UUID
);

CREATE TABLE detectors (detector VARCHAR, fingerprint VARCHAR, registered_at TIMESTAMP);
CREATE TABLE promotions (detector VARCHAR, promoted_at TIMESTAMP);
-- Findings and failures only. An output of a covered upload without a row is clean.
CREATE TABLE verdicts (
    detector VARCHAR, verdict_key UUID, kind VARCHAR, family VARCHAR, tier VARCHAR, tool VARCHAR,
    channel VARCHAR, start_at INTEGER, end_at INTEGER, markup VARCHAR, reason VARCHAR, calls VARCHAR, error VARCHAR
);
CREATE TABLE coverage (detector VARCHAR, upload_id INTEGER);

-- A generation takes a series field from its run's record where it has none of its own.
CREATE VIEW run_series AS
SELECT run_id,
    last(model ORDER BY upload_id, line) FILTER (model IS NOT NULL) AS model,
    last(provider ORDER BY upload_id, line) FILTER (provider IS NOT NULL) AS provider,
    last(engine ORDER BY upload_id, line) FILTER (engine IS NOT NULL) AS engine,
    last(engine_version ORDER BY upload_id, line) FILTER (engine_version IS NOT NULL) AS engine_version,
    last(template ORDER BY upload_id, line) FILTER (template IS NOT NULL) AS template,
    last(tool_parser ORDER BY upload_id, line) FILTER (tool_parser IS NOT NULL) AS tool_parser,
    last(client ORDER BY upload_id, line) FILTER (client IS NOT NULL) AS client,
    last(client_version ORDER BY upload_id, line) FILTER (client_version IS NOT NULL) AS client_version
FROM runs GROUP BY run_id;

CREATE VIEW facts AS
SELECT g.* REPLACE (
    coalesce(g.model, r.model) AS model, coalesce(g.provider, r.provider) AS provider,
    coalesce(g.engine, r.engine) AS engine, coalesce(g.engine_version, r.engine_version) AS engine_version,
    coalesce(g.template, r.template) AS template, coalesce(g.tool_parser, r.tool_parser) AS tool_parser,
    coalesce(g.client, r.client) AS client, coalesce(g.client_version, r.client_version) AS client_version
)
FROM generations g LEFT JOIN run_series r ON r.run_id = g.run_id;

-- The view truth stands in 0005_labels.sql.
