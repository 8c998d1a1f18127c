-- 0007: detectors from outside: rule files with their text, and what is known of code, which is not kept.
-- triggers, endings, checks: JSON. rules is NULL for code; checks tells what was noticed of code on samples.
CREATE TABLE candidates (
    detector VARCHAR, content VARCHAR, summary VARCHAR, source VARCHAR, rules VARCHAR,
    triggers VARCHAR, endings VARCHAR, by_name BOOLEAN, checks VARCHAR, kept_at TIMESTAMP
);
