"""Every failure that leakdown explains to its user.

LeakdownError                 one line: where, what, what to do; the command line exits with 2
├── InputError                the input was wrong
│   ├── UnreadableInput       a path that cannot be opened or read
│   ├── UnknownFormat         no reader understands the file
│   └── TooLarge              over a limit: body, decompressed size
├── UsageError                the call was wrong: an unknown detector, filter, setting
│   ├── NotFound              a run, upload, job or label that does not exist
│   └── Conflict              what is asked is under way, or has ended
├── NotAllowed                who asks may not do it
├── Busy                      too much is under way or waits; it may be asked again
├── Stopping                  the service is going down; what was asked left no trace
└── StoreError                the store cannot serve
    ├── StoreLocked           another process has it open
    ├── StoreTooNew           written by a newer leakdown
    ├── StoreFull             no space left on its disk
    ├── StoreBusy             no memory left beside what else is under way
    └── StoreDamaged          its file is not as it was written

Anything else is a bug and keeps its traceback. A bad *line* is no error: it is quarantined (ingest.formats).
"""


class LeakdownError(Exception):
    """A failure with one clear line for its reader."""


class InputError(LeakdownError):
    """The input was wrong."""


class UnreadableInput(InputError):
    """A path that cannot be opened or read."""


class UnknownFormat(InputError):
    """No reader understands the file."""


class TooLarge(InputError):
    """Over a limit."""


class UsageError(LeakdownError):
    """The call was wrong."""


class NotFound(UsageError):
    """A run, upload, job or label that does not exist."""


class Conflict(UsageError):
    """What is asked is under way, or has ended."""


class NotAllowed(LeakdownError):
    """Who asks may not do it."""


class Busy(LeakdownError):
    """Too much is under way or waits; it may be asked again."""


class Stopping(LeakdownError):
    """The service is going down; what was asked left no trace."""


class StoreError(LeakdownError):
    """The store cannot serve."""


class StoreLocked(StoreError):
    """Another process has the store open."""


class StoreTooNew(StoreError):
    """The store was written by a newer leakdown."""


class StoreFull(StoreError):
    """No space left on the store's disk."""


class StoreDamaged(StoreError):
    """The store's file is not as it was written."""


class StoreBusy(StoreError):
    """No memory left beside what else is under way."""
