"""The invented fleet: which model runs on which engine, when it changes version, how often it leaks.

Days count from 0, the first of 60. Every rate is a probability per eligible generation.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Literal

DAYS = 60
FIRST_DAY = date(2026, 9, 30)
LAST_DAY = date(2026, 11, 28)

Retried = Literal["structured", "answered", "leaked", "errored"]
Mode = Literal["native", "tools_unknown", "no_tools", "text"]


@dataclass(frozen=True, slots=True)
class Release:
    """An engine version, the day from which it serves, and what it does to tool calls."""

    version: str
    from_day: int
    leak_rate: float
    printed_rate: float = 0.0


@dataclass(frozen=True, slots=True)
class Client:
    """What sends the requests: how many retries a run it may spend, and whether it reports leaks as events.

    A client that reports looks for the markers of `data.markup.MARKERS` outside Markdown code; another one
    that retries knows every leak of its model.
    """

    name: str
    releases: tuple[tuple[str, int], ...]
    max_retries: int
    reports: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A model on an engine behind a client. `retried`: chances of what it does when nudged."""

    model: str
    provider: str
    engine: str
    template: str
    tool_parser: str
    client: Client
    releases: tuple[Release, ...]
    runs: int
    shapes: str
    retried: Mapping[Retried, float]
    thinks: bool = False
    modes: tuple[tuple[Mode, int], ...] = ()
    """How many runs are not plain native ones; they are spread over the line's runs."""


MARKER_CLIENT = Client("openrouter-net", (("2.3.0", 0), ("2.4.0", 43)), max_retries=2, reports=True)
ONE_RETRY = Client("pathfinder", (("0.9.2", 0), ("0.10.0", 21)), max_retries=1)
NO_RETRY = Client("dockhand", (("1.1", 0), ("1.2", 35)), max_retries=0)

FLEET = (
    Line(
        model="qwen3-coder-30b",
        provider="self",
        engine="vllm",
        template="qwen3-coder",
        tool_parser="qwen3_coder",
        client=MARKER_CLIENT,
        releases=(Release("0.29.2", 0, 0.02), Release("0.30.0", 30, 0.14)),
        runs=84,
        shapes="qwen_xml",
        retried={"structured": 0.60, "answered": 0.15, "leaked": 0.20, "errored": 0.05},
        modes=(("tools_unknown", 4),),
    ),
    Line(
        model="kimi-k2",
        provider="gateway-a",
        engine="sglang",
        template="kimi-k2",
        tool_parser="kimi_k2",
        client=MARKER_CLIENT,
        releases=(Release("0.5.10", 0, 0.04), Release("0.5.11", 26, 0.04)),
        runs=44,
        shapes="kimi_tokens",
        retried={"structured": 0.85, "answered": 0.05, "leaked": 0.10},
        thinks=True,
    ),
    Line(
        model="llama-3.3-70b",
        provider="self",
        engine="llama.cpp",
        template="llama-3.3",
        tool_parser="llama_3_x",
        client=NO_RETRY,
        releases=(Release("b9120", 0, 0.05, 0.03), Release("b9310", 33, 0.05, 0.03)),
        runs=36,
        shapes="llama_json",
        retried={},
        modes=(("no_tools", 4),),
    ),
    Line(
        model="glm-4.6",
        provider="self",
        engine="vllm",
        template="glm-4.6",
        tool_parser="glm45",
        client=NO_RETRY,
        releases=(Release("0.29.2", 0, 0.0), Release("0.30.0", 30, 0.0)),
        runs=32,
        shapes="none",
        retried={},
        thinks=True,
    ),
    Line(
        model="mistral-small-24b",
        provider="self",
        engine="ollama",
        template="mistral-v13",
        tool_parser="ministral",
        client=ONE_RETRY,
        releases=(Release("0.14.1", 0, 0.06), Release("0.14.3", 38, 0.06)),
        runs=30,
        shapes="mistral_args",
        retried={"structured": 0.50, "answered": 0.30, "leaked": 0.20},
    ),
    Line(
        model="hermes-3-8b",
        provider="desk",
        engine="lm-studio",
        template="chatml",
        tool_parser="hermes",
        client=ONE_RETRY,
        releases=(Release("0.4.2", 0, 0.10),),
        runs=30,
        shapes="hermes_json",
        retried={"structured": 0.40, "answered": 0.20, "leaked": 0.40},
        modes=(("tools_unknown", 4), ("text", 3)),
    ),
)
