-- 0006: samples drawn for labelling, with the chance that each output had to be drawn.
-- filters: JSON of the filters that made the population. The fingerprints tell whether the detectors still say what
-- they said when it was drawn.
CREATE TABLE samples (
    sample_id INTEGER, baseline VARCHAR, candidate VARCHAR, baseline_fingerprint VARCHAR,
    candidate_fingerprint VARCHAR, filters VARCHAR, seed BIGINT, budget BIGINT, errors BIGINT, created_at TIMESTAMP
);
-- generations: the size of the stratum then; drawn: how many of them are in the sample.
CREATE TABLE sample_strata (sample_id INTEGER, stratum VARCHAR, generations BIGINT, drawn BIGINT);
-- place: the order to look at them in; rank: the order of the draw within the stratum, both from 1.
-- generation: generations.key; probability: drawn / generations of its stratum.
CREATE TABLE sample_items (
    sample_id INTEGER, place BIGINT, generation UUID, verdict_key UUID, stratum VARCHAR, rank BIGINT,
    probability DOUBLE
);
