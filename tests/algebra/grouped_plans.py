"""Random groupings, orders and what OVER computes, over any plan."""

from __future__ import annotations

from hypothesis import strategies as st

from aspen.algebra.plan import (
    SHIFTS,
    WHOLE,
    Aggregate,
    AggregateFunction,
    Exclusion,
    Frame,
    Framed,
    FrameUnit,
    GroupBy,
    Over,
    OverFunction,
    Pick,
    PickFunction,
    Plan,
    Rank,
    RankFunction,
    SortKey,
    TopK,
)
from aspen.algebra.plan_parts import ORDERED, PAIRED, WITH_CONSTANT
from aspen.model.arrays import Array
from aspen.model.schema import Column, Type
from aspen.model.times import MOMENT_ENDS, spelt, spelt_time

VALUES = {
    Type.INT: st.integers(-2, 4),
    Type.FLOAT: st.sampled_from([-1.0, 0.0, 0.5, 2.0, 3.0]),
    Type.DECIMAL: st.integers(-2, 4),
    Type.TEXT: st.sampled_from(["a", "b", "c"]),
    Type.BOOL: st.booleans(),
    Type.DATE: st.dates().map(str),
    Type.TIME: st.times().map(spelt_time),
    Type.TIMESTAMP: st.datetimes().map(spelt),
    Type.TIMESTAMPTZ: st.datetimes().map(lambda moment: spelt(moment) + MOMENT_ENDS),
}
VALUES |= {
    kind.array: st.lists(st.none() | values, max_size=3).map(Array)
    for kind, values in VALUES.items()
    if kind.array is not None
}
_OF_ANY = tuple(
    AggregateFunction[name]
    for name in ("COUNT", "MIN", "MAX", "MODE", "QUANTILE_DISC", "ARG_MIN", "ARG_MAX")
)
_GIVE_FLOATS = tuple(
    AggregateFunction[name]
    for name in ("AVG", "VAR_SAMP", "VAR_POP", "STDDEV_SAMP", "STDDEV_POP", "QUANTILE_CONT")
)
_OF_PAIRS = tuple(sorted(PAIRED, key=lambda function: function.value))
_OF_TYPE = {
    Type.INT: (AggregateFunction.SUM, *_GIVE_FLOATS, *_OF_PAIRS),
    Type.FLOAT: (AggregateFunction.SUM, *_GIVE_FLOATS, *_OF_PAIRS),
    Type.BOOL: (AggregateFunction.BOOL_AND, AggregateFunction.BOOL_OR),
    Type.TEXT: (AggregateFunction.STRING_AGG,),
    Type.INT_ARRAY: (AggregateFunction.ARRAY_AGG,),
}


@st.composite
def groups(draw, child: Plan, names) -> GroupBy:
    """Keys, perhaps none, and one or two aggregates."""
    keys = draw(st.lists(st.sampled_from(child.columns), max_size=2, unique=True))
    alias = names.fresh()
    made = [
        draw(aggregates(child, f"{alias}.g{number}")) for number in range(draw(st.integers(1, 2)))
    ]
    return GroupBy(child, tuple(column.name for column in keys), tuple(made))


@st.composite
def aggregates(draw, child: Plan, name: str) -> Aggregate:
    """One aggregate of any kind."""
    source = draw(st.sampled_from(child.columns))
    function = draw(st.sampled_from([*_OF_ANY, *_OF_TYPE.get(source.type, ())]))
    kind = source.type
    if function is AggregateFunction.COUNT:
        kind = Type.INT
    elif function in (*_GIVE_FLOATS, *_OF_PAIRS):
        kind = Type.FLOAT
    output = Column(name, kind, "", True)
    order, constant = None, None
    if function in ORDERED:
        fit = [one for one in child.columns if one.type.numeric or function not in PAIRED]
        by = draw(st.sampled_from(fit))
        sorts = function in (AggregateFunction.STRING_AGG, AggregateFunction.ARRAY_AGG)
        falls, last = (draw(st.booleans()), draw(st.booleans())) if sorts else (False, False)
        order = SortKey(by.name, falls, last)
    if function in WITH_CONSTANT:
        constant = "," if order else draw(st.sampled_from([0.0, 0.3, 0.5, 1.0]))
    return Aggregate(function, source.name, output, draw(st.booleans()), order, constant)


@st.composite
def overs(draw, child: Plan, names) -> Over:
    """Ranks, other rows' values and framed aggregates, perhaps per partition."""
    alias = names.fresh()
    keys = draw(sort_keys(child))
    kinds = {column.name: column.type for column in child.columns}
    key = kinds[keys[0].column] if len(keys) == 1 else Type.TEXT
    made: list[OverFunction] = []
    for number in range(draw(st.integers(1, 2))):
        name = f"{alias}.o{number}"
        kind = draw(st.sampled_from(["rank", "pick", "framed"]))
        if kind == "rank":
            made.append(draw(ranks(name)))
            continue
        frame = draw(frames(key))
        if kind == "framed":
            made.append(Framed(draw(aggregates(child, name)), frame))
            continue
        source = draw(st.sampled_from(child.columns))
        function, offset = draw(st.sampled_from(PickFunction)), draw(st.integers(1, 2))
        default = draw(st.none() | VALUES[source.type])
        output = Column(name, source.type, "", True)
        frame = WHOLE if function in SHIFTS else frame
        default = default if function in SHIFTS else None
        nulls = draw(st.booleans())
        made.append(Pick(function, source.name, output, frame, offset, default, nulls))
    parts = draw(st.lists(st.sampled_from(child.columns), max_size=1))
    return Over(child, tuple(made), tuple(column.name for column in parts), keys)


@st.composite
def ranks(draw, name: str) -> Rank:
    """A function of a row's place."""
    function = draw(st.sampled_from(RankFunction))
    shares = function in (RankFunction.PERCENT_RANK, RankFunction.CUME_DIST)
    parts = draw(st.integers(1, 4)) if function is RankFunction.NTILE else 1
    return Rank(function, Column(name, Type.FLOAT if shares else Type.INT), parts)


@st.composite
def frames(draw, key: Type) -> Frame:
    """Rows that count, by number, by groups or by the difference of a key."""
    unit = draw(st.sampled_from(FrameUnit))
    bounds = st.none() | st.integers(-2, 2)
    if unit is FrameUnit.RANGE and not key.numeric:
        most = 10**16 if key.is_time else 0
        bounds = st.none() | st.integers(-most, most)
    start, end = draw(bounds), draw(bounds)
    if start is not None and end is not None and start > end:
        start, end = end, start
    return Frame(unit, start, end, draw(st.sampled_from(Exclusion)))


@st.composite
def sort_keys(draw, child: Plan) -> tuple[SortKey, ...]:
    """An order of up to two columns."""
    names = [column.name for column in child.columns]
    one = st.builds(SortKey, st.sampled_from(names), st.booleans(), st.booleans())
    return tuple(draw(st.lists(one, max_size=2)))


@st.composite
def tops(draw, child: Plan) -> TopK:
    """A few rows of an order, perhaps per partition."""
    names = [column.name for column in child.columns]
    keys = draw(sort_keys(child))
    per = draw(st.lists(st.sampled_from(names), max_size=1))
    limit = draw(st.none() | st.integers(0, 3))
    return TopK(child, keys, limit, draw(st.integers(0, 2)), tuple(per))
