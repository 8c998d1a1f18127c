"""Rates count what is eligible, row by row of their definition, and agree with a recount in plain Python."""

import random
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest

from analysis.filters import Filters
from analysis.rates import SHARES, SeriesRate, rates
from analysis.statistics.intervals import clustered_rate
from ingest.errors import UsageError
from ingest.records import SERIES
from tests.analysis.stories import BOOM, TOOLS, WORDS, Json, called, dice, finds, said, store_of

BY = finds("words", WORDS)
RECOVERY = {"recovery_rate", "recovery_low", "recovery_high"}
LEAK, PRINTED = "LEAK", "PRINTED"


def of(folder: Path, records: Iterable[Json], by: Iterable[str] = ("model",), **filters: object) -> list[SeriesRate]:
    with store_of(folder, records, BY) as store:
        return rates(store, BY, tuple(by), Filters.parse(**filters) if filters else None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("record", "eligible", "leaks"),
    [
        pytest.param(said(LEAK), 1, 1, id="a leak"),
        pytest.param(said("CUT"), 1, 1, id="a likely leak"),
        pytest.param(said("MAYBE"), 1, 0, id="a possible leak is not counted"),
        pytest.param(said(PRINTED), 1, 0, id="a printed call is not counted among the leaks"),
        pytest.param(said(BOOM), 1, 0, id="the detector fails"),
        pytest.param(called(), 1, 0, id="a structured call"),
        pytest.param(said(None), 1, 0, id="nothing is said"),
        pytest.param(said(LEAK, 0, 1), 0, 0, id="a retry is counted apart"),
        pytest.param(said(LEAK, role="subagent"), 1, 1, id="a subagent"),
        pytest.param(said(LEAK, role="judge"), 0, 0, id="another role"),
        pytest.param(said(LEAK, tools=[]), 0, 0, id="an empty list of tools is none"),
        pytest.param(said(LEAK, tools=None), 0, 0, id="no list of tools is none"),
        pytest.param(said(LEAK, call_mode="text"), 0, 0, id="calls are text by design"),
        pytest.param(said(LEAK, call_mode="unknown"), 0, 0, id="tools known, call mode unknown"),
        pytest.param(said(None, status="error"), 0, 0, id="an error without output"),
        pytest.param(said(LEAK, status="error"), 1, 1, id="an error with output"),
        pytest.param(said("", status="cancelled"), 0, 0, id="a cancellation without output"),
        pytest.param(said(LEAK, status="cut"), 1, 1, id="a cut record"),
    ],
)
def test_what_counts(record: Json, eligible: int, leaks: int, tmp_path: Path) -> None:
    found = of(tmp_path, [record, said("hello", run="other")])
    assert [(row.leak.n, row.leak.hits) for row in found] == [(eligible + 1, leaks)]


def test_tools_unknown_stand_in_a_row_of_their_own(tmp_path: Path) -> None:
    unknown = [said(text, tools=..., run=f"u{text}") for text in (LEAK, "CUT", "hello")]
    found = of(tmp_path, [said(LEAK), *unknown, called(tools=..., run="u")])
    assert [(row.tools_known, row.leak.n, row.leak.hits) for row in found] == [(False, 4, 1), (True, 1, 1)]


def test_a_printed_call_stands_beside_the_leaks_and_its_retry_beside_nothing(tmp_path: Path) -> None:
    [row] = of(tmp_path, [said(PRINTED, 0, 0), called(0, 1), said(LEAK, 1, 0), called(1, 1)])
    assert (row.leak.n, row.leak.hits, row.printed.hits) == (2, 1, 1)
    assert (row.recovery.n, row.recovery.hits, row.retried) == (1, 1, 1)


