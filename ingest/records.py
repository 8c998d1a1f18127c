"""The native records: the one definition of what is read, stored, exported and published as JSON Schema.

A missing key means "not in the source"; `null` or `[]` means "empty in the source": a model keeps the
difference in `model_fields_set`. Unknown keys are kept (`model_extra`) and written back. Enums are closed.
"""

import re
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
    model_validator,
)

from ingest.repeats import MadeOnce, one_of_equals

CallMode = Literal["native", "text", "none", "unknown"]
Status = Literal["ok", "failed", "error", "cancelled", "cut"]
Role = Literal["agent", "subagent", "user_simulator", "judge", "summariser", "title", "other"]
FinishFidelity = Literal["wire", "mapped", "inferred", "absent"]
TextFidelity = Literal["exact", "rebuilt", "normalised", "truncated", "redacted"]
LinkedBy = Literal[
    "new_turn", "next_round", "attempt_group", "host_instruction", "nudge", "reprimand", "identical_request",
    "after_error", "unclear",
]  # fmt: skip
"""What links a generation to the one before it in its run, where a history or a log's own order tells its numbers."""
Kind = Literal[
    "leaked_call",
    "malformed_call",
    "truncated_call",
    "orphan_markup",
    "stripped_call",
    "printed_call",
    "contaminated_call",
]

SERIES = (
    "model",
    "provider",
    "engine",
    "engine_version",
    "template",
    "tool_parser",
    "client",
    "client_version",
)
"""The fields that name a series, in the order in which they are shown."""


def _utc(moment: datetime) -> datetime:
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("in UTC this time has no year from 1 to 9999") from None


def _bare_function(value: Any) -> Any:
    """`{"type": "function", "function": {…}}`, the chat-completions wrapper, as its inner object."""
    if isinstance(value, dict) and "name" not in value and isinstance(value.get("function"), dict):
        wrapper = {key: part for key, part in value.items() if key != "function"}
        if wrapper.get("type") == "function":
            del wrapper["type"]
        return {**wrapper, **value["function"]}
    return value


_MOMENT_SCHEMA = {
    "description": "ISO 8601, UTC where it names no offset; or Unix time",
    "anyOf": [{"type": "string", "format": "date-time"}, {"type": "number"}],
}
Moment = Annotated[datetime, Field(strict=False), AfterValidator(_utc), WithJsonSchema(_MOMENT_SCHEMA)]
Ordinal = Annotated[int, Field(ge=0, lt=2**31)]
Count = Annotated[int, Field(ge=0, lt=2**63)]
Tags = dict[str, Any]


