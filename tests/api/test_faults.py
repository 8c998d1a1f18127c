"""`leakdown faults` and `rates --pairing`: on a store, over HTTP, and as parts of a page."""

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from analysis.faults.engines import engines
from api.pages.faults import faults_part
from api.pages.pairing import pairing_part
from api.pages.rendering import render
from api.routes.answers.faults import EngineInFull, FaultRow
from api.routes.answers.rates import RateRow
from tests.analysis.faults.test_rules import CLOSERS, CODER
from tests.api.conftest import Leakdown, generation, write
from tests.api.service import Service, served

HOSTILE = "<script>alert(1)</script>{{7*7}}\x1b[31m\u202e"
TOOLS = [{"name": "look", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}}]
VLLM = {"engine": "vllm", "tool_parser": "hermes", "template": "qwen3-coder", "tools": TOOLS}
JSON_CALL = '{"name": "look", "arguments": {"at": "sky"}}'


def history() -> list[dict[str, Any]]:
    """A leak of a parser for another syntax, a closer that nobody can account for, a printed call, a call, words."""
    return [
        generation("a", 0, CODER, **VLLM),
        generation("b", 0, CLOSERS, **VLLM),
        generation("c", 0, JSON_CALL, **VLLM),
        generation("d", 0, None, tool_calls=[{"name": "look", "arguments": '{"at": "sky"}'}], **VLLM),
        generation("e", 0, "The sky is blue.", **VLLM),
        generation("f", 0, CODER, **VLLM | {"engine": HOSTILE, "tool_parser": HOSTILE, "template": HOSTILE}),
    ]


