"""Policies: one module each, a pure function from a turn so far to a decision. Docs: CONTRIBUTING, "Add a policy".

A policy's `decide` states its system's own line, and answers for any turn. What is common to all stands here:
parameters, reasons, and what is decided where nothing leaked.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, Literal

from analysis.recovery.turn import Attempt, Turn
from analysis.salvage import Salvaged
from ingest.errors import UsageError
from ingest.plugins import discover

Action = Literal["publish", "retry", "salvage", "fail"]
"""`publish`: the reply stands as the answer. `retry`: the model is asked once more. `salvage`: calls are taken from
the text. `fail`: the turn ends with an error."""
Value = int | str | bool
Values = Mapping[str, Value]
Scope = Literal["round", "turn", "run"]


@dataclass(frozen=True, slots=True)
class Decision:
    """What a policy does with the last attempt of a turn, and the code of its reason.

    `calls`: what a salvage took, or a decoder read. `details`: further codes, such as those of a strict refusal.
    `retry_offered`: an error that a person may answer with another try.
    """

    action: Action
    reason: str
    calls: tuple[Salvaged, ...] = ()
    details: tuple[str, ...] = ()
    retry_offered: bool = False


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter: its default has its type. Numbers are never less than 0."""

    name: str
    default: Value
    meaning: str

    @property
    def type(self) -> Literal["int", "str", "bool"]:
        """The type, as the command line spells it."""
        return "bool" if isinstance(self.default, bool) else "int" if isinstance(self.default, int) else "str"

    def parse(self, text: str) -> Value:
        """The value that `text` is; UsageError."""
        if self.type == "str":
            return text
        if self.type == "bool" and text in ("true", "false"):
            return text == "true"
        if self.type == "int" and text.isascii() and text.isdecimal() and len(text) < 10:
            return int(text)
        wanted = "true or false" if self.type == "bool" else "a number from 0 on"
        raise UsageError(f"{self.name}={text}: write {wanted}")


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason code that a policy may give, for which action, and what it means."""

    action: Action
    code: str
    meaning: str

    def decision(self) -> Decision:
        """The decision with nothing more to say."""
        return Decision(self.action, self.code)


@dataclass(frozen=True, slots=True)
class Policy:
    """A versioned policy. It asks for at most `most_retries` of its values within one `scope`."""

    name: str
    version: int
    summary: str
    source: str
    asks: str
    """How a retry is asked for."""
    parameters: tuple[Parameter, ...]
    reasons: tuple[Reason, ...]
    decide: Callable[[Turn, Values], Decision]
    most_retries: Callable[[Values], int]
    scope: Scope = "round"

    @property
    def id(self) -> str:
        """`name@version`."""
        return f"{self.name}@{self.version}"

    def as_json(self) -> dict[str, Any]:
        """What a reader needs to know of it."""
        return {
            "policy": self.id,
            **{name: getattr(self, name) for name in ("summary", "source", "asks", "scope")},
            "parameters": [{"type": each.type, **asdict(each)} for each in self.parameters],
            "reasons": [asdict(each) for each in self.reasons],
        }

    @property
    def defaults(self) -> dict[str, Value]:
        """The parameters with their defaults."""
        return {each.name: each.default for each in self.parameters}


@dataclass(frozen=True, slots=True)
class Configured:
    """A policy with its parameters' values."""

    policy: Policy
    values: Values

    @property
    def id(self) -> str:
        """`name@version`, then the values that are not the defaults: `retry-n@1:max_retries=3`."""
        defaults = self.policy.defaults
        given = ",".join(f"{key}={_shown(value)}" for key, value in self.values.items() if value != defaults[key])
        return f"{self.policy.id}:{given}" if given else self.policy.id

    def decide(self, turn: Turn) -> Decision:
        """What it does with the last attempt of `turn`."""
        return self.policy.decide(turn, self.values)

    @property
    def most_retries(self) -> int:
        """How many retries it asks for at most, within its scope."""
        return self.policy.most_retries(self.values)


def _shown(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


COMMON = (
    Reason("publish", "no_reply", "there is no attempt to decide on"),
    Reason("publish", "no_leak", "the detector found no leak in the reply"),
    Reason("publish", "not_judged", "the detector failed on the reply, so that nothing is known of it"),
    Reason("fail", "errored", "the call itself failed: that is not what recovery is for"),
    Reason("fail", "cancelled", "the request was cancelled, which stops recovery"),
)
"""What every policy does where nothing leaked or nobody waits."""
NO_REPLY, NO_LEAK, NOT_JUDGED, ERRORED, CANCELLED = COMMON
STRUCTURED_CALLS = Reason("publish", "structured_calls", "the reply holds structured calls, which are carried out")
NO_TOOLS = Reason("publish", "no_tools", "no tools were offered, so that nothing can have leaked")


def leaked(turn: Turn) -> Attempt | Decision:
    """The last attempt if it leaked and somebody waits for it; else what every policy decides."""
    attempt = turn.last
    if attempt is None:
        return NO_REPLY.decision()
    if attempt.status == "cancelled":
        return CANCELLED.decision()
    if attempt.status == "error":
        return ERRORED.decision()
    if not attempt.judged:
        return NOT_JUDGED.decision()
    return attempt if attempt.leak else NO_LEAK.decision()


@cache
def policies() -> tuple[Policy, ...]:
    """All policies, by module name."""
    return discover(sys.modules[__name__], Policy)


def policy(spec: str) -> Configured:
    """The policy `name`, `name@version` or `name:parameter=value,…`; UsageError that lists what is known."""
    name, _, given = spec.partition(":")
    known = {each.id: each for each in policies()} | {each.name: each for each in policies()}
    if name not in known:
        raise UsageError(f"unknown policy {name!r}; known: {', '.join(each.id for each in policies())}")
    chosen = known[name]
    return Configured(chosen, {**chosen.defaults, **_given(chosen, given.split(",") if given else ())})


def chosen(specs: Sequence[str]) -> tuple[Configured, ...]:
    """The policies that are asked for, each once; without any, all of them with their defaults."""
    found = [policy(each) for each in specs] or [Configured(each, each.defaults) for each in policies()]
    return tuple({each.id: each for each in found}.values())


def _given(of: Policy, texts: Sequence[str]) -> dict[str, Value]:
    parameters = {each.name: each for each in of.parameters}
    values: dict[str, Value] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or name not in parameters:
            known = ", ".join(parameters) or "none"
            raise UsageError(f"{of.name}:{text}: write parameter=value; parameters of {of.name}: {known}")
        values[name] = parameters[name].parse(value)
    return values
