"""What hints at a leak, by generation: a finding, a client's report, a framework's reprimand. Few have any."""

from ingest.retention.prunings import COVERED, JUDGED

HINTS = f"""
INSERT INTO hints BY NAME
WITH hinted AS (
    SELECT g.run_id, g.key, g.verdict_key, g.generation_id, g.started_at, g.upload_id, g.line, g.client,
        g.client_version, coalesce(v.tier IN ('certain', 'likely'), false) AS found,
        e.generation IS NOT NULL AS reported,
        coalesce(contains(g.extra, '"reprimand":'), false)
            AND coalesce(TRY(json_extract_string(g.extra, '$.reprimand')), '') <> '' AS reprimanded
    FROM facts g LEFT JOIN verdicts v ON v.detector = $detector AND v.verdict_key = g.verdict_key
    LEFT JOIN (SELECT DISTINCT generation FROM events) e ON e.generation = g.key
    WHERE {COVERED} AND {JUDGED} AND {{condition}}
)
FROM hinted WHERE found OR reported OR reprimanded
"""  # noqa: S608 - our own names; the condition binds its values
