"""An output from the columns in which the store keeps it."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from pydantic_core import from_json, to_json

from analysis.output import Call, OfferedTool, Output
from ingest.records import CallMode


def output_of_columns(
    *,
    content: str | None,
    reasoning: str | None,
    calls: str | None,
    tools: str | None,
    tools_known: bool,
    inferred_names: Iterable[str] | None,
    finish_reason: str | None,
    mode: CallMode,
) -> Output:
    """An output from the columns of the store; `calls` and `tools` are JSON. An empty text is none: the verdict
    key cannot tell them apart, so a detector must not either."""
    return Output(
        content=content or None,
        reasoning=reasoning or None,
        calls=tuple(_call(call) for call in from_json(calls)) if calls else (),
        tools=_tools(tools or "[]") if tools_known else None,
        inferred_names=frozenset(inferred_names or ()),
        finish_reason=finish_reason,
        call_mode=mode,
    )


@lru_cache(maxsize=64)  # a list of tools may have a megabyte
def _tools(tools: str) -> tuple[OfferedTool, ...]:
    return tuple(OfferedTool(tool["name"], tool.get("parameters")) for tool in from_json(tools))


def _call(call: Mapping[str, Any]) -> Call:
    arguments = call.get("arguments")
    return Call(
        call["name"],
        arguments if arguments is None or isinstance(arguments, str) else to_json(arguments).decode(),
    )
