"""What a strict system would have said of a retry: accepted, refused for these reasons, or not to be told from the log.

`analysis.strict_batch` refuses what it cannot check. Here the two are kept apart: a refusal counts as one only for
what the log shows, and a retry is accepted only if both its calls and its envelope were checked.
"""

from dataclasses import dataclass
from typing import Literal

from analysis.output import Output
from analysis.strict_batch import ReasonCode, StrictResult, strict_batch

Verdict = Literal["accepted", "refused", "not_checkable"]
Why = Literal["envelope_not_stored", "tools_unknown", "schema_missing"]
"""What the log would have had to hold: the text as the model wrote it, the tools of the request, their schemas."""

_UNKNOWN: dict[ReasonCode, Why] = {"tools_unknown": "tools_unknown", "schema_missing": "schema_missing"}


@dataclass(frozen=True, slots=True)
class StrictCheck:
    """`verdict` is of the whole retry; `calls` and `envelope` of its parts, since a log often holds only one.

    `codes`: why it is refused, each once. `why`: what could not be checked; there may be both.
    """

    verdict: Verdict
    calls: Verdict
    envelope: Verdict
    codes: tuple[ReasonCode, ...] = ()
    why: tuple[Why, ...] = ()


def strict_check(output: Output, raw_text: str | None = None) -> StrictCheck:
    """Check the structured calls of a retry, and its envelope if `raw_text` has it."""
    alone = strict_batch(None, output.calls, output.tools)
    whole = alone if raw_text is None else strict_batch(raw_text, output.calls, output.tools)
    codes, unknown = _codes(whole), _unknown(alone)
    why: tuple[Why, ...] = (*(("envelope_not_stored",) if raw_text is None else ()), *unknown)
    return StrictCheck(
        verdict=_verdict(codes, why),
        calls=_verdict(_codes(alone), unknown),
        envelope="accepted" if whole.envelope == "ok" else whole.envelope,
        codes=codes,
        why=why,
    )


def _verdict(codes: tuple[ReasonCode, ...], why: tuple[Why, ...]) -> Verdict:
    return "refused" if codes else "not_checkable" if why else "accepted"


def _codes(result: StrictResult) -> tuple[ReasonCode, ...]:
    """The refusals for what the log shows."""
    return tuple(dict.fromkeys(each.code for each in result.refusals if each.code not in _UNKNOWN))


def _unknown(result: StrictResult) -> tuple[Why, ...]:
    """What the log would have had to show of the calls."""
    return tuple(dict.fromkeys(_UNKNOWN[each.code] for each in result.refusals if each.code in _UNKNOWN))
