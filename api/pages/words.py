"""What the words on the pages mean, for who meets them first."""

from analysis.replay.policy import CONSEQUENCES
from analysis.replay.wording import DIMENSIONS, LEFT_OUT

__all__ = [
    "ALERTS",
    "CONSEQUENCES",
    "DIMENSIONS",
    "KINDS",
    "LEFT_OUT",
    "ORIGINS",
    "OUTCOMES",
    "SCOPES",
    "SEGMENTS",
    "SERIES",
    "STATES",
    "TIERS",
]

KINDS = {
    "leaked_call": "a well-formed tool call standing in text, where nothing can execute it",
    "malformed_call": "a tool call in text whose markup is broken",
    "truncated_call": "a tool call in text that breaks off",
    "orphan_markup": "only closing tags or stray tokens of a tool call",
    "stripped_call": "a tool call whose special tokens are gone",
    "printed_call": "a call printed as JSON or by its name; counted beside the leaks, not among them",
    "contaminated_call": "markup inside a structured call's name or arguments",
}
TIERS = {
    "certain": "nothing else it could be",
    "likely": "counted as a leak",
    "possible": "listed, never counted",
}
OUTCOMES = {
    "structured": "the next attempt made a valid tool call",
    "answered": "the next attempt answered in words",
    "leaked_again": "the next attempt leaked too",
    "passed_off": "the turn ended with this leak as its answer",
    "errored": "the next attempt failed, or this one did",
    "cancelled": "the turn was cancelled",
    "unknown": "the log does not tell how it went on",
}
ALERTS = {
    "threshold": "Leaks more than is allowed",
    "change": "Leaks more than before",
    "recovery_drop": "Recovers less than before",
    "first_seen": "Seen for the first time",
}
STATES = {
    "queued": "waiting for its turn",
    "running": "running",
    "done": "done",
    "failed": "failed",
    "cancelled": "cancelled",
    "interrupted": "interrupted",
}
SERIES = {
    "model": "model",
    "provider": "provider",
    "engine": "engine",
    "engine_version": "engine version",
    "template": "template",
    "tool_parser": "tool parser",
    "client": "client",
    "client_version": "client version",
}
SIZES = {"tools_offered": "tools offered", "prompt_tokens": "prompt tokens"}
OF_LEAKS = {"family": "family", "kind": "kind", "channel": "channel", "tool": "tool called"}
SEGMENTS = {**SERIES, **SIZES, **OF_LEAKS}
ORIGINS = {
    "given": "given with the upload",
    "sidecar": "from leakdown.toml",
    "corrected": "set later",
}

SCOPES = {
    "ingest": "send logs and events",
    "read": "see the pages and the numbers",
    "label": "label and review",
    "admin": "everything",
}
