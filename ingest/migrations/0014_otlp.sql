-- 0014: messages that applications send while they run (OTLP), kept from their arrival on.
-- number: the order of arrival; it is the line of the message in its upload. upload_id: where what it told stands, NULL
-- until it was read. mended: lone surrogates in it were replaced. A message that was read stays for some minutes, so that
-- a service that is started anew knows what belongs together (ingest.rolling).
CREATE SEQUENCE otlp_numbers;
CREATE TABLE otlp_messages (
    number BIGINT DEFAULT nextval('otlp_numbers'), service VARCHAR, message VARCHAR USING COMPRESSION zstd,
    bytes BIGINT, mended BOOLEAN, upload_id INTEGER
);
-- The service whose messages of one day an upload gathers; NULL for a file.
ALTER TABLE uploads ADD COLUMN service VARCHAR;
