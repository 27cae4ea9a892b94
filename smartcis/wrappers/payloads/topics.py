"""Topic patterns: MQTT filters whose single levels may have names, as `site/{room}/+/state`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from smartcis.wrappers.errors import BadConfig

LENGTH = 200
_NAME = re.compile(r"\{([a-z_][a-z0-9_]{0,29})\}")


@dataclass(frozen=True, slots=True)
class TopicPattern:
    """A pattern.

    Args:
        levels: a text, `+`, `#` at the end, or a name in braces.
    """

    levels: tuple[str, ...]

    @property
    def filter(self) -> str:
        """What a broker is asked for."""
        return "/".join("+" if _NAME.fullmatch(level) else level for level in self.levels)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its levels."""
        return tuple(found[1] for level in self.levels if (found := _NAME.fullmatch(level)))

    def match(self, topic: str) -> dict[str, str] | None:
        """Returns the named levels of a topic, None for one that it does not fit."""
        levels, found = topic.split("/"), dict[str, str]()
        if self.levels[-1] == "#":
            if len(levels) < len(self.levels) - 1:
                return None
        elif len(levels) != len(self.levels):
            return None
        for level, wanted in zip(levels, self.levels, strict=False):
            if wanted == "#":
                break
            if name := _NAME.fullmatch(wanted):
                found[name[1]] = level
            elif wanted not in ("+", level):
                return None
        if topic.startswith("$") and self.levels[0][0] in "+#{":
            return None  # a broker's own topics are nobody's by wildcard
        return found


def read_pattern(text: str) -> TopicPattern:
    """Takes a pattern apart.

    Raises:
        BadConfig: it is none, or two levels have one name.
    """
    levels = tuple(text.split("/"))
    names = [found[1] for level in levels if (found := _NAME.fullmatch(level))]
    wrong = not text or len(text) > LENGTH or "\0" in text or len(names) > len(set(names))
    for place, level in enumerate(levels):
        last = place == len(levels) - 1
        whole = _NAME.fullmatch(level) or level == "+" or (level == "#" and last)
        wrong |= not whole and any(one in level for one in "+#{}")
    if wrong or not levels[0]:
        raise BadConfig(
            "a topic is levels with slashes between them",
            found=text[:60] or "nothing",
            exists=["zigbee2mqtt/{device}", "site/+/{room}/state", "plant/#"],
            attempt="a name in braces stands for one whole level; each name once",
        )
    return TopicPattern(levels)
