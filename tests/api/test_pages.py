"""The pages: each opens, has its JSON twin, escapes what is hostile, marks what leaked, and works as plain forms."""

import html
import json
import re
import socket
import threading
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
import uvicorn

from analysis.version_order import natural
from api.app import create_app
from api.guard import MAP_STYLE
from api.pages import overview
from api.pages.text import MOST, passage, visible
from api.settings import Settings
from ingest.store import Store
from tests.api.conftest import LEAK, generation, small_history

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)> \"'\u202e\x1b[31m\u200b javascript:alert(1)"
HOSTILE_RUN = f"../{HOSTILE}/%2e?#"


class Page(HTMLParser):
    """What the tests ask of a page: its links, its marks, the hidden fields of its forms, and its attributes."""

    def __init__(self, answer: httpx.Response) -> None:
        super().__init__()
        self.links: list[str] = []
        self.twin: str | None = None
        self.marks: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.tags: set[str] = set()
        self._marking = False
        self.feed(answer.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        given = dict(attrs)
        if tag == "a":
            self.links.append(given["href"] or "")
        if tag == "link" and given.get("rel") == "alternate":
            self.twin = given["href"]
        if tag == "mark":
            self.marks.append("")
            self._marking = True

    def handle_endtag(self, tag: str) -> None:
        self._marking = self._marking and tag != "mark"

    def handle_data(self, data: str) -> None:
        if self._marking:
            self.marks[-1] += data


@contextmanager
def serving(store: Store) -> Iterator[httpx.Client]:
    """A browser-like client of a service over `store`, on a free port of its own."""
    server = uvicorn.Server(uvicorn.Config(create_app(store, Settings(store=store.path)), ws="none", log_level="error"))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            origin = f"http://127.0.0.1:{listening.getsockname()[1]}"
            with httpx.Client(base_url=origin, follow_redirects=True, timeout=30) as client:
                yield client
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[httpx.Client]:
    """The service over a store with nothing in it."""
    with Store.open(tmp_path / "s.duckdb", create=True) as store, serving(store) as client:
        yield client


def put(client: httpx.Client, *records: dict[str, Any], name: str = "runs.jsonl") -> int:
    """Upload records; the upload's id."""
    body = "".join(f"{json.dumps(each)}\n" for each in records).encode()
    answer = client.post("/v1/uploads", params={"name": name}, content=body)
    assert answer.status_code == 201, answer.text
    return int(answer.json()["uploads"][0]["upload_id"])


def put_small(client: httpx.Client) -> httpx.Client:
    """Upload the small history, and a line that is not understood."""
    body = "".join(f"{json.dumps(each)}\n" for each in small_history()) + f"{HOSTILE}\n"
    assert client.post("/v1/uploads", params={"name": "small.jsonl"}, content=body.encode()).status_code == 201
    return client


@pytest.fixture
def small(empty: httpx.Client) -> httpx.Client:
    """The service over the small history, to change it."""
    return put_small(empty)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """The same, only to look at."""
    path = tmp_path_factory.mktemp("pages") / "s.duckdb"
    with Store.open(path, create=True) as store, serving(store) as client:
        yield put_small(client)


@pytest.fixture
def hostile(empty: httpx.Client) -> httpx.Client:
    """The service over records whose every free field is hostile."""
    put(
        empty,
        generation(
            HOSTILE_RUN,
            0,
            f"{HOSTILE}\n{LEAK}\n{'x' * 10_000}",
            generation_id=HOSTILE,
            model=HOSTILE,
            engine=HOSTILE,
            engine_version=HOSTILE,
            template=HOSTILE,
            client=HOSTILE,
            reasoning=HOSTILE,
            finish_reason=HOSTILE,
            started_at="2026-11-01T12:00:00Z",
            tools=[{"name": "ls"}, {"name": HOSTILE}],
            raw_text=HOSTILE,
        ),
        generation(HOSTILE_RUN, 1, None, tool_calls=[{"id": "c", "name": HOSTILE, "arguments": HOSTILE}]),
        {"type": "leaked_tool_call", "run_id": HOSTILE_RUN, "round": 1, "markup": HOSTILE, "detector": HOSTILE},
        {"type": "leaked_tool_call", "run_id": HOSTILE_RUN, "round": 0, "markup": HOSTILE, "leak": 1},
        name=HOSTILE,
    )
    return empty


def replayed(client: httpx.Client) -> str:
    """A replay that is done; its id."""
    started = client.post(
        "/replays", data={"baseline": "openrouter-net@1", "candidate": "goat@1"}, follow_redirects=False
    )
    assert started.status_code == 303
    address = started.headers["location"]
    while client.get(f"/v1{address}").json()["state"] in ("queued", "running"):
        continue
    return str(address.removeprefix("/replays/"))


PAGES = [
    pytest.param("/", "Overview", "/v1/rates?by=model%2Cengine%2Ctemplate", id="overview"),
    pytest.param("/?by=engine&by=model", "Overview", "/v1/rates?by=engine%2Cmodel", id="overview by other keys"),
    pytest.param(
        "/?where=model=m-*&where=&since=2026-01-01",
        "Overview",
        "/v1/rates?by=model%2Cengine%2Ctemplate&where=model%3Dm-%2A&since=2026-01-01",
        id="overview with filters, an empty field among them",
    ),
    pytest.param("/series", "Series", "/v1/series?row=model&column=engine", id="series"),
    pytest.param("/drift?where=model=m*", "Drift", "/v1/drift?where=model%3Dm%2A", id="drift"),
    pytest.param("/uploads", "Uploads", "/v1/uploads", id="uploads"),
    pytest.param("/uploads/1", "Upload 1", "/v1/uploads/1", id="one upload"),
    pytest.param("/uploads/1/delete", "Delete upload 1?", None, id="deletion to be confirmed"),
    pytest.param("/runs", "Runs", "/v1/runs", id="runs"),
    pytest.param(
        "/runs?leaking=true&where=engine=vllm", "Runs", "/v1/runs?where=engine%3Dvllm&leaking=true", id="leaking runs"
    ),
    pytest.param("/audit", "Audit", "/v1/audit", id="audit"),
    pytest.param(
        "/audit?rule=leak_completed_turn&policy=goat&all=true&by=bo&where=run_id=b",
        "Audit",
        "/v1/audit?where=run_id%3Db&rule=leak_completed_turn&policy=goat&all=true",
        id="audit with filters",
    ),
    pytest.param("/runs/a", "Run a", "/v1/runs/a", id="one run"),
    pytest.param("/recovery", "Recovery", "/v1/recovery", id="recovery"),
    pytest.param(
        "/recovery?policy=goat&policy=&policy=retry-n:max_retries=3&where=model=m-*&since=",
        "Recovery",
        "/v1/recovery?policy=goat&policy=retry-n%3Amax_retries%3D3&where=model%3Dm-%2A",
        id="recovery by two policies, with a filter, empty fields among them",
    ),
    pytest.param("/replays", "Replays", "/v1/replays", id="replays"),
    pytest.param("/detectors", "Detectors", "/v1/detectors", id="detectors"),
    pytest.param("/detectors/goat@1", "goat@1", "/v1/detectors/goat%401", id="one detector"),
    pytest.param("/detectors/promote?wanted=goat@1", "Promote goat@1?", None, id="promotion to be confirmed"),
    pytest.param("/review", "Review", None, id="review, before a name is given"),
    pytest.param("/review?by=bo", "Review", "/v1/labels/next?by=bo", id="review"),
    pytest.param("/labels", "Labels", "/v1/labels/agreement", id="labels"),
]


@pytest.mark.parametrize(("path", "title", "twin"), PAGES)
def test_page_opens_and_names_its_twin(shown: httpx.Client, path: str, title: str, twin: str | None) -> None:
    """200, a title, the policy in its headers, a twin that answers with JSON, and no script or style within."""
    answer = shown.get(path)
    page = Page(answer)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "script-src 'self'" in answer.headers["content-security-policy"]
    assert answer.headers["referrer-policy"] == "same-origin"  # else its forms come from nowhere
    assert f"<title>{title} · leakdown</title>" in answer.text
    assert page.twin == twin
    if twin:
        assert twin in page.links
        assert shown.get(twin).headers["content-type"] == "application/json"
    assert not re.search(r"<script(?! defer src=\"/static/)|<style", answer.text)
    assert not [each for each in page.attributes if each[1] == "style" or each[1].startswith("on")]


@pytest.mark.parametrize("path", [each.values[0] for each in PAGES])
def test_every_link_and_file_of_a_page_is_there(shown: httpx.Client, path: str) -> None:
    """Links lead somewhere, and files that a page needs are served."""
    page = Page(shown.get(path))
    needed = [value for _, name, value in page.attributes if name == "src" or (name == "href" and value)]
    for address in {each for each in needed if each and not each.startswith("#")}:
        method = "HEAD" if address.startswith("/static/") else "GET"
        assert shown.request(method, address).status_code == 200, address


def test_static_files_come_from_here_and_from_plotly(shown: httpx.Client) -> None:
    """Nothing is fetched from elsewhere."""
    assert "plotly.js" in shown.get("/static/plotly.min.js").text[:200]
    assert shown.get("/static/app.css").headers["content-type"].startswith("text/css")


def test_policy_allows_the_one_style_sheet_that_plotly_adds(shown: httpx.Client) -> None:
    """Its hash is that of the installed package; a browser would report another one."""
    sheets = re.findall(r"\.textContent='(\.[^'\\]*)'", shown.get("/static/plotly.min.js").text)
    hashes = [f"'sha256-{b64encode(sha256(each.encode()).digest()).decode()}'" for each in sheets]
    assert hashes == [MAP_STYLE]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        pytest.param("/", "Nothing here yet", id="overview"),
        pytest.param("/series", "Nothing counts yet", id="series"),
        pytest.param("/drift", "Nothing counts yet", id="drift"),
        pytest.param("/uploads", "No upload yet", id="uploads"),
        pytest.param("/runs", "No run yet", id="runs"),
        pytest.param("/audit", "No leak, event or retry is stored", id="audit"),
        pytest.param("/audit?where=model=x", "Nothing matches", id="audit of nothing"),
        pytest.param("/recovery", "No leak to recover from", id="recovery"),
        pytest.param("/replays", "No replay yet", id="replays"),
        pytest.param("/detectors", "Try a text", id="detectors"),
        pytest.param("/review?by=ana", "Nothing to review", id="review"),
        pytest.param("/labels", "No label yet", id="labels"),
    ],
)
def test_empty_store_says_what_to_do(empty: httpx.Client, path: str, said: str) -> None:
    """A page without rows is no blank page."""
    empty.get("/v1/recovery")  # of which the page shows what was computed last
    answer = empty.get(path)
    assert answer.status_code == 200
    assert said in answer.text


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        pytest.param("/?where=colour=red", 400, "colour=red", id="unknown filter on the overview"),
        pytest.param("/runs?where=colour=red", 400, "colour=red", id="unknown filter on runs"),
        pytest.param("/runs?modle=qwen", 400, "modle", id="misspelt parameter"),
        pytest.param("/?by=colour", 400, "colour", id="unknown series key"),
        pytest.param("/?since=yesterday", 400, "yesterday", id="no date"),
        pytest.param("/runs?cursor=nonsense", 400, "nonsense", id="bad cursor"),
        pytest.param("/runs?leaking=perhaps", 400, "leaking", id="no truth value"),
        pytest.param("/recovery?policy=nudge", 400, "unknown policy", id="unknown policy"),
        pytest.param("/recovery?policy=goat:x=1", 400, "goat:x=1", id="unknown parameter of a policy"),
        pytest.param("/recovery?where=colour=red", 400, "colour=red", id="unknown filter on recovery"),
        pytest.param("/recovery?since=yesterday", 400, "yesterday", id="no date on recovery"),
        pytest.param("/runs/r9", 404, "r9", id="no such run"),
        pytest.param("/runs/%3Cscript%3E", 404, "&lt;script&gt;", id="no such run, of a hostile name"),
        pytest.param("/run?id=..", 404, "..", id="no such run, whose name no path can hold"),
        pytest.param("/uploads/9", 404, "9", id="no such upload"),
        pytest.param("/uploads/9/delete", 404, "9", id="no such upload to delete"),
        pytest.param("/replays/none", 404, "none", id="no such replay"),
        pytest.param("/detectors/none@1", 404, "none@1", id="no such detector"),
        pytest.param("/detectors/promote?wanted=none@1", 400, "none@1", id="no such detector to promote"),
        pytest.param("/nowhere", 404, "Not Found", id="no such page"),
    ],
)
def test_failure_is_a_page_that_explains_it(shown: httpx.Client, path: str, status: int, said: str) -> None:
    """With the status that its twin has."""
    answer = shown.get(path)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert said in answer.text
    assert "<nav" in answer.text


