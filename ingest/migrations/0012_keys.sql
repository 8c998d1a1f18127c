-- 0012: keys to the service, and who did what.
-- digest: SHA-256 of the text of a key, which stands nowhere. A key that was revoked stays, since actions name it.
-- actions: the audit log, written in the transaction of what was done.
CREATE TABLE keys (
    key_id UUID, name VARCHAR, digest BLOB, scopes VARCHAR[],
    created_at TIMESTAMP, last_used_at TIMESTAMP, revoked_at TIMESTAMP
);
CREATE SEQUENCE action_numbers;
CREATE TABLE actions (
    number BIGINT DEFAULT nextval('action_numbers'), done_at TIMESTAMP, by_key VARCHAR, action VARCHAR, object VARCHAR
);
