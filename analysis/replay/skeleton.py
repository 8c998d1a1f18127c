"""The skeleton of a piece of markup, and the class of a reason: what stays when names, texts and numbers are taken out.

Two findings that differ only in which tool is called with which arguments have the same skeleton.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from analysis.grammars import grammars

GAP = "…"
"""Stands for names, texts and numbers, as many as there were."""
READ = 400
"""Code points of a text that are looked at; of its skeleton `MOST` are kept."""
MOST = 160

_KEYS = frozenset(
    ("name", "arguments", "parameters", "function", "tool", "tool_name", "tool_calls", "action", "action_input",
     "input", "type", "id", "params", "args", "kwargs", "call")
)  # fmt: skip
"""Keys of a call in JSON."""
_WORD = re.compile(r"\w+")
_TOKEN = re.compile(
    r'(?P<text>"(?:[^"\\]|\\.)*+(?:"|\Z))|(?P<number>[-+]?\d[\w.]*+)|(?P<word>\w+)|(?P<blank>\s+)|.', re.DOTALL
)
_GAPS = re.compile(rf"{GAP}(?:[\s,.:;!?'()=/\\*#`~@$%^&+\-]*{GAP})+\)?")
_REPEATS = re.compile(r"(.{4,80}?)(?: ?\1)+")
_TAIL = re.compile(rf"{GAP}[\s.,:;!?]+\Z")
_TOKENS, _OPENERS = frozenset("|｜▁"), frozenset("<[")
"""What stands before a word of a special token, whatever it is; and before one that the vocabulary must know."""
_NAMES = re.compile(r"[\w.:/-]+")
_QUOTED = re.compile(r"\"[^\"]*+\"|'[^']*+'|`[^`]*+`|\b\d+\b")


def vocabulary(literals: Iterable[str]) -> frozenset[str]:
    """The words that belong to some call syntax: those of our grammars, of JSON calls, and of `literals`."""
    anchors = (anchor for grammar in grammars() for anchor in grammar.anchors)
    return frozenset(word for text in (*anchors, *literals) for word in _WORD.findall(text)).union(_KEYS)


@lru_cache(maxsize=4096)
def skeleton(markup: str, words: frozenset[str]) -> str:
    """The syntax of `markup`, of which `words` is the vocabulary."""
    text = markup[:READ]
    parts = [_part(text, token, words) for token in _TOKEN.finditer(text)]
    return _folded("".join(parts).strip())


def _part(text: str, token: re.Match[str], words: frozenset[str]) -> str:
    found = token[0]
    match token.lastgroup:
        case "text":
            return found if found[1:-1] in _KEYS and text[token.end() :].lstrip()[:1] == ":" else GAP
        case "number":
            return GAP
        case "blank":
            return " "
        case "word":
            return found if _is_syntax(text, token, words) else GAP
        case _:
            return found


def _is_syntax(text: str, token: re.Match[str], words: frozenset[str]) -> bool:
    """Whether the word stands as one of the syntax does, and not in prose that uses the same word."""
    before, after = text[max(0, token.start() - 2) : token.start()], text[token.end() : token.end() + 1]
    if before[-1:] in _TOKENS:
        return True
    return token[0] in words and (before[-1:] in _OPENERS or before == "</" or after == "=")


@lru_cache(maxsize=4096)
def _folded(parts: str) -> str:
    """Neighbouring gaps as one, and what repeats once."""
    one = _GAPS.sub(GAP, parts)[:READ]
    return _TAIL.sub(GAP, _REPEATS.sub(r"\1", one)[:MOST])


@lru_cache(maxsize=4096)
def reason_class(reason: str, names: frozenset[str]) -> str:
    """`reason` without the `names` of the called tools, without what it quotes and without numbers."""
    named = _NAMES.sub(lambda word: GAP if word[0].rstrip(".:") in names else word[0], reason[:READ])
    return _GAPS.sub(GAP, _QUOTED.sub(GAP, named))
