"""Words around a call that speak about calls: a log, a review, a lesson. Whoever is at work speaks of the work."""

import re

LEAD, REST = 160, 240
"""Characters before and behind a call in which such words are looked for."""

_AT_WORK = re.compile(
    r"\b(?:i'll|i will|i'm|i am|i need|i should|i must|let me|let's|let us|we'll|we will|going to|ich|lass mich|je|"
    r"laissez-moi|yo|voy|déjame|vamos|vou|я|сейчас|давайте)\b|我|让|接下来|ます|"
    r"\b(?:so |now |first )?i (?:now |first |then |also )?(?:search|look up|check|run|call|fetch|query|open|add|write|"
    r"edit|change|fix|update|replace|create|remove|use|try)\b|"
    r"\A\W{0,3}(?:fix|updat|check|runn|search|fetch|add|edit|creat|writ|open|apply|query|list|call|remov|replac|renam|"
    r"inspect|verify|retriev|sav|delet)ing\b",
    re.IGNORECASE,
)
"""A first person, now or soon."""
_WIRE = (
    r"pars(?:er|ers|ed|es)|templates?|tokens?|tokenizers?|openers?|closers?|(?:closing|opening) "
    r"(?:brace|bracket|line|marker)s?|tags?|markup|syntax|"
    r"fixtures?|transcripts?|unparsed|structured|injection|placeholder|vorlagen?|parsern?|balises?|analyseur|plantilla|"
    r"etiquetas?|analizador|разметк\w+|шаблон\w*|парсер\w*|токен\w*"
)
_WIRE_DENSE = r"解析|原始|标签|语法|停止符|構文"
_BEHIND = re.compile(rf"\b(?:{_WIRE})\b|{_WIRE_DENSE}", re.IGNORECASE)
_BEFORE = re.compile(
    rf"\b(?:{_WIRE}|formats?|raw|golden|prompts?|traces?|calls?|payload|dumps?|stop strings?|completion|"
    r"contain(?:s|ed)|recorded|answers? with|renders?|rendered|produced|teaches|"
    r"you (?:can|could|would|should|need|have to|must)|your|paste|copy|"
    r"protokoll|empfangen|enthält|aufrufe?|appels?|llamadas?|вызов\w*|modèle|journal|contient|registro|contiene|formato|"
    r"журнал\w*)\b|"
    rf"{_WIRE_DENSE}|日志|格式|模板|ログ|形式",
    re.IGNORECASE,
)
"""What introduces a call that is shown may say less than what discusses it: a result that the model made up follows
a call too, and speaks of anything."""
_LABEL = re.compile(
    r"(?:expected|actual|wanted|got|before|after|old|new|input|output|erwartet|soll|ist|attendu)\W*\Z", re.I
)
_MARKUP = re.compile(r"<[^<>\n]{0,80}>?")
_GOES_ON = re.compile(
    r"\W*(?:i|i'll|let|we|once|then|this will|when|ich|je|yo|sobald|dann)\b|\W*(?:我|让|接下来)", re.IGNORECASE
)
"""What a model says that waits for its call."""


_WAITS = re.compile(
    r"\b(?:once|when|as soon as|after) (?:i|we|the|this|that|it)\b[^.\n]{0,80}"
    r"\b(?:i['’]ll|i will|i can|we['’]ll|we can)\b|"
    r"\b(?:i['’]ll|i will|i can then|i['’]m going to) (?:then )?(?:report|tell|summari[sz]e|let you know|share|"
    r"get back|answer|continue|check|analy[sz]e|present|give|show|update|review|confirm|proceed)\b|"
    r"\bwaiting (?:for|on) (?:the|its|a|that)\b|"
    r"\b(?:sobald|dès que|en cuanto|assim que|appena|как только|zodra|gdy tylko)\b|"
    r"等待|稍等|[之以]?后我[会将再]|お待ち|次第|기다려|잠시만",
    re.IGNORECASE,
)
_ADDRESSED = re.compile(r"[?？`]|\byou (?:can|could|should|need|must|may|might|would)\b", re.IGNORECASE)


def waits(text: str, end: int, ceiling: int) -> bool:
    """All that follows is one short paragraph of somebody who waits for the call."""
    rest = text[end : min(ceiling, end + REST + 1)].strip()
    short = len(rest) < REST and "\n\n" not in rest
    return short and bool(_WAITS.search(rest)) and not _ADDRESSED.search(rest) and not _BEHIND.search(rest)


def lead(text: str, start: int, floor: int = 0) -> str:
    """The words of the line before `start`, none of them from before `floor`."""
    line = text[max(floor, start - LEAD) : start].rstrip().rsplit("\n", 1)[-1]
    return _MARKUP.sub(" ", line).strip()


def at_work(line: str) -> bool:
    """A first person is at work in the line."""
    return bool(_AT_WORK.search(line))


def leads_about(line: str) -> bool:
    """The line leads up to something, speaks about calls, and not of what is being done."""
    if line.endswith((".", "!", "。", "！")):
        return False
    trade = len(line.split()) > 1 and _BEFORE.search(line)
    return not _AT_WORK.search(line) and bool(trade or _LABEL.match(line.strip("#*_ ")))


def introduces(line: str) -> bool:
    """The line ends in a colon, and nobody is at work in it."""
    return line.rstrip("*_ ").endswith((":", "：")) and not _AT_WORK.search(line)


def goes_on_about(text: str, end: int, ceiling: int) -> bool:
    """The words behind `end` speak about calls."""
    behind = _MARKUP.sub(" ", text[end : min(ceiling, end + REST)]).lstrip()
    return not _GOES_ON.match(behind) and bool(_BEHIND.search(behind))
