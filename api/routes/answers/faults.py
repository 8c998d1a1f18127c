"""What the routes answer about faults and parsers."""

from pydantic import ConfigDict

from analysis.faults import FaultOf
from api.routes.answers.base import Answer, Count, Share


class Setting(Answer):
    """What to set on an engine for a family; `configured`: the record says that it is."""

    engine: str
    family: str
    parsers: list[str]
    setting: str
    source: str
    described: str
    note: str
    configured: bool


class LeakFault(Answer):
    """Whose fault one leak is; `reason` is the evidence in words."""

    fault: FaultOf
    evidence: list[str]
    reason: str
    family: str | None
    setting: Setting | None


class FaultShare(Answer):
    """Leaks that are the fault of one, of all leaks of the row."""

    n: Count
    rate: Share | None
    low: Share | None
    high: Share | None


class FaultShares(Answer):
    """Who may be at fault; the four add up to the leaks."""

    model: FaultShare
    parser: FaultShare
    template_and_parser: FaultShare
    unknown: FaultShare


class EvidenceRow(Answer):
    """How often a fault was told by this evidence."""

    fault: FaultOf
    evidence: list[str]
    n: Count


class SettingRow(Setting):
    """How many leaks a setting is for."""

    n: Count


class FaultRow(Answer):
    """A row of the faults; beside these keys the series keys that were asked for."""

    detector: str
    tools_known: bool
    leaks: Count
    runs: Count
    faults: FaultShares
    evidence: list[EvidenceRow]
    settings: list[SettingRow]
    not_eligible: Count
    pruned: Count


class ReaderRow(Answer):
    """The parsers of an engine for one family."""

    family: str
    parsers: list[str]
    source: str
    note: str


class EngineInFull(Answer):
    """An engine and its parsers."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "examples": [
                {"engine": "vllm", "title": "vLLM", "setting": "…", "otherwise": "", "source": "…", "families": []}
            ]
        },
    )

    engine: str
    title: str
    setting: str
    otherwise: str
    source: str
    families: list[ReaderRow]
