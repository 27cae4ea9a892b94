"""Messages survive the air byte for byte; joins are placed where they cost least."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from motes.fields import STREAMS, desks, scan

from aspen.algebra.block import column_name
from aspen.algebra.expr import Case, Col, Const, IsNull, Not, Op
from aspen.algebra.plan import MERGEABLE, AggregateFunction, Filter, Join
from aspen.model.schema import Column, Relation, SourceKind, Type
from aspen.motes.hardware import LONGEST_PAYLOAD_BYTES
from sensors_sim.errors import BadMessage
from sensors_sim.innet.codec import decode, encode
from sensors_sim.innet.compile import Fragment, column_wire, compile_fragment
from sensors_sim.innet.joins import BASE, Assignment, read_assignment
from sensors_sim.innet.partial import Aggregator, Partials
from sensors_sim.innet.placement import Prices, Shares, assign_groups, groups_of
from sensors_sim.innet.program import (
    Method,
    MoteProgram,
    PartialAggregate,
    ProgramOutput,
    StreamInput,
)
from sensors_sim.innet.registry import Registry
from sensors_sim.innet.running import Running
from sensors_sim.innet.sides import Sides
from sensors_sim.innet.values import (
    Dictionary,
    ValueReader,
    Wire,
    WireType,
    Writer,
    scaled,
    unscaled,
)
from sensors_sim.motes import DeviceStream

NAMES = tuple(sorted(STREAMS))

texts = st.text(max_size=8)
numbers = st.floats(allow_nan=False, allow_infinity=False)
whole = st.integers(-(2**62), 2**62)
columns = st.builds(lambda k, j: Col(column_name(k, j)), st.integers(0, 2), st.integers(0, 4))
constants = st.one_of(st.none(), st.booleans(), texts, numbers, whole).map(Const)
symbols = st.sampled_from(["=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "AND", "OR"])
exprs = st.recursive(
    columns | constants,
    lambda inner: st.one_of(
        st.builds(Op, symbols, inner, inner),
        st.builds(Not, inner),
        st.builds(IsNull, inner),
        st.builds(lambda a, b, c: Case(((a, b),), c), inner, inner, inner),
    ),
    max_leaves=8,
)
wires = st.one_of(
    st.builds(Wire, st.sampled_from([t for t in WireType if t is not WireType.SCALED])),
    st.builds(lambda d, n: Wire(WireType.SCALED, d, n), st.integers(0, 6), st.booleans()),
)
optional = st.none() | exprs
inputs = st.builds(StreamInput, st.sampled_from(NAMES), optional)


@st.composite
def programs(draw):
    streams = draw(st.lists(inputs, min_size=1, max_size=3))
    several = len(streams) > 1
    return MoteProgram(
        tuple(streams),
        tuple(draw(st.lists(st.builds(ProgramOutput, exprs, wires), max_size=4))),
        draw(st.integers(0, 10**7)),
        grouped=draw(st.booleans()),
        aggregates=tuple(
            draw(
                st.lists(
                    st.builds(
                        PartialAggregate, st.sampled_from(list(AggregateFunction)), optional, wires
                    ),
                    max_size=3,
                )
            )
        ),
        paired=draw(optional) if several else None,
        joined=draw(optional) if several else None,
        equal=tuple(draw(st.lists(st.tuples(*[st.integers(0, 9)] * 4), max_size=2)))
        if several
        else (),
        method=draw(st.sampled_from(list(Method))),
        bloom_bits=draw(st.integers(0, 4096)),
    )


@given(programs())
@settings(max_examples=200, deadline=None)
def test_a_program_decodes_to_itself(program):
    dictionary = Dictionary()
    data = encode(program, NAMES, dictionary)
    assert decode(data, NAMES, dictionary) == program
    for cut in range(0, len(data), 7):
        with pytest.raises(BadMessage):
            decode(data[:cut], NAMES, dictionary)


def test_an_ordinary_program_fits_one_frame():
    plan = Filter(scan("seat_reading", "s"), Op(">=", Col("s.weight_kg"), Const(5.0)))
    program = compile_fragment(Fragment(plan, 30.0), STREAMS).program
    assert len(encode(program, NAMES, Dictionary())) < 40


@given(wires, st.data())
def test_a_value_is_read_as_it_was_written(wire, data):
    pool = {
        WireType.INT: whole,
        WireType.SCALED: st.integers(-(10**9), 10**9).map(lambda n: unscaled(n, wire.decimals)),
        WireType.DOUBLE: numbers,
        WireType.TEXT: texts,
        WireType.BOOL: st.booleans(),
    }[wire.type]
    value = data.draw(st.none() | pool if wire.nullable else pool)
    dictionary = Dictionary()
    out = Writer(dictionary)
    out.put(wire, value)
    source = ValueReader(bytes(out.data), dictionary)
    read = source.take(wire)
    assert read == value
    assert type(read) is type(value)
    assert source.done


@given(st.integers(-(10**9), 10**9), st.integers(0, 6))
def test_scaling_is_exact_for_what_devices_report(number, decimals):
    assert scaled(unscaled(number, decimals), decimals) == number


AGGREGATES = tuple(
    PartialAggregate(function, Col("a0.c3"), Wire(WireType.SCALED, 1)) for function in MERGEABLE
)
KEYS = (ProgramOutput(Col("a0.c2"), Wire(WireType.TEXT)),)
rows = st.lists(
    st.tuples(st.sampled_from("abc"), st.none() | st.integers(-5000, 5000).map(lambda n: n / 10)),
    max_size=12,
)


def folded(aggregator, given_rows):
    found = Partials({}, len(given_rows))
    for key, value in given_rows:
        aggregator.fold(found, (key,), [value] * len(AGGREGATES))
    return found


@given(st.lists(rows, min_size=1, max_size=4), st.randoms())
def test_partial_records_merge_in_any_order_and_survive_the_air(parts, chance):
    aggregator = Aggregator(KEYS, AGGREGATES, Dictionary())
    whole_at_once = folded(aggregator, [row for part in parts for row in part])
    chance.shuffle(parts)
    merged = Partials()
    for part in parts:
        for payload in aggregator.write(7, folded(aggregator, part)):
            assert len(payload) <= LONGEST_PAYLOAD_BYTES
            epoch, read = aggregator.read(payload)
            assert epoch == 7
            aggregator.merge(merged, read)
    assert sorted(aggregator.answer(merged)) == sorted(aggregator.answer(whole_at_once))
    assert merged.motes == whole_at_once.motes


def test_many_groups_take_several_frames_and_count_motes_once():
    dictionary = Dictionary()
    aggregator = Aggregator(KEYS, AGGREGATES, dictionary)
    many = folded(aggregator, [(f"room{n}", float(n)) for n in range(60)])
    payloads = aggregator.write(3, many)
    assert len(payloads) > 3
    assert sum(aggregator.read(payload)[1].motes for payload in payloads) == 60


# Joins.


def registry_of(field):
    registry = Registry(field.streams)
    for index, mote in enumerate(field.motes):
        for sensor in mote.sensors:
            registry.install(sensor, index)
    return registry


def seat_light(**options):
    join = Join(scan("seat_reading", "s"), scan("light_reading", "l"), (("s.rid", "l.rid"),))
    return Fragment(join, 10.0, **options)


def test_groups_are_the_pairs_of_one_room():
    registry = registry_of(desks(3, 4))
    program = compile_fragment(seat_light(), STREAMS).program
    sensors = range(3 * (4 + 2))
    groups = groups_of(program, sensors, registry)
    rooms = [[registry.attached(s).attributes["rid"] for s in group] for group in groups]
    assert len(groups) == 12
    assert all(len(set(pair)) == 1 for pair in rooms)


@st.composite
def trees(draw, count):
    """A random tree under base 0, as each mote's path there: parents have smaller numbers."""
    paths = {0: [0]}
    for mote in range(1, count):
        paths[mote] = [mote, *paths[draw(st.integers(0, mote - 1))]]
    return paths


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_no_group_would_be_cheaper_elsewhere_and_small_cases_are_optimal(data):
    share = st.floats(0.0, 1.0)
    count = data.draw(st.integers(3, 8))
    paths = data.draw(trees(count))
    left = data.draw(st.integers(1, count - 1))
    right = data.draw(st.integers(1, count - 1))
    prices = Prices(paths, lambda _mote, size: 1.0 + size)
    shares = Shares((data.draw(share), data.draw(share)), data.draw(share))
    group = (left, right)
    placed = assign_groups([group], lambda s: s, prices, shares, (6, 9), 12)

    def cost(place):
        shipped = sum(
            shares.inputs[n] * prices.move(s, place, (6, 9)[n])
            for n, s in enumerate(group)
            if s != place
        )
        both = shares.inputs[0] * shares.inputs[1] * shares.joined
        return shipped + (0.0 if place == BASE else both * prices.move(place, BASE, 12))

    assert placed.energy_mj == pytest.approx(min(cost(p) for p in [BASE, *range(1, count)]))
    assert placed.energy_mj == pytest.approx(cost(placed.nodes[group]))


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_a_silent_partner_joins_at_the_base_and_its_friends_where_it_costs_least(data):
    share = st.floats(0.0, 1.0)
    count = data.draw(st.integers(4, 8))
    paths = data.draw(trees(count))
    left, right = data.draw(st.permutations(range(1, count)))[:2]
    silent = count  # never reported: the base knows no way to it
    prices = Prices(paths, lambda _mote, size: 1.0 + size)
    shares = Shares((data.draw(share), data.draw(share)), data.draw(share))
    groups = [(left, right), (left, silent)]
    placed = assign_groups(groups, lambda s: s, prices, shares, (6, 9), 12)

    def cost(place):
        to_base = shares.inputs[0] * prices.move(left, BASE, 6)  # for the silent one, in any case
        if place == BASE:
            return to_base + shares.inputs[1] * prices.move(right, BASE, 9)
        shipped = sum(
            shares.inputs[n] * prices.move(s, place, (6, 9)[n])
            for n, s in enumerate((left, right))
            if s != place
        )
        both = shares.inputs[0] * shares.inputs[1] * shares.joined
        return to_base + shipped + both * prices.move(place, BASE, 12)

    considered = {BASE, *paths[left][:-1], *paths[right][:-1]}
    assert placed.nodes[left, silent] == BASE
    assert placed.energy_mj == pytest.approx(min(map(cost, considered)))
    assert placed.energy_mj == pytest.approx(cost(placed.nodes[left, right]))


