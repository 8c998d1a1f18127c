"""Each line is one JSON value, or it is told why not."""

import io
import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.errors import InputError
from ingest.files.containers import STDIN, RawLine, read_lines
from ingest.files.jsonlines import decode
from ingest.formats import Line, Quarantined, Skipped
from tests.ingest.samples import json_values, raw_lines


def one(data: str | bytes) -> Line | Skipped | Quarantined:
    (answer,) = decode(raw_lines(data))
    return answer


@pytest.mark.parametrize(
    ("data", "value"),
    [
        pytest.param('{"a": [1, 2.5, null, true, "x"]}', {"a": [1, 2.5, None, True, "x"]}, id="an object"),
        pytest.param('"a\u2028b"', "a\u2028b", id="U+2028 inside a string"),
        pytest.param(str(2**200), 2**200, id="a huge integer stays exact"),
        pytest.param(r'"\ud83d\ude00"', "😀", id="a surrogate pair is a character"),
        pytest.param(r'"\\ud83d"', r"\ud83d", id="an escaped backslash before ud83d is no surrogate"),
        pytest.param(r'"NaN"', "NaN", id="NaN inside a string"),
        pytest.param("[" * 200 + "]" * 200, None, id="200 levels"),
        pytest.param('"' + "x" * 20_000_000 + '"', None, id="a line of 20 MB"),
        pytest.param(' {}\r', {}, id="space around it"),
    ],
)  # fmt: skip
def test_a_json_value_is_read_as_it_stands(data: str, value: object) -> None:
    answer = one(data)
    assert isinstance(answer, Line)
    assert answer.value == (json.loads(data) if value is None else value)
    assert answer.raw == data.encode()
    assert not answer.mended


@pytest.mark.parametrize(
    ("data", "value"),
    [
        pytest.param(r'"a\ud83d"', "a\ufffd", id="the first half at the end"),
        pytest.param(r'"\ude00b"', "\ufffdb", id="the second half alone"),
        pytest.param(r'"\ud83d\ud83d\ude00"', "\ufffd😀", id="a half before a pair"),
        pytest.param(r'"\ud83d\u0041"', "\ufffdA", id="a half before another escape"),
        pytest.param(r'{"\uDFFF":["\uD800\uD800"]}', {"\ufffd": ["\ufffd\ufffd"]}, id="in keys and lists, one for one"),
        pytest.param(r'"\\\ud800\\ud800"', "\\\ufffd\\ud800", id="behind an escaped backslash"),
        pytest.param(rf'["\ud800", {2**200}]', ["\ufffd", 2**200], id="beside a huge integer"),
    ],
)  # fmt: skip
def test_half_a_surrogate_pair_is_mended(data: str, value: object) -> None:
    assert one(data) == Line(1, value, data.encode(), mended=True)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        pytest.param("hello", "not JSON: expected value at byte 1", id="no JSON"),
        pytest.param('{"a":1} x', "not JSON: trailing characters at byte 9", id="something after it"),
        pytest.param("{'a':1}", "not JSON: key must be a string at byte 2", id="Python's quotes"),
        pytest.param(b'{"a":"b\xffc"}', "invalid UTF-8 at byte 8", id="invalid UTF-8 in a string"),
        pytest.param(b'{"a":"\xed\xa0\x80"}', "invalid UTF-8 at byte 7", id="a surrogate in UTF-8"),
        pytest.param(b"\xff\xfe", "invalid UTF-8 at byte 1", id="no text at all"),
        pytest.param('{"a":NaN}', "NaN is not JSON", id="NaN"),
        pytest.param('[1, -Infinity]', "Infinity is not JSON", id="Infinity"),
        pytest.param(r'["\ud800", NaN]', "NaN is not JSON", id="NaN behind half a surrogate pair"),
        pytest.param('{"a": "b', "ends in the middle of a JSON value (a cut copy?)", id="cut in a string"),
        pytest.param('{"a": tr', "ends in the middle of a JSON value (a cut copy?)", id="cut in a literal"),
        pytest.param(r'{"a": "\ud8', "ends in the middle of a JSON value (a cut copy?)", id="cut in an escape"),
        pytest.param(r'["\ud800", 1', "ends in the middle of a JSON value (a cut copy?)", id="mended, and cut"),
        pytest.param(b'{"a": "\xc3', "ends in the middle of a JSON value (a cut copy?)", id="cut in a character"),
        pytest.param("[" * 300 + "]" * 300, "nested deeper than 200 levels", id="300 levels"),
        pytest.param("[" * 100_000, "nested deeper than 200 levels", id="100,000 levels, cut"),
        pytest.param(r'["\ud800",' + "[" * 5000 + "]" * 5001, "nested deeper than 200 levels", id="deep and mended"),
        pytest.param("9" * 5000, "a number of more than 4,300 digits", id="a number of 5,000 digits"),
        pytest.param("\ufeff{}", "not JSON: expected value at byte 1", id="a byte order mark in mid-file"),
    ],
)  # fmt: skip
def test_what_is_no_json_is_quarantined_with_its_reason(data: str | bytes, why: str) -> None:
    answer = one(data)
    assert isinstance(answer, Quarantined)
    assert answer.why == why


def test_one_bad_line_among_good_ones_costs_that_line_only() -> None:
    answers = list(decode(raw_lines("{}", "oops", "", "  \t", "[]")))
    assert [type(answer) for answer in answers] == [Line, Quarantined, Skipped, Skipped, Line]
    assert answers[2] == Skipped(3, "blank line")
    assert answers[1] == Quarantined(2, "not JSON: expected value at byte 1", "oops")


def test_a_faulty_line_keeps_its_fault_and_a_short_excerpt() -> None:
    (answer,) = decode([RawLine(7, b"\xff" + b"x" * 800, "longer than 64 MiB")])
    assert answer == Quarantined(7, "longer than 64 MiB", "\ufffd" + "x" * 199)


@given(st.binary(max_size=2000) | st.text().map(str.encode))
@settings(deadline=None)
def test_any_bytes_are_answered_line_by_line(data: bytes) -> None:
    try:
        lines = list(read_lines(STDIN, stdin=io.BytesIO(data)))
    except InputError:
        return
    answers = list(decode(lines))
    numbers = [answer.number if isinstance(answer, Line) else answer.line for answer in answers]
    assert numbers == [line.number for line in lines]
    assert all("\n" not in answer.why for answer in answers if isinstance(answer, Quarantined))


FRAGMENTS = st.sampled_from(["\\", "\\ud83d", "\\ude00", "\\uDBFF", "\\u0041", "\\n", "u", "d83d", "a", '"', "😀"])


@given(st.lists(FRAGMENTS).map("".join))
@settings(deadline=None)
def test_strings_are_read_as_by_the_standard_library_but_for_lone_surrogates(body: str) -> None:
    try:
        expected = json.loads(f'"{body}"')
    except ValueError:
        assert isinstance(one(f'"{body}"'), Quarantined)
        return
    answer = one(f'"{body}"')
    assert isinstance(answer, Line)
    assert answer.value == re.sub("[\ud800-\udfff]", "\ufffd", expected)
    assert answer.mended == (answer.value != expected)


@given(json_values)
@settings(deadline=None)
def test_every_json_value_comes_back(value: object) -> None:
    answer = one(json.dumps(value))
    assert isinstance(answer, Line)
    if not answer.mended:
        assert answer.value == value