@pytest.mark.parametrize("path", ["/v1/runs/r9", "/v1/nowhere", "/v1/rates?where=colour=red", "/static/none.js"])
def test_programs_keep_their_problem_documents(shown: httpx.Client, path: str) -> None:
    """Below /v1 and among the files no failure is a page."""
    assert shown.get(path).headers["content-type"] == "application/problem+json"


def test_leaks_are_marked_at_their_exact_spans(shown: httpx.Client) -> None:
    """The marks of a run's page are [start, end) of the channel's text, in order."""
    for run_id in ("a", "b"):
        found = [each for each in shown.get(f"/v1/runs/{run_id}").json()["generations"] if each["leak"]]
        spans = [each[each["channel"]][each["start"] : each["end"]] for each in found]
        assert spans
        assert Page(shown.get(f"/runs/{run_id}")).marks == spans


def test_run_tells_turns_outcome_label_and_events(shown: httpx.Client) -> None:
    """All that is known of a leak stands beside it."""
    text = re.sub(r"<[^>]+>|\s+", " ", shown.get("/runs/a").text)
    text = re.sub(r"\s+", " ", text)
    for said in ("round 0", "2 attempts", "Retry 1", "structured", "A person's label: leak", "Reported by the client"):
        assert said in text


def test_long_text_shows_the_part_around_its_mark(empty: httpx.Client) -> None:
    """A megabyte without a line end is cut, and the page says by how much."""
    put(empty, generation("long", 0, "x" * 500_000 + f"\n{LEAK}\n" + "y" * 500_000))
    answer = empty.get("/runs/long")
    [found] = empty.get("/v1/runs/long").json()["generations"]
    assert Page(answer).marks == [found["content"][found["start"] : found["end"]]]
    assert len(answer.text) < 30_000
    assert "characters before this are hidden" in answer.text
    assert "characters after this are hidden" in answer.text
    assert "/v1/runs/long" in Page(answer).links


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/?where=model=*script*",
        "/uploads",
        "/uploads/1",
        "/uploads/1/delete",
        "/runs",
        "/audit?by=<script>alert(1)</script>",
        "/review?by=<script>alert(1)</script>",
        "/drift?by=<script>alert(1)</script>",
    ],
)
def test_hostile_text_is_only_text(hostile: httpx.Client, path: str) -> None:
    """No element, attribute, address or unseen character of it reaches a page."""
    harmless(hostile.get(path))


