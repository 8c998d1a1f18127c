"""Every failure that leakdown explains to its user.

LeakdownError                 one line: where, what, what to do; the command line exits with 2
├── InputError                the input was wrong
│   ├── UnreadableInput       a path that cannot be opened or read
│   └── UnknownFormat         no reader understands the file
├── UsageError                the call was wrong: an unknown detector, filter, setting, upload
└── StoreError                the store cannot serve
    ├── StoreLocked           another process has it open
    └── StoreTooNew           written by a newer leakdown

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


class UsageError(LeakdownError):
    """The call was wrong."""


class StoreError(LeakdownError):
    """The store cannot serve."""


class StoreLocked(StoreError):
    """Another process has the store open."""


class StoreTooNew(StoreError):
    """The store was written by a newer leakdown."""