COMES_OUT = [
    pytest.param(called(), "structured", id="a valid structured call"),
    pytest.param(called(finish_reason="stop"), "structured", id="a structured call, whatever the finish reason"),
    pytest.param(called(arguments="{"), "other", id="a structured call with broken arguments"),
    pytest.param(called(status="error"), "other", id="a structured call of an errored reply"),
    pytest.param(called() | {"content": LEAK}, "leaks", id="a leak beside a structured call"),
    pytest.param(said(PRINTED), "printed", id="a printed call"),
    pytest.param(said(LEAK, status="error"), "leaks", id="an errored reply that leaks"),
    pytest.param(said("hello"), "plain", id="an answer in words"),
    pytest.param(said("MAYBE"), "plain", id="a possible finding is an answer in words"),
    pytest.param(said("hello", status="cut"), "other", id="an answer that breaks off"),
    pytest.param(said("hello", status="cancelled"), "other", id="a cancelled answer"),
    pytest.param(said(BOOM), "other", id="the detector failed: nobody knows"),
    pytest.param(said(" "), "other", id="an empty reply"),
    pytest.param(said(None, reasoning="Hm."), "other", id="nothing but reasoning"),
]


@pytest.mark.parametrize(("record", "came"), COMES_OUT)
def test_an_eligible_generation_comes_out_as_one_thing(record: Json, came: str, tmp_path: Path) -> None:
    [row] = of(tmp_path, [record])
    found = row.as_json()
    counts = {name: found[name] for name in (*SHARES, "other")}
    assert counts == {name: int(name == came) for name in counts}


def test_each_share_has_its_n_and_interval_and_the_total_balances(tmp_path: Path) -> None:
    records = [*(called() for _ in range(5)), *(said(text) for text in (LEAK, PRINTED, "hello", BOOM, "bye"))]
    [row] = of(tmp_path, records)
    found = row.as_json()
    assert sum(found[name] for name in (*SHARES, "other")) == found["eligible"] == 10
    for name, hits in (("structured", 5), ("printed", 1), ("leak", 1), ("plain", 2)):
        low, high = found[f"{name}_low"], found[f"{name}_high"]
        assert found[f"{name}_rate"] == hits / 10
        assert low < hits / 10 < high


def test_a_failure_of_the_detector_stands_beside(tmp_path: Path) -> None:
    [row] = of(tmp_path, [said(BOOM), said(LEAK)])
    assert (row.errors, row.leak.n, row.leak.hits) == (1, 2, 1)


def test_the_record_of_the_run_fills_what_its_generations_do_not_tell(tmp_path: Path) -> None:
    records = [
        said(LEAK, model="m", engine="vllm", run="a"),
        said("hello", model="m", run="a"),
        said("hello", model="m", run="b"),
        {"type": "run", "run_id": "a", "engine": "sglang", "template": "t"},
        {"type": "run", "run_id": "a", "model": "other"},
    ]
    found = of(tmp_path, records, ("model", "engine", "template"))
    assert [(tuple(row.series.values()), row.leak.n) for row in found] == [
        (("m", "sglang", "t"), 1),
        (("m", "vllm", "t"), 1),
        (("m", None, None), 1),
    ]


@pytest.mark.parametrize(
    ("records", "undefined"),
    [
        pytest.param([said("hello")], RECOVERY, id="no leak, no recovery rate"),
        pytest.param([said(LEAK)], RECOVERY, id="no leak that tells its round"),
        pytest.param([said(LEAK, 0, 0)], set(), id="all is defined"),
    ],
)  # fmt: skip
def test_what_is_undefined_is_null(records: list[Json], undefined: set[str], tmp_path: Path) -> None:
    [row] = of(tmp_path, [{**record, "model": "m"} for record in records])
    assert {name for name, value in row.as_json().items() if value is None} == undefined


def test_without_an_eligible_generation_there_is_no_row(tmp_path: Path) -> None:
    assert of(tmp_path, [said(LEAK, role="judge")]) == []


def test_the_json_has_the_keys_of_the_command_line(tmp_path: Path) -> None:
    [row] = of(tmp_path, [said(LEAK, model="m", engine="e")], ("engine", "model"))
    stable = (
        "engine", "model", "detector", "tools_known", "eligible", "leaks", "leak_rate", "leak_low", "leak_high",
        "printed", "runs", "retried", "recovered", "recovery_rate", "recovery_low", "recovery_high", "answered",
        "passed_off",
    )  # fmt: skip
    assert set(stable) <= set(row.as_json())
    assert (row.as_json()["engine"], row.as_json()["model"], row.as_json()["detector"]) == ("e", "m", "words@1")


