"""Random SQL that StreamSQL and DuckDB read alike, over three small tables full of nulls.

seed ── Writer ──> query, one in four recursive
     ── rows ────> what the tables hold ── changes ──> insertions, deletions, updates
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from aspen.model.catalog import Catalog
from aspen.model.schema import Column, Relation, Type

TABLES = {
    "t": (("a", "INT"), ("b", "INT"), ("c", "TEXT")),
    "u": (("a", "INT"), ("d", "INT"), ("e", "TEXT")),
    "v": (("b", "INT"), ("c", "TEXT")),
}
NOT_NULL = {("t", "a"), ("u", "d")}
CATALOG = Catalog.of(
    Relation(
        table,
        tuple(Column(c, Type[kind], "", (table, c) not in NOT_NULL) for c, kind in columns),
    )
    for table, columns in TABLES.items()
)

RECURSIVE, EMPTIED = 0.25, 0.5  # how often a query is recursive, a table about to lose all its rows

NUMBERS = tuple(range(-1, 4))
WORDS = ("x", "y", "xy")
number = st.sampled_from(NUMBERS)
word = st.sampled_from(WORDS)


def rows_of(table: str) -> st.SearchStrategy[tuple]:
    """Rows of one table."""
    values = {"INT": number, "TEXT": word}
    return st.tuples(
        *(
            values[kind] if (table, name) in NOT_NULL else st.none() | values[kind]
            for name, kind in TABLES[table]
        )
    )


Columns = list[tuple[str, str]]


@dataclass
class Writer:
    """Writes one query, a choice at a time.

    Args:
        choose: takes one of some options.
        tables: what a query may read, with the kinds of its columns.
        often: the table it reads as often as all others.
    """

    choose: Callable[[Sequence[Any]], Any]
    tables: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=lambda: TABLES)
    often: tuple[str, ...] = ()
    count: int = 0
    budget: int = 14
    words: list[str] = field(default_factory=list)

    def pick(self, *options: Any) -> Any:
        return self.choose(options)

    def chance(self, one_in: int) -> bool:
        """Whether to do something that happens once in so many times; never without budget."""
        if self.budget <= 0:
            return False
        return self.pick(*range(one_in)) == one_in - 1

    def alias(self) -> str:
        self.count += 1
        return f"x{self.count}"

    def query(self, depth: int, outer: Columns, kinds: list[str] | None = None) -> tuple[str, list]:
        """Write a query; its columns are called c1, c2, …."""
        self.budget -= 1
        if kinds is None:
            kinds = [self.pick("INT", "TEXT") for _ in range(self.pick(1, 2))]
        if depth > 0 and self.chance(5):
            left, _ = self.query(depth - 1, outer, kinds)
            right, _ = self.query(depth - 1, outer, kinds)
            word = self.pick(
                "UNION", "UNION ALL", "EXCEPT", "EXCEPT ALL", "INTERSECT", "INTERSECT ALL"
            )
            return f"({left}) {word} ({right})", kinds
        return self.select(depth, outer, kinds), kinds

    def recursive(self, depth: int) -> str:
        """Write a query over a recursive set; each of its steps reads it once, as DuckDB's do."""
        kinds = self.pick(["INT"], ["INT", "INT"], ["INT", "TEXT"])
        base, _ = self.query(self.pick(0, depth - 1), [], kinds)
        known, scope = f"r AS {self.alias()}", [(f"x{self.count}.c1", kinds[0])]
        scope += [(f"x{self.count}.c{i}", kind) for i, kind in enumerate(kinds[1:], start=2)]
        other, more = self.source(depth - 1)
        one, two = self.choose(
            [(a, b) for a, k in scope for b, kind in more if k == kind] or [(scope[0][0], "1")]
        )
        where = f"{one} {self.pick('=', '=', '<>')} {two}"
        if self.chance(2):
            where += f" AND {self.predicate(self.pick(0, 0, 0, depth - 1), more, [])}"
        # What a step writes was there before or has a bound: the set is finite.
        outputs = [self.choose([name for name, k in scope + more if k == kind]) for kind in kinds]
        if self.chance(3):
            outputs[0] = f"{scope[0][0]} + 1"
            where += f" AND {scope[0][0]} < {self.pick(1, 2, 4)}"
        named = ", ".join(f"{value} AS c{i}" for i, value in enumerate(outputs, start=1))
        step = f"SELECT {named} FROM {known} CROSS JOIN {other} WHERE {where}"
        columns = tuple((f"c{i}", kind) for i, kind in enumerate(kinds, start=1))
        self.tables, self.often = {**TABLES, "r": columns}, ("r",)
        self.budget += 7
        head = f"WITH RECURSIVE r({', '.join(name for name, _ in columns)})"
        return f"{head} AS (({base}) UNION ({step})) {self.query(depth, [])[0]}"

    def select(self, depth: int, outer: Columns, kinds: list[str]) -> str:
        source, scope = self.sources(depth)
        where = f" WHERE {self.predicate(depth, scope, outer)}" if self.pick(0, 1, 1) else ""
        if self.chance(3):
            return self.grouped(depth, source, scope, where, kinds)
        outputs = [self.value(kind, depth, scope, outer) for kind in kinds]
        named = ", ".join(f"{value} AS c{i}" for i, value in enumerate(outputs, start=1))
        distinct = "DISTINCT " if self.chance(4) else ""
        tail = ""
        if self.chance(4):
            down = [self.pick("", " DESC") for _ in kinds]
            keys = ", ".join(
                f"c{i}{d} NULLS {'LAST' if d else 'FIRST'}" for i, d in enumerate(down, start=1)
            )
            tail = f" ORDER BY {keys} LIMIT {self.pick(0, 1, 2, 5)}"
            tail += self.pick("", " OFFSET 1")
        return f"SELECT {distinct}{named} FROM {source}{where}{tail}"

    def grouped(self, depth, source, scope, where, kinds) -> str:
        keys = [] if self.chance(3) else [self.choose(scope)]
        outputs = []
        for kind in kinds:
            own = [name for name, k in keys if k == kind]
            if own and self.pick(0, 1):
                outputs.append(own[0])
            else:
                outputs.append(self.aggregate(kind, scope))
        named = ", ".join(f"{value} AS c{i}" for i, value in enumerate(outputs, start=1))
        group = f" GROUP BY {', '.join(name for name, _ in keys)}" if keys else ""
        having = ""
        if self.chance(3):
            test = f"{self.aggregate('INT', scope)} {self.compare()} {self.choose(NUMBERS)}"
            if depth > 0 and self.chance(2):
                inner, _ = self.query(depth - 1, keys, ["INT"])
                test = f"{self.aggregate('INT', scope)} IN ({inner})"
            having = f" HAVING {test}"
        return f"SELECT {named} FROM {source}{where}{group}{having}"

    def aggregate(self, kind: str, scope: Columns) -> str:
        if kind == "TEXT":
            return f"{self.pick('MIN', 'MAX')}({self.value('TEXT', 0, scope, [])})"
        argument = self.value("INT", 0, scope, [])
        form = self.pick("COUNT(*)", "COUNT", "COUNT(DISTINCT", "SUM", "MIN", "MAX")
        if form == "COUNT(*)":
            return form
        return f"{form} {argument})" if form.endswith("DISTINCT") else f"{form}({argument})"

    def sources(self, depth: int) -> tuple[str, Columns]:
        text, scope = self.source(depth)
        for _ in range(2):
            if not self.chance(3):
                break
            other, more = self.source(depth)
            join = self.pick(",", "JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")
            pairs = {k for _, k in scope} & {k for _, k in more}
            if join == "," or not pairs:
                text = f"{text} CROSS JOIN {other}"
            else:
                text = f"{text} {join} {other} ON {self.join_on(join, scope, more)}"
            scope = scope + more
        return text, scope

    def join_on(self, join: str, left: Columns, right: Columns) -> str:
        pairs = [(one, two) for one, k in left for two, kind in right if k == kind]
        one, two = self.choose(pairs)
        if join == "FULL JOIN":
            return f"{one} = {two}"
        extra = f" AND {self.predicate(0, left + right, [])}" if self.chance(2) else ""
        return f"{one} {self.pick('=', '=', '<')} {two}{extra}"

    def source(self, depth: int) -> tuple[str, Columns]:
        alias = self.alias()
        if depth > 0 and self.chance(5):
            text, kinds = self.query(depth - 1, [])
            return f"({text}) AS {alias}", [
                (f"{alias}.c{i}", kind) for i, kind in enumerate(kinds, start=1)
            ]
        return self.table(self.pick(*TABLES, *self.often * len(TABLES)), alias)

    def table(self, name: str, alias: str) -> tuple[str, Columns]:
        return f"{name} AS {alias}", [(f"{alias}.{n}", kind) for n, kind in self.tables[name]]

    def compare(self) -> str:
        return self.pick("=", "<>", "<", "<=", ">", ">=")

    def predicate(self, depth: int, scope: Columns, outer: Columns) -> str:
        self.budget -= 1
        form = self.pick("compare", "compare", "null", "in", "between", "like", "and", "or", "not")
        if depth > 0 and self.chance(2):
            form = self.pick("exists", "in query", "any", "scalar")
        if self.budget <= 0 and form in ("and", "or", "not"):
            form = "compare"
        kind = self.pick("INT", "TEXT")
        negated = self.pick("", "NOT ")
        match form:
            case "null":
                return f"{self.value(kind, 0, scope, outer)} IS {negated}NULL"
            case "in":
                items = [self.literal(kind) for _ in range(2)] + self.pick([], ["NULL"])
                return f"{self.value(kind, 0, scope, outer)} {negated}IN ({', '.join(items)})"
            case "between":
                value, low, high = (self.value("INT", 0, scope, outer) for _ in range(3))
                return f"{value} {negated}BETWEEN {low} AND {high}"
            case "like":
                pattern = self.pick("'x%'", "'_y'", "'%'")
                return f"{self.value('TEXT', 0, scope, outer)} {negated}LIKE {pattern}"
            case "and" | "or":
                left = self.predicate(depth, scope, outer)
                return f"({left} {form.upper()} {self.predicate(depth, scope, outer)})"
            case "not":
                return f"(NOT {self.predicate(depth, scope, outer)})"
            case "exists":
                return f"{negated}EXISTS ({self.query(depth - 1, scope + outer)[0]})"
            case "in query":
                text, _ = self.query(depth - 1, scope + outer, [kind])
                return f"{self.value(kind, 0, scope, outer)} {negated}IN ({text})"
            case "any":
                text, _ = self.query(depth - 1, scope + outer, [kind])
                how = self.pick("ANY", "ALL")
                return f"{self.value(kind, 0, scope, outer)} {self.compare()} {how} ({text})"
            case "scalar":
                value = self.value(kind, 0, scope, outer)
                return f"{value} {self.compare()} {self.scalar(kind, depth, scope + outer)}"
        left, right = self.value(kind, 0, scope, outer), self.value(kind, 0, scope, outer)
        return f"{left} {self.compare()} {right}"

    def scalar(self, kind: str, depth: int, outer: Columns) -> str:
        source, scope = self.sources(depth - 1)
        where = f" WHERE {self.predicate(depth - 1, scope, outer)}"
        if self.pick(0, 1, 1):
            return f"(SELECT {self.aggregate(kind, scope)} FROM {source}{where})"
        value = self.value(kind, 0, scope, outer)
        return f"(SELECT {value} AS c1 FROM {source}{where} ORDER BY c1 NULLS FIRST LIMIT 1)"

    def literal(self, kind: str) -> str:
        return str(self.choose(NUMBERS)) if kind == "INT" else f"'{self.choose(WORDS)}'"

    def value(self, kind: str, depth: int, scope: Columns, outer: Columns) -> str:
        own = [name for name, k in scope if k == kind]
        around = [name for name, k in outer if k == kind]
        form = self.pick("own", "own", "own", "outer", "literal", "made")
        if depth > 0 and self.chance(3):
            return self.scalar(kind, depth, scope + outer)
        if form == "outer" and around:
            return self.choose(around)
        if form == "made" and self.budget > 0:
            self.budget -= 1
            return self.made(kind, scope, outer)
        if form == "literal" or not own:
            return self.literal(kind)
        return self.choose(own)

    def made(self, kind: str, scope: Columns, outer: Columns) -> str:
        one, two = (self.value(kind, 0, scope, outer) for _ in range(2))
        form = self.pick("case", "coalesce", "nullif", "operator")
        match form:
            case "case":
                return f"CASE WHEN {self.predicate(0, scope, outer)} THEN {one} ELSE {two} END"
            case "coalesce":
                return f"coalesce({one}, {two})"
            case "nullif":
                return f"nullif({one}, {two})"
        return f"({one} {self.pick('+', '-', '*')} {two})" if kind == "INT" else f"({one} || {two})"


