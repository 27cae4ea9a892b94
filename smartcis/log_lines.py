"""Log lines: how ours and the libraries' look, and where they go.

| variable | default | meaning |
|---|---|---|
| SMARTCIS_LOG_LEVEL | INFO | of what goes to standard error |
| SMARTCIS_LOG_FORMAT | text | or json: an object a line |
"""

from __future__ import annotations

import logging
import os
import sys
from typing import Any

import structlog

_PARTS: list[Any] = [  # of every line, ours and the libraries'
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.ExtraAdder(),
    structlog.processors.TimeStamper(fmt="iso"),
    structlog.processors.format_exc_info,
]


def logging_settings() -> dict[str, Any]:
    """Sets structlog up, and returns Django's `LOGGING` to match."""
    level = os.environ.get("SMARTCIS_LOG_LEVEL", "INFO")
    line: Any = (
        structlog.processors.JSONRenderer(default=str)
        if os.environ.get("SMARTCIS_LOG_FORMAT", "text") == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelName(level)),
        processors=[one for one in _PARTS if not isinstance(one, structlog.stdlib.ExtraAdder)]
        + [structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        # A handler of `logging` swallows what a full disk does not take; printing would raise it.
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {"brief": {"()": lambda: _without_traceback}},
        "formatters": {
            "line": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": _PARTS,
                "processors": [structlog.stdlib.ProcessorFormatter.remove_processors_meta, line],
            }
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            "django.request": {"level": "ERROR"},
            "django.security.DisallowedHost": {"filters": ["brief"]},
            "httpx": {"level": "WARNING"},  # a line per poll of every source
        },
    }


def _without_traceback(record: logging.LogRecord) -> bool:
    """Lets a line pass without its traceback: anybody can write it here, by a request."""
    record.exc_info = None
    return True
