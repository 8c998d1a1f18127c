-- 0017: the rollups by everything that rates are asked by: roles, sizes of requests, what leaks are like; where a run
-- stands; and what hints at a leak. All is counted anew, so nothing is lost with the earlier tables.

DROP TABLE rollup_series;
DROP TABLE run_totals;
DROP TABLE run_rates;
DROP TABLE day_rates;
DELETE FROM rolled_up;

-- role: agent where none is told.
CREATE TABLE rollup_series (
    series_id INTEGER, model VARCHAR, provider VARCHAR, engine VARCHAR, engine_version VARCHAR, template VARCHAR,
    tool_parser VARCHAR, client VARCHAR, client_version VARCHAR, role VARCHAR, mode VARCHAR, tools_known BOOLEAN
);
-- Every run that has a generation, eligible or not; started_at: of its first. Uploads and lines: from its first to its
-- last, so that one run is read without a look at the others. run_hash: md5_number_lower(run_id), in whose order the
-- rows are counted.
CREATE TABLE run_totals (
    run_id VARCHAR, started_at TIMESTAMP, generations BIGINT, leaks BIGINT,
    models VARCHAR[], engines VARCHAR[], versions VARCHAR[], clients VARCHAR[],
    first_upload INTEGER, last_upload INTEGER, first_line BIGINT, last_line BIGINT, run_hash UBIGINT
);
-- One row a run, series and day (UTC; NULL without a time) of its eligible generations. simple: the run has no other row.
-- rounds: leaked rounds whose attempts are told; retried and what follows are of these. unjudged: beside n, pruned
-- before the detector could judge them.
CREATE TABLE run_rates (
    run_id VARCHAR, series_id INTEGER, day DATE, simple BOOLEAN, n BIGINT,
    structured BIGINT, printed BIGINT, leaks BIGINT, plain BIGINT, errors BIGINT,
    rounds BIGINT, retried BIGINT, recovered BIGINT, answered BIGINT, passed_off BIGINT, unjudged BIGINT
);
-- Sums over the simple runs of a series and day. They stay exact under any coarser grouping, since no run is in two of
-- them. n_x: sum of n * x; x_2: of x * x; rr, rc, cc: of rounds and recovered alike.
CREATE TABLE day_rates (
    series_id INTEGER, day DATE, eligible BIGINT, errors BIGINT, runs BIGINT, nn BIGINT,
    structured BIGINT, n_structured BIGINT, structured_2 BIGINT, printed BIGINT, n_printed BIGINT, printed_2 BIGINT,
    leaks BIGINT, n_leaks BIGINT, leaks_2 BIGINT, plain BIGINT, n_plain BIGINT, plain_2 BIGINT,
    rounds BIGINT, leaked_runs BIGINT, rr BIGINT, rc BIGINT, cc BIGINT,
    retried BIGINT, recovered BIGINT, answered BIGINT, passed_off BIGINT, unjudged BIGINT
);
-- A row of run_rates whose tools are known, by the sizes of its requests: their steps, NULL where none is told.
CREATE TABLE run_sizes (
    run_id VARCHAR, series_id INTEGER, day DATE, simple BOOLEAN, tools_offered UTINYINT, prompt_tokens UTINYINT,
    n BIGINT, leaks BIGINT
);
-- Sums over the simple runs of a series and day by one size or both, which `split` names: a run is in several of them,
-- but in one alone of the same sizes.
CREATE TABLE day_sizes (
    split VARCHAR, series_id INTEGER, day DATE, tools_offered UTINYINT, prompt_tokens UTINYINT,
    eligible BIGINT, runs BIGINT, nn BIGINT, leaks BIGINT, n_leaks BIGINT, leaks_2 BIGINT
);
-- The leaks of a row of run_sizes, by what they are like. n: generations of the run in that series and on that day;
-- n_tools, n_prompt, n_both: those of the same size.
CREATE TABLE run_leaks (
    run_id VARCHAR, series_id INTEGER, day DATE, simple BOOLEAN, tools_offered UTINYINT, prompt_tokens UTINYINT,
    family VARCHAR, kind VARCHAR, channel VARCHAR, tool VARCHAR, leaks BIGINT,
    n BIGINT, n_tools BIGINT, n_prompt BIGINT, n_both BIGINT
);
-- Every generation that the detector finds a leak in, a client reported, or a framework reprimanded.
CREATE TABLE hints (
    run_id VARCHAR, key UUID, verdict_key UUID, generation_id VARCHAR, started_at TIMESTAMP, upload_id INTEGER,
    line BIGINT, client VARCHAR, client_version VARCHAR, found BOOLEAN, reported BOOLEAN, reprimanded BOOLEAN
);
-- The generations of the outputs that any label speaks of, and of which outputs all are there. compared: a reply that
-- people are asked about.
CREATE TABLE labelled (
    verdict_key UUID, run_id VARCHAR, generation_id VARCHAR, upload_id INTEGER, line BIGINT, position INTEGER,
    compared BOOLEAN
);
CREATE TABLE labelled_keys (verdict_key UUID);
-- How many different outputs people may be asked about, in the uploads up to last_upload, which were as `state` says.
CREATE TABLE output_counts (state VARCHAR, last_upload INTEGER, outputs BIGINT);