def harmless(answer: httpx.Response) -> None:
    """Fails if hostile text is more than text on this page."""
    page = Page(answer)
    assert answer.status_code == 200
    assert "img" not in page.tags
    assert "<script>alert" not in answer.text
    assert not [each for each in page.attributes if each[1].startswith("on") or each[1] == "style"]
    assert all(each.startswith(("/", "#")) and not each.startswith("//") for each in page.links)
    assert "alert" in answer.text
    if "[U+202E]" in answer.text:
        assert "\u202e" not in re.sub(r"<textarea.*</textarea>|<[^>]*>", "", answer.text, flags=re.DOTALL)


def test_hostile_run_is_linked_and_shown(hostile: httpx.Client) -> None:
    """A run whose id holds slashes, quotes and dots has a link that leads to it and to its twin."""
    link = next(each for each in Page(hostile.get("/runs")).links if each.startswith("/runs/"))
    assert link == f"/runs/{quote(HOSTILE_RUN, safe='')}"
    answer = hostile.get(link)
    harmless(answer)
    assert "␛" in answer.text
    assert "[U+202E]" in answer.text
    assert Page(answer).marks
    assert hostile.get(Page(answer).twin or "").json()["run_id"] == HOSTILE_RUN


def test_hostile_text_in_a_replay_a_trial_and_a_refusal(hostile: httpx.Client) -> None:
    """The pages that a form leads to escape too."""
    harmless(hostile.get(f"/replays/{replayed(hostile)}"))
    harmless(hostile.post("/detectors/try", data={"content": f"{HOSTILE}\n{LEAK}", "tools": f"ls, {HOSTILE}"}))
    refused = hostile.post("/uploads", files={"file": (f"{HOSTILE}.jsonl", b"no record")})
    assert refused.status_code == 422
    assert "<script>alert" not in refused.text


