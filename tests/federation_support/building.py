"""The seeds' building as the optimizer knows it: seats, rooms, machines; and queries over them."""

from __future__ import annotations

from hypothesis import strategies as st
from motes.fields import STREAMS

from aspen.algebra.plan import Plan
from aspen.algebra.rewrite import rewrite
from aspen.model.catalog import Catalog
from aspen.model.schema import Column, Relation, Type
from aspen.streamsql import compile_query
from federation.statistics import Statistics

MACHINE = Relation("machine", (Column("mid", Type.TEXT), Column("rid", Type.TEXT)), key=("mid",))
SOFTWARE = Relation("machine_software", (Column("mid", Type.TEXT), Column("software", Type.TEXT)))
CATALOG = Catalog.of([MACHINE, SOFTWARE, *(one.relation for one in STREAMS.values())])
KNOWN = Statistics(
    {"seat_reading": 5.4, "light_reading": 0.6, "temperature_reading": 0.6},
    counts={
        "machine": 54.0,
        "machine_software": 200.0,
        "seat_reading": 54.0,
        "light_reading": 6.0,
        "temperature_reading": 6.0,
    },
    devices={
        "seat_reading": "seat",
        "light_reading": "light",
        "temperature_reading": "temperature",
    },
)
NEWEST = "[PARTITION BY sid ROWS 1 RANGE 120 SECONDS]"
EXAMPLE_14 = f"""
SELECT m.mid, sr.rid
FROM machine m, machine_software ms, seat_reading {NEWEST} ss, light_reading {NEWEST} sr
WHERE ms.software = 'Word' AND ms.mid = m.mid AND ss.mid = m.mid AND ss.weight_kg < 5.0
  AND sr.rid = ss.rid AND sr.lux > 50.0
"""
SEAT_LIGHT_TEMPERATURE = f"""
SELECT ss.mid, t.celsius
FROM seat_reading {NEWEST} ss, light_reading {NEWEST} sr, temperature_reading {NEWEST} t
WHERE sr.rid = ss.rid AND t.rid = sr.rid AND ss.weight_kg >= 5.0 AND sr.lux > 50.0
"""


def planned(text: str, catalog: Catalog = CATALOG) -> Plan:
    """Compile a query as the house does."""
    return rewrite(compile_query(text, catalog).plan)


_MEASURED = {
    "seat_reading": ("weight_kg", st.sampled_from([0.0, 4.5, 60.0])),
    "light_reading": ("lux", st.sampled_from([0.0, 40.0, 300.0])),
    "temperature_reading": ("celsius", st.sampled_from([19.0, 22.5, 31.0])),
}
_ROOMS = st.sampled_from(["R0", "R1", "R2"])


@st.composite
def samples(draw):
    """One row of every device, and tables."""
    found = {}
    for stream, (measured, values) in _MEASURED.items():
        rows = {}
        for number in range(draw(st.integers(0, 4))):
            given = {
                "sid": f"{stream[0]}{number}",
                "mid": f"m{number}",
                "rid": draw(_ROOMS),
                measured: draw(values),
                "at_s": float(number),
            }
            rows[tuple(given[name] for name in STREAMS[stream].relation.names)] = 1
        found[stream] = rows
    found["machine"] = {(f"m{n}", draw(_ROOMS)): 1 for n in range(3)}
    found["machine_software"] = {
        (f"m{n}", draw(st.sampled_from(["Word", "LaTeX"]))): draw(st.integers(1, 2))
        for n in range(3)
    }
    return found


@st.composite
def queries(draw):
    """Text of a query that joins, selects, aggregates what epochs could give, and some that not."""
    streams = draw(st.lists(st.sampled_from(sorted(_MEASURED)), min_size=1, max_size=3))
    sources, where, columns = [], [], []
    for number, stream in enumerate(streams):
        alias, (measured, values) = f"x{number}", _MEASURED[stream]
        window = draw(st.sampled_from([NEWEST, NEWEST, NEWEST, "[RANGE 9 SECONDS]"]))
        sources.append(f"{stream} {window} {alias}")
        columns += [f"{alias}.{measured}", f"{alias}.rid", f"{alias}.sid"]
        bound = draw(values)
        where += draw(
            st.sampled_from(
                [
                    [],
                    [f"{alias}.{measured} > {bound}"],
                    [f"{alias}.{measured} * 2.0 <= {bound}", f"{alias}.rid <> 'R2'"],
                    [f"abs({alias}.{measured}) > {bound}", f"{alias}.{measured} < 99.0"],
                    [f"{alias}.at_s >= 0.0"],
                ]
            )
        )
        if number:
            other = f"x{draw(st.integers(0, number - 1))}"
            where.append(f"{alias}.rid = {other}.rid")
    if draw(st.booleans()):
        sources.insert(draw(st.integers(0, len(sources))), "machine m")
        where.append(f"m.rid = x{draw(st.integers(0, len(streams) - 1))}.rid")
        columns.append("m.mid")
    if len(streams) > 1 and draw(st.booleans()):
        measured = [f"x{n}.{_MEASURED[one][0]}" for n, one in enumerate(streams[:2])]
        where.append(f"({measured[0]} > 40.0 OR {measured[1]} <= 22.5)")
    select = draw(st.lists(st.sampled_from(columns), min_size=1, max_size=3, unique=True))
    names = ", ".join(f"{one} AS c{place}" for place, one in enumerate(select))
    group = ""
    if draw(st.integers(0, 3)) == 0:
        first = _MEASURED[streams[0]][0]
        names = f"x0.rid, COUNT(*) AS n, MAX(x0.{first}) AS most, SUM(x0.{first}) AS total"
        group = " GROUP BY x0.rid"
    elif draw(st.integers(0, 4)) == 0:
        names = f"DISTINCT {names}"
    condition = f" WHERE {' AND '.join(where)}" if where else ""
    return f"SELECT {names} FROM {', '.join(sources)}{condition}{group}"
