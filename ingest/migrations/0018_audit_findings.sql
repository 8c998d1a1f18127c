-- 0018: the findings of audits that a service keeps, each answer under a name of its own, in order of the list.
-- finding: the id of a finding; who acknowledged it stands in acknowledgements.
CREATE TABLE audit_findings (
    answer VARCHAR, rule VARCHAR, finding VARCHAR, run_id VARCHAR, generation_id VARCHAR, evidence VARCHAR
);
