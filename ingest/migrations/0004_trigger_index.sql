-- 0004: which texts hold which trigger, and what of the outputs a detector had to look at is kept ready.

-- Numbers grow with each text and are never used again: what was searched up to one need not be searched again.
CREATE SEQUENCE text_numbers;
ALTER TABLE texts ADD COLUMN number BIGINT DEFAULT nextval('text_numbers');

-- place: anywhere, ending or object (analysis.triggers); searched_to: every text up to this number was searched.
CREATE TABLE triggers (trigger_id INTEGER, literal VARCHAR, place VARCHAR, searched_to BIGINT);
CREATE TABLE trigger_hits (trigger_id INTEGER, text_number BIGINT);

-- The outputs that name an offered tool, and the uploads that were searched for them.
CREATE TABLE naming (verdict_key UUID);
CREATE TABLE searched_for_names (upload_id INTEGER);

-- Outputs that a detector had to look at, whole, so that the next one need not decompress all texts for them.
-- code: start, end and kind of each Markdown code region of the content, one after the other; code_by: the hash of
-- the source that found them. bytes: of the texts.
CREATE TABLE candidate_outputs (
    verdict_key UUID, content VARCHAR USING COMPRESSION zstd, reasoning VARCHAR USING COMPRESSION zstd,
    tool_calls VARCHAR USING COMPRESSION zstd, tools UUID, tools_known BOOLEAN, inferred_names VARCHAR[],
    finish_reason VARCHAR, mode VARCHAR, code INTEGER[], code_by VARCHAR, bytes INTEGER
);

-- What a detector has judged of uploads that it has not finished.
CREATE TABLE judged_so_far (detector VARCHAR, verdict_key UUID);
