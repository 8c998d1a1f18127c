-- 0002: long work of the service, kept so that a restart can say what became of it.
-- state: queued, running, done, failed, cancelled, interrupted (the service stopped meanwhile).
CREATE TABLE jobs (
    job_id VARCHAR, kind VARCHAR, state VARCHAR, request VARCHAR, progress BIGINT,
    created_at TIMESTAMP, started_at TIMESTAMP, finished_at TIMESTAMP,
    result VARCHAR USING COMPRESSION zstd, error VARCHAR
);
