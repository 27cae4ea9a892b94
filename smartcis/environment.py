"""Reading the environment: the few values a deployment may set, each with its default.

Law: reading a value twice gives the same answer; the secret key is made once and then kept.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

REDIS_PORT_FILE = "redis/port"  # written by smartcis.services.embedded_redis
DEFAULT_REDIS_PORT = 6390  # beside Redis' own 6379, so that a system server is never touched


def flag(name: str, *, default: bool) -> bool:
    """Reads a yes/no variable: 1, true, yes, on."""
    text = os.environ.get(name)
    return default if text is None else text.strip().lower() in {"1", "true", "yes", "on"}


def number(name: str, *, default: int) -> int:
    """Reads a whole number."""
    return int(os.environ.get(name, default))


def words(name: str, *, default: str) -> list[str]:
    """Reads a comma-separated list."""
    return [word.strip() for word in os.environ.get(name, default).split(",") if word.strip()]


def var_dir(base: Path) -> Path:
    """Returns the directory for everything the running product writes, made if missing."""
    path = Path(os.environ.get("SMARTCIS_VAR", base / "var")).resolve()
    path.mkdir(parents=True, exist_ok=True)
    return path


def secret_key(var: Path, name: str = "secret_key") -> str:
    """A secret: the environment's `SMARTCIS_<NAME>`, or one made on the first run and kept."""
    given = os.environ.get(f"SMARTCIS_{name.upper()}")
    if given:
        return given
    path = var / name
    try:
        # Exclusive creation: of two processes starting together one writes, the other reads.
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(50))
    except FileExistsError:
        pass
    return path.read_text(encoding="ascii") or secrets.token_urlsafe(50)


def redis_url(var: Path) -> str:
    """Returns the Redis server: `REDIS_URL`, else the embedded one whose port stands in `var`."""
    given = os.environ.get("REDIS_URL")
    if given:
        return given
    path = var / REDIS_PORT_FILE
    port = int(path.read_text(encoding="ascii")) if path.exists() else DEFAULT_REDIS_PORT
    return f"redis://127.0.0.1:{port}/0"
