"""Alarm rule: when an alarm begins and ends, as `OUTPUT TO ALARM` says it; columns looked up.

OUTPUT TO ALARM 'too warm' KEY (rid)
  RAISE WHEN celsius >= 26 FOR 30 SECONDS   held so long without a break
  CLEAR WHEN celsius < 25 FOR 60 SECONDS    between the two, nothing changes
  NO DATA AFTER 300 SECONDS                 a key whose row is gone, or whose value is unknown
  SEVERITY critical NOTIFY EMAIL 'house@example.org'
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aspen.algebra.explain import expr_text
from aspen.algebra.expr import Expr
from aspen.algebra.read_expr import Words, read_expr


@dataclass(frozen=True, slots=True)
class AlarmRule:
    """When an alarm is raised and cleared, and who hears of it.

    Args:
        keys: columns that say which thing an alarm is about; none: the whole row.
        raise_when: condition over the query's columns; None: there is a row.
        raise_s: how long it must hold, s.
        clear_when: the condition that ends it; None: `raise_when` is false, or the row is gone.
        clear_s: how long that must hold, s.
        silent_s: after how long without a known value there is an alarm about that, s; None: a
            row that goes counts as one that clears.
        severity: info, warning or critical.
        notify: kind and target of who is told besides the page.
    """

    keys: tuple[str, ...] = ()
    raise_when: Expr | None = None
    raise_s: float = 0.0
    clear_when: Expr | None = None
    clear_s: float = 0.0
    silent_s: float | None = None
    severity: str = "warning"
    notify: tuple[tuple[str, str], ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Returns the rule as JSON keeps it; conditions are text of the plan language."""
        fields = {"keys": self.keys, "notify": self.notify, "severity": self.severity}
        spans = {name: getattr(self, name) for name in ("raise_s", "clear_s", "silent_s")}
        conditions = {
            name: condition and expr_text(condition)
            for name, condition in (
                ("raise_when", self.raise_when),
                ("clear_when", self.clear_when),
            )
        }
        return fields | spans | conditions

    @property
    def text(self) -> str:
        """What the rule says, in the words of the plan language; empty for the plain rule."""
        words = [f"key ({', '.join(self.keys)})"] if self.keys else []
        words += _threshold("raise", self.raise_when, self.raise_s)
        words += _threshold("clear", self.clear_when, self.clear_s)
        if self.silent_s is not None:
            words.append(f"no data after {self.silent_s:g} s")
        words.append(f"severity {self.severity}")
        words += [f"notify {kind.lower()} {target}" for kind, target in self.notify]
        return " ".join(words)


def read_rule(fields: Mapping[str, Any]) -> AlarmRule:
    """Returns the rule that `as_dict` wrote.

    Law: `read_rule(rule.as_dict()) == rule`, through JSON, too.
    """
    given = dict(fields)
    for name in ("raise_when", "clear_when"):
        given[name] = given[name] and read_expr(Words(given[name], 1))
    given["keys"] = tuple(given["keys"])
    given["notify"] = tuple((kind, target) for kind, target in given["notify"])
    return AlarmRule(**given)


def _threshold(word: str, condition: Expr | None, held_s: float) -> list[str]:
    when = [f"when {expr_text(condition)}"] if condition is not None else []
    held = [f"for {held_s:g} s"] if held_s else []
    return [word, *when, *held] if when or held else []
