"""The compose file as Docker reads it: variables filled in, `$$` a dollar, a command in words."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "docker" / "compose.yaml"
GIVEN = {
    "SMARTCIS_HOST": "map.example.org",
    "SMARTCIS_SECRET_KEY": "".join(map(chr, range(48, 100))).replace("\\", "/"),
    "POSTGRES_PASSWORD": "p0stgres",
    "REDIS_PASSWORD": "r3dis",
    "MQTT_PASSWORD": "br0ker",
}
_VARIABLE = re.compile(r"(?<!\$)\$\{(\w+)(?::\?[^}]*|:-([^}]*))?\}")


def read(given: Mapping[str, str] = GIVEN) -> Any:
    """Returns the file's content."""

    def value(found: re.Match[str]) -> str:
        name, default = found.groups()
        return given[name] if default is None else given.get(name, default)

    return yaml.safe_load(_VARIABLE.sub(value, FILE.read_text()).replace("$$", "$"))


def variables() -> set[str]:
    """Returns the names that the file takes from `.env`."""
    return {found[1] for found in _VARIABLE.finditer(FILE.read_text())}


def command(service: Mapping[str, Any]) -> list[str]:
    """Returns what a service runs; without a command the image's own."""
    if "command" in service:
        return shlex.split(service["command"])
    image = (FILE.parent / "Dockerfile").read_text().replace("\\\n", "")
    found = re.search(r"^CMD (\[.*\])$", image, re.MULTILINE)
    assert found is not None
    words: list[str] = json.loads(found[1])
    return words