class Native(BaseModel):
    """What all records share: strict types, unknown keys kept."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True, allow_inf_nan=False, protected_namespaces=())


class Tool(Native):
    """A tool offered to the model; `parameters` is its JSON Schema."""

    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None


class ToolCall(Native):
    """A structured call. `arguments` is the raw string as it came, or an object where the source had one."""

    id: str | None = None
    name: str
    arguments: Any = None


class Usage(Native):
    """Tokens of one generation."""

    input_tokens: Count | None = None
    output_tokens: Count | None = None


class WrappedTool(Native):
    """A tool as a chat-completions request has it."""

    model_config = ConfigDict(json_schema_extra={"not": {"required": ["name"]}})
    function: Tool


class WrappedCall(Native):
    """A structured call as a chat completion has it."""

    model_config = ConfigDict(json_schema_extra={"not": {"required": ["name"]}})
    id: str | None = None
    function: ToolCall


OfferedTool = Annotated[Tool, BeforeValidator(_bare_function, json_schema_input_type=Tool | WrappedTool)]
StructuredCall = Annotated[ToolCall, BeforeValidator(_bare_function, json_schema_input_type=ToolCall | WrappedCall)]

_offers = MadeOnce[list[Tool] | None]()


def _known_again(value: Any, validated: ValidatorFunctionWrapHandler) -> Any:
    """A tool list that was read before is the same object: to validate it costs more than the rest of the record."""
    return _offers.of(one_of_equals(value), validated)


Offer = Annotated[list[OfferedTool] | None, WrapValidator(_known_again)]
_SAYS = ("content", "reasoning", "tool_calls")


class Series(Native):
    """The fields that place a generation in a series."""

    model: str | None = None
    provider: str | None = None
    engine: str | None = None
    engine_version: str | None = None
    template: str | None = None
    tool_parser: str | None = None
    client: str | None = None
    client_version: str | None = None


class Generation(Series):
    """One model response to one request: the unit of all counting."""

    model_config = ConfigDict(json_schema_extra={"anyOf": [{"required": [name]} for name in _SAYS]})

    type: Literal["generation"]
    run_id: str
    generation_id: str | None = None
    turn: Ordinal | None = None
    round: Ordinal | None = None
    attempt: Ordinal | None = None
    linked_by: LinkedBy | None = None
    started_at: Moment | None = None
    call_mode: CallMode | None = None
    tools: Offer = None
    tool_choice: Any = None
    content: str | None = None
    reasoning: str | None = None
    tool_calls: list[StructuredCall] | None = None
    finish_reason: str | None = None
    finish_fidelity: FinishFidelity | None = None
    text_fidelity: TextFidelity | None = None
    status: Status | None = None
    role: Role | None = None
    raw_text: str | None = None
    usage: Usage | None = None
    tags: Tags | None = None

    @model_validator(mode="after")
    def _says_something(self) -> "Generation":
        if self.model_fields_set.isdisjoint(_SAYS):
            raise ValueError("a generation needs one of content, reasoning, tool_calls")
        return self

    @property
    def effective_call_mode(self) -> CallMode:
        """`call_mode`, or what its absence means: native if tools or calls stand there, else unknown."""
        if self.call_mode is not None:
            return self.call_mode
        return "native" if self.tools or self.tool_calls else "unknown"


class LeakedToolCall(Native):
    """A leak that a client reported: `LeakedToolCallEvent {Markup, Leak, Retried}` in any spelling."""

    type: Literal["leaked_tool_call"]
    run_id: str | None = None
    generation_id: str | None = None
    round: Ordinal | None = None
    at: Moment | None = None
    markup: str
    leak: Ordinal
    retried: bool
    detector: str | None = None


class Run(Series):
    """What is true of a whole run: its generations take a series field from it where they have none."""

    type: Literal["run"]
    run_id: str
    tags: Tags | None = None


class Label(Native):
    """A person's verdict on one generation; `leak` null means unsure.

    A `resolution` settles what people contradict each other on: it decides, whatever they said.
    """

    type: Literal["label"]
    generation_id: str
    run_id: str | None = None
    leak: bool | None
    kind: Kind | None = None
    by: str
    at: Moment | None = None
    note: str | None = None
    resolution: bool | None = None


Record = Generation | LeakedToolCall | Run | Label
ADAPTER: TypeAdapter[Record] = TypeAdapter(Annotated[Record, Field(discriminator="type")])

_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_EVENT_KEYS = {"markup", "leak", "retried"}
_REASON = 200
"""Characters of a reason: an input may repeat itself in it."""


def _snake(key: str) -> str:
    return _WORD_START.sub("_", key).lower()


def spelled(value: dict[str, Any]) -> dict[str, Any]:
    """An event written PascalCase or camelCase, in our spelling; any other object as it is.

    The .NET record carries its iteration, which is our round. Keys that are not ours keep their spelling.
    """
    if value.get("type") in ("generation", "run", "label"):
        return value
    found = {_snake(key): key for key in value}
    if not found.keys() >= _EVENT_KEYS:
        return value
    if "iteration" in found and "round" not in found:
        found["round"] = found["iteration"]
    ours = {key: name for name, key in found.items() if name in LeakedToolCall.model_fields}
    return {ours.get(key, key): part for key, part in value.items()} | {"type": "leaked_tool_call"}


def validate(value: Any) -> Record:
    """The record that a JSON value is; ValueError with a one-line reason if it is none."""
    try:
        return ADAPTER.validate_python(spelled(value) if isinstance(value, dict) else value)
    except ValidationError as fault:
        raise ValueError(_first_reason(fault)) from None


def _first_reason(fault: ValidationError) -> str:
    first = fault.errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"][1:])
    reason = f"{where}: {first['msg']}" if where else first["msg"]
    return " ".join(reason.split())[:_REASON]


def json_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of one line of a native file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "leakdown record",
        **ADAPTER.json_schema(),
    }
