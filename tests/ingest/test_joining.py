"""Events and labels find the generations they speak of, whichever came first; truth is people's last words."""

from itertools import permutations

import pytest

from ingest.store import Store
from tests.ingest.loading import MARK, Row, event, generation, label, load, rows

LEAK = f"text {MARK}"


def joined(store: Store) -> list[str | None]:
    """The ids of the generations of all events, in the order of the events' lines."""
    sql = """
    SELECT g.generation_id FROM events e LEFT JOIN generations g ON g.key = e.generation ORDER BY e.upload_id, e.line
    """
    return [name for (name,) in rows(store, sql)]


def attempts(*contents: str, run_id: str = "r") -> list[Row]:
    """A round of attempts a0, a1, …"""
    return [
        generation(run_id=run_id, generation_id=f"a{at}", round=0, attempt=at, content=content)
        for at, content in enumerate(contents)
    ]


JOINS = [
    pytest.param(attempts("x", "y"), [event(generation_id="a1")], ["a1"], id="by id"),
    pytest.param(attempts("x"), [event(generation_id="a0", run_id="r")], ["a0"], id="by id in its run"),
    pytest.param(attempts("x"), [event(generation_id="a0", run_id="s")], [None], id="an id of another run"),
    pytest.param(
        attempts(LEAK, "y"), [event(generation_id="a1", run_id="r", round=0)], ["a1"], id="the id before the markup"
    ),
    pytest.param(attempts("x", LEAK), [event(run_id="r", round=0)], ["a1"], id="by round, where the markup stands"),
    pytest.param(attempts("x", "y"), [event(run_id="r", round=0)], ["a0"], id="by round, else the first"),
    pytest.param(
        attempts("x", "y"),
        [event(run_id="r", round=0), event(run_id="r", round=0, leak=2)],
        ["a0", "a0"],
        id="by round, twice the first if it stands nowhere",
    ),
    pytest.param(
        attempts(LEAK, LEAK),
        [event(run_id="r", round=0, leak=2), event(run_id="r", round=0, leak=1)],
        ["a1", "a0"],
        id="by round, the n-th leak to the n-th attempt",
    ),
    pytest.param(
        [generation(generation_id="a", round=0, content=None, reasoning=LEAK, attempt=1), *attempts("x")],
        [event(run_id="r", round=0)],
        ["a"],
        id="by round, where the markup stands in the reasoning",
    ),
    pytest.param(attempts("x"), [event(run_id="r", round=1)], [None], id="another round, no markup"),
    pytest.param(attempts(LEAK), [event(run_id="r", round=1)], ["a0"], id="another round, but the markup stands there"),
    pytest.param(attempts("x", LEAK), [event(run_id="r")], ["a1"], id="by run and markup"),
    pytest.param(
        attempts(LEAK, "x", LEAK, LEAK),
        [event(run_id="r", leak=3), event(run_id="r", leak=1), event(run_id="r", leak=2)],
        ["a3", "a0", "a2"],
        id="by run and markup, n-th to n-th",
    ),
    pytest.param(
        attempts(LEAK), [event(run_id="r"), event(run_id="r", leak=2)], ["a0", None], id="more events than markup"
    ),
    pytest.param(
        [generation(generation_id="a", content=None, reasoning=LEAK)],
        [event(run_id="r")],
        ["a"],
        id="by run and markup in the reasoning",
    ),
    pytest.param(
        [generation(generation_id="a", content=LEAK, reasoning=f"{LEAK} again")],
        [event(run_id="r"), event(run_id="r", leak=2)],
        ["a", None],
        id="markup in two channels is one generation",
    ),
    pytest.param(
        [
            generation(generation_id="late", content=LEAK, started_at="2026-11-01T10:00:01Z"),
            generation(generation_id="early", content=LEAK, started_at="2026-11-01T10:00:00Z"),
        ],
        [event(run_id="r"), event(run_id="r", leak=2)],
        ["early", "late"],
        id="n-th in time, not in the file",
    ),
    pytest.param(attempts(LEAK, run_id="s"), [event(run_id="r")], [None], id="the markup of another run"),
    pytest.param(attempts(LEAK), [event()], [None], id="no run"),
    pytest.param(attempts("x"), [event(run_id="r", markup="")], [None], id="an empty markup stands nowhere"),
    pytest.param(attempts("100% a_b"), [event(run_id="r", markup="0% a_")], ["a0"], id="markup is no pattern"),
    pytest.param(attempts("100x axb"), [event(run_id="r", markup="0% a_")], [None], id="nor a wildcard"),
]  # fmt: skip


