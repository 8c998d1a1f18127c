"""The table of targets."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

CORPUS = Path(__file__).parents[1] / "corpus"


class Broken(AssertionError):
    """A target's promise did not hold."""


@dataclass(frozen=True, slots=True)
class Target:
    """Something that takes bytes from outside. `run` raises nothing but `refusals`; `seeds` are inputs that it
    understands; `words` are what such inputs are made of."""

    name: str
    run: Callable[[bytes], object]
    refusals: tuple[type[Exception], ...] = ()
    seeds: tuple[bytes, ...] = ()
    words: tuple[bytes, ...] = ()

    def answer(self, data: bytes) -> None:
        """Run it. A refusal must be of its own kind and in words, on a line unless it quotes several."""
        try:
            self.run(data)
        except self.refusals as refusal:
            require(str(refusal), f"a refusal says why: {refusal!r}")
            require("\n" not in str(refusal) or b"\n" in data, f"a refusal is one line: {refusal!r}")

    def inputs(self) -> Iterator[bytes]:
        """The seeds, and what was kept of earlier runs."""
        yield from self.seeds
        for path in sorted((CORPUS / self.name).glob("*")):
            yield path.read_bytes()


def require(holds: object, what: str) -> None:
    """Broken unless it holds; no `assert`, which tools may leave out."""
    if not holds:
        raise Broken(what)


def text_of(data: bytes) -> str:
    """Bytes as any text, halves of surrogate pairs included."""
    return data.decode("utf-8", "surrogatepass") if _fits(data) else data.decode("utf-8", "replace")


def _fits(data: bytes) -> bool:
    try:
        data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


@cache
def targets() -> dict[str, Target]:
    """All targets, by name."""
    from tests.fuzz.targets import asked, files, formats, texts

    found = [*formats.targets(), *files.targets(), *texts.targets(), *asked.targets()]
    return {each.name: each for each in found}
