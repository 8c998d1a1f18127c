"""Foundry Local's rules in both directions: what is recoverable, what is rejected and why, what is a valid call."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.detectors import Finding, judge
from analysis.detectors.foundry import FOUNDRY
from analysis.foundry_decoder import CANDIDATE_BYTES
from analysis.foundry_framing import Batch, batch_at, blocks_of
from analysis.output import Call, OfferedTool, Output

TOOLS = (
    OfferedTool(
        "note",
        {
            "type": "object",
            "properties": {
                "text": {"type": "string"},
                "stars": {"type": "integer"},
                "tags": {"type": "array", "items": {"type": "string"}},
                "place": {"type": "object", "properties": {"room": {"type": "string"}}},
                "done": {"type": "boolean"},
                "mood": {"type": "string", "enum": ["good", "bad"]},
            },
            "required": ["text"],
        },
    ),
    OfferedTool("ping", {"type": "object"}),
    OfferedTool("unknown_schema"),
)


def block(*parameters: tuple[str, str], name: str = "note") -> str:
    inner = "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in parameters)
    return f"<tool_call>\n<function={name}>\n{inner}</function>\n</tool_call>"


GOOD = block(("text", "hello"))
TITLE = "<tool_call>\n<function=note>\n<text>hello </parameter>\n</function>\n</tool_call>"
UNDECLARED = block(("text", "hello"), name="nope")


def foundry(text: str, **change: Any) -> Finding | None:
    return FOUNDRY.find(replace(Output(content=text, tools=TOOLS), **change))


def found_in(text: str, **change: Any) -> Finding:
    found = foundry(text, **change)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        pytest.param(TITLE, "malformed_call", id="a tag named after the key"),
        pytest.param(GOOD.replace("\n</parameter>", "\n</text>"), "malformed_call", id="closed by the key's name"),
        pytest.param(GOOD.replace("</parameter>\n", ""), "malformed_call", id="the parameter does not close"),
        pytest.param(GOOD.replace("<parameter=text>", '<parameter name="text">'), "malformed_call", id="an attribute"),
        pytest.param(GOOD.replace("text>\n", "text>"), "malformed_call", id="no line feed behind the key"),
        pytest.param(
            GOOD.replace("\n</parameter>", "</parameter>"), "malformed_call", id="no line feed behind the value"
        ),
        pytest.param(GOOD.replace("</function>\n", "</function>"), "malformed_call", id="no line feed in the closers"),
        pytest.param(GOOD.replace("</function>\n", ""), "malformed_call", id="the function does not close"),
        pytest.param(
            '<tool_call>\n<function=note>\n{"text": "hello"}\n</function>\n</tool_call>',
            "malformed_call",
            id="a JSON body",
        ),
        pytest.param(GOOD.removesuffix("</tool_call>"), "truncated_call", id="the envelope does not close"),
        pytest.param(GOOD[:50], "truncated_call", id="cut in a value"),
        pytest.param("<tool_call>\n<function=note>\n", "truncated_call", id="cut behind the name"),
        pytest.param("<tool_call>\n<function=note>\n<param", "truncated_call", id="cut in a key"),
        pytest.param(
            block(("text", "hello"), ("stars", "3")).removesuffix("\n</tool_call>"),
            "truncated_call",
            id="cut in closers",
        ),
        pytest.param(GOOD.replace("</function>", "\n</function>"), "malformed_call", id="a blank line too many"),
        pytest.param("<tool_call>\n<function=ping>\n</tool_call>", "malformed_call", id="no parameters and no end"),
    ],
)
def test_what_is_recoverable(text: str, kind: str) -> None:
    found = found_in(f"So: {text}\n")
    assert (found.kind, found.tier, found.family) == (kind, "certain", "qwen3_coder_xml")
    assert found.tool in ("note", "ping")
    assert found.reason.startswith("recoverable")
    assert found.calls == ()
    assert f"So: {text}\n"[found.start : found.end] == text.rstrip()
    assert found.markup == text.rstrip()


REJECTED = [
    pytest.param(UNDECLARED, "leaked_call", "nope was not offered", id="an undeclared tool"),
    pytest.param(UNDECLARED[:55], "truncated_call", "nope was not offered", id="an undeclared tool, cut"),
    pytest.param(TITLE.replace("note", "nope"), "malformed_call", "nope was not offered", id="and one that breaks"),
    pytest.param(block(name="unknown_schema"), "leaked_call", "no schema of unknown_schema", id="no schema"),
    pytest.param(TITLE.replace("note", "unknown_schema"), "malformed_call", "no schema", id="no schema, broken"),
    pytest.param(block(("text", "a"), ("sars", "1")), "leaked_call", "no parameter sars", id="an unknown parameter"),
    pytest.param(block(("text", "a"), ("Text", "b")), "leaked_call", "no parameter Text", id="another case"),
    pytest.param(
        block(("txt", "a")).replace("</function>\n", ""),
        "malformed_call",
        "no parameter txt",
        id="unknown, then broken",
    ),
    pytest.param(
        "<tool_call>\n<function=note>\n<parameter=txt>\nhel", "truncated_call", "no parameter txt", id="unknown, cut"
    ),
    pytest.param(block(("text", "a"), ("text", "b")), "leaked_call", "text is given twice", id="a duplicate"),
    pytest.param(
        block(("text", "a")).replace("</function>", "<parameter=text>\nb\n</function>"),
        "malformed_call",
        "text is given twice",
        id="a duplicate that does not close",
    ),
    pytest.param(block(("stars", "1")), "leaked_call", "required parameter text", id="a required one is missing"),
    pytest.param(block(), "leaked_call", "required parameter text", id="all are missing"),
    pytest.param(block(("text", "a"), ("stars", "three")), "leaked_call", "value of stars", id="a word for a number"),
    pytest.param(
        block(("text", "a"), ("stars", "1.5")), "leaked_call", "value of stars", id="a fraction for an integer"
    ),
    pytest.param(block(("text", "a"), ("tags", "a, b")), "leaked_call", "value of tags", id="no JSON for an array"),
    pytest.param(block(("text", "a"), ("tags", "[1]")), "leaked_call", "value of tags", id="elements of a wrong type"),
    pytest.param(block(("text", "a"), ("tags", '["a"')), "leaked_call", "value of tags", id="a cut array"),
    pytest.param(
        block(("text", "a"), ("tags", "[" * 10_000)), "leaked_call", "value of tags", id="ten thousand levels"
    ),
    pytest.param(
        block(("text", "a"), ("place", '{"room": 1}')), "leaked_call", "value of place", id="within an object"
    ),
    pytest.param(
        block(("text", "a"), ("place", '{"room": "1", "room": "2"}')),
        "leaked_call",
        "value of place",
        id="a member twice",
    ),
    pytest.param(block(("text", "a"), ("mood", "fair")), "leaked_call", "value of mood", id="none of the values"),
    pytest.param(
        block(("stars", "x")).replace("</function>\n", ""), "malformed_call", "value of stars", id="unfit, then broken"
    ),
    *(
        pytest.param(block(("text", f"use {tag} here")), "malformed_call", "holds markup", id=f"{tag} in a value")
        for tag in ("<tool_call>", "<function=x>", "</function>", "<parameter=x>", "</parameter>")
    ),
    pytest.param(
        block(("text", "a"), ("stars", "1")).replace("</parameter>\n", "", 1),
        "malformed_call",
        "holds markup",
        id="one closer for two parameters",
    ),
    pytest.param(f"{GOOD}\n{UNDECLARED}", "leaked_call", "mixes valid and invalid", id="valid, then rejected"),
    pytest.param(f"{UNDECLARED}\n{GOOD}", "leaked_call", "mixes valid and invalid", id="rejected, then valid"),
    pytest.param(f"{GOOD} {TITLE}", "malformed_call", "mixes valid and invalid", id="valid, then broken"),
    pytest.param(f"{TITLE}\n\n{GOOD}", "malformed_call", "mixes valid and invalid", id="broken, then valid"),
    pytest.param(f"{GOOD}\n{GOOD[:40]}", "truncated_call", "mixes valid and invalid", id="valid, then cut"),
    pytest.param(
        f"{UNDECLARED}\n{TITLE}", "malformed_call", "nope was not offered", id="the first invalid one decides"
    ),
    pytest.param(GOOD.replace("\n", "\r\n"), "malformed_call", "exact frame was not entered", id="carriage returns"),
    pytest.param(TITLE.replace("\n", ""), "malformed_call", "exact frame was not entered", id="all in one line"),
    pytest.param(
        TITLE.replace("<function=note>", "<function= note>"), "malformed_call", "not entered", id="a blank name"
    ),
    pytest.param('<tool_call>\n{"name": "note"}\n</tool_call>', "malformed_call", "not entered", id="a Hermes call"),
    pytest.param("<tool_call>\n<function=note>", "truncated_call", "not entered", id="cut before the frame is entered"),
    pytest.param("<tool_call> opens each call.", "truncated_call", "not entered", id="a word about the opener"),
]


@pytest.mark.parametrize(("text", "kind", "reason"), REJECTED)
def test_what_is_rejected_is_listed_with_its_reason(text: str, kind: str, reason: str) -> None:
    found = found_in(text)
    assert (found.kind, found.tier, found.leak) == (kind, "possible", False)
    assert found.reason.startswith("rejected")
    assert reason in found.reason
    assert found.calls == ()
    assert text[found.start : found.end] == text


def test_the_closer_of_the_envelope_in_a_value_is_reserved_too() -> None:
    text = block(("text", "write </tool_call> here"))
    found = found_in(text)
    assert (found.tier, "holds markup" in found.reason) == ("possible", True)
    assert found.markup == text[: text.index(" here")]


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        pytest.param(GOOD, '{"text": "hello"}', id="a string"),
        pytest.param(block(("text", "")), '{"text": ""}', id="an empty value"),
        pytest.param(
            block(("text", "a\n\nb > c\n```\n")), '{"text": "a\\n\\nb > c\\n```\\n"}', id="lines, and a fence"
        ),
        pytest.param(block(("stars", "3"), ("text", "3")), '{"stars": 3, "text": "3"}', id="a number and its text"),
        pytest.param(block(("text", "a"), ("tags", '["x"]')), '{"text": "a", "tags": ["x"]}', id="an array"),
        pytest.param(
            block(("text", "a"), ("place", '{"room": "b"}')), '{"text": "a", "place": {"room": "b"}}', id="an object"
        ),
        pytest.param(block(("text", "a"), ("done", "True")), '{"text": "a", "done": true}', id="a boolean of Python"),
        pytest.param(block(("text", "a"), ("mood", "bad")), '{"text": "a", "mood": "bad"}', id="one of the values"),
    ],
)
def test_a_valid_call_is_listed_with_what_it_calls(text: str, arguments: str) -> None:
    found = found_in(f"Text.\n\n{text}\nMore.")
    assert (found.kind, found.tier, found.calls) == ("leaked_call", "possible", (Call("note", arguments),))
    assert found.reason.startswith("a valid call")
    assert found.markup == text


def test_a_valid_batch_holds_all_its_calls() -> None:
    text = f"{GOOD}\n\t {block(name='ping')}{GOOD}"
    found = found_in(text)
    assert [call.name for call in found.calls] == ["note", "ping", "note"]
    assert found.markup == text[:200]
    assert (found.start, found.end) == (0, len(text))


@pytest.mark.parametrize(
    ("text", "markup"),
    [
        pytest.param(f"{GOOD}\nNow:\n{TITLE}\nDone.", TITLE, id="a recoverable candidate before a valid one"),
        pytest.param(f"{UNDECLARED}\nNow:\n{TITLE}", TITLE, id="and before a rejected one"),
        pytest.param(f"{TITLE}\nNow:\n{TITLE[:40]}", TITLE, id="the first of two"),
        pytest.param(f"{GOOD}\nNow:\n{UNDECLARED}", GOOD, id="else the first of all"),
        pytest.param(f"{TITLE}\n{TITLE}", f"{TITLE}\n{TITLE}", id="one batch, broken twice"),
        pytest.param(f"```\n{TITLE}\n```\n{TITLE[:60]}", TITLE[:60].rstrip(), id="the fenced one is passed over"),
    ],
)
def test_which_candidate_is_reported(text: str, markup: str) -> None:
    assert found_in(text).markup == markup


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param(TITLE.removeprefix("<tool_call>\n"), id="the opener is missing"),
        pytest.param(f"```\n{TITLE}\n```", id="fenced"),
        pytest.param(f"~~~xml\n{TITLE}", id="in a fence that does not close"),
        pytest.param("<tool_calls>\n<function=note>", id="another envelope"),
        pytest.param("<TOOL_CALL>\n<function=note>\n", id="another case"),
    ],
)
def test_what_is_no_candidate(text: str) -> None:
    assert foundry(text) is None


@pytest.mark.parametrize(
    ("change", "tier"),
    [
        pytest.param({}, "certain", id="tools known"),
        pytest.param({"tools": ()}, None, id="no tools offered"),
        pytest.param({"tools": (OfferedTool("note"),)}, "possible", id="the tool's schema is not known"),
        pytest.param({"tools": None}, "possible", id="tools unknown"),
        pytest.param(
            {"tools": None, "inferred_names": frozenset({"note"})}, "possible", id="an inferred name has no schema"
        ),
        pytest.param({"calls": (Call("ping", "{}"),)}, "certain", id="a structured call changes nothing"),
        pytest.param({"finish_reason": "length"}, "certain", id="nor does the finish reason"),
        pytest.param({"content": "Done.", "reasoning": TITLE}, None, id="reasoning is not scanned"),
        pytest.param({"content": f"`{TITLE}`"}, "certain", id="inline code protects nothing"),
    ],
)
def test_the_gates(change: dict[str, Any], tier: str | None) -> None:
    found = foundry(TITLE, **change)
    assert (found.tier if found else None) == tier


def test_unknown_tools_cost_no_more_than_the_tier_they_leave() -> None:
    for names in (frozenset[str](), frozenset({"note"})):
        found = judge(FOUNDRY, Output(content=TITLE, inferred_names=names))
        assert found is not None
        assert found.tier == "possible"
        assert ("not known" if not names else "no schema") in found.reason


def of_property(schema: object) -> dict[str, Any]:
    return {"type": "object", "properties": {"text": schema}}


@pytest.mark.parametrize(
    ("schema", "supported"),
    [
        *(pytest.param(of_property({"type": each}), True, id=each) for each in ("string", "number", "null", "array")),
        pytest.param(of_property({"type": "object", "properties": {"a": {"anyOf": [{}]}}}), True, id="deep anyOf"),
        pytest.param({"type": "object"}, True, id="no properties"),
        pytest.param({**of_property({"type": "string"}), "additionalProperties": False}, True, id="closed"),
        pytest.param({}, False, id="an empty schema"),
        pytest.param({"properties": {"text": {"type": "string"}}}, False, id="no type"),
        pytest.param({"type": "array"}, False, id="an array schema"),
        pytest.param({"type": ["object", "null"]}, False, id="two types"),
        pytest.param(of_property({}), False, id="a property without a type"),
        pytest.param(of_property(True), False, id="a property that is true"),
        pytest.param(of_property({"type": ["string", "null"]}), False, id="a property of two types"),
        pytest.param(of_property({"anyOf": [{"type": "string"}]}), False, id="a property of alternatives"),
        pytest.param(of_property({"type": "string", "not": {"const": "a"}}), False, id="a property with not"),
        pytest.param({**of_property({"type": "string"}), "oneOf": [{}]}, False, id="alternatives at the top"),
        pytest.param(
            {**of_property({"$ref": "#/$defs/t"}), "$defs": {"t": {"type": "string"}}}, False, id="a reference"
        ),
        pytest.param(
            {**of_property({"type": "array", "items": {"$ref": "#/$defs/t"}}), "$defs": {"t": {"type": "string"}}},
            False,
            id="a reference in depth",
        ),
        pytest.param(of_property({"type": "text"}), False, id="no such type"),
        pytest.param({**of_property({"type": "string"}), "required": "text"}, False, id="not a schema"),
        pytest.param({"type": "object", "properties": []}, False, id="properties that are a list"),
    ],
)
def test_the_schemas_that_are_supported(schema: dict[str, Any], supported: bool) -> None:
    text = "<tool_call>\n<function=note>\n<text>hello </parameter>\n</function>\n</tool_call>"
    found = found_in(text, tools=(OfferedTool("note", schema),))
    assert found.leak == supported
    assert supported or "is not one that the decoder supports" in found.reason


@pytest.mark.parametrize(
    ("filler", "fits"),
    [
        pytest.param("x" * (CANDIDATE_BYTES - len(block(("text", "")))), True, id="64 KiB"),
        pytest.param("x" * (CANDIDATE_BYTES - len(block(("text", ""))) + 1), False, id="one byte more"),
        pytest.param("é" * (CANDIDATE_BYTES // 2), False, id="bytes count, not characters"),
    ],
)
def test_an_oversized_candidate_is_rejected(filler: str, fits: bool) -> None:
    assert (len(found_in(block(("text", filler))).calls) == 1) == fits
    broken = found_in(block(("text", filler)).replace("</parameter>", "</parametre>"))
    assert broken.leak == fits
    assert fits or f"longer than {CANDIDATE_BYTES} bytes" in broken.reason


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("a.*[b]+(c)?", id="regex characters"),
        pytest.param("données_読む", id="Unicode"),
        pytest.param("mcp__x-y/z:1", id="punctuation"),
        pytest.param("a\0b", id="a NUL"),
        pytest.param("a\ud800", id="a lone surrogate"),
    ],
)
def test_names_are_taken_as_they_are(name: str) -> None:
    tools = (OfferedTool(name, {"type": "object"}), *(OfferedTool(f"t{at}", {"type": "x"}) for at in range(5_000)))
    found = found_in(f"<tool_call>\n<function={name}>\n<x>\n</tool_call>", tools=tools)
    assert (found.tool, found.tier) == (name, "certain")
    other = found_in(f"<tool_call>\n<function={name}x>\n<x>\n</tool_call>", tools=tools)
    assert other.tier == "possible"


def test_a_lone_surrogate_fits_no_schema_and_a_nul_does() -> None:
    assert "value of text" in found_in(block(("text", "a\ud800"))).reason
    assert found_in(block(("text", "a\0"))).calls == (Call("note", '{"text": "a\\u0000"}'),)


PIECES = (
    "<tool_call>",
    "</tool_call>",
    "<function=note>",
    "<function=nope>",
    "</function>",
    "<parameter=text>",
    "<parameter=stars>",
    "</parameter>",
    "\n",
    "\r\n",
    " ",
    "1",
    "word",
    "\n```\n",
    "`",
    "\ud800",
)
TEXTS = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)


@given(text=TEXTS)
def test_blocks_cover_a_batch_in_order_and_a_whole_block_is_written_back_exactly(text: str) -> None:
    start = text.find("<tool_call>")
    if start < 0:
        return
    batch = batch_at(text, start)
    assert text[start : batch.end].endswith("</tool_call>") if batch.closed else batch.end == len(text)
    for each in blocks_of(text, batch):
        if each.broken is None:
            written = block(*((key, value or "") for key, value in each.parameters), name=each.name or "")
            assert written in text[batch.start : batch.end]


@given(text=TEXTS, before=st.sampled_from(["", "Words first. ", "\n\n"]))
def test_words_before_it_move_a_finding_and_change_nothing_else(text: str, before: str) -> None:
    text = f"<tool_call>\n{text}".replace("`", "'")
    plain, moved = found_in(text), found_in(before + text)
    assert (plain.kind, plain.tier, plain.reason, plain.calls) == (moved.kind, moved.tier, moved.reason, moved.calls)
    assert (plain.start + len(before), plain.end + len(before)) == (moved.start, moved.end)


@given(cut=st.integers(1, len(GOOD) - 1))
def test_every_cut_behind_the_name_is_recoverable_and_none_before_it(cut: int) -> None:
    found = foundry(GOOD[:cut])
    assert (found is not None) == (cut >= len("<tool_call>"))
    if found is not None:
        assert found.leak == (cut >= len("<tool_call>\n<function=note>\n"))
        assert found.kind == "truncated_call"


def test_an_unclosed_batch_runs_to_the_end() -> None:
    assert batch_at("a<tool_call> b", 1) == Batch(1, 14, closed=False)
    assert batch_at("<tool_call></tool_call> <tool_call> b", 0) == Batch(0, 37, closed=False)
    assert batch_at("<tool_call></tool_call> b <tool_call>", 0) == Batch(0, 23, closed=True)