@pytest.mark.parametrize(("generations", "events", "expected"), JOINS)
@pytest.mark.parametrize(
    "order", [pytest.param("before", id="events first"), pytest.param("after", id="events last"), "together"]
)
def test_an_event_joins(
    store: Store, generations: list[Row], events: list[Row], expected: list[str | None], order: str
) -> None:
    if order == "together":
        load(store, *generations, *events)
    else:
        first, second = (events, generations) if order == "before" else (generations, events)
        load(store, *first, name="first.jsonl")
        load(store, *second, name="second.jsonl")
    assert joined(store) == expected


@pytest.mark.parametrize("place", [pytest.param({}, id="by run"), pytest.param({"round": 0}, id="by round")])
def test_events_that_come_one_by_one_join_one_by_one(store: Store, place: Row) -> None:
    load(store, *attempts(LEAK, "x", LEAK))
    for leak in (1, 2):
        load(store, event(run_id="r", leak=leak, **place), name=f"{leak}.jsonl")
    assert joined(store) == ["a0", "a2"]


def truth(store: Store) -> list[bool | None]:
    """The truth of the outputs whose labels are bound."""
    return [leak for (leak,) in rows(store, "SELECT leak FROM truth")]


def bound(store: Store) -> list[str]:
    """The ids of the generations that the labels bound to."""
    found = rows(store, "SELECT g.generation_id FROM labels l JOIN generations g USING (verdict_key) ORDER BY ALL")
    return [name for (name,) in found]


@pytest.mark.parametrize("order", list(permutations(("label", "generation"))))
def test_a_label_binds_whichever_came_first(store: Store, order: tuple[str, str]) -> None:
    lines = {"label": label("g"), "generation": generation(generation_id="g")}
    for name in order:
        load(store, lines[name], name=name)
    assert bound(store) == ["g"]
    assert truth(store) == [True]


@pytest.mark.parametrize(
    ("generations", "told", "expected"),
    [
        pytest.param([("r", "x")], label(), ["g"], id="its id"),
        pytest.param([("r", "x")], label(run_id="r"), ["g"], id="its id and run"),
        pytest.param([("r", "x")], label(run_id="s"), [], id="an id of another run"),
        pytest.param([("r", "x")], label("h"), [], id="an unknown id"),
        pytest.param([("r", "x"), ("s", "y")], label(), [], id="an id of two outputs binds to none"),
        pytest.param([("r", "x"), ("s", "y")], label(run_id="s"), ["g"], id="its run tells which"),
        pytest.param([("r", "x"), ("s", "x")], label(), ["g", "g"], id="an id of two outputs that are alike"),
    ],
)
def test_a_label_binds_to(store: Store, generations: list[tuple[str, str]], told: Row, expected: list[str]) -> None:
    load(store, *(generation(generation_id="g", run_id=run, content=text) for run, text in generations), told)
    assert bound(store) == expected


def said(by: str, leak: bool | None, hour: int | None = None) -> Row:
    time = {} if hour is None else {"at": f"2026-11-01T{hour:02}:00:00Z"}
    return label(by=by, leak=leak, note=f"{by} {leak} {hour}", **time)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        pytest.param([said("ana", True)], [True], id="a leak"),
        pytest.param([said("ana", False)], [False], id="no leak"),
        pytest.param([said("ana", None)], [], id="unsure is no truth"),
        pytest.param([said("ana", True), said("bob", True)], [True], id="two agree"),
        pytest.param([said("ana", True), said("bob", False)], [], id="two in conflict"),
        pytest.param([said("ana", True), said("bob", None)], [True], id="one is unsure"),
        pytest.param([said("ana", True, 9), said("ana", False, 10)], [False], id="the last word counts"),
        pytest.param([said("ana", False, 10), said("ana", True, 9)], [False], id="the last in time, not in the file"),
        pytest.param([said("ana", True), said("ana", False)], [False], id="without times the last line counts"),
        pytest.param([said("ana", True, 9), said("ana", False)], [True], id="a word with a time is later"),
        pytest.param([said("ana", True, 9), said("ana", None, 10)], [], id="unsure in the end"),
        pytest.param([said("ana", True, 9), said("bob", False, 9), said("bob", True, 10)], [True], id="resolved"),
        pytest.param([said("ana", True, 9), said("bob", False, 9), said("bob", None, 10)], [True], id="withdrawn"),
    ],
)
def test_truth(store: Store, labels: list[Row], expected: list[bool]) -> None:
    load(store, generation(generation_id="g"), *labels)
    assert truth(store) == expected


def test_truth_is_of_the_output_wherever_it_stands(store: Store) -> None:
    load(store, generation(generation_id="g"), generation(generation_id="h"), said("ana", True), label("h", by="bob"))
    assert truth(store) == [True]
    assert rows(store, "SELECT count(*) FROM generations JOIN truth USING (verdict_key)") == [(2,)]
