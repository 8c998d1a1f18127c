"""What running applications sent, over many requests, restarts and failures."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ingest import inbox, rolling
from ingest.otlp.intake import OTHERS, Signal, taken
from ingest.rolling import Rolling, Times
from ingest.store import Store, one
from ingest.uploads import Upload, correct, delete, uploads
from ingest.verdict_rows import Judge
from tests.ingest.loading import MARK, MARK_JUDGE, load, rows
from tests.ingest.otlp_signals import CHAT, Object, choice, logs, said, span, traces
from tests.timing import cpu_seconds


class Clock:
    """A clock that stands until it is moved."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "s.duckdb", create=True) as opened:
        yield opened


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def folding(store: Store, clock: Clock) -> Rolling:
    return Rolling(store, Times(wait=60, remember=600), clock=clock)


def sent(store: Store, *messages: Object) -> None:
    """Each message is an export of its own."""
    for each in messages:
        signal: Signal = "logs" if "resourceLogs" in each else "traces"
        inbox.put(store, taken(json.dumps(each).encode(), signal, as_json=True).messages)


def fold(folding: Rolling, judge: Judge = MARK_JUDGE) -> int:
    return folding.fold(lambda: judge)


def told(store: Store) -> list[tuple[Any, ...]]:
    """The generations: their spans, texts and models, in the order of their runs."""
    sql = """SELECT generation_id, text, model FROM generations g LEFT JOIN texts t ON t.hash = g.content
    ORDER BY upload_id, line, position"""
    return [(int(name.split("#")[0], 16), text, model) for name, text, model in rows(store, sql)]


CALL = traces(span(1, said("Hello.")))
BARE = traces(span(1, CHAT))
CHOICE = logs(choice(1, "Hello."))
FRAME = traces(span(9, said("Hello.")), resource={})
INNER = traces(span(1, said("Hello."), parent=9))
HELLO = (1, "Hello.", "m")