@given(
    st.dictionaries(
        st.tuples(st.integers(0, 2), st.integers(0, 300)),
        st.lists(st.integers(-1, 900), max_size=4).map(tuple),
        max_size=40,
    ),
    st.sets(st.tuples(st.integers(0, 300), st.integers(0, 300)), max_size=60),
)
def test_assignments_survive_the_air_in_parts(ships, groups):
    registry = Registry(STREAMS)
    read = Assignment(12)
    for payload in Assignment(12, dict(ships), set(groups)).write(9, 300):
        assert len(payload) <= LONGEST_PAYLOAD_BYTES - 2
        query, version, part = read_assignment(payload, 2, registry)
        assert (query, version, part.since) == (9, 300, 12)
        read.ships |= part.ships
        read.groups |= part.groups
    assert (read.ships, read.groups) == (ships, groups)


@given(st.sets(st.integers(0, 10_000), max_size=200), st.integers(1, 400))
@settings(max_examples=40, deadline=None)
def test_a_bloom_filter_forgets_no_key(keys, expected):
    field = desks(1, 1)
    registry = registry_of(field)
    fragment = seat_light(method=Method.BLOOM, keys=expected)
    program = compile_fragment(fragment, STREAMS).program
    sides = Running(1, 1, program, STREAMS, registry).sides
    assert isinstance(sides, Sides)
    written = {key.to_bytes(3, "little") for key in keys}
    filters = sides.bloom(written)
    assert all(len(one) <= LONGEST_PAYLOAD_BYTES - 4 for one in filters)
    for key in written:
        assert any(sides.may_hold(which, one, key) for which, one in enumerate(filters))