@pytest.mark.parametrize("run_id", [".", ".."])
def test_run_whose_name_no_path_can_hold_has_an_address(empty: httpx.Client, run_id: str) -> None:
    """A browser resolves dots even when they are encoded."""
    put(empty, generation(run_id, 0, LEAK))
    assert f"/run?id={run_id}" in Page(empty.get("/runs")).links
    answer = empty.get(f"/run?id={run_id}")
    assert answer.status_code == 200
    assert empty.get(Page(answer).twin or "").json()["items"][0]["run_id"] == run_id


def test_filters_stay_in_the_links_to_further_pages(empty: httpx.Client) -> None:
    """The next page is of the same question."""
    put(empty, *(generation(f"r{number:03}", 0, LEAK) for number in range(60)))
    page = Page(empty.get("/runs?where=model=m-*&leaking=true"))
    [following] = [each for each in page.links if "cursor=" in each]
    assert "where=model%3Dm-%2A" in following
    assert "leaking=true" in following
    rest = Page(empty.get(html.unescape(following)))
    assert len([each for each in rest.links if each.startswith("/runs/")]) == 10


def test_series_leads_to_its_leaking_runs(empty: httpx.Client) -> None:
    """Of exactly this series, even where its name looks like a glob."""
    put(empty, generation("r1", 0, LEAK, model="m[1]*"), generation("r2", 0, LEAK, model="m1-x"))
    addresses = {each for each in Page(empty.get("/?by=model")).links if each.startswith("/runs?")}
    found = [[each for each in Page(empty.get(address)).links if each.startswith("/runs/")] for address in addresses]
    assert sorted(found) == [["/runs/r1"], ["/runs/r2"]]


def test_upload_set_and_delete_work_as_plain_forms(empty: httpx.Client) -> None:
    """Without JavaScript: files in, a field set, the upload gone."""
    record = json.dumps(generation("r", 0, LEAK, engine=None)).encode()
    came = empty.post("/uploads", files={"file": ("r.jsonl", record)}, follow_redirects=False)
    assert (came.status_code, came.headers["location"]) == (303, "/uploads?new=1")
    assert 'class="new"' in empty.get("/uploads?new=1").text
    assert empty.post("/uploads/1/set", data={"engine": "vllm", "template": ""}).status_code == 200
    assert empty.get("/v1/uploads/1").json()["settings"] == {"engine": "vllm"}
    assert empty.post("/uploads/1/delete").status_code == 200
    assert empty.get("/v1/uploads").json() == []


