"""Foundry Local's line: one guided retry of a narrowly recognised malformed call, accepted only whole.

The first attempt is read by its decoder (`analysis.foundry_decoder`). What the decoder does not call recoverable stays
text, as it always did; so does everything on another backend or with another tool choice, where the decoder is not
recovery-aware. What is recoverable, but not eligible, ends the request with an error, and so does a retry that the
strict check refuses: nothing shown is taken back, no malformed byte is shown, no assistant turn is committed.
"""

import json
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from analysis.foundry_decoder import Candidate, candidates
from analysis.foundry_tools import DeclaredTools
from analysis.markdown import fences
from analysis.output import Call, Output
from analysis.recovery import foundry_reasons as why
from analysis.recovery.policies import COMMON, Decision, Parameter, Policy, Reason, Values, leaked
from analysis.recovery.turn import Attempt, Semantic, Turn
from analysis.salvage import Salvaged
from analysis.strict_check import strict_check

NATURAL = frozenset(("stop", "eos", "end_turn", "completed", "tool_calls", "tool_use", "function_call"))
LENGTHS = frozenset(("length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"))
STOP_SEQUENCES = frozenset(("stop_sequence", "stop_word"))
CANCELLATIONS = frozenset(("cancelled", "canceled", "abort", "aborted"))

BACKENDS = Parameter("engines", "*", "Engines that count as the Engine backend, a glob.")
UNKNOWN_END = Parameter("unknown_end", False, "An end that the record does not tell counts as natural.")


def decide(turn: Turn, values: Values) -> Decision:
    """Of a first attempt: retry what is recoverable and eligible. Of a retry: accept it whole, or fail."""
    if turn.last is not None and turn.in_round.retries:
        return _of_retry(turn.last)
    attempt = leaked(turn)
    return attempt if isinstance(attempt, Decision) else _of_leak(turn, attempt, values)


def _of_leak(turn: Turn, attempt: Attempt, values: Values) -> Decision:
    found = _candidates(attempt.output, fenced=False)
    decisive = next((each for each in found if each.outcome == "recoverable"), found[0] if found else None)
    if decisive is None:
        return (why.FENCED if _candidates(attempt.output, fenced=True) else why.NO_CANDIDATE).decision()
    if decisive.code == "valid_call":
        return Decision("publish", why.VALID_CALL.code, tuple(map(_parsed, decisive.calls)))
    if decisive.outcome == "rejected":
        return why.VISIBLE[decisive.code].decision()
    return (_ineligible(turn, attempt, values, found[: found.index(decisive)]) or why.RETRY).decision()


def _candidates(output: Output, *, fenced: bool) -> Sequence[Candidate]:
    """What the decoder reads in the content; `fenced`: in fences as well."""
    if not output.content:
        return ()
    excused = () if fenced else fences(output.content_code)
    return tuple(candidates(output.content, excused, DeclaredTools(output)))


def _parsed(call: Call) -> Salvaged:
    return Salvaged(call.name, json.loads(call.arguments or "{}"))


def _ineligible(turn: Turn, attempt: Attempt, values: Values, earlier: Sequence[Candidate]) -> Reason | None:
    """Why a recoverable candidate is not retried; `earlier` candidates stand before it."""
    if not fnmatchcase((turn.engine or "").lower(), str(values["engines"]).lower()):
        return why.OTHER_BACKEND
    if attempt.tool_choice not in (None, "auto"):
        return why.TOOL_CHOICE
    before = attempt.streamed if attempt.streamed is not None else frozenset(_before(attempt, earlier))
    end = _unnatural_end(attempt.output.finish_reason, tells=not values["unknown_end"])
    return end or next((reason for kind, reason in why.BEFORE.items() if kind in before), None)


def _unnatural_end(finish: str | None, *, tells: bool) -> Reason | None:
    """What is wrong with how it ended. `stop` is natural: few sources tell a stop sequence from it."""
    ended = (finish or "").strip().lower()
    for ends, reason in ((LENGTHS, why.LENGTH), (STOP_SEQUENCES, why.STOP_SEQUENCE), (CANCELLATIONS, why.CUT_OFF)):
        if ended in ends:
            return reason
    if ended:
        return None if ended in NATURAL else why.OTHER_END
    return why.UNKNOWN_END if tells else None


def _before(attempt: Attempt, earlier: Sequence[Candidate]) -> Iterable[Semantic]:
    """The semantic output in front of the candidate, as the output itself shows it."""
    output, text = attempt.output, attempt.output.content or ""
    if output.calls or any(each.outcome == "valid_call" for each in earlier):
        yield "call"
    if any(each.outcome == "rejected" for each in earlier):
        yield "tool_output"
    if (output.reasoning or "").strip():
        yield "reasoning"
    first = _candidates(output, fenced=False)[0].start
    if text[:first].strip():
        yield "text"


def _of_retry(attempt: Attempt) -> Decision:
    """A retry is buffered: it is published whole, or nothing of it is."""
    if flaw := _no_batch(attempt):
        return flaw.decision()
    check = strict_check(attempt.output, attempt.raw_text)
    if check.verdict == "refused":
        return Decision("fail", why.REFUSED_RETRY.code, details=check.codes)
    return Decision("publish", (why.ACCEPTED if check.verdict == "accepted" else why.UNCHECKED).code, details=check.why)


def _no_batch(attempt: Attempt) -> Reason | None:
    """Why there is no batch of calls to check."""
    finish = (attempt.output.finish_reason or "").strip().lower()
    if attempt.status == "cancelled" or finish in CANCELLATIONS:
        return why.CANCELLED_RETRY
    if attempt.status == "error":
        return why.ERRORED_RETRY
    if attempt.status == "cut" or finish in LENGTHS:
        return why.CUT_RETRY
    if attempt.output.calls:
        return None
    if attempt.leak:
        return why.LEAKED_RETRY
    if (attempt.output.content or "").strip():
        return why.TEXT_RETRY
    return why.REASONING_RETRY if (attempt.output.reasoning or "").strip() else why.EMPTY_RETRY


FOUNDRY = Policy(
    name="foundry",
    version=1,
    summary="One guided retry of an exactly framed malformed call, accepted only whole and valid; else an error.",
    source="Foundry Local, recovery of malformed Engine tool calls",
    asks="the same prompt on a fresh request with tool-only guidance, without a corrective message, fully buffered",
    parameters=(BACKENDS, UNKNOWN_END),
    reasons=(*COMMON, *why.REASONS),
    decide=decide,
    most_retries=lambda _: 1,
)
