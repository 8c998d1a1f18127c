-- 0005: several people's labels: resolutions, what was taken back, who looks at what; truth, and weak evidence.

-- labels is the history: a label is never changed or deleted, but with the upload that brought it.
-- resolution: settles what people contradict each other on.
-- recorded_at: when the store got it, source: from which imported file; both NULL if an upload brought it.
-- taken_back_at: from then on it counts no more.
-- verdict_key NULL: kept aside, since its generation is not here or its id names several outputs.
ALTER TABLE labels ADD COLUMN resolution BOOLEAN;
ALTER TABLE labels ADD COLUMN recorded_at TIMESTAMP;
ALTER TABLE labels ADD COLUMN source VARCHAR;
ALTER TABLE labels ADD COLUMN taken_back_at TIMESTAMP;

-- Who looks at which output for a label, since when; skipped: left for later.
CREATE TABLE assignments (verdict_key UUID, by_whom VARCHAR, assigned_at TIMESTAMP, skipped BOOLEAN);

-- Each person's last word on an output, and the last resolution. What has no time is older than what has one.
CREATE VIEW last_words AS
SELECT * REPLACE (coalesce(resolution, false) AS resolution) FROM labels
WHERE verdict_key IS NOT NULL AND taken_back_at IS NULL
QUALIFY row_number() OVER (
    PARTITION BY verdict_key, coalesce(resolution, false), CASE WHEN resolution THEN NULL ELSE by_whom END
    ORDER BY labelled_at DESC NULLS LAST, recorded_at DESC NULLS LAST, upload_id DESC NULLS FIRST,
        line DESC NULLS FIRST, key
) = 1;

-- What is known of each labelled output. state: leak, clean, unsure, conflict.
CREATE VIEW label_states AS
SELECT verdict_key, resolved, people, CASE
    WHEN resolved AND decided THEN 'leak' WHEN resolved AND NOT decided THEN 'clean' WHEN resolved THEN 'unsure'
    WHEN leaks > 0 AND cleans > 0 THEN 'conflict' WHEN leaks > 0 THEN 'leak' WHEN cleans > 0 THEN 'clean'
    ELSE 'unsure' END AS state
FROM (
    SELECT verdict_key, bool_or(resolution) AS resolved, any_value(leak) FILTER (resolution) AS decided,
        count(*) FILTER (NOT resolution) AS people, count(*) FILTER (NOT resolution AND leak) AS leaks,
        count(*) FILTER (NOT resolution AND NOT leak) AS cleans
    FROM last_words GROUP BY verdict_key
);

-- Truth is the labels, and nothing else: a resolution, else what people agree on. No row where it is not known.
DROP VIEW IF EXISTS truth;
CREATE VIEW truth AS
SELECT verdict_key, state = 'leak' AS leak FROM label_states WHERE state IN ('leak', 'clean');

-- What hints at a leak and is no person's verdict; never part of truth. One row a generation and source:
-- a framework that reprimanded the model for its reply, a client that reported a leak.
CREATE VIEW weak_evidence AS
SELECT key, verdict_key, run_id, 'reprimand' AS source FROM generations
WHERE contains(extra, '"reprimand":') AND coalesce(TRY(json_extract_string(extra, '$.reprimand')), '') <> ''
UNION ALL
SELECT g.key, g.verdict_key, g.run_id, 'event' FROM generations g
WHERE EXISTS (FROM events e WHERE e.generation = g.key);