def test_refused_file_beside_a_good_one_is_named(empty: httpx.Client) -> None:
    """The good one is kept, and the page says why the other is not."""
    record = json.dumps(generation("r", 0, LEAK)).encode()
    answer = empty.post("/uploads", files=[("file", ("good.jsonl", record)), ("file", ("bad.jsonl", b"nothing"))])
    assert "was refused" in answer.text
    assert "bad.jsonl" in answer.text
    assert len(empty.get("/v1/uploads").json()) == 1


def test_quarantined_lines_are_shown_with_their_reason(shown: httpx.Client) -> None:
    """Number, reason and beginning of each line that was not understood, and a warning where they are many."""
    answer = shown.get("/uploads/1")
    harmless(answer)
    assert "not JSON" in answer.text
    assert "of the lines were not understood" in answer.text


def test_promotion_works_as_a_plain_form(small: httpx.Client) -> None:
    """Once promoted, a detector is the current one, and the history says so."""
    assert small.post("/detectors/promote", data={"wanted": "goat@1"}).status_code == 200
    assert next(each for each in small.get("/v1/detectors").json() if each["current"])["detector"] == "goat@1"
    assert "goat@1" in small.get("/detectors").text.partition('id="history"')[2]


def test_tried_text_is_judged_by_every_detector(shown: httpx.Client) -> None:
    """The line ends of a form are those of the text; nothing is stored."""
    before = shown.get("/v1/runs").json()
    answer = shown.post("/detectors/try", data={"content": LEAK.replace("\n", "\r\n"), "tools": "ls, cat"})
    said = shown.post("/v1/detectors/try", json={"content": LEAK, "tools": ["ls", "cat"]}).json()
    found = [each["verdict"] for each in said if each["verdict"]]
    assert found
    assert Page(answer).marks == [LEAK[each["start"] : each["end"]] for each in found]
    assert shown.get("/v1/runs").json() == before


def test_replay_works_as_a_plain_form(small: httpx.Client) -> None:
    """Its page has the four cells, the labelled figures, the shapes, and each disagreement with its text."""
    job = replayed(small)
    answer = small.get(f"/replays/{job}")
    report = small.get(f"/v1/replays/{job}").json()["report"]
    assert report["labelled"]["n"] == 2
    assert answer.text.count("says leak\n") == len(report["disagreements"])
    examples = [each for shape in report["shapes"]["rows"] for each in shape["examples"]]
    expected = [
        (each["baseline"] if each["baseline"] and each["baseline"]["leak"] else each["candidate"])["markup"]
        for each in [*examples, *report["disagreements"]]
    ]
    assert Page(answer).marks == expected
    assert "McNemar" in answer.text or "the same of every labelled output" in answer.text
    assert "a good answer" in answer.text
    assert "Operating points" in answer.text


def test_replay_of_a_period_says_so_and_offers_it_again(small: httpx.Client) -> None:
    """A filter of time stands in the job, in the report and on the page."""
    dated = json.dumps(generation("t", 0, "All is well.", started_at="2026-11-02T12:00:00Z"))
    assert small.post("/v1/uploads", content=dated).status_code == 201
    wanted = {"baseline": "openrouter-net@1", "candidate": "goat@1", "since": "2026-11-01", "until": " 2026-11-30 "}
    answer = small.post("/replays", data=wanted)
    job = small.get(f"/v1{answer.url.path}").json()
    assert (job["since"], job["until"]) == ("2026-11-01", "2026-11-30")
    assert "since 2026-11-01" in answer.text
    assert small.post("/replays", data={**wanted, "until": "2026-10-01"}).status_code == 400
    assert "until 2026-11-30" in small.get("/replays").text


@pytest.mark.parametrize(
    ("form", "begins"),
    [pytest.param("html", "\n<!doctype html>", id="HTML"), pytest.param("md", "## Replay:", id="Markdown")],
)
def test_report_can_be_saved(form: str, begins: str, small: httpx.Client) -> None:
    """As an attachment: the HTML file has its style inside, which no page of the service may."""
    answer = small.get(f"/replays/{replayed(small)}/report.{form}")
    assert answer.text.startswith(begins.strip())
    assert answer.headers["content-disposition"] == f'attachment; filename="replay.{form}"'


def test_report_that_is_not_there_cannot_be_saved(small: httpx.Client) -> None:
    """Neither of a replay that is none, nor in a form that is none."""
    assert small.get("/replays/none/report.html").status_code == 404
    assert small.get(f"/replays/{replayed(small)}/report.pdf").status_code in (400, 404, 422)


def test_report_of_an_earlier_leakdown_is_told_as_such(tmp_path: Path) -> None:
    """A store may hold replays that were made before a report told more."""
    with Store.open(tmp_path / "s.duckdb", create=True) as store, serving(store) as client:
        job = replayed(client)
        with store.transaction() as cursor:
            [(text,)] = cursor.execute("SELECT result FROM jobs").fetchall()
            report = json.loads(text)
            for key in ("shapes", "segments", "policy", "operating_points", "difference"):
                del report[key]
            cursor.execute("UPDATE jobs SET result = $1", [json.dumps(report)])
        assert "made by an earlier leakdown" in client.get(f"/replays/{job}").text
        assert client.get(f"/v1/replays/{job}").json()["report"]["shapes"] is None
        assert client.get(f"/replays/{job}/report.html").status_code == 404


