"""Reading the environment: the few values a deployment may set, each with its default.

Law: reading a value twice gives the same answer; the secret key is made once and then kept.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
import tempfile
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

OUR_NAMES = {"bench", "mutants", "redis.sock", "secret_key"}  # any of them marks a folder of ours
SOCKET_PATH_BYTES = 100  # Linux takes 107, and a path that fits today may get a few more
MAIL_PORTS = {"smtp": 587, "smtps": 465, "smtp+plain": 25}
"""Ways to a mail server: encrypted once connected, encrypted, and in clear for one next door."""
Network = IPv4Network | IPv6Network


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


def private_dir(path: Path) -> Path:
    """Returns a folder that only its owner may enter, made or closed to others if need be.

    Raises:
        ImproperlyConfigured: it is /tmp or the like, another account's, or full of other things.
    """
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = path.lstat()
    foreign = os.geteuid() not in (0, found.st_uid)
    if foreign or (found.st_mode & 0o077 and not _is_ours(path, found.st_mode)):
        raise ImproperlyConfigured(
            f"{path} is not SmartCIS's alone; set SMARTCIS_VAR to a new folder"
        )
    if found.st_mode & 0o077:
        path.chmod(0o700)
    return path


def private_opener(path: str, flags: int) -> int:
    """Opens a file, for `open`'s `opener`; one that is made is its owner's alone."""
    return os.open(path, flags, 0o600)


def limits(name: str, *, default: str) -> dict[str, int]:
    """Reads how much one may have or do by who it is: `account=20,browser=5`; 0 for any number.

    Args:
        default: a number for every scope there is; the variable replaces some.

    Raises:
        ImproperlyConfigured: another scope, or no number.
    """
    found = {scope: int(most) for scope, most in _pairs(default)}
    for scope, most in _pairs(os.environ.get(name, "")):
        if scope not in found or not most.isdecimal():
            raise ImproperlyConfigured(
                f"{name} holds {scope}={most}; it takes whole numbers for {', '.join(found)}"
            )
        found[scope] = int(most)
    return found


def networks(name: str) -> tuple[Network, ...]:
    """Reads a comma-separated list of addresses and networks.

    Raises:
        ImproperlyConfigured: a word is neither.
    """
    try:
        return tuple(ip_network(word) for word in words(name, default=""))
    except ValueError as error:
        raise ImproperlyConfigured(f"{name}: {error}") from error


def email(name: str) -> dict[str, object]:
    """Reads how e-mail is sent, as Django's settings; none where it is off.

    Raises:
        ImproperlyConfigured: another word than `console`, or no address of a mail server.
    """
    text = os.environ.get(name, "").strip()
    if text in ("", "off"):
        return {}
    if text == "console":
        return {"EMAIL_BACKEND": "django.core.mail.backends.console.EmailBackend"}
    parts = urlsplit(text)
    if parts.scheme not in MAIL_PORTS or not parts.hostname:
        known = ", ".join(f"{scheme}://host" for scheme in MAIL_PORTS)
        raise ImproperlyConfigured(f"{name} takes off, console, {known}")
    return {
        "EMAIL_BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        "EMAIL_HOST": parts.hostname,
        "EMAIL_PORT": parts.port or MAIL_PORTS[parts.scheme],
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_TLS": parts.scheme == "smtp",
        "EMAIL_USE_SSL": parts.scheme == "smtps",
    }


def _pairs(text: str) -> list[tuple[str, str]]:
    parts = [word.partition("=") for word in text.split(",") if word.strip()]
    return [(scope.strip(), most.strip()) for scope, _, most in parts]


def _is_ours(path: Path, mode: int) -> bool:
    """Tells whether nobody misses a folder that is closed to them."""
    names = {one.name for one in path.iterdir()}
    return not mode & stat.S_ISVTX and (not names or bool(names & OUR_NAMES))


def var_dir(base: Path) -> Path:
    """Returns the folder for everything the running product writes, ours alone."""
    return private_dir(Path(os.environ.get("SMARTCIS_VAR", base / "var")).resolve())


def secret_key(var: Path, name: str = "secret_key") -> str:
    """A secret: the environment's `SMARTCIS_<NAME>`, or one made on the first run and kept."""
    given = os.environ.get(f"SMARTCIS_{name.upper()}")
    if given:
        return given
    path = var / name
    try:
        # Exclusive creation: of two processes starting together one writes, the other reads.
        with open(path, "x", opener=private_opener) as file:
            file.write(secrets.token_urlsafe(50))
    except FileExistsError:
        pass
    return path.read_text(encoding="ascii") or secrets.token_urlsafe(50)


def redis_socket(folder: Path) -> Path:
    """Returns the socket of a folder's embedded Redis: inside, or where a short path leads."""
    path = folder.resolve() / "redis.sock"
    if len(os.fsencode(path)) <= SOCKET_PATH_BYTES and quote(str(path)) == str(path):
        return path
    digest = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
    return private_dir(Path(tempfile.gettempdir()) / f"smartcis-{digest}") / "redis.sock"


def socket_url(path: Path) -> str:
    """Returns the address of a Redis server that listens on a socket."""
    return f"unix://{path}?db=0"


def redis_url(var: Path) -> str:
    """Returns the Redis server: `REDIS_URL`, else the embedded one of `var`."""
    return os.environ.get("REDIS_URL") or socket_url(redis_socket(var / "redis"))


def broker_url(redis_url: str) -> str:
    """Returns a Redis server's address as Celery writes it."""
    return redis_url.replace("unix://", "redis+socket://", 1).replace("?db=", "?virtual_host=", 1)
