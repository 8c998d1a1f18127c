"""Keys, tokens, e-mail addresses and home folders taken out of a log before anything of it is hashed or stored.

Every text of a record is searched, whatever its key. What is found becomes a plain marker, `[redacted-key]`,
`[redacted-email]`, `[redacted-home]`, `[redacted-1]` for the first pattern of a user. User patterns are in the syntax
of Rust's regex crate (through Polars), which has no look-around and no back-references and is linear in the text.
Sources of the key shapes: the prefixes that OpenAI, Anthropic, GitHub, Slack, Google, AWS, Hugging Face and GitLab
document for their secrets, and our own; RFC 6750 (Bearer), RFC 7519 (JWT), RFC 7468 (PEM).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import polars as pl
from pydantic_core import to_json

from ingest.errors import UsageError
from ingest.formats import Line, Quarantined

MARK = "[redacted-"
MOST = 50
"""Patterns of a user."""

_KEY = (
    r"(?<![A-Za-z0-9_-])(?:sk-(?:ant-|proj-|or-)?[A-Za-z0-9_-]{16,200}|gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_[A-Za-z0-9_]{22,255}"
    r"|xox[abprs]-[A-Za-z0-9-]{10,200}|AIza[0-9A-Za-z_-]{35}|(?:AKIA|ASIA)[0-9A-Z]{16}|hf_[A-Za-z0-9]{20,100}"
    r"|leakdown_[0-9a-f]{64}|glpat-[A-Za-z0-9_-]{20,100}|lsv2_[a-z]{2}_[A-Za-z0-9_]{20,200}|eyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10,4000}"
    r"\.[A-Za-z0-9_-]{10,1000})"
)
_NAMED = (
    r"(?P<named>(?<![A-Za-z])(?:[Bb]earer|[Bb]asic)\s{1,3}"
    r"|(?i:api[_-]?key|secret[_-]?key|access[_-]?token|auth[_-]?token|password|passwd)[\"']{0,2}\s{0,3}[:=]\s{0,3}[\"']{0,2})"
    r"[A-Za-z0-9+/_.~-]{8,4000}={0,2}"
)
_PEM = r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[A-Za-z0-9+/=\\\s]{0,20000}(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?"
_EMAIL = r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}"
_HOME = r"(?P<home>(?:/home/|/Users/|[A-Za-z]:\\{1,4}Users\\{1,4}))[^/\\\s\"'<>:;,)\[\]}]{1,64}"
_FOUND = re.compile(f"(?P<key>{_PEM}|{_KEY}|{_NAMED})|(?P<email>{_EMAIL})|{_HOME}")
_HINTS = re.compile(
    r"@|sk-|gh[pousr]_|github_pat|xox|AIza|AKIA|ASIA|hf_|leakdown_|glpat|lsv2|eyJ|/home/|Users|PRIVATE KEY|earer|asic"
    r"|(?i:api|secret|token|passw)"
)
_SECRET_KEYS = re.compile(
    r"(?i)^(?:.*[_-])?(?:api[_-]?key|secret|password|passwd|authorization|access[_-]?token|auth[_-]?token)$"
)
"""Keys of an object whose text value is a secret, whatever it looks like."""


class Redactor:
    """Takes secrets out of decoded records."""

    def __init__(self, patterns: Sequence[str] = ()) -> None:
        """UsageError for a pattern that is none of the linear syntax, or for too many."""
        if len(patterns) > MOST:
            raise UsageError(f"{len(patterns)} patterns to redact; give at most {MOST}")
        for pattern in patterns:
            _check(pattern)
        self._patterns = tuple(patterns)

    def line(self, line: Line) -> Line:
        """A decoded line without what is secret, its bytes too."""
        value = self.value(line.value)
        return replace(line, value=value, raw=to_json(value))

    def quarantined(self, item: Quarantined) -> Quarantined:
        """A line in quarantine, whose excerpt holds nothing secret."""
        return replace(item, excerpt=self.value(item.excerpt))

    def value(self, value: Any) -> Any:
        """A JSON value with every text in it redacted."""
        texts: list[str] = []
        shape = _taken(value, texts)
        if self._patterns and texts:
            series = pl.Series(texts, dtype=pl.String)
            for number, pattern in enumerate(self._patterns, 1):
                series = series.str.replace_all(pattern, f"{MARK}{number}]")
            texts = series.to_list()
        return _put(shape, iter(texts))


def _check(pattern: str) -> None:
    try:
        pl.Series([""]).str.contains(pattern)
    except pl.exceptions.ComputeError as fault:
        why = " ".join(str(fault).split())[:200]
        raise UsageError(f"--redact-pattern {pattern!r}: {why}; write it in the syntax of Rust's regex") from None


def text(value: str) -> str:
    """A text with keys, e-mail addresses and home folders as markers."""
    return _FOUND.sub(_marker, value) if _HINTS.search(value) else value


def _marker(found: re.Match[str]) -> str:
    if found["home"]:
        return f"{found['home']}{MARK}home]"
    return f"{MARK}email]" if found["email"] else f"{found['named'] or ''}{MARK}key]"


_TEXT = object()
"""Stands in a shape where a text was."""


def _taken(value: Any, texts: list[str], key: str = "") -> Any:
    """`value` without its texts, which go to `texts`, redacted, in order."""
    match value:
        case str():
            secret = value and _SECRET_KEYS.match(key)
            texts.append(f"{MARK}key]" if secret else text(value))
            return _TEXT
        case dict():
            return {text(name): _taken(part, texts, name) for name, part in value.items()}
        case list():
            return [_taken(part, texts, key) for part in value]
        case _:
            return value


def _put(shape: Any, texts: Iterator[str]) -> Any:
    if shape is _TEXT:
        return next(texts)
    if isinstance(shape, dict):
        return {name: _put(part, texts) for name, part in shape.items()}
    return [_put(part, texts) for part in shape] if isinstance(shape, list) else shape