def test_page_of_disagreements_that_is_not_there_says_so(small: httpx.Client) -> None:
    """The address may be older than the report."""
    answer = small.get(f"/replays/{replayed(small)}?page=7")
    assert answer.status_code == 200
    assert "There is no such page" in answer.text


def test_ended_replay_cannot_be_cancelled(small: httpx.Client) -> None:
    """The page says what state it is in."""
    answer = small.post(f"/replays/{replayed(small)}/cancel")
    assert answer.status_code == 409
    assert "is done" in answer.text


def test_replay_of_an_unknown_detector_is_refused(shown: httpx.Client) -> None:
    """With a page that names it."""
    answer = shown.post("/replays", data={"baseline": "none@1", "candidate": "goat@1"})
    assert answer.status_code == 400
    assert "none@1" in answer.text


def test_review_is_blind_and_undone(small: httpx.Client) -> None:
    """A label is kept, the next output comes, and undo brings the first one back."""
    first = small.get("/v1/labels/next?by=bo").json()
    shown = small.get("/review?by=bo")
    assert not Page(shown).marks
    assert "openrouter-net" not in shown.text
    output = first["output"]
    said = small.post(
        "/review",
        data={"by": "bo", "generation_id": output["generation_id"], "run_id": output["run_id"], "verdict": "clean"},
    )
    assert small.get("/v1/labels/next?by=bo").json()["labelled"] == 1
    undo = re.search(r'name="label_id" value="([^"]+)"', said.text)
    assert undo
    small.post("/review/undo", data={"by": "bo", "label_id": undo[1]})
    assert small.get("/v1/labels/next?by=bo").json()["output"] == first["output"]


def test_review_is_left_for_later_and_gone_back_to(small: httpx.Client) -> None:
    """Later shows the next output, back the one before with what was said of it, forward the next one again."""
    first = small.get("/v1/labels/next?by=bo").json()["output"]
    later = small.post("/review/skip", data={"by": "bo", "verdict_key": first["verdict_key"]})
    [back] = [each for each in Page(later).links if "at=" in each]
    assert f"at={first['verdict_key']}" in back
    fields = {"by": "bo", "generation_id": first["generation_id"], "run_id": first["run_id"], "verdict": "unsure"}
    small.post("/review", data=fields)
    again = small.get(back)
    assert "You said: unsure." in again.text
    [forward] = [each for each in Page(again).links if each.startswith("/review?by=bo") and "at=" in each]
    assert "You said" not in small.get(forward).text


def test_conflict_is_resolved_and_taken_back(small: httpx.Client) -> None:
    """With a note; the resolution is the truth, until it is taken back."""
    small.post("/v1/labels", json={"generation_id": "c.0", "leak": True, "by": "bo", "note": "markup"})
    assert [each["generation_id"] for each in small.get("/v1/labels/conflicts").json()["open"]] == ["c.0"]
    words = words_of(small.get("/labels?by=cleo"))
    for told in ("ana: clean", "bo: leak, “markup”", "Write <function=name> first.", "0.0%", "ana, bo"):
        assert told in words, told
    form = {"generation_id": "c.0", "run_id": "c", "by": "cleo", "note": "a manual", "verdict": "clean"}
    assert small.post("/labels/resolve", data={**form, "note": " "}).status_code == 400
    done = small.post("/labels/resolve", data=form)
    assert "cleo: clean, “a manual”" in words_of(done)
    assert "No output is in conflict; 1 was resolved." in words_of(done)
    taken = re.search(r'name="label_id" value="([^"]+)"', done.text)
    assert taken
    assert "No output is in conflict" not in words_of(small.post("/labels/take-back", data={"label_id": taken[1]}))


def test_labels_are_imported_from_a_form(small: httpx.Client) -> None:
    """What became of each line is told."""
    body = b"generation_id,leak,by\nb.0,leak,bo\nnope,clean,bo\nb.0,perhaps,bo\n"
    words = words_of(small.post("/labels/import", files={"file": ("mine.csv", body)}))
    for told in ("mine.csv: 2 new", "1 not understood", "1 are of generations that are not here", "'perhaps' is not"):
        assert told in words, told
    assert "b.0,,leak,,bo," in small.get("/v1/labels.csv").text


def test_review_says_when_all_is_done(small: httpx.Client) -> None:
    """After the last output there is none, and the page says so."""
    while output := small.get("/v1/labels/next?by=bo").json()["output"]:
        fields = {"by": "bo", "generation_id": output["generation_id"], "run_id": output["run_id"]}
        answer = small.post("/review", data={**fields, "verdict": "unsure"})
    assert "That was the last one" in answer.text


