"""A first person who says that a tool is being called now: "Let's use `ls`", "Ich rufe jetzt `ls` auf".

Words alone are weak evidence, so everything that makes them something else than a commitment counts against them: a
question, a condition, a negation, a habit, a name that is given rather than called.
"""

import re
from collections.abc import Iterator, Set
from dataclasses import dataclass

REACH = 80
"""Characters behind the verb in which the tool is named."""
SENTENCE = 400
"""Characters of a sentence that are looked at."""

_SOON = r"(?:(?:now|first|next|then|just|also|quickly|simply|go ahead and|start by|begin by|try to|try and)\s+){0,3}"
_FIRST = (
    r"(?:i['’]ll|i will|i['’]m (?:going|about) to|i am (?:going|about) to|i shall|"
    r"let me|let['’]s|let us|we['’]ll|we will)"
)
_OUGHT = r"(?:i (?:should|need to|must|have to)|we (?:should|need to|must|have to))"
_VERB = (
    r"(?:us(?:e|ing)|call(?:ing)?(?: to)?|run(?:ning)?|invok(?:e|ing)|execut(?:e|ing)|query(?:ing)?|trigger|consult|"
    r"make (?:a call to|use of|(?:the|this|that) (?:tool |function )?call)|try|do)"
)
_WORK = (
    r"(?:check|look|find|search|list|get|fetch|read|see|inspect|open|load|verify|gather|retrieve|view|examine|start|"
    r"begin|pull|grab|do|write|create|update|delete|send|save|ask|confirm|scan|test)\b[^.!?\n]{0,60}?\b"
    r"(?:with|using|via|through|by (?:calling|running|using))"
)
_ENGLISH = rf"\s+{_SOON}(?:{_VERB}|{_WORK})\b"
_OTHERS = (
    r"\b(?:ich (?:werde|rufe|verwende|nutze|benutze|starte)|(?:rufe|verwende|nutze|benutze|starte) ich|"
    r"lass(?:en sie)? mich|"
    r"(?:je vais|laissez-moi|laisse-moi)(?: maintenant| d'abord)? (?:utiliser|appeler|lancer|exécuter|consulter)|"
    r"j'(?:utilise|appelle)|utilisons|appelons|"
    r"(?:voy a|vamos a|déjame|permíteme) (?:usar|utilizar|llamar|ejecutar|consultar)|"
    r"(?:us|utiliz|llam|ejecut|consult)aré|"
    r"(?:vou|vamos|deixe-me) (?:usar|utilizar|chamar|executar|consultar)|"
    r"(?:us|utilizz|chiam)erò|"
    r"(?:вызову|вызываю|использую|воспользуюсь|запущу|вызовем|используем))\b|"
    r"(?:我(?:们)?|让我|现在|接下来|下面|首先)[^。！？，,\n]{0,6}?(?:调用|使用|运行|执行|用)"
)
COMMITTED = re.compile(rf"\b{_FIRST}{_ENGLISH}|{_OTHERS}", re.IGNORECASE)
INTENDED = re.compile(rf"\b(?:{_FIRST}|{_OUGHT}){_ENGLISH}|{_OTHERS}", re.IGNORECASE)
"""What a turn that ends in thought may say as well: nobody but the model reads it, so that "should" is a decision."""
_THEN = re.compile(
    r"\s{0,2}(?:を|ツールを)(?:使い|使用し|呼び出し|実行し|利用し|使って[^。\n]{0,24}?(?:し|み))(?:ます|ましょう)"
)
"""A verb that follows the name: Japanese."""
_UNLESS = re.compile(
    r"[?？]|\b(?:not|never|cannot|without|instead of|rather than|if|once|when|whenever|unless|until|as soon as|would|"
    r"could|might|next time|from now on|in (?:the )?future|later|(?<!for )tomorrow(?!['’]s)|always|"
    r"every time|each time|examples?|below|"
    r"as (?:an?|the|its|our|my)|named?|called|nicht|kein\w*|wenn|sobald|falls|nächstes mal|künftig|"
    r"si|cuando|en cuanto|quand|dès que|lorsque|quando|se|assim que|если|когда|не)\b|n['’]t\b|"
    r"如果|不|可以|应该|例如|之后|以后|下次",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"[\w.:/-]+")
_END = re.compile(r"[.!?](?=\s|\Z)|[。！？\n]")
_OPEN, _CLOSE = "`\"'“‘«「*„", "`\"'”’»」*“("
_SPEECH = "\"'“‘«「„"
_TOOL_WORD = re.compile(r"\s+(?:tool|function|action|werkzeug|funktion)\b|[.!。！\s]*\Z", re.IGNORECASE)
_DISTINCT = re.compile(r"[^\W\d][._:/-]+\w|[a-z][A-Z]|\d")
"""What no ordinary word looks like."""


@dataclass(frozen=True, slots=True)
class Commitment:
    """A sentence that commits to a tool, where it stands."""

    name: str
    start: int
    end: int


def commitments(text: str, start: int, names: Set[str]) -> Iterator[Commitment]:
    """Each commitment in `text` from `start` on to one of `names`."""
    for verb in COMMITTED.finditer(text, start):
        name = named(text[verb.end() : verb.end() + REACH], names)
        end = sentence_end(text, verb.end())
        quoted = verb.start() > start and text[verb.start() - 1] in _SPEECH
        if name and not quoted and not _UNLESS.search(text, verb.start(), end):
            yield Commitment(name, verb.start(), end)
    yield from _verb_last(text, start, names)


def _verb_last(text: str, start: int, names: Set[str]) -> Iterator[Commitment]:
    for verb in _THEN.finditer(text, start):
        before = max(start, verb.start() - REACH)
        found = [token for token in _TOKEN.finditer(text, before, verb.start()) if token[0] in names]
        if found and verb.start() - found[-1].end() <= 2:
            yield Commitment(found[-1][0], found[-1].start(), sentence_end(text, verb.end()))


def sentence_end(text: str, start: int) -> int:
    """Where the sentence that holds `start` ends, its sign included."""
    found = _END.search(text, start, start + SENTENCE)
    return found.end() if found else min(len(text), start + SENTENCE)


def conditional(sentence: str) -> bool:
    """The sentence asks, refuses, waits, or gives a name."""
    return bool(_UNLESS.search(sentence))


def named(text: str, names: Set[str]) -> str | None:
    """The first of `names` in the sentence that `text` begins with: quoted, or no ordinary word, or called a tool.
    Another word in quotes before it is what the sentence is about."""
    for token in _TOKEN.finditer(text, 0, sentence_end(text, 0)):
        name = token[0].rstrip(".:/-")
        start, end = token.start(), token.start() + len(name)
        if name in names and _stands_out(text, start, end):
            return name
        if _quoted(text, start, end):
            return None
    return None


def _quoted(text: str, start: int, end: int) -> bool:
    return start > 0 and end < len(text) and text[start - 1] in _OPEN and text[end] in _CLOSE


def _stands_out(text: str, start: int, end: int) -> bool:
    distinct = _DISTINCT.search(text, start, end) or _TOOL_WORD.match(text, end)
    return _quoted(text, start, end) or bool(distinct)
