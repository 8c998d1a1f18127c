"""The same operations through a running service: what a command does while the service owns the store."""

from api.alerts import RemoteAlerts
from api.asking import Service
from api.audits import RemoteAudits
from api.backups import RemoteBackups
from api.detectors import RemoteDetectors
from api.exports import RemoteExports
from api.figures import RemoteFigures
from api.keys import RemoteKeys
from api.labels import RemoteLabels
from api.replays import RemoteReplays
from api.retention import RemoteRetention
from api.uploads import RemoteUploads


class RemoteBackend:
    """The operations through the service at `url`, by a key or the secret of its notice if one is given."""

    def __init__(self, url: str, key: str | None = None) -> None:
        self._service = Service(url, key)
        self.uploads = RemoteUploads(self._service)
        self.detectors = RemoteDetectors(self._service)
        self.figures = RemoteFigures(self._service)
        self.replays = RemoteReplays(self._service)
        self.exports = RemoteExports(self._service)
        self.backups = RemoteBackups(self._service)
        self.labels = RemoteLabels(self._service)
        self.alerts = RemoteAlerts(self._service)
        self.audits = RemoteAudits(self._service)
        self.keys = RemoteKeys(self._service)
        self.retention = RemoteRetention(self._service)

    def close(self) -> None:
        """Let go of the connection."""
        self._service.close()
