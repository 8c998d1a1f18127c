-- Where each set field of an upload comes from: given (with the upload), sidecar (leakdown.toml), corrected (later).
ALTER TABLE uploads ADD COLUMN origins VARCHAR;
UPDATE uploads SET origins = '{}';
