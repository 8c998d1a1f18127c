"""A message on its way to its answer."""

from dataclasses import dataclass, field

from ingest.formats import Item, Mapped, Quarantined, Skipped
from ingest.records import Generation
from ingest.shapes.openai_message import Fields, validated
from ingest.shapes.threads import digest

PART = "part of a response told on several lines"
COPY = "a copy of a response already read"
HISTORY = "history: a message sent to the model"
BARE = "a model call without its text: capture the content, and upload traces and logs together"
NOTHING = "no model call in it"


@dataclass(slots=True, eq=False)
class Page:
    """A message on its way to its answer: what it told so far, and the keys of what waits."""

    number: int
    start: str
    mended: bool
    records: list[Generation] = field(default_factory=list)
    spans: set[int] = field(default_factory=set)
    events: set[tuple[int, int]] = field(default_factory=set)
    why: dict[str, None] = field(default_factory=dict)
    fault: str | None = None
    size: int = 0

    @property
    def waits(self) -> bool:
        """Whether something in it may still be joined."""
        return bool(self.spans or self.events)

    def add(self, said: Fields, reply: Fields, index: int = 0) -> None:
        """Add the generation at `index` of a call: what was said of the call, and its reply. A fault is kept."""
        fields = _generation(said | reply, index, self.mended)
        try:
            self.records += validated([fields])
        except ValueError as fault:
            self.fault = self.fault or str(fault)

    def item(self) -> Item:
        """What became of the message."""
        if self.records:
            return Mapped(self.number, tuple(self._in_order()))
        if self.fault:
            return Quarantined(self.number, self.fault, self.start)
        order = (PART, COPY, BARE, HISTORY)
        return Skipped(self.number, next((why for why in order if why in self.why), NOTHING))

    def _in_order(self) -> list[Generation]:
        """The records by time, where all tell it: they were read from the innermost span outwards."""
        timed = [(one.started_at, at) for at, one in enumerate(self.records) if one.started_at]
        return [self.records[at] for _, at in sorted(timed)] if len(timed) == len(self.records) else self.records


def _generation(fields: Fields, index: int, mended: bool) -> Fields:
    """The fields of one generation of a call: of a later choice, usage and error count once."""
    if "run_id" not in fields:
        fields["run_id"] = f"s{digest(fields).hex()}"
    if index:
        fields = {key: value for key, value in fields.items() if key not in ("usage", "error")}
        if "generation_id" in fields:
            fields["generation_id"] = f"{fields['generation_id']}#{index}"
    if mended and fields.get("text_fidelity") == "exact":
        fields["text_fidelity"] = "normalised"
    return fields | _call_mode(fields)


def _call_mode(fields: Fields) -> Fields:
    tools = fields.get("tools")
    if fields.get("call_mode") or not isinstance(tools, list):
        return {}
    return {"call_mode": "native" if tools and fields.get("tool_choice") != "none" else "none"}