@pytest.fixture
def store(leakdown: Leakdown, tmp_path: Path) -> Path:
    """A store with that history."""
    log = write(tmp_path / "log.jsonl", *history())
    assert leakdown("ingest", log, "--store", tmp_path / "s.duckdb").code == 0
    return tmp_path / "s.duckdb"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with it, to read from."""
    with served(tmp_path_factory.mktemp("faults") / "s.duckdb") as running:
        running.upload(*history())
        yield running


def test_a_table_of_faults_and_one_of_what_to_set(leakdown: Leakdown, store: Path) -> None:
    ran = leakdown("faults", "--by", "engine", "--where", "engine=vllm", "--store", store)
    faults, settings = (part.splitlines() for part in ran.out.split("\n\n"))
    assert (ran.code, faults[1].split()[:4]) == (0, ["vllm", "yes", "3", "3"])
    assert "1, 33.3% (6.1%–79.2%)" in faults[1]
    assert "--enable-auto-tool-choice --tool-call-parser qwen3_coder (or qwen3_xml, mimo, step3p5)" in settings[1]
    assert settings[1].endswith("no           vllm-project/vllm vllm/tool_parsers/qwen3coder_tool_parser.py")
    assert ran.err.startswith("by leakdown@1; of the leaks of eligible generations")


def test_the_rows_as_json_are_the_documented_ones(leakdown: Leakdown, store: Path) -> None:
    rows = leakdown("faults", "--by", "engine,model", "--store", store, "--json").json
    assert [list(row)[:2] for row in rows] == [["engine", "model"]] * 2
    for row in rows:
        declared = FaultRow.model_validate({key: row[key] for key in row if key not in ("engine", "model")})
        assert declared.model_extra == declared.faults.model_extra == {}
        assert all(each.model_extra == {} for each in (*declared.settings, *declared.evidence))
    faults = {name: each["n"] for name, each in rows[0]["faults"].items()}
    assert faults == {"model": 0, "parser": 0, "template_and_parser": 1, "unknown": 2}


def test_without_a_leak_it_says_so(leakdown: Leakdown, store: Path) -> None:
    ran = leakdown("faults", "--where", "run_id=e", "--store", store)
    assert (ran.code, ran.out, ran.err) == (0, "", "no leaks here\n")


def test_names_out_of_a_log_cannot_steer_the_terminal(leakdown: Leakdown, store: Path) -> None:
    ran = leakdown("faults", "--by", "engine,tool_parser", "--store", store)
    assert "\x1b" not in ran.out
    assert "\u202e" not in ran.out
    assert "<script>" in ran.out


def test_the_pairing_table(leakdown: Leakdown, store: Path) -> None:
    ran = leakdown("rates", "--pairing", "--by", "engine", "--where", "engine=vllm", "--store", store)
    head, row = ran.out.splitlines()
    assert head.split()[-4:] == ["printed", "leaked", "plain", "other"]
    assert row.split()[:4] == ["vllm", "yes", "5", "5"]
    shares = ["20.0% (3.6%–62.4%)", "20.0% (3.6%–62.4%)", "40.0% (11.8%–76.9%)", "20.0% (3.6%–62.4%)"]
    assert [share for share in shares if share in row] == shares
    assert row.endswith(" 0")
    assert "clean answers in words" in ran.err


def test_the_service_answers_with_all_that_it_documents(service: Service) -> None:
    for row in service.http.get("/v1/faults", params={"by": "engine"}).json():
        assert FaultRow.model_validate(row).model_extra == {"engine": row["engine"]}
    for row in service.http.get("/v1/rates", params={"by": "engine"}).json():
        assert RateRow.model_validate(row).model_extra == {"engine": row["engine"]}
    listed = service.http.get("/v1/engines").json()
    assert [each["engine"] for each in listed] == [each.name for each in engines()]
    assert all(EngineInFull.model_validate(each).model_extra == {} for each in listed)


def test_each_leak_of_a_run_has_its_fault(service: Service) -> None:
    [leak] = service.http.get("/v1/runs/a").json()["generations"]
    assert (leak["fault"]["fault"], leak["fault"]["setting"]["parsers"][0]) == ("template_and_parser", "qwen3_coder")
    [words] = service.http.get("/v1/runs/e").json()["generations"]
    assert words["fault"] is None


@pytest.mark.parametrize("by", ["modle", ""])
def test_keys_that_are_refused(by: str, service: Service) -> None:
    answer = service.http.get("/v1/faults", params={"by": by})
    assert (answer.status_code, "name one or more of" in answer.json()["detail"]) == (400, True)


class Cells(HTMLParser):
    """The text of each row of the tables, by its cells; and every tag that stands there."""

    def __init__(self, html: bytes) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.tags: set[str] = set()
        self.feed(html.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += f" {data.strip()}" if data.strip() else ""


def faults_page(service: Service, **query: str) -> Cells:
    rows = service.http.get("/v1/faults", params={"by": "engine,tool_parser", **query}).json()
    return Cells(render("recovery_faults.html", faults_part(rows, ["engine", "tool_parser"])))


def test_the_part_on_faults_shows_each_share_with_its_n_and_names_the_setting(service: Service) -> None:
    shown = faults_page(service, where="engine=vllm")
    row = next(row for row in shown.rows if row[0].strip() == "vllm")
    assert [cell.strip() for cell in row[:4]] == ["vllm", "hermes", "3", "3"]
    assert row[6].split() == ["33.3%", "1", "of", "3", "6.1%", "to", "79.2%"]
    settings = [row for row in shown.rows if "--tool-call-parser qwen3_coder" in " ".join(row)]
    assert len(settings) == 1
    assert "qwen3coder_tool_parser.py" in settings[0][-1]
    told = [" ".join(row) for row in shown.rows]
    assert any("the parser that is set reads another syntax" in row for row in told)


def test_the_part_on_pairings_shows_each_share_with_its_n(service: Service) -> None:
    rows = service.http.get("/v1/rates", params={"by": "engine"}).json()
    shown = Cells(render("recovery_pairing.html", pairing_part(rows, ["engine"])))
    row = next(row for row in shown.rows if row[0].strip() == "vllm")
    assert [cell.split()[0] for cell in row[1:]] == ["5", "5", "20.0%", "20.0%", "40.0%", "20.0%", "0"]
    assert row[5].split()[1:] == ["2", "of", "5", "11.8%", "to", "76.9%"]


def test_hostile_names_reach_the_parts_as_text(service: Service) -> None:
    shown = faults_page(service)
    rows = service.http.get("/v1/rates", params={"by": "engine"}).json()
    pairings = Cells(render("recovery_pairing.html", pairing_part(rows, ["engine"])))
    assert "script" not in shown.tags | pairings.tags
    assert any("{{7*7}}" in cell for page in (shown, pairings) for row in page.rows for cell in row)


@pytest.mark.parametrize("part", ["recovery_faults.html", "recovery_pairing.html"])
def test_a_part_of_nothing_says_so(part: str) -> None:
    html = render(part, faults_part([], ["engine"]) | pairing_part([], ["engine"])).decode()
    assert "<table" not in html
    assert 'class="note"' in html