def test_undefined_number_is_a_dash_that_says_why(empty: httpx.Client) -> None:
    """No leak, no recovery rate."""
    put(empty, generation("r", 0, "All is well."))
    assert 'title="no leaked round that tells its attempts">–<' in empty.get("/").text


def words_of(answer: httpx.Response) -> str:
    """What a page says, without its markup."""
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", "", answer.text)))


def chosen(answer: httpx.Response) -> list[str]:
    """What the selects of a page offer first."""
    return re.findall(r"<option selected>([^<]+)<", answer.text)


def test_replays_offer_to_compare_the_current_detector_with_another(small: httpx.Client) -> None:
    """Also once another one is promoted."""
    known = small.get("/v1/detectors").json()
    [current] = [each["detector"] for each in known if each["current"]]
    others = [each["detector"] for each in known if not each["current"]]
    assert chosen(small.get("/replays")) == [current, others[0]]
    small.post("/detectors/promote", data={"wanted": others[0]})
    baseline, candidate = chosen(small.get("/replays"))
    assert baseline == others[0]
    assert candidate != baseline


@pytest.mark.parametrize(
    ("path", "order"),
    [
        pytest.param(
            "/?by=model&by=engine_version",
            ["small 0.9.2", "small 0.10.0", "small –", "large 1.0", "lone 0.1"],
            id="versions of a series stand together, by their numbers, what is unknown last",
        ),
        pytest.param("/?by=model", ["small", "large", "lone"], id="series from large to small"),
        pytest.param(
            "/?by=engine_version", ["0.10.0", "1.0", "0.9.2", "0.1", "–"], id="versions without a series, by size"
        ),
    ],
)
def test_rates_are_ordered_by_series_then_version(empty: httpx.Client, path: str, order: list[str]) -> None:
    """By all generations of a series: one of small versions may be the largest."""
    sizes = [("small", "0.10.0", 4), ("large", "1.0", 3), ("small", "0.9.2", 2), ("small", None, 1), ("lone", "0.1", 1)]
    for model, version, n in sizes:
        named = f"{model} {version}"
        put(empty, *(generation(named, at, "Done.", model=model, engine_version=version) for at in range(n)))
    keys = path.count("by=")
    rows = re.findall(r'<th scope="row" class="named">.*?</tr>', empty.get(path).text, re.DOTALL)
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)[:keys] for row in rows]
    assert [re.sub(r"<[^>]+>", "", " ".join(each)) for each in cells] == order


@pytest.mark.parametrize(
    "order",
    [
        pytest.param(["0.9.2", "0.10.0", "0.10.0rc1", None], id="numbers by value, the missing one last"),
        pytest.param(["b9120", "b9310", "b10000"], id="a build number"),
        pytest.param(["", "1", "a", "a1", "a1b"], id="number or letter first, or nothing"),
        pytest.param(["9" * 18, "9" * 6000], id="more digits than a number may have"),
    ],
)
def test_versions_are_in_natural_order(order: list[str | None]) -> None:
    """Whatever their form."""
    given = order[::-1]
    assert sorted(given, key=natural) == order


def test_all_bars_of_a_column_have_one_scale(empty: httpx.Client) -> None:
    """Those of rows whose tools are unknown too, though their intervals are far wider."""
    known = [generation("r", number, "Done.") for number in range(200)]
    put(empty, *known, untold("u", LEAK))
    ends = re.findall(r"interval from [^\"]+, on a bar from 0 to ([^\"]+)", empty.get("/?by=model").text)
    assert ends[:2] == ["100.0%", "100.0%"]


def test_leaks_and_their_n_stand_beside_the_rate(shown: httpx.Client) -> None:
    """Before the interval, so a narrow window shows them."""
    heads = re.findall(r"<th scope=\"col\"[^>]*>(.*?)</th>", shown.get("/?by=model").text)
    assert [re.sub(r"<[^>]+>", "", each) for each in heads[:4]] == ["model", "leak rate", "leaks of n", "interval"]


def untold(run_id: str, content: str, **fields: Any) -> dict[str, Any]:
    """A generation whose record does not tell which tools were offered."""
    record = generation(run_id, 0, content, **fields)
    del record["tools"]
    return record


DATED = {"started_at": "2026-11-01T12:00:00Z"}


@pytest.mark.parametrize(
    ("records", "path", "said"),
    [
        pytest.param([DATED], "/?where=model=none", "No trend: the filter fits nothing", id="no such model"),
        pytest.param([DATED], "/?since=2027-01-01", "No trend: the filter fits nothing", id="nothing so late"),
        pytest.param([{}], "/", "No trend: none of these generations carries a time", id="no time"),
        pytest.param([DATED], "/", "One model on one engine, week by week.", id="one panel"),
        pytest.param(
            [DATED, DATED | {"engine": "b"}], "/", "A panel for each model on its engine, the largest first.", id="two"
        ),
        pytest.param(
            [DATED | {"engine": f"e{at}"} for at in range(7)], "/", "the largest first, at most 6.", id="too many"
        ),
        pytest.param([DATED], "/?where=model=none", "(1 do not match the filter)", id="why there is no rate"),
    ],
)
def test_overview_says_what_the_trend_shows_or_why_it_is_none(
    empty: httpx.Client, records: list[dict[str, Any]], path: str, said: str
) -> None:
    """In plain words, and of the filter where it is the filter."""
    put(empty, *(generation(f"r{at}", 0, "Done.", **fields) for at, fields in enumerate(records)))
    assert said in words_of(empty.get(path))


