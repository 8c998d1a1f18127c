"""Words around a call that speak about calls: a log, a review, a lesson. Whoever is at work speaks of the work."""

import re

LEAD, BEHIND = 160, 240
"""Characters before and behind a call in which such words are looked for."""

_AT_WORK = re.compile(
    r"\b(?:i'll|i will|i'm|i am|i need|i should|i must|let me|let's|let us|we'll|we will|going to|ich werde|ich (?:sehe|lese|"
    r"prüfe|rufe|suche)|lass mich|je vais|laissez-moi|voy a|déjame|vamos a|vou|сейчас|давайте)\b|我|让|接下来|ます",
    re.IGNORECASE,
)
"""A first person, now or soon."""
_TRADE = re.compile(
    r"\b(?:pars(?:er|ers|ed|es)|templates?|tokens?|tokenizers?|openers?|closers?|tags?|markup|syntax|formats?|raw|fixtures?|"
    r"golden|prompts?|transcripts?|traces?|calls?|payload|placeholder|injection|structured|unparsed|dumps?|stop strings?|"
    r"completion|contain(?:s|ed)|recorded|answers? with|renders?|rendered|produced|teaches|"
    r"you (?:can|could|would|should|need|have to|must)|vorlagen?|parsern?|protokoll|empfangen|enthält|aufrufe?|"
    r"balises?|modèle|analyseur|journal|contient|plantilla|etiquetas?|analizador|registro|contiene|formato|разметк\w+|"
    r"шаблон\w*|парсер\w*|журнал\w*|токен\w*)\b|解析|日志|原始|格式|模板|标签|语法|停止符|ログ|形式|構文",
    re.IGNORECASE,
)
_LABEL = re.compile(r"(?:expected|actual|wanted|got|before|after|old|new|input|output|erwartet|soll|ist|attendu)\W*\Z", re.I)
_MARKUP = re.compile(r"<[^<>\n]{0,80}>?")
_GOES_ON = re.compile(r"\W*(?:i|i'll|let|we|once|then|this will|when|ich|je|yo|sobald|dann)\b|\W*(?:我|让|接下来)", re.IGNORECASE)
"""What a model says that waits for its call."""


def lead(text: str, start: int, floor: int = 0) -> str:
    """The words of the line before `start`, none of them from before `floor`."""
    line = text[max(floor, start - LEAD) : start].rstrip().rsplit("\n", 1)[-1]
    return _MARKUP.sub(" ", line).strip()


def leads_about(line: str) -> bool:
    """The line speaks about calls, and not of what is being done."""
    trade = len(line.split()) > 1 and _TRADE.search(line)
    return not _AT_WORK.search(line) and bool(trade or _LABEL.match(line.strip("#*_ ")))


def introduces(line: str) -> bool:
    """The line ends in a colon, and nobody is at work in it."""
    return line.rstrip("*_ ").endswith((":", "：")) and not _AT_WORK.search(line)


def goes_on_about(text: str, end: int, ceiling: int) -> bool:
    """The words behind `end` speak about calls."""
    behind = _MARKUP.sub(" ", text[end : min(ceiling, end + BEHIND)]).lstrip()
    return not _GOES_ON.match(behind) and bool(_TRADE.search(behind))
