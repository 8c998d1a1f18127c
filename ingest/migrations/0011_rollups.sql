-- 0011: eligible generations counted ahead, by the verdicts of one detector, and what has to be counted anew.
-- Writers only add to what is stale, in the transaction of their change; analysis.rollups counts, and nobody else
-- writes the other tables.

-- run_id: a run that changed. No row of any other table of here depends on another run.
CREATE TABLE stale_runs (run_id VARCHAR);
-- detector: one whose verdicts on the history were dropped or came later, so that nothing counted by them holds.
CREATE TABLE stale_verdicts (detector VARCHAR);

-- Whose verdicts are rolled up: one row, or none before the first time.
CREATE TABLE rolled_up (detector VARCHAR);
CREATE TABLE rollup_series (
    series_id INTEGER, model VARCHAR, provider VARCHAR, engine VARCHAR, engine_version VARCHAR, template VARCHAR,
    tool_parser VARCHAR, client VARCHAR, client_version VARCHAR, tools_known BOOLEAN
);
-- Every run that has a generation, eligible or not; started_at: of its first.
CREATE TABLE run_totals (
    run_id VARCHAR, started_at TIMESTAMP, generations BIGINT, leaks BIGINT,
    models VARCHAR[], engines VARCHAR[], versions VARCHAR[], clients VARCHAR[]
);
-- One row a run, series and day (UTC; NULL without a time) of its eligible generations. simple: the run has no other row.
-- rounds: leaked rounds whose attempts are told; retried and what follows are of these.
CREATE TABLE run_rates (
    run_id VARCHAR, series_id INTEGER, day DATE, simple BOOLEAN, n BIGINT,
    structured BIGINT, printed BIGINT, leaks BIGINT, plain BIGINT, errors BIGINT,
    rounds BIGINT, retried BIGINT, recovered BIGINT, answered BIGINT, passed_off BIGINT
);
-- Sums over the simple runs of a series and day. They stay exact under any coarser grouping, since no run is in two of
-- them. n_x: sum of n * x; x_2: of x * x; rr, rc, cc: of rounds and recovered alike.
CREATE TABLE day_rates (
    series_id INTEGER, day DATE, eligible BIGINT, errors BIGINT, runs BIGINT, nn BIGINT,
    structured BIGINT, n_structured BIGINT, structured_2 BIGINT, printed BIGINT, n_printed BIGINT, printed_2 BIGINT,
    leaks BIGINT, n_leaks BIGINT, leaks_2 BIGINT, plain BIGINT, n_plain BIGINT, plain_2 BIGINT,
    rounds BIGINT, leaked_runs BIGINT, rr BIGINT, rc BIGINT, cc BIGINT,
    retried BIGINT, recovered BIGINT, answered BIGINT, passed_off BIGINT
);