def test_a_bloom_filter_refuses_most_other_keys():
    program = compile_fragment(seat_light(method=Method.BLOOM, keys=50), STREAMS).program
    sides = Running(1, 1, program, STREAMS, registry_of(desks(1, 1))).sides
    filters = sides.bloom({n.to_bytes(3, "little") for n in range(50)})
    others = (n.to_bytes(3, "little") for n in range(1_000, 3_000))
    passed = [any(sides.may_hold(w, one, key) for w, one in enumerate(filters)) for key in others]
    assert sum(passed) < 0.1 * len(passed)


FINE = Relation(
    "fine_reading",
    (
        Column("sid", Type.TEXT),
        Column("exact", Type.FLOAT),
        Column("tenths", Type.FLOAT, nullable=True),
        Column("at_s", Type.FLOAT, "s"),
    ),
    SourceKind.STREAM,
    key=("sid",),
    device="fine",
)


@given(numbers, st.none() | st.integers(-(10**6), 10**6), st.integers(0, 10**12))
def test_a_reading_arrives_as_its_device_measured_it(exact, tenths, milliseconds):
    stream = DeviceStream(FINE, ("exact", "tenths"), decimals={"tenths": 1})
    row = ("f1", exact, None if tenths is None else tenths / 10, milliseconds / 1000)
    dictionary = Dictionary()
    out = Writer(dictionary)
    columns = [column_wire(stream, index) for index in range(len(row))]
    for wire, value in zip(columns, row, strict=True):
        out.put(wire, value)
    source = ValueReader(bytes(out.data), dictionary)
    assert tuple(map(source.take, columns)) == row


def counter(name, kind, *, nullable):
    columns = (
        Column("sid", Type.TEXT),
        Column("many", kind),
        Column("word", Type.TEXT, "", nullable),
        Column("at_s", Type.FLOAT, "s"),
    )
    relation = Relation(name, columns, SourceKind.STREAM, key=("sid",), device="seat")
    return DeviceStream(relation, ("many", "word"))


@given(st.integers(-(2**40), 2**40), texts)
def test_equal_values_have_equal_keys_however_their_devices_send_them(many, word):
    streams = {
        "whole": counter("whole", Type.INT, nullable=False),
        "exact": counter("exact", Type.FLOAT, nullable=True),
    }
    equal = ((0, 1, 1, 1), (0, 2, 1, 2))
    inputs = (StreamInput("whole", None), StreamInput("exact", None))
    sides = Sides(MoteProgram(inputs, (), 1000, equal=equal), streams, Registry(streams))
    assert sides.key(0, ("a", many, word, 1.0)) == sides.key(1, ("b", float(many), word, 2.0))
    assert sides.key(0, ("a", many, word, 1.0)) != sides.key(1, ("b", float(many), word + "!", 2.0))


def test_every_wire_type_has_a_place_in_the_byte_of_a_wire():
    assert max(kind.value for kind in WireType) < 8
    assert len(list(product(WireType, (True, False)))) == 10