@pytest.mark.parametrize(
    ("messages", "found"),
    [
        pytest.param([CALL], [HELLO], id="a call"),
        pytest.param([CALL, CALL], [HELLO], id="the same export again"),
        pytest.param([CALL, traces(span(1, said("Hello.")), span(2, said("More.")))], [HELLO, (2, "More.", "m")],
                     id="an export that overlaps"),
        pytest.param([BARE, CHOICE], [HELLO], id="its text later"),
        pytest.param([CHOICE, BARE], [HELLO], id="its text before"),
        pytest.param([CHOICE, BARE, CHOICE, BARE], [HELLO], id="both again"),
        pytest.param([INNER, FRAME], [HELLO], id="a frame around it later"),
        pytest.param([FRAME, INNER], [(9, "Hello.", "m")], id="a frame around it before"),
        pytest.param([BARE], [], id="a call whose text never comes"),
        pytest.param([CHOICE], [(1, "Hello.", None)], id="a text whose call never comes"),
        pytest.param([traces(span(1, {}))], [], id="no model call"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("restarted", [False, True], ids=["at a stretch", "with a new service before each export"])
def test_what_is_told_in_many_exports(
    store: Store, clock: Clock, messages: list[Object], found: list[Any], restarted: bool
) -> None:
    folding = Rolling(store, clock=clock)
    for each in messages:
        if restarted:
            folding = Rolling(store, clock=clock)
        sent(store, each)
        fold(folding)
    clock.now += 61
    fold(folding)
    assert told(store) == found
    [upload] = uploads(store)
    assert upload.lines == len(messages) == upload.mapped + upload.skipped + upload.duplicate + upload.quarantined
    assert inbox.waiting_bytes(store) == 0


def test_a_text_that_waits_is_told_after_its_time_and_not_before(store: Store, folding: Rolling, clock: Clock) -> None:
    sent(store, CHOICE)
    fold(folding)
    clock.now += 59
    fold(folding)
    assert told(store) == []
    clock.now += 2
    fold(folding)
    assert told(store) == [(1, "Hello.", None)]


def test_a_span_that_comes_after_its_time_tells_nothing_twice(store: Store, folding: Rolling, clock: Clock) -> None:
    sent(store, CHOICE)
    fold(folding)
    clock.now += 61
    fold(folding)
    sent(store, BARE)
    fold(folding)
    clock.now += 61
    assert (fold(folding), len(told(store))) == (0, 1)


def test_a_run_grows_in_the_order_of_its_exports(store: Store, folding: Rolling) -> None:
    for at in range(1, 6):
        sent(store, traces(span(at, said(f"text {at}"))))
        fold(folding)
    assert [text for _, text, _ in told(store)] == [f"text {at}" for at in range(1, 6)]
    assert rows(store, "SELECT count(DISTINCT run_id), count(DISTINCT upload_id) FROM generations") == [(1, 1)]


def test_only_the_runs_that_came_are_counted_anew(store: Store, folding: Rolling) -> None:
    for at in range(1, 4):
        with store.transaction() as cursor:
            cursor.execute("DELETE FROM stale_runs")
        sent(store, traces({**span(at, said("x")), "traceId": f"{at:032x}"}))
        fold(folding)
    assert rows(store, "FROM stale_runs") == [(f"{3:032x}",)]


def by_service(store: Store) -> dict[str, Upload]:
    return {upload.path.removeprefix("OTLP of ").partition(",")[0]: upload for upload in uploads(store)}


def from_service(name: str, at: int = 1) -> Object:
    return traces({**span(at, said(f"of {name}")), "traceId": f"{at:032x}"}, resource={"service.name": name})


def test_each_service_has_one_upload_a_day(store: Store, folding: Rolling) -> None:
    for at in range(1, 7):
        sent(store, from_service(f"s{at % 2}", at))
        fold(folding)
    assert {name: each.lines for name, each in by_service(store).items()} == {"s1": 3, "s0": 3}


def test_too_many_services_share_one(store: Store, folding: Rolling, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rolling, "UPLOADS_A_DAY", 2)
    sent(store, *(from_service(f"s{at}", at) for at in range(1, 6)))
    fold(folding)
    assert {name: each.lines for name, each in by_service(store).items()} == {"s1": 1, "s2": 1, OTHERS: 3}


def test_what_a_person_set_of_the_upload_holds_for_what_comes(store: Store, folding: Rolling) -> None:
    sent(store, from_service("a", 1))
    fold(folding)
    correct(store, by_service(store)["a"].upload_id, {"engine": "vllm"})
    sent(store, from_service("a", 2))
    fold(folding)
    assert rows(store, "SELECT DISTINCT engine FROM generations") == [("vllm",)]


def test_a_deleted_upload_takes_its_messages_along(store: Store, folding: Rolling) -> None:
    sent(store, from_service("a", 1))
    fold(folding)
    delete(store, by_service(store)["a"].upload_id)
    assert rows(store, "SELECT count(*) FROM otlp_messages") == [(0,)]
    sent(store, from_service("a", 2))
    fold(folding)
    assert [upload.lines for upload in uploads(store)] == [1]


def test_a_file_with_the_same_spans_brings_nothing_new(store: Store, folding: Rolling) -> None:
    sent(store, CALL)
    fold(folding)
    assert load(store, CALL, format_name="otlp").new_generations == 0


def broken(_: object) -> Iterator[Any]:
    raise ZeroDivisionError
    yield


def test_after_a_failure_all_of_it_is_read_again(store: Store, folding: Rolling) -> None:
    sent(store, BARE)
    fold(folding)
    sent(store, CHOICE)
    with pytest.raises(ZeroDivisionError):
        fold(folding, Judge("broken@1", broken))
    assert (told(store), [upload.lines for upload in uploads(store)], folding.behind) == ([], [], False)
    assert fold(folding) == 2
    assert told(store) == [HELLO]


def test_so_much_is_read_at_a_time(store: Store, folding: Rolling, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inbox, "READ_AT_ONCE", 1)
    sent(store, *(traces(span(at, said(f"text {at}"))) for at in (1, 2)))
    found = [(fold(folding), folding.behind) for _ in range(3)]
    assert found == [(1, True), (1, True), (0, False)]


def test_what_was_read_is_forgotten_in_time(store: Store, folding: Rolling, clock: Clock) -> None:
    sent(store, CALL)
    fold(folding)
    clock.now += 599
    fold(folding)
    assert rows(store, "SELECT count(*) FROM otlp_messages") == [(1,)]
    clock.now += 2
    fold(folding)
    assert rows(store, "SELECT count(*) FROM otlp_messages") == [(0,)]
    assert not folding.busy


def test_what_was_read_is_forgotten_beyond_its_bytes(
    store: Store, folding: Rolling, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rolling, "REMEMBERED_BYTES", 1_000)
    for at in range(1, 10):
        sent(store, traces(span(at, said("x" * 300))))
        fold(folding)
    assert len(told(store)) == 9
    with store.cursor() as cursor:
        assert one(cursor, "SELECT sum(bytes) <= 1000 FROM otlp_messages") == (True,)


def test_names_called_in_one_export_are_known_in_the_next(store: Store, clock: Clock) -> None:
    call = {"type": "tool_call", "id": "c", "name": "ls", "arguments": {}}
    for at, parts in enumerate([(call,), ("ls it",)], 1):
        sent(store, traces(span(at, said(*parts))))
        fold(Rolling(store, clock=clock))
    assert rows(store, "SELECT inferred_names FROM generations ORDER BY line") == [(["ls"],), (["ls"],)]


def test_the_verdict_is_there_with_the_generation(store: Store, folding: Rolling) -> None:
    sent(store, traces(span(1, said(f"a {MARK}"))))
    fold(folding)
    assert rows(store, "SELECT kind FROM verdicts JOIN generations USING (verdict_key)") == [("leaked_call",)]


def test_a_resource_may_say_what_no_convention_has_a_name_for(store: Store, folding: Rolling) -> None:
    sent(store, traces(span(1, said("x")), resource={"leakdown.engine": "vllm", "leakdown.template": "t"}))
    fold(folding)
    assert rows(store, "SELECT engine, template FROM generations") == [("vllm", "t")]


@pytest.mark.slow
def test_the_last_export_costs_about_what_the_first_did(store: Store, folding: Rolling, clock: Clock) -> None:
    """Each read for itself, as of an application that calls its model every few seconds."""
    seconds = []
    for at in range(1, 501):
        clock.now += 5
        ids = {"spanId": f"{at:016x}", "traceId": f"{at // 9 + 1:032x}"}
        sent(store, traces({**span(at % 90, said(f"text {at}")), **ids}))
        seconds.append(cpu_seconds(lambda: fold(folding)))
    assert sum(seconds[-100:]) < 3 * sum(seconds[:100])
    assert [upload.lines for upload in uploads(store)] == [500]
    assert rows(store, "SELECT count(*) < 200 FROM otlp_messages") == [(True,)]