def test_trend_of_unknown_tools_is_none(empty: httpx.Client) -> None:
    """It counts fewer generations than the table, and says so."""
    put(empty, untold("u", LEAK, **DATED))
    assert "No trend: it counts only generations whose offered tools are known." in words_of(empty.get("/"))


def test_reported_against_found_speaks_of_the_whole_store(empty: httpx.Client) -> None:
    """Whatever the filters fit."""
    put(
        empty,
        generation("r", 0, LEAK),
        {"type": "leaked_tool_call", "run_id": "r", "round": 0, "markup": LEAK, "leak": 1, "retried": True},
    )
    assert "In the whole store they agree everywhere." in words_of(empty.get("/"))
    filtered = words_of(empty.get("/?where=model=none"))
    assert "Over the whole store, also what the filters leave out." in filtered
    assert "In the whole store they agree everywhere." in filtered


def test_names_of_versions_stand_above_every_interval(empty: httpx.Client) -> None:
    """At the top of a panel whose data end below; a day on which two changed has one name for both."""
    days = [("01", "0.9", "a"), ("08", "0.10", "b"), ("28", "0.11", "b")]
    for day, version, template in days:
        fields = {"engine_version": version, "template": template, "started_at": f"2026-11-{day}T12:00:00Z"}
        put(empty, generation(day, 0, LEAK, **fields))
    figure = empty.get("/v1/trend/figure").json()
    [trace], axis = figure["data"], figure["layout"]["yaxis"]
    bars = zip(trace["y"], trace["error_y"]["array"], strict=True)
    ends = [rate + above for rate, above in bars if rate is not None]  # weeks without data are gaps
    assert max(ends) == 1.0
    assert max(ends) <= 0.85 * axis["range"][1]
    assert max(axis["tickvals"]) <= 1.0
    _, first, late = figure["layout"]["annotations"]
    assert (first["text"], first["y"], first["xanchor"]) == ("0.10, template b", 1, "left")
    assert (late["text"], late["y"], late["xanchor"]) == ("0.11", 1, "right")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("a\tb\nc", "a\tb\nc", id="tabs and line feeds stay"),
        pytest.param("\x1b", '<span class="ctl" title="U+001B">␛</span>', id="a control is its picture"),
        pytest.param("\u202e", '<span class="ctl" title="U+202E">[U+202E]</span>', id="a direction is its number"),
        pytest.param("\ud800", '<span class="ctl" title="U+D800">[U+D800]</span>', id="half a surrogate pair"),
        pytest.param("<b>&", "&lt;b&gt;&amp;", id="markup is escaped"),
        pytest.param("é漢😀", "é漢😀", id="letters of any script stay"),
    ],
)
def test_visible(text: str, shown: str) -> None:
    """What cannot be seen is spelled out, and all is escaped."""
    assert str(visible(text)) == shown


@pytest.mark.parametrize(
    ("length", "start", "end"),
    [
        pytest.param(10, 2, 5, id="short"),
        pytest.param(10, 0, 10, id="all of it"),
        pytest.param(1_000_000, 500_000, 500_010, id="in the middle of a megabyte"),
        pytest.param(1_000_000, 0, 900_000, id="a mark longer than is shown"),
        pytest.param(1_000_000, 999_999, 1_000_000, id="at the end"),
        pytest.param(10, 5, 5, id="nothing marked"),
    ],
)
def test_passage_accounts_for_every_character(length: int, start: int, end: int) -> None:
    """Shown and hidden add up, the mark begins at its start, and little is shown."""
    text = "".join(chr(33 + at % 90) for at in range(length))
    part = passage(text, (start, end))
    shown = len(part.before) + len(part.marked) + len(part.after)
    assert shown + part.hidden == length
    assert part.hidden_before + len(part.before) == start
    assert text[start:end].startswith(part.marked)
    assert part.hidden_marked == end - start - len(part.marked)
    assert shown <= 1.5 * MOST


def test_the_overview_shows_the_largest_rows_and_counts_the_others(empty: httpx.Client) -> None:
    rows = overview.MOST + 3
    put(
        empty, *(generation(f"r{at}-{n}", 0, "hi", model=f"m{at:02}") for at in range(rows) for n in range(1 + at // 5))
    )
    page = empty.get("/").text
    assert [at for at in range(rows) if f">m{at:02}<" not in page] == [2, 3, 4]  # the last of the smallest
    assert "3 more rows, with fewer generations, stand in the JSON" in page
    assert len(empty.get("/v1/rates").json()) == rows
