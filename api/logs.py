"""What a service logs, on stderr: text for a person, or one JSON object a line for a collector of logs.

No line holds an address, a header, a body or a key: only what `api.observed` tells of a request.
"""

import json
import logging
from datetime import UTC, datetime
from typing import Any, Literal

from api.observed import Answered

LogFormat = Literal["text", "json"]
REQUESTS = logging.getLogger("leakdown.requests")
SERVICE = logging.getLogger("leakdown.service")


class JsonLines(logging.Formatter):
    """A record as one line of JSON: at, level, logger, message, the fields of a request, exception."""

    def format(self, record: logging.LogRecord) -> str:
        """One line; whatever stands in a message or a traceback is escaped."""
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line)


def configuration(as_: LogFormat) -> dict[str, Any]:
    """For `logging.config.dictConfig`: warnings as text, or requests and the service's life too as JSON."""
    wanted = "INFO" if as_ == "json" else "WARNING"
    formatter = {"()": JsonLines} if as_ == "json" else {"format": "%(levelname)s: %(message)s"}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": formatter},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["stderr"], "level": "WARNING"},
        "loggers": {"leakdown": {"level": wanted}},
    }


def log_request(answered: Answered) -> None:
    """Log it."""
    fields = {
        "request": answered.request,
        "method": answered.method,
        "route": answered.route,
        "status": answered.status,
        "milliseconds": round(answered.seconds * 1000, 1),
    }
    REQUESTS.info("%s %s", answered.method, answered.route, extra={"fields": fields})
