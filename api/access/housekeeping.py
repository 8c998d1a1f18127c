"""What a service writes down from time to time: when keys were last used; and the audit log, kept short."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from fastapi.concurrency import run_in_threadpool

from api.access.keys import Keyring
from ingest.actions import prune
from ingest.store import Store

SECONDS = 3600.0
_log = logging.getLogger(__name__)


@asynccontextmanager
async def housekeeping(keyring: Keyring, store: Store) -> AsyncIterator[None]:
    """While it lasts, every hour; and once more at the end."""
    task = asyncio.create_task(_every_hour(keyring, store))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await run_in_threadpool(_once, keyring, store)


async def _every_hour(keyring: Keyring, store: Store) -> None:
    while True:
        await run_in_threadpool(_once, keyring, store)
        await asyncio.sleep(SECONDS)


def _once(keyring: Keyring, store: Store) -> None:
    try:
        keyring.keep_uses()
        prune(store)
    except Exception:  # noqa: BLE001 - logged with its traceback
        # a full disk, say: nobody waits for an answer, and what is not written now is written in an hour
        _log.exception("the last uses of keys were not written down")