@pytest.mark.parametrize(
    ("where", "since", "expected"),
    [
        pytest.param([], None, [("a", 2, 1), ("b", 1, 0)], id="no filter; the largest series first"),
        pytest.param(["model=b*"], None, [("b", 1, 0)], id="a glob"),
        pytest.param(["model="], None, [], id="a missing value"),
        pytest.param([], "2026-11-02", [("a", 1, 1)], id="since"),
        pytest.param(["model=b"], "2026-11-02", [], id="both"),
    ],
)
def test_filters_choose_before_counting(
    where: list[str], since: str | None, expected: list[tuple[str, int, int]], tmp_path: Path
) -> None:
    records = [
        said("hello", model="a", started_at="2026-11-01T23:00:00Z"),
        said(LEAK, model="a", started_at="2026-11-02T00:00:00Z"),
        said("hello", model="b"),
    ]
    found = of(tmp_path, records, where=where, since=since)
    assert [(row.series["model"], row.leak.n, row.leak.hits) for row in found] == expected


def test_a_filter_that_leaves_the_retries_out_does_not_change_the_fate(tmp_path: Path) -> None:
    records = [
        said(LEAK, 0, 0, started_at="2026-11-01T00:00:00Z", finish_reason="stop"),
        called(0, 1, finish_reason="tool_calls"),
    ]
    [row] = of(tmp_path, records, where=["finish_reason=stop"])
    assert (row.retried, row.recovery.hits) == (1, 1)


@pytest.mark.parametrize(
    "by",
    [
        pytest.param((), id="nothing"),
        pytest.param(("run_id",), id="no series key"),
        pytest.param(("model", "1; DROP TABLE generations"), id="SQL"),
        pytest.param(("model", "engine", "model"), id="a key twice"),
    ],
)
def test_keys_that_are_refused(by: tuple[str, ...], tmp_path: Path) -> None:
    with (
        store_of(tmp_path, [said(LEAK)], BY) as store,
        pytest.raises(UsageError, match=r"--by .*: name one or more of"),
    ):
        rates(store, BY, by)


Counts = dict[str, int]


def tier(record: Json) -> tuple[str | None, str | None]:
    """Kind and tier of the word detector, by the rules on what is known of the request."""
    kind, tier = next(((k, t) for word, (k, t) in WORDS.items() if word in (record["content"] or "")), (None, None))
    if tier and record.get("call_mode") in ("text", "none"):
        return kind, "possible"
    if tier and "tools" not in record:
        return kind, {"certain": "likely"}.get(tier, "possible")
    return kind, tier


def leaks(record: Json) -> bool:
    return BOOM not in (record["content"] or "") and tier(record)[1] in ("certain", "likely")


def eligible(record: Json) -> bool:
    silent = not (record["content"] or "").strip() and not record.get("tool_calls")
    mode = record.get("call_mode") or ("native" if record.get("tools") or record.get("tool_calls") else "unknown")
    return (
        not record.get("attempt")
        and record.get("role", "agent") in ("agent", "subagent")
        and not (record.get("status") in ("error", "cancelled") and silent)
        and (bool(record["tools"]) and mode == "native" if "tools" in record else mode in ("native", "unknown"))
    )


def ending(record: Json) -> str | None:
    """How a round ends that ends with `record`."""
    if leaks(record):
        return "passed_off" if record.get("status", "ok") == "ok" else None
    if record.get("status") in ("error", "failed", "cancelled") or BOOM in (record["content"] or ""):
        return None
    if record.get("tool_calls"):
        return "recovered"
    return "answered" if (record["content"] or "").strip() and record.get("status", "ok") == "ok" else None


def came_out(record: Json) -> str:
    """What it came out as: exactly one."""
    if leaks(record):
        return "printed" if tier(record)[0] == "printed_call" else "leak"
    found = ending(record)
    return {"recovered": "structured", "answered": "plain"}.get(found or "", "other")


