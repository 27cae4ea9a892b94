"""Random SQL with what analysts write besides: OVER, QUALIFY, ROLLUP, LATERAL, DISTINCT ON, more
aggregates, IN over rows of values, USING.
"""

from __future__ import annotations

import re
from typing import Any

from streamsql.random_sql import NUMBERS, Columns, Writer

FRAMES = (
    "",
    " ROWS BETWEEN 1 PRECEDING AND CURRENT ROW",
    " ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING",
    " ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING",
    " ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW",
    " GROUPS 1 PRECEDING",
)
EXCLUDED = ("", " EXCLUDE CURRENT ROW", " EXCLUDE GROUP", " EXCLUDE TIES", " EXCLUDE NO OTHERS")
DAY = "DATE '2026-01-01' + CAST({} AS INT)"


class FormWriter(Writer):
    """A writer that knows more forms; whatever depends on an order gets one that is total."""

    window = ("", "")

    def select(self, depth: int, outer: Columns, kinds: list[str]) -> str:
        form = self.pick("plain", "plain", "over", "distinct on")
        if form == "plain" or self.budget <= 0:
            return super().select(depth, outer, kinds)
        source, scope = self.sources(depth)
        where = f" WHERE {self.predicate(depth, scope, outer)}" if self.pick(0, 1, 1) else ""
        if form == "over":
            return self.computed(source, scope, where, kinds)
        own = [self.value(kind, 0, scope, []) for kind in kinds]
        named = ", ".join(f"{value} AS c{i}" for i, value in enumerate(own, start=1))
        key, _ = self.choose(scope)
        order = f"{_sorted(key)}, {self.total(scope)}"
        return f"SELECT DISTINCT ON ({key}) {named} FROM {source}{where} ORDER BY {order}"

    def computed(self, source: str, scope: Columns, where: str, kinds: list[str]) -> str:
        """Write a query with OVER, perhaps cut by QUALIFY."""
        # One order for a query: rows that are equal are told apart alike in one, not in several.
        part = f"PARTITION BY {self.choose(scope)[0]} " if self.pick(0, 1) else ""
        self.window = part, _sorted(self.choose(scope)[0], self.pick("", " DESC"))
        values = [self.over(kind, scope) for kind in kinds]
        named = ", ".join(f"{value} AS c{i}" for i, value in enumerate(values, start=1))
        tail = ""
        if self.chance(2):
            tail = f" QUALIFY {self.over('INT', scope)} {self.compare()} {self.choose(NUMBERS)}"
        return f"SELECT {named} FROM {source}{where}{tail}"

    def over(self, kind: str, scope: Columns) -> str:
        part, key = self.window
        total = f"{part}ORDER BY {key}, {self.total(scope)}"
        value = self.value(kind, 0, scope, [])
        forms = ["lag", "extreme", "first"]
        if kind == "INT":
            forms += ["rank", "rank", "number", "sum", "count", "range", "days", "groups"]
        match self.choose(forms):
            case "rank":
                return f"{self.pick('rank', 'dense_rank')}() OVER ({part}ORDER BY {key})"
            case "number":
                return f"{self.pick('row_number()', 'ntile(2)')} OVER ({total})"
            case "sum":
                return f"CAST(SUM({value}) OVER ({total}{self.pick(*FRAMES)}) AS INT)"
            case "count":
                return f"COUNT({value}) OVER ({part}ORDER BY {key})"
            case "range":
                numbers = [name for name, k in scope if k == "INT"] or ["1"]
                by = _sorted(self.choose(numbers), self.pick("", " DESC"))
                frame = f"RANGE BETWEEN {self.pick(0, 1)} PRECEDING AND 1 FOLLOWING"
                return f"COUNT(*) OVER ({part}ORDER BY {by} {frame}{self.pick(*EXCLUDED)})"
            case "days":
                numbers = [name for name, k in scope if k == "INT"] or ["1"]
                by = _sorted(DAY.format(self.choose(numbers)), self.pick("", " DESC"))
                bound = f"INTERVAL {self.pick(0, 36)} HOURS"
                frame = f"RANGE BETWEEN {bound} PRECEDING AND INTERVAL '1 day' FOLLOWING"
                return f"COUNT(*) OVER ({part}ORDER BY {by} {frame}{self.pick(*EXCLUDED)})"
            case "groups":
                start = f"{self.pick('UNBOUNDED', 0, 1)} PRECEDING"
                frame = f"GROUPS BETWEEN {start} AND {self.pick(0, 1)} FOLLOWING"
                frame += self.pick(*EXCLUDED)
                return f"COUNT({value}) OVER ({part}ORDER BY {key} {frame})"
            case "lag":
                step = self.pick("lag", "lead")
                return f"{step}({value}, {self.pick(1, 2)}) OVER ({total})"
            case "first":
                which = self.pick("first_value", "last_value")
                return f"{which}({value}) OVER ({total}{self.pick(*FRAMES)})"
        return f"{self.pick('MIN', 'MAX')}({value}) OVER ({part}ORDER BY {key})"

    def total(self, scope: Columns) -> str:
        """Returns keys under which only equal rows are equal."""
        return ", ".join(_sorted(name) for name, _ in scope)

    def grouped(self, depth: int, source: str, scope: Columns, where: str, kinds: Any) -> str:
        text = super().grouped(depth, source, scope, where, kinds)
        own = re.search(r" GROUP BY ([a-z0-9.]+)$", text)
        if own is None or not self.chance(2):
            return text
        head, key = text[: own.start()], own[1]
        # No empty set: over no rows DuckDB counts null there, where it depends on a row around.
        other, _ = self.choose(scope)
        sets = self.pick("(({0}), ({1}))", "(({0}, {1}), ({1}))", "(({0}), ({0}, {1}))")
        return f"{head} GROUP BY GROUPING SETS {sets.format(key, other)}"

    def aggregate(self, kind: str, scope: Columns) -> str:
        form = self.pick("plain", "plain", "quantile", "filter", "texts", "chosen")
        value = self.value(kind, 0, scope, [])
        match form:
            case "quantile":
                return f"quantile_disc({value}, {self.pick('0.0', '0.3', '0.5', '1.0')})"
            case "filter":
                test = self.predicate(0, scope, [])
                return f"{self.pick('MIN', 'MAX')}({value}) FILTER (WHERE {test})"
            case "texts" if kind == "TEXT" and "TEXT" in [k for _, k in scope]:
                value = self.choose([name for name, k in scope if k == "TEXT"])
                distinct = self.pick("", "DISTINCT ")
                falling = self.pick("", " DESC")
                return f"string_agg({distinct}{value}, ',' ORDER BY {value}{falling})"
            case "chosen":
                return f"{self.pick('arg_min', 'arg_max')}({value}, {value})"
        return super().aggregate(kind, scope)

    def sources(self, depth: int) -> tuple[str, Columns]:
        text, scope = super().sources(depth)
        if depth > 0 and self.chance(5):
            inner, kinds = self.query(depth - 1, scope)
            alias = self.alias()
            if self.pick(0, 1):
                text = f"{text} CROSS JOIN LATERAL ({inner}) AS {alias}"
            else:
                text = f"{text} LEFT JOIN LATERAL ({inner}) AS {alias} ON TRUE"
            scope = scope + [(f"{alias}.c{i}", kind) for i, kind in enumerate(kinds, start=1)]
        return text, scope

    def predicate(self, depth: int, scope: Columns, outer: Columns) -> str:
        if depth > 0 and self.chance(8):
            inner, _ = self.query(depth - 1, [], ["INT", "TEXT"])  # DuckDB has no correlated ones
            one, two = (self.value(kind, 0, scope, outer) for kind in ("INT", "TEXT"))
            return f"({one}, {two}) {self.pick('', 'NOT ')}IN ({inner})"
        return super().predicate(depth, scope, outer)


def _sorted(key: str, falling: str = "") -> str:
    return f"{key}{falling} NULLS {'LAST' if falling else 'FIRST'}"
