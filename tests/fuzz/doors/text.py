"""Text: StreamSQL and Overlog, as people submit them; what is taken is kept by an engine's lane."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from aspen.algebra.explain import plan_text
from aspen.errors import AspenError, InternalError
from aspen.log.entry import (
    Change,
    Declare,
    OneTimeKind,
    OneTimeQuery,
    Register,
    Tick,
    Transaction,
    Unregister,
)
from aspen.model.schema import Type, Value
from aspen.overlog.compile import compile_program
from aspen.runtime.lane import Lane
from aspen.streamsql.compile import Compiled, compile_asked
from smartcis.catalog import CATALOG
from smartcis.compiling.statement import submitted
from smartcis.queries import standing_queries
from tests.fuzz.door import Door, Fault

PROGRAMS = Path(__file__).resolve().parents[2] / "overlog" / "programs"
OTHERS = (
    "SELECT s.sid, s.kind FROM sensor s WHERE s.kind = 'seat' ORDER BY s.sid LIMIT 5",
    "ONCE SELECT COUNT(*) AS n FROM room r",
    "CREATE TABLE mine (a INT, b TEXT)",
    "INSERT INTO mine VALUES (1, 'x'), (2, NULL)",
    "DELETE FROM mine WHERE a > 1 + 2 * 3",
    "SELECT a.rid, COUNT(*) AS n FROM room a JOIN door d ON d.inner_rid = a.rid GROUP BY a.rid",
    """WITH RECURSIVE r(a, b) AS (SELECT e.src, e.dst FROM routing_edge e UNION
    SELECT r.a, e.dst FROM r, routing_edge e WHERE e.src = r.b) SELECT * FROM r""",
    """SELECT t.rid, AVG(t.temperature_c) AS c FROM temperature_reading [RANGE 60 SECONDS] t
    GROUP BY t.rid HAVING AVG(t.temperature_c) > 20""",
)
WORDS = (
    *(
        b"SELECT",
        b"FROM",
        b"WHERE",
        b"UNION",
        b"NOT EXISTS",
        b"IN (SELECT",
        b"CASE WHEN",
        b"OVER (",
    ),
    *(
        b"[RANGE 60 SECONDS]",
        b"[ROWS 5]",
        b"[ROWS 5 SLIDE 2]",
        b"NULL",
        b"room r",
        b"GROUP BY",
        b"RECURSIVE",
        b"LEFT JOIN",
    ),
    *(
        b"OUTPUT TO",
        b"ONCE",
        b"CREATE VIEW",
        b"CAST(",
        b"INTERVAL",
        b"LIMIT",
        b"ORDER BY",
        b"LATERAL",
    ),
    *(
        b":-",
        b"materialize(",
        b"@X",
        b"min<C>",
        b"infinity",
        b"SAMPLE PERIOD",
        b"VALUES",
        b"EXCEPT",
    ),
)


VALUES: dict[Type, tuple[Value, ...]] = {
    Type.INT: (1, 2, -7),
    Type.FLOAT: (1.0, 0.5, 1e300),
    Type.TEXT: ("A", "seat", "é"),
    Type.BOOL: (True, False, True),
}


class Engine:
    """A lane with a few rows in every relation; what is registered there goes again."""

    def __init__(self) -> None:
        self._lane = Lane()
        self._take(*(Declare(0.0, relation) for relation in CATALOG))
        self._rows = [
            Change(
                relation.name,
                1,
                tuple(VALUES.get(one.type, (1, 2, 3))[number] for one in relation.columns),
            )
            for relation in CATALOG
            for number in range(3)
        ]
        self._take(Tick(1.0), Transaction(1.0, tuple(self._rows)))

    def keep(self, compiled: Iterable[Compiled]) -> str:
        """Keeps queries over a change and back, or answers one; returns what came of it."""
        views = [(one.name or f"q{number}", one) for number, one in enumerate(compiled)]
        errors = []
        for view, one in views:
            text = plan_text(one.plan)
            limits = {"most_steps": 200_000, "most_rows": 10_000, "most_bytes": 10_000_000}
            if one.once:
                asked = OneTimeQuery(1.0, view, "", (), kind=OneTimeKind.ONCE, plan_text=text)
                errors += [change.error for change in self._take(asked)]
            else:
                errors += [
                    change.error for change in self._take(Register(1.0, view, text, **limits))
                ]
        gone = tuple(Change(one.relation, -1, one.row) for one in self._rows[::2])
        back = tuple(Change(one.relation, 1, one.row) for one in self._rows[::2])
        for changes in (gone, back):
            errors += [change.error for change in self._take(Transaction(1.0, changes))]
        self._take(*(Unregister(1.0, view) for view, one in views if not one.once))
        said = next((error for error in errors if error), None)
        if said is not None and said["code"] == InternalError.code:
            raise Fault(f"the engine failed: {said['message']}"[:300])
        return "kept" if said is None else str(said["code"])

    def _take(self, *entries):
        return self._lane.apply(list(enumerate(entries, start=self._lane.position + 1)))


def door() -> Door:
    """Returns the door."""
    sql = [*standing_queries().values(), *OTHERS]
    programs = [one.read_text() for one in sorted(PROGRAMS.glob("*.overlog"))]
    seeds = [text.encode() for text in (*sql, *programs) if len(text) < 4_000]
    engine = Engine()

    def enter(data: bytes) -> str:
        text = data.decode(errors="surrogateescape")
        try:
            return engine.keep(_compiled(text))
        except AspenError as refused:
            body = refused.as_dict()
            if not body["message"] or not body["code"].startswith(("aspen.", "smartcis.")):
                raise Fault(f"an error without words: {body}") from refused
            return str(body["code"])

    return Door(seeds, enter, WORDS)


def _compiled(text: str) -> list[Compiled]:
    if ":-" in text or "materialize" in text:
        return compile_program(text, CATALOG)
    return [compile_asked(submitted(text), CATALOG, once="ONCE" in text)]
