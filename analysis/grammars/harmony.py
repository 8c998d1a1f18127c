"""gpt-oss channels and recipients, with their tokens and without; Functionary's recipients."""

import re
from collections.abc import Iterator

from analysis.grammars import Grammar
from analysis.reading import Damage, Reading, Scan, TextCall, damages, skip_blanks
from analysis.reading.json_values import Arguments, read_arguments

_NAME = r"[^\W\d][\w./:-]{0,127}+"
_TO = re.compile(
    rf"(?<![\w.-])to=(?P<full>(?:functions\.)?(?P<name>{_NAME}))(?P<gap>[^{{}}\n]{{0,120}}+\n?\s*)(?=\{{|\Z)"
)
_LEAD = re.compile(r"(?:<\|start\|>)?(?:assistant)?\s*(?:<\|channel\|>)?\s*(?:commentary|analysis|final)?\s*\Z")
_LEAD_LIMIT = 64
_LEAD_WORDS = re.compile(r"<\|start\|>|<\|channel\|>|assistant|commentary|analysis|final")
_NO_RECIPIENT = re.compile(r"<\|channel\|>commentary\s*(?:<\|constrain\|>\s*json)?<\|message\|>\s*+(?=\{)")
_CLOSE = re.compile(r"\s*<\|(?:call|end|return)\|>")
_RECIPIENT = re.compile(rf"(?:<\|from\|>assistant\s*)?<\|recipient\|>\s*(?P<name>{_NAME})\s*<\|content\|>\s*+")
_TOKENS = re.compile(r"<\|(?:channel|message|constrain|start)\|>")
_NOISE = re.compile(r"[^\x00-\x7f]|\+#|\(")
_NOT_TOOLS = {"assistant", "user", "all", "commentary", "analysis", "final"}


def _read(scan: Scan) -> Iterator[Reading]:
    for pattern, one in ((_TO, _harmony), (_NO_RECIPIENT, _no_recipient), (_RECIPIENT, _functionary)):
        position = 0
        while (head := pattern.search(scan.text, position)) is not None:
            if not scan.charge(head.end() - position, 4):
                return
            position = max(head.end(), position + 1)
            reading = one(scan, head)
            if reading:
                yield reading
                position = max(position, reading.end)


def _harmony(scan: Scan, head: re.Match[str]) -> Reading | None:
    lead = _lead(scan.text, head.start())
    tokens = bool(_TOKENS.search(lead) or _TOKENS.search(head["gap"]))
    if not (tokens or _LEAD_WORDS.search(lead) or head["full"].startswith("functions.")):
        return None
    read = read_arguments(scan, head.end())
    if read is None and not tokens:
        return None
    end = read.end if read else len(scan.text)
    close = _CLOSE.match(scan.text, end)
    tool = head["name"] not in _NOT_TOOLS
    damage = (read.damage if read else damages("cut")) | _frame(lead, head["gap"], tokens=tokens, tool=tool)
    calls = (_call(scan, head, head.start("full"), read),) if tool else ()
    return Reading("harmony", head.start() - len(lead.lstrip()), close.end() if close else end, calls, damage)


def _lead(text: str, at: int) -> str:
    """The channel and role before the recipient."""
    lead = _LEAD.search(text[max(0, at - _LEAD_LIMIT) : at])
    return lead[0] if lead else ""


def _frame(lead: str, gap: str, *, tokens: bool, tool: bool) -> frozenset[Damage]:
    """What is wrong with the header, by what stands before the recipient and behind it."""
    return damages(
        None if tokens else "stripped",
        "opener_missing" if tokens and "<|channel|>" not in lead and "<|channel|>" not in gap else None,
        "closer_missing" if tokens and "<|message|>" not in gap else None,
        "noise" if _NOISE.search(gap) else None,
        None if tool else "wrong_header",
    )


def _call(scan: Scan, head: re.Match[str], start: int, read: Arguments | None) -> TextCall:
    if read is None:
        return TextCall(head["name"], None, start, len(scan.text))
    return TextCall(head["name"], read.value, start, read.end, read.closed, arguments_text=read.text)


def _no_recipient(scan: Scan, head: re.Match[str]) -> Reading | None:
    read = read_arguments(scan, head.end())
    if read is None:
        return None
    close = _CLOSE.match(scan.text, read.end)
    end = close.end() if close else read.end
    return Reading("harmony", head.start(), end, (), read.damage | {"wrong_header"})


def _functionary(scan: Scan, head: re.Match[str]) -> Reading | None:
    if head["name"] in _NOT_TOOLS:
        return None
    at = skip_blanks(scan.text, head.end())
    read = read_arguments(scan, at)
    if read is None and at < len(scan.text):
        return None
    missing = damages(None if head[0].startswith("<|from|>") else "opener_missing")
    damage = (read.damage if read else damages("cut")) | missing
    end = read.end if read else len(scan.text)
    return Reading("functionary_v2", head.start(), end, (_call(scan, head, head.start("name"), read),), damage)


HARMONY = Grammar(
    families=("harmony", "functionary_v2"),
    anchors=(
        "to=functions.", "<|channel|>", "<|recipient|>", "<|message|>", "<|constrain|>", "<|start|>", "assistant to=",
        "commentary to=", "analysis to=", "final to=",
    ),
    read=_read,
    examples={
        "harmony": '<|channel|>commentary to=functions.look <|constrain|>json<|message|>{"at": "sky"}<|call|>',
        "functionary_v2": '<|from|>assistant\n<|recipient|>look\n<|content|>{"at": "sky"}',
    },
)  # fmt: skip