def recount(records: list[Json], by: tuple[str, ...]) -> dict[tuple[object, ...], dict[str, object]]:
    """The figures of each row, by its series and whether its tools are known; each turn has one round."""
    rounds = defaultdict(list)
    for record in records:
        rounds[record["run_id"], record["turn"], record.get("role", "agent")].append(record)
    groups: dict[tuple[object, ...], dict[str, list[Json]]] = defaultdict(lambda: defaultdict(list))
    for record in filter(eligible, records):
        groups[(*(record.get(name) for name in by), "tools" in record)][record["run_id"]].append(record)
    return {key: figures(runs, rounds) for key, runs in groups.items()}


def figures(runs: dict[str, list[Json]], rounds: dict[tuple[str, int, str], list[Json]]) -> dict[str, object]:
    counted: Counts = defaultdict(int)
    leaked, recovered = [], []
    came: dict[str, list[tuple[int, int]]] = {name: [] for name in ("structured", "printed", "plain")}
    for run, records in runs.items():
        for name in came:
            came[name].append((sum(came_out(record) == name for record in records), len(records)))
        counting = [record for record in records if leaks(record) and tier(record)[0] != "printed_call"]
        counted["errors"] += sum(BOOM in (record["content"] or "") for record in records)
        leaked.append((len(counting), len(records)))
        told = [record for record in counting if "attempt" in record]
        ends = []
        for record in told:
            attempts = sorted(
                (each for each in rounds[run, record["turn"], record.get("role", "agent")] if "attempt" in each),
                key=lambda each: each["attempt"],
            )
            counted["retried"] += len(attempts) > 1
            ends.append(ending(attempts[-1]))
        for name in ("answered", "passed_off"):
            counted[name] += ends.count(name)
        recovered.append((ends.count("recovered"), len(told)))
    names = ("errors", "retried", "answered", "passed_off")
    return {
        **{name: counted[name] for name in names},
        **{name: clustered_rate(each) for name, each in came.items()},
        "runs": len(runs),
        "leak": clustered_rate(leaked),
        "recovery": clustered_rate(recovered),
    }


def invented(thrown: random.Random) -> Iterable[Json]:
    """Runs of turns with one round each, of one or more attempts."""
    for run in range(200):
        model = {} if run % 9 == 0 else {"model": f"m{run % 3}"}
        leaky = thrown.choice([0.1, 0.8])
        for turn in range(thrown.randint(1, 5)):
            untold = thrown.random() < 0.1
            for attempt in range(1 if untold else thrown.choice([1, 1, 2, 3])):
                yield reply(thrown, 0.2 if attempt else leaky, run=f"run-{run}", turn=turn, **model) | (
                    {} if untold else {"round": 0, "attempt": attempt}
                )


def reply(thrown: random.Random, leaky: float, **fields: object) -> Json:
    word = (
        thrown.choice([*WORDS, BOOM, "LEAK", "LEAK", "LEAK"])
        if thrown.random() < leaky
        else thrown.choice(["hello", " ", "bye"])
    )
    record = said(f"{word} {thrown.randint(0, 99)}" if word.strip() else word, **fields)  # type: ignore[arg-type]
    choices: dict[str, list[object]] = {
        "status": ["ok", "failed", "error", "cancelled", "cut"],
        "role": ["agent", "judge"],
        "tools": [[], None],
        "call_mode": ["native", "text", "unknown"],
        "engine": ["vllm", "sglang"],
    }
    for name, values in choices.items():
        if thrown.random() < 0.1:
            record[name] = thrown.choice(values)
    if thrown.random() < 0.2:
        del record["tools"]
    # an offered name is what makes a structured call valid
    if not word.isupper() and record.get("tools", TOOLS) and thrown.random() < 0.5:
        record["tool_calls"] = [{"name": "ls", "arguments": "{}"}]
    return record


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("by", [("model",), ("engine", "model"), SERIES], ids=",".join)
def test_the_rates_are_those_of_a_recount(by: tuple[str, ...], seed: int, tmp_path: Path) -> None:
    records = [{**record, "generation_id": f"g{at}"} for at, record in enumerate(invented(dice(seed)))]
    found = {(*row.series.values(), row.tools_known): row for row in of(tmp_path, records, by)}
    expected = recount(records, by)
    assert {key: {name: getattr(row, name) for name in expected[key]} for key, row in found.items()} == expected
    assert sum(row.leak.hits for row in found.values()) > 20
    assert sum(row.recovery.hits for row in found.values()) > 5
