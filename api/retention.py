"""What leaves a store by intention, in one place: on an open store, or through the service that owns it."""

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Protocol

from ingest.errors import UsageError

if TYPE_CHECKING:
    from api.asking import Service
    from ingest.store import Store

Json = dict[str, Any]
_AGE = re.compile(r"([1-9]\d{0,4})d")


class Retention(Protocol):
    """The operations that take something out. Answers are plain JSON values with the keys of `Removed`, `dry_run`, and
    `file`, null where nothing went: the bytes of the store `before` and `after`, whether the blocks of what went are
    `freed` already, and `why_not_smaller` if its file could not be written anew."""

    def prune(self, older_than: str, *, keep_rates: bool, dry_run: bool = False) -> Json:
        """Take out the texts of what is older than `90d` or so, or with `keep_rates` off the generations wholly.
        UsageError."""
        ...

    def forget(self, run_id: str, *, dry_run: bool = False) -> Json:
        """Take a run out of every table. NotFound; Conflict while a job names it."""
        ...


def cutoff(older_than: str, now: datetime) -> datetime:
    """The moment before which all is older than so many days; `now` is UTC without a zone. UsageError."""
    found = _AGE.fullmatch(older_than)
    try:
        return now - timedelta(days=int(found[1])) if found else _refuse(older_than)
    except OverflowError:
        return _refuse(older_than)


def _now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)


def _refuse(older_than: str) -> datetime:
    raise UsageError(f"--older-than {older_than}: write a number of days such as 90d")


class LocalRetention:
    """Retention on an open store. `alone`: nobody else uses the store, so that its file can be written anew."""

    def __init__(self, store: "Store", *, alone: bool) -> None:
        self.store, self._alone = store, alone

    def prune(self, older_than: str, *, keep_rates: bool, dry_run: bool = False) -> Json:
        """Take out texts, or generations wholly, that are older than so many days. UsageError."""
        from analysis.rollups import recount
        from ingest.retention.forgetting import remove_old
        from ingest.retention.pruning import prune

        now, size = _now(), self.store.bytes()
        before = cutoff(older_than, now)
        if keep_rates:
            removed = prune(self.store, before, now, dry=dry_run)
        else:
            removed = remove_old(self.store, before, now, recount, dry=dry_run)
        return self._told(removed.as_json(), size, dry_run=dry_run)

    def forget(self, run_id: str, *, dry_run: bool = False) -> Json:
        """Take a run out of every table. NotFound; Conflict while a job names it."""
        from analysis.rollups import recount
        from ingest.retention.forgetting import forget

        size = self.store.bytes()
        removed = forget(self.store, run_id, _now(), recount, dry=dry_run)
        return self._told(removed.as_json(), size, dry_run=dry_run)

    def _told(self, removed: Json, size: int, *, dry_run: bool) -> Json:
        gone = not dry_run and (removed["generations"] or removed["events"])
        return {**removed, "dry_run": dry_run, "file": self._give_back(size) if gone else None}

    def _give_back(self, before: int) -> Json:
        """`before` and `after` in bytes; `freed` tells that the next upload takes the blocks of what went."""
        from ingest.errors import StoreError
        from ingest.retention.space import free_blocks, write_file_anew

        freed, said = free_blocks(self.store), None
        if self._alone:
            try:
                write_file_anew(self.store)
            except StoreError as fault:
                said = str(fault)
        return {"before": before, "after": self.store.bytes(), "freed": freed, "why_not_smaller": said}


class RemoteRetention:
    """Retention through a service."""

    def __init__(self, service: "Service") -> None:
        self._service = service

    def prune(self, older_than: str, *, keep_rates: bool, dry_run: bool = False) -> Json:
        """Take out texts, or generations wholly, that are older than so many days. UsageError."""
        asked = {"older_than": older_than, "keep_rates": keep_rates, "dry_run": dry_run}
        found: Json = self._service.ask("POST", "/v1/prune", json=asked).json()
        return found

    def forget(self, run_id: str, *, dry_run: bool = False) -> Json:
        """Take a run out of every table. NotFound; Conflict while a job names it."""
        found: Json = self._service.ask("POST", "/v1/forget", json={"run_id": run_id, "dry_run": dry_run}).json()
        return found
