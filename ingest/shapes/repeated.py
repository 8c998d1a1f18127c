"""What a log tells of a reply beyond the reply: that a later request repeats it, that its text was carried out.

Both stand in unknown fields of a generation, which are kept and make it no other one; `analysis.recovery.audit` reads
them. A hand-made log can hold them too.
"""

from collections.abc import Sequence
from hashlib import md5
from typing import Any

from ingest.shapes.openai_message import Fields
from ingest.shapes.threads import text_of

HISTORY = "history_replies"
"""The hashes of the replies that a request sends back, in order; nothing where it sends none."""
EXECUTED = "text_executed"
"""Whether a tool's result followed a reply without a structured call."""
BLANK = " \t\r\n"
DIGITS = 16
"""Of the hash, which is MD5: the store can make it too, and nothing depends on its strength."""


def reply_hash(text: str) -> str | None:
    """What a reply is known again by, whatever blanks a client trims; None for one without text."""
    said = text.strip(BLANK)
    return md5(said.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()[:DIGITS] if said else None


def sent_back(messages: Sequence[Any]) -> Fields:
    """The field of a generation whose request has these messages; none where no reply stands among them."""
    replies = [each for each in messages if isinstance(each, dict) and each.get("role") == "assistant"]
    hashes = [found for each in replies if (found := reply_hash(text_of(each.get("content"))))]
    return {HISTORY: hashes} if replies else {}