@st.composite
def queries(draw, depth: int = 2) -> str:
    """A random query."""
    return Writer(lambda options: draw(st.sampled_from(options))).query(depth, [])[0]


def seeded(seed: int, writer: type[Writer] = Writer) -> tuple[str, dict[str, list[tuple]]]:
    """Returns a query and rows for it; much faster than Hypothesis, which shrinks what fails."""
    chosen = random.Random(seed)
    query = writer(chosen.choice).query(2, [])[0]
    return query, _drawn_rows(chosen)


Changes = list[tuple[str, int, tuple]]  # relation, weight, row


def seeded_history(
    seed: int, together: int = 10, epochs: int = 4, kind: type[Writer] = Writer
) -> tuple[list[str], list[Changes]]:
    """Returns queries and what happens to their tables, an epoch at a time; the first fills them.

    Args:
        together: how many queries stand over the same tables.
        kind: writes them.
    """
    chosen = random.Random(f"{seed} with changes")
    asked = []
    for _ in range(together):
        writer = kind(chosen.choice)
        recursive = chosen.random() < RECURSIVE
        asked.append(writer.recursive(2) if recursive else writer.query(2, [])[0])
    tables = _drawn_rows(chosen)
    history = [[(table, 1, row) for table, rows in tables.items() for row in rows]]
    for _ in range(epochs):
        changes: Changes = []
        for _ in range(chosen.choice((1, 1, 2, 4))):
            _deed(chosen, tables, changes)
        history.append(changes)
    return asked, history


