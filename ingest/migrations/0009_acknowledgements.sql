-- 0009: findings of the audit that a person has acknowledged, each once.
-- finding: the id of a finding, which a new upload of the same records has again; so no upload takes this along.
CREATE TABLE acknowledgements (
    finding VARCHAR, rule VARCHAR, reason VARCHAR, by_whom VARCHAR, acknowledged_at TIMESTAMP
);
