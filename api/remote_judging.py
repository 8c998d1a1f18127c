"""Code that judges here what a service sends: the command's side of `api.exchange`."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import httpx

from analysis.candidates.wire import answer_of, as_output
from analysis.detectors import EVERY, Detector
from api.work import Progress
from ingest.errors import LeakdownError

OUTPUTS, VERDICTS = "/v1/candidates/outputs", "/v1/candidates/verdicts"
SIGN_OF_LIFE = 10.0
"""Seconds after which the service is told that the code still judges."""
PIECE = 512
"""Verdicts of a request."""

Ask = Callable[..., httpx.Response]


def judge_remotely(ask: Ask, of: Detector, *, recompute: bool, progress: Progress) -> None:
    """Let the code of `of` judge what the service's store holds, and give it the verdicts."""
    part = ask("POST", OUTPUTS, json={"candidate": _declared(of), "recompute": recompute}).json()
    while part["state"] == "judging":
        if part["outputs"]:
            _judge(ask, of, part)
        progress(part["searched"])
        part = ask("POST", OUTPUTS, json={"session": part["session"]}).json()
    if part["state"] == "failed":
        raise LeakdownError(f"{of.id}: {part['error']}")


def _declared(of: Detector) -> dict[str, Any]:
    content, isolation = (of.brought.content, of.brought.isolation) if of.brought else ("", None)
    triggers = [] if of.triggers == (EVERY,) else list(of.triggers)
    return {
        "name": of.name,
        "content": content,
        "summary": of.summary[:500],
        "source": of.source[:2000],
        "triggers": triggers,
        "endings": list(of.endings),
        "by_name": of.by_name,
        "isolation": asdict(isolation) if isolation else None,
    }


def _judge(ask: Ask, of: Detector, part: dict[str, Any]) -> None:
    about = {"session": part["session"], "part": part["part"]}
    outputs = [as_output(each) for each in part["outputs"]]
    if of.brought is None or of.brought.many is None:
        raise ValueError(f"{of.id} is no code")
    with _heard_of(lambda: ask("POST", VERDICTS, json={**about, "verdicts": []})):
        answers = [answer_of(said) for said in of.brought.many(outputs)]
    for at in range(0, len(answers), PIECE):
        ask("POST", VERDICTS, json={**about, "verdicts": answers[at : at + PIECE]})


@contextmanager
def _heard_of(tell: Callable[[], object]) -> Iterator[None]:
    """While it lasts, `tell` every few seconds; what it fails with ends it there, and the next request tells."""
    done = threading.Event()

    def telling() -> None:
        while not done.wait(SIGN_OF_LIFE):
            try:
                tell()
            except LeakdownError:
                return

    thread = threading.Thread(target=telling, name="signs of life", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
