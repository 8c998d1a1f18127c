"""Hostile text, as it stands in logs of agents that read the open web: it must reach the pages as nothing but text."""

from typing import Any

from tests.api.conftest import LEAK

MARK = "window.pwned"
ATTACKS = {
    "turned around": "safe\u202egpj.exe\u2066\u200f end",
    "script tag": "<script>window.pwned=1;alert(1)</script>",
    "closing tags": "</pre></textarea></title></script></style><script>window.pwned=2;alert(2)</script>",
    "event handler": "<img src=x onerror=\"window.pwned=3;alert(3)\"><svg onload='window.pwned=3'>",
    "attribute breakers": "\" autofocus onfocus=\"window.pwned=4\" x='' onmouseover='window.pwned=4' `",
    "javascript: links": "javascript:window.pwned=5 <a href=\"javascript:window.pwned=5\">here</a>",
    "calls home": "<img src=//evil.example/a><link rel=stylesheet href=//evil.example/b><iframe src=//evil.example/c>",
    "takes over": "<base href=//evil.example><meta http-equiv=refresh content=\"0;url=//evil.example\">",
    "hides the page": "<style>*{display:none!important}</style><form action=//evil.example><!-- <plaintext>",
    "template syntax": "{{7*7}} {% for x in y %} ${7*7} #{7*7} <%= 7*7 %> {{request.app.state}} %s %(x)s",
    "terminal codes": "\x1b[31mred\x1b]8;;http://evil.example\x07link\x9b2J\x08\r",
    "unseen": "a\u200bb\ufeffc\u2028d\x00e\U000e0041",
    "stacked": "Z" + "\u0300\u0489" * 60,
}  # fmt: skip
ALL = " ".join(ATTACKS.values())
WIDE = "W" * 3_000
"""A word that no window holds."""
RUNS = {
    "attacks": ALL,
    "wide": WIDE,
    "parent folders": "../../v1/uploads/1",
    "encoded parent": "%2e%2e/%2e",
    "two dots": "..",
    "one dot": ".",
    "another server": "//evil.example/runs",
    "scheme": "javascript:window.pwned=6",
    "query and fragment": "a?where=x&b#c;d",
    "backslashes": "\\\\evil.example\\share",
    "quotes and spaces": ' "it\'s" `so` ',
    "percent": "100% %zz %00",
    "lines": "first\nsecond\tthird",
    "not Latin": "דוח-١٢٣-報告-😀",
}
"""Run ids, by what is special of each."""
MEGABYTE = 2**20
LONG_RUN = "a megabyte in one line"


def records() -> list[dict[str, Any]]:
    """Native records with all of that in every field that a producer fills freely."""
    found = [record for number, run_id in enumerate(RUNS.values()) for record in _run(number, run_id)]
    return [*found, *_long(), _bare("markup", "<tool_call>"), _bare("words", f"{ALL}\nI will not call anything.")]


def alarming() -> list[dict[str, Any]]:
    """A line of hostile names on which a leak is seen for the first time after its baseline."""
    line = {"client": f"watched {ALL} {WIDE}"}
    quiet = [
        _generation(f"quiet {at}", content="All is well.", started_at=f"2026-09-{at:02}", **line) for at in range(1, 12)
    ]
    return [*quiet, _generation("loud", content=LEAK, started_at="2026-11-01", **line)]


def _generation(run_id: str, **fields: Any) -> dict[str, Any]:
    series = ("model", "provider", "engine", "engine_version", "template", "tool_parser", "client", "client_version")
    return {
        "type": "generation",
        "run_id": run_id,
        "started_at": "2026-11-01T12:00:00Z",
        **{name: f"{name} {ALL} {WIDE}" for name in series},
        "tools": [{"name": "ls", "description": ALL}, {"name": ALL}, {"name": WIDE}],
        "finish_reason": f"{ALL} {WIDE}",
        "tags": {ALL: ALL},
        "raw_text": f"{ALL} {WIDE}",
        **fields,
    }


def _run(number: int, run_id: str) -> list[dict[str, Any]]:
    """A leak, then a structured call, both hostile; what a client reported; a label with a note, and
    two that contradict each other."""
    leak_id, call_id = f"{number} {ALL}", f"{number} {WIDE}"
    call = {"id": ALL, "name": f"{ALL} {WIDE}", "arguments": f"{ALL} {WIDE}"}
    day = f"2026-11-{number + 1:02}T12:00:00Z"
    event = {"type": "leaked_tool_call", "run_id": run_id, "markup": f"{ALL} {WIDE}", "leak": 1, "retried": True}
    return [
        _generation(
            run_id, round=0, generation_id=leak_id, content=f"{ALL}\n{WIDE}\n\n{LEAK}\n\n{ALL}",
            reasoning=f"{ALL}\n\n{LEAK}", started_at=day, engine_version=f"{number} {ALL} {WIDE}",
        ),
        _generation(run_id, round=1, generation_id=call_id, content=None, tool_calls=[call], started_at=day),
        {**event, "round": 0, "detector": f"{ALL} {WIDE}"},
        {**event, "round": 7},
        {"type": "label", "run_id": run_id, "generation_id": leak_id, "leak": True, "by": ALL, "note": f"{ALL} {WIDE}"},
        {"type": "label", "run_id": run_id, "generation_id": call_id, "leak": True, "by": WIDE, "note": ALL},
        {"type": "label", "run_id": run_id, "generation_id": call_id, "leak": False, "by": f"{ALL} {WIDE}"},
    ]  # fmt: skip


def _long() -> list[dict[str, Any]]:
    """A megabyte without a line end in content, reasoning, a call's name and its arguments."""
    half = "<b>" * (MEGABYTE // 6)
    call = {"id": "c", "name": "ls" * (MEGABYTE // 2), "arguments": "{" * MEGABYTE}
    long = half + f"\n{LEAK}\n" + half
    return [
        _generation(LONG_RUN, generation_id="content", round=0, content=long, reasoning=half),
        _generation(LONG_RUN, generation_id="call", round=1, content=None, tool_calls=[call]),
    ]


def _bare(generation_id: str, content: str) -> dict[str, Any]:
    return _generation("plain", generation_id=generation_id, content=content)


BAD_LINES = [
    ALL.replace("\r", "").replace("\n", "").encode(),
    b"{" + b"<script>window.pwned=9;</script>" * (MEGABYTE // 30),
    b'{"type": "' + WIDE.encode() + b'"}',
    b'{"type": "generation", "run_id": 7, "<script>window.pwned=9</script>": 1, "content": "x"}',
    b"\xff\xfe<img src=x onerror=window.pwned=9>",
]
"""Lines that no reader understands, one of a megabyte."""
FILE_NAMES = {
    "attacks": ALL.replace("\r", "").replace("\x00", ""),
    "wide": f"{WIDE[:249]}.jsonl",
    "parent folders": "../../../etc/passwd",
    "encoded": "%2e%2e%2f<b>.jsonl",
    "quotes": '"it\'s" & <i>so</i>.jsonl',
    "turned around": "log\u202elnosj.exe",
}
"""What an uploaded file may be called."""
