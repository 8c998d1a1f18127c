"""What leakdown can do with a store, in one place: the commands, the routes and the pages all call this.

Answers are plain JSON values with the keys of the command line's JSON. `LocalBackend` owns an open store;
`api.remote.RemoteBackend` does the same through a running service.
"""

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from api.alerts import Alerts, LocalAlerts
from api.audits import Audits, LocalAudits
from api.backups import Backups, LocalBackups
from api.detectors import Detectors, LocalDetectors
from api.exports import Exports, LocalExports
from api.figures import Figures, LocalFigures
from api.keys import Keys, LocalKeys
from api.labels import Labels, LocalLabels
from api.replays import LocalReplays, Replays
from api.retention import LocalRetention, Retention
from api.uploads import LocalUploads, Uploads
from api.work import Work
from ingest.store import Store

if TYPE_CHECKING:
    from analysis.alerts.files import AnyRule


class Backend(Protocol):
    """The operations that need a store. Errors are those of `ingest.errors`, whichever way they came."""

    @property
    def uploads(self) -> Uploads:
        """The operations on uploads."""
        ...

    @property
    def detectors(self) -> Detectors:
        """The operations on detectors."""
        ...

    @property
    def figures(self) -> Figures:
        """The operations on figures."""
        ...

    @property
    def replays(self) -> Replays:
        """The operations on replays."""
        ...

    @property
    def exports(self) -> Exports:
        """The operations on exports."""
        ...

    @property
    def backups(self) -> Backups:
        """The operations on backups."""
        ...

    @property
    def labels(self) -> Labels:
        """The operations on labels."""
        ...

    @property
    def alerts(self) -> Alerts:
        """The operations on alerts."""
        ...

    @property
    def audits(self) -> Audits:
        """The operations on the audit."""
        ...

    @property
    def keys(self) -> Keys:
        """The operations on keys, and the audit log."""
        ...

    @property
    def retention(self) -> Retention:
        """The operations that take something out."""
        ...


class LocalBackend:
    """The operations on an open store."""

    def __init__(
        self,
        store: Store,
        stopping: threading.Event | None = None,
        rules: "Sequence[AnyRule] | None" = None,
    ) -> None:
        """Once `stopping` is set, what is being written ends without a trace: a service has it, and a command, which
        has the store to itself, has none. `rules` of alerts: else the built-in ones."""
        work = Work(store, stopping)
        self.store = store
        self.uploads = LocalUploads(work)
        self.detectors = LocalDetectors(work)
        self.replays = LocalReplays(work)
        self.exports = LocalExports(store)
        self.backups = LocalBackups(store)
        self.labels = LocalLabels(store)
        self.alerts = LocalAlerts(store, rules)
        self.audits = LocalAudits(store)
        self.keys = LocalKeys(store)
        self.figures = LocalFigures(work, self.alerts)
        self.retention = LocalRetention(store, alone=stopping is None)