def _deed(chosen: random.Random, tables: dict[str, list[tuple]], changes: Changes) -> None:
    """Inserts, deletes or updates a row, or empties a table."""
    table = chosen.choice(list(tables))
    rows = tables[table]
    deed = chosen.choice(("insert", "insert", "delete", "delete", "update", "update", "empty"))
    if deed == "insert" or not rows:
        gone, come = [], [_drawn_row(chosen, table)]
    elif deed == "empty" and chosen.random() < EMPTIED:
        gone, come = list(rows), []
    else:
        gone, come = [chosen.choice(rows)], []
        if deed == "update":
            at, new = chosen.randrange(len(gone[0])), _drawn_row(chosen, table)
            come = [(*gone[0][:at], new[at], *gone[0][at + 1 :])]
    for row in gone:
        rows.remove(row)
    rows += come
    changes += [(table, -1, row) for row in gone] + [(table, 1, row) for row in come]


def _drawn_rows(chosen: random.Random) -> dict[str, list[tuple]]:
    return {
        table: [_drawn_row(chosen, table) for _ in range(chosen.randrange(6))] for table in TABLES
    }


def _drawn_row(chosen: random.Random, table: str) -> tuple:
    def value(name: str, kind: str) -> object:
        values = NUMBERS if kind == "INT" else WORDS
        return chosen.choice(values if (table, name) in NOT_NULL else (None, *values))

    return tuple(value(*column) for column in TABLES[table])
