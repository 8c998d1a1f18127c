"""A turn that says it calls a tool, and ends: the call itself was never written, or taken out on its way.

Nothing here is markup. So all of it must be there: tools known and offered, no structured call, an end of the model's
own, and a turn that says nothing but this.
"""

import re
from dataclasses import dataclass

from analysis.detectors import BLANKS, SHORT, Channel
from analysis.evidence.announced_arguments import announced_arguments
from analysis.evidence.commitment import INTENDED, commitments, conditional, named, sentence_end
from analysis.output import Output
from ingest.records import Kind

LINE = 120
"""Characters of a preamble."""
ONE_SENTENCE = 200
"""Characters of a reply that is one short sentence."""
AHEAD = 60
"""Characters of it before the commitment: what it is for, at most."""
THOUGHT = 400
"""Characters at the end of a reasoning in which the tool is named."""
COLONS = (":", "：")
CLAUSE, DENSE_CLAUSE = 3, 5
"""Words that are more than a label, and characters where there are no blanks between words."""

_NATURAL = frozenset({"stop", "end_turn", "stop_sequence", "eos", "eos_token", "end", "complete", "completed"})
_LEAD = re.compile(
    r"(?:(?:ok(?:ay)?|sure(?: thing)?|all ?right|got it|understood|certainly|absolutely|of course|great|right|perfect|"
    r"thanks|now|first|next|then|so|yes|good|no problem|gut|gern|klar|jetzt|zuerst|d'accord|bien sûr|claro|vale|"
    r"好的?|当然|明白了?|まず|では|хорошо|сейчас)[\s,.!:;，。！、–—-]+){0,3}",
    re.IGNORECASE,
)
_SAYS = re.compile(
    r"\b(?:said|says?|wrote|writes?|replie[sd]|answere?[sd]|told|schrieb|sagte|a dit|dijo)\b|说|写", re.IGNORECASE
)
_LAST = re.compile(r"(?:[.!?…]\s+|[。！？]|\n)(?=[^\s.!?…。！？])")
_IT = re.compile(
    r"(?:\s+(?:it|this|that|so|(?:the|this|that) (?:tool|function|one)))?"
    r"(?:\s+(?:now|first|directly|right away|(?:for|with|to) [^.!?\n]{1,60}))?[.!…\s]*\Z",
    re.IGNORECASE,
)
_LEADS_TO_TEXT = re.compile(
    r"(?:\b(?:is|are|was|were|be|follow\w*|below|says?|said|reads?|states?|writes?|prints?|means?|expects?|ist|"
    r"sind|lautet|lauten|folgt|folgende\w*|est|sont|suivante?s?|es|son|siguientes?|é|são|seguintes?|è|sono|"
    r"seguenti|следующ\w+)|是|为|如下|以下|の通り|です)\s*\Z",
    re.IGNORECASE,
)
"""A copula, "as follows", a verb of saying: then words were to come, not a call."""
_GREETS_OR_SHOWS = re.compile(
    r"\W{0,2}(?:(?:here(?:['’]s)?|the following|these|dear|hello|hi|to whom|subject|hier|voici|voilà|aquí|"
    r"aqui|ecco|вот|estimad\w+|querid\w+|prezad\w+|car[oa]|ch[eè]re?|sehr geehrte\w*|liebe\w*|уважаем\w+)\b|"
    r"尊敬|亲爱|您好|你好|以下|下面是|拝啓)",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"[?？]|\b(?:please|let me know|tell me|bitte|por favor|per favore|s'il (?:vous|te) plaît|veuillez|пожалуйста)\b|"
    r"请(?:您|你|输入|提供|告诉|选择|确认)|ください",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"[{}=<>|\\]|::|\A(?:[#>*+\d-]|(?:def|class|if|elif|else|for|while|with|try|except|finally|match|case|switch|"
    r"default|async)\b)"
)
"""A line of a program, a heading, an item of a list."""
_ACTS = re.compile(
    r"\b(?:i['’](?:ll|m)|i will|i am|let me|let['’]s|let us|we['’]ll|we will|ich|lass|je|j['’]|"
    r"laissez-moi|voy|vamos|déjame|"
    r"vou|deixe-me|vado|vediamo|я|давайте|сейчас|теперь)\b|"
    r"(?:\A|[.,!;] )(?:now|next|first|then|finally|jetzt|nun|zuerst|als nächstes|maintenant|d['’]abord|ensuite|ahora|"
    r"primero|luego|agora|primeiro|ora|adesso|сначала|затем)\b|\b(?:now|again|as well|too)\s?[:：]\Z|"
    r"\A\w+ing (?:the|an?|this|that|these|those|it|all|each|both|for|through|into|up|my|our|another|how|what|"
    r"whether|if)\b|"
    r"\A\w{3,}(?:ons d['’]abord|ons maintenant|erò|aré|eré)\b|"
    r"我(?:来|先|将|会|要|现在|再|去|帮|们先|们来)|让我|现在|接下来|然后|首先|继续|正在|(?<!あり)(?<!い)ます[：:]\Z|"
    r"겠습니다\s?:\Z",
    re.IGNORECASE,
)
"""Somebody is at work. A heading, a prompt for the reader, an introduction of text end in a colon as well."""
_WORD = re.compile(r"[^\W\d_]+")
_DENSE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Scripts in which a few characters are a clause."""


@dataclass(frozen=True, slots=True)
class Narrated:
    """A call that is told of: where, and what is known of it."""

    channel: Channel
    kind: Kind
    start: int
    end: int
    reason: str
    name: str | None = None
    arguments: str | None = None


def narrated(output: Output) -> Narrated | None:
    """The call that the turn speaks of and does not make."""
    if output.calls or not output.tools or (output.finish_reason or "").lower() not in _NATURAL:
        return None
    if output.content and output.content.strip():
        text = output.content
        return _sentence(output, text) or _preamble(text) or _arguments(output, text)
    return _thought(output, output.reasoning) if output.reasoning else None


def _sentence(output: Output, text: str) -> Narrated | None:
    """The whole reply is one sentence that commits to an offered tool."""
    start, end = _bounds(text)
    if end - start > ONE_SENTENCE or not any(name in text for name in output.offered_names):
        return None
    lead = _LEAD.match(text, start, end)
    begin = lead.end() if lead else start
    if sentence_end(text, begin) < end:
        return None
    found = next(commitments(text, start, output.offered_names), None)
    if found is None or found.start - begin > AHEAD or _SAYS.search(text, begin, found.start):
        return None
    if conditional(text[start:end]):
        return None
    why = f"the reply is one sentence that calls {found.name}, which is offered, in words"
    return Narrated("content", "printed_call", start, end, why, found.name)


def _preamble(text: str) -> Narrated | None:
    """The whole reply is one short line that announces something by a colon, and nothing follows."""
    start, end = _bounds(text)
    line = text[start:end]
    if len(text) > SHORT or len(line) > LINE or not line.endswith(COLONS) or "\n" in line or "\r" in line:
        return None
    if _GREETS_OR_SHOWS.match(line) or _ASKS.search(line) or _CODE.search(line) or _LEADS_TO_TEXT.search(line[:-1]):
        return None
    if not _ACTS.search(line):
        return None
    if len(_WORD.findall(line)) < CLAUSE and len(_DENSE.findall(line)) < DENSE_CLAUSE:
        return None
    why = "the reply is one line that ends in a colon, tools were offered, and what it announces is gone"
    return Narrated("content", "stripped_call", start, end, why)


def _bounds(text: str) -> tuple[int, int]:
    end = len(text.rstrip(BLANKS))
    return len(text) - len(text.lstrip(BLANKS)), end


def _arguments(output: Output, text: str) -> Narrated | None:
    found = announced_arguments(output, text)
    if found is None:
        return None
    why = f"the only fence holds arguments for {found.name}, which is offered and announced before it"
    return Narrated("content", "printed_call", found.start, found.end, why, found.name, found.arguments)


def _thought(output: Output, text: str) -> Narrated | None:
    """Nothing is said, and the reasoning ends in the decision to call an offered tool."""
    end = len(text.rstrip())
    first = max(0, end - THOUGHT)
    start = max((each.end() for each in _LAST.finditer(text, first, end)), default=first)
    verb = INTENDED.search(text, start, end)
    if verb is None or conditional(text[start:end]):
        return None
    name = named(text[verb.end() : end], output.offered_names)
    if name is None and _IT.match(text, verb.end(), end):
        name = _spoken_of(text[first:start], output.offered_names)
    if name is None:
        return None
    why = f"the reasoning ends in the decision to call {name}, which is offered, and the reply is empty"
    return Narrated("reasoning", "printed_call", start, end, why, name)


def _spoken_of(text: str, names: frozenset[str]) -> str | None:
    """The tool that the sentences before name last."""
    words = [word.rstrip(".:/-") for word in re.findall(r"[\w.:/-]+", text)]
    return next((word for word in reversed(words) if word in names), None)
