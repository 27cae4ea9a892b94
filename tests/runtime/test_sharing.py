"""However dataflows are shared, each view holds its own answer; and tenants cost one dataflow."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aspen.algebra.explain import plan_text
from aspen.log.entry import Change, Declare, Register, Tick, Transaction, Unregister
from aspen.model.catalog import Catalog
from aspen.model.delta import merge
from aspen.model.schema import Column, Relation, SourceKind, Type
from aspen.runtime.lane import Lane
from aspen.streamsql import compile_query

ROOM = Relation("room", (Column("rid", Type.TEXT), Column("level", Type.INT)), key=("rid",))
HEAT = Relation(
    "heat",
    (Column("rid", Type.TEXT), Column("sid", Type.TEXT), Column("celsius", Type.FLOAT, "°C")),
    kind=SourceKind.STREAM,
    key=("sid",),
)
DOOR = Relation("door", (Column("a", Type.INT), Column("b", Type.INT)), deletable=False)
CATALOG = Catalog.of([ROOM, HEAT, DOOR])
NOW = "heat [PARTITION BY sid ROWS 1 RANGE 60 SECONDS] h"
SHAPES = (
    f"SELECT h.sid, h.celsius FROM {NOW} WHERE h.rid = '{{r}}'",
    f"SELECT h.sid FROM {NOW} JOIN room r ON r.rid = h.rid WHERE r.level = {{n}}",
    f"""SELECT h.rid, COUNT(*) AS n FROM {NOW}
        WHERE h.rid = '{{r}}' AND h.celsius > {{n}}.0 GROUP BY h.rid""",
    "SELECT COUNT(*) AS n FROM room r WHERE r.level = {n}",
    f"""SELECT r.rid FROM room r WHERE r.level = {{n}} AND NOT EXISTS
        (SELECT 1 FROM {NOW} WHERE h.rid = r.rid AND h.celsius > {{n}}.0)""",
    "SELECT r.rid FROM room r WHERE r.level < {n}",
    f"SELECT h.sid FROM {NOW}",
    """WITH RECURSIVE reach(a, b) AS (
        SELECT d.a, d.b FROM door d UNION SELECT d.a, r.b FROM reach r JOIN door d ON d.b = r.a
    ) SELECT b FROM reach WHERE a = {n}""",
    """WITH RECURSIVE way(a, b, n) AS (
        SELECT d.a, d.b, 1 FROM door d
        UNION SELECT d.a, w.b, MIN(w.n + 1) FROM way w JOIN door d ON d.b = w.a
        WHERE w.n < 9 GROUP BY d.a, w.b
    ) SELECT b, n FROM way WHERE a = {n}""",
    """WITH RECURSIVE way(a, b, n) AS (
        SELECT r.level, r.level, 0 FROM room r WHERE r.rid = '{r}'
        UNION SELECT w.a, d.b, MIN(w.n + 1) FROM way w JOIN door d ON d.a = w.b GROUP BY w.a, d.b
    ) SELECT w.b, w.n FROM way w WHERE w.n < {n}""",
    """SELECT r.rid, d.b FROM room r LEFT JOIN door d ON d.a = r.level AND d.b > {n}
       WHERE r.rid = '{r}'""",
)
RECURSIVE = range(7, 10)
MODES = ("own", "trunk", "tenant", "auto")

steps = st.lists(
    st.tuples(
        st.sampled_from(["room", "heat", "door", "door", "ask", "ask", "end", "tick", "batch"]),
        st.integers(0, len(SHAPES) - 1),
        st.integers(0, 3),
        st.integers(0, 3),
    ),
    max_size=40,
)


class World:
    """Four lanes fed alike, which differ in how they share."""

    def __init__(self):
        self.lanes = {mode: Lane() for mode in MODES}
        self.folded = {mode: {} for mode in MODES}
        self.position = 0
        self.now_s = 0.0
        self.rooms = {}
        self.doors = set()
        self.asked = {}
        self.take([Declare(0.0, relation) for relation in (ROOM, HEAT, DOOR)])

    def take(self, entries):
        for mode, lane in self.lanes.items():
            numbered = [
                (self.position + n, self.shared(entry, mode)) for n, entry in enumerate(entries, 1)
            ]
            for change in lane.apply(numbered):
                assert change.error is None, change
                if change.closed:
                    self.folded[mode].pop(change.view, None)
                else:
                    merge(self.folded[mode].setdefault(change.view, {}), change.delta)
        self.position += len(entries)

    @staticmethod
    def shared(entry, mode):
        if isinstance(entry, Register):
            return Register(entry.at_s, entry.view, entry.plan_text, sharing=mode)
        return entry

    def entries(self, step):
        kind, which, one, other = step
        if kind == "room":
            rid, new = f"r{one}", (f"r{one}", other)
            old = self.rooms.get(rid)
            self.rooms[rid] = new
            changes = [Change("room", 1, new)] + ([Change("room", -1, old)] if old else [])
            return [Transaction(self.now_s, tuple(reversed(changes)))]
        if kind == "door":
            self.doors ^= {(one, other)}
            weight = 1 if (one, other) in self.doors else -1
            return [Transaction(self.now_s, (Change("door", weight, (one, other)),))]
        if kind == "heat":
            row = (f"r{one}", f"s{which}", float(other))
            return [Transaction(self.now_s, (Change("heat", 1, row),))]
        if kind == "ask":
            name = f"q{which}_{one}_{other}"
            sql = SHAPES[which].format(r=f"r{one}", n=other)
            self.asked[name] = None
            return [Register(self.now_s, name, plan_text(compile_query(sql, CATALOG).plan))]
        if kind == "end" and self.asked:
            name = sorted(self.asked)[(which + one) % len(self.asked)]
            del self.asked[name]
            return [Unregister(self.now_s, name)]
        self.now_s += 10.0 * one
        return [Tick(self.now_s)]

    def check(self):
        expected = self.lanes["trunk"]
        for mode, lane in self.lanes.items():
            assert set(lane.views.by_name) == set(expected.views.by_name)
            for name in self.asked:
                assert lane.rows(name) == expected.rows(name), (mode, name)
                assert self.folded[mode].get(name, {}) == lane.rows(name), (mode, name)


@settings(max_examples=60, deadline=None)
@given(steps, st.data())
def test_law_a_view_does_not_depend_on_how_it_is_shared(history, data):
    world, batch = World(), []
    for step in history:
        batch += world.entries(step)
        if step[0] == "batch" or len(batch) > 3:
            world.take(batch)
            batch = []
            world.check()
        if step == ("batch", 0, 0, 0):
            mode = data.draw(st.sampled_from(MODES))
            world.lanes[mode] = Lane.restore(world.lanes[mode].snapshot())
    world.take(batch)
    world.check()
    world.take([Unregister(world.now_s, name) for name in world.asked] + [Tick(world.now_s + 1)])
    for lane in world.lanes.values():
        assert len(lane.views.templates) == 0
        assert not lane.circuit._known
        assert not any(source.consumers for source in lane.circuit.sources.values())


def test_a_hundred_questions_of_one_shape_are_one_dataflow():
    world, draw = World(), random.Random(4)
    world.take([Transaction(0.0, (Change("room", 1, ("r1", 1)),))])
    world.take(world.entries(("ask", 1, 0, 0)))
    sizes = {mode: len(lane.circuit._known) for mode, lane in world.lanes.items()}
    for number in range(100):
        sql = SHAPES[1].format(r="r", n=number)
        plan = plan_text(compile_query(sql, CATALOG).plan)
        world.take([Register(0.0, f"n{number}", plan)])
    for _ in range(20):
        row = (f"r{draw.randrange(3)}", f"s{draw.randrange(9)}", 20.0)
        world.take([Transaction(0.0, (Change("heat", 1, row),))])
    assert len(world.lanes["auto"].circuit._known) == sizes["auto"]
    assert len(world.lanes["tenant"].circuit._known) == sizes["tenant"]
    assert len(world.lanes["own"].circuit._known) > sizes["own"] + 200
    assert world.lanes["auto"].rows("n1")
    assert not world.lanes["auto"].rows("n2")
    world.asked = {f"n{n}": None for n in range(100)}
    world.check()


def test_questions_do_not_depend_on_how_a_view_is_shared():
    world = World()
    world.take([Transaction(0.0, (Change("room", 1, ("r1", 1)), Change("room", 1, ("r2", 2))))])
    for sensor, room in ((1, 1), (2, 1), (3, 2)):
        world.take(world.entries(("heat", sensor, room, 2)))
    world.take([entry for n in range(3) for entry in world.entries(("ask", 1, 0, n))])
    gone = [Change("room", -1, ("r1", 1))]
    for lane in world.lanes.values():
        questions = lane.provenance
        assert questions.what_if("q1_0_1", gone) == {("s1",): -1, ("s2",): -1}
        assert questions.what_if("q1_0_2", gone) == {}
        weak = questions.weak_points("q1_0_1")
        assert (weak.total, weak.points[0].base, weak.points[0].lost) == (2, ("room", ("r1", 1)), 2)
        missing = questions.why_not("q1_0_1", ("s3",))
        assert missing == world.lanes["trunk"].provenance.why_not("q1_0_1", ("s3",))
    world.check()


def test_why_speaks_of_base_rows_alone_whoever_asked():
    world = World()
    world.take([Transaction(0.0, (Change("room", 1, ("r1", 1)),))])
    world.take(world.entries(("heat", 3, 1, 2)))
    world.take(world.entries(("ask", 1, 0, 1)))
    answers = [lane.provenance.why("q1_0_1", ("s3",)).sets for lane in world.lanes.values()]
    assert answers[0]
    assert all(answer == answers[0] for answer in answers)


@pytest.mark.parametrize("which", RECURSIVE)
def test_why_of_a_recursion_does_not_depend_on_how_it_is_shared(which):
    world = World()
    world.take([Transaction(0.0, (Change("room", 1, ("r1", 1)),))])
    world.take([Transaction(0.0, tuple(Change("door", 1, (n, n + 1)) for n in range(3)))])
    world.take([entry for n in (3, 1) for entry in world.entries(("ask", which, 1, n))])
    name = f"q{which}_1_{3 if which == RECURSIVE[-1] else 1}"
    answers = [
        {
            row: {frozenset(one) for one in lane.provenance.why(name, row).sets}
            for row in lane.rows(name)
        }
        for lane in world.lanes.values()
    ]
    assert answers[0]
    assert all(answer == answers[0] for answer in answers)


@pytest.mark.parametrize("which", range(len(SHAPES)))
@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("others", [True, False])
def test_a_question_left_and_asked_again_has_its_answer_once(which, together, others):
    """Its parameters are a row of the shared dataflow: twice there, all its answers would be."""
    world = World()
    world.take([Transaction(0.0, tuple(Change("room", 1, (f"r{n}", n)) for n in range(4)))])
    world.take([Transaction(0.0, tuple(Change("door", 1, (n, n + 1)) for n in range(3)))])
    for sensor, room in ((3, 1), (0, 1), (2, 2)):
        world.take(world.entries(("heat", sensor, room, 3)))
    world.take(world.entries(("ask", which, 1, 1)))
    if others:
        world.take(world.entries(("ask", which, 2, 2)))
    (asked, *_) = sorted(world.asked)
    plan = plan_text(compile_query(SHAPES[which].format(r="r1", n=1), CATALOG).plan)
    for _ in range(2):
        turn = [Unregister(0.0, asked), Register(0.0, asked, plan)]
        for batch in [turn] if together else [[entry] for entry in turn]:
            world.take(batch)
        world.check()
        again = [Register(0.0, "again", plan)]  # the same question, asked by somebody else too
        world.take(again)
        assert len({str(sorted(lane.rows("again").items())) for lane in world.lanes.values()}) == 1
        world.take([Unregister(0.0, "again")])
        world.take([Transaction(0.0, (Change("door", 1, (1, 4)), Change("room", 1, ("r1", 1))))])
        world.check()
        world.take([Transaction(0.0, (Change("door", -1, (1, 4)), Change("room", -1, ("r1", 1))))])
        world.check()
    world.take([Unregister(0.0, name) for name in world.asked])
    assert all(len(lane.views.templates) == 0 for lane in world.lanes.values())


@pytest.mark.parametrize("which", [1, 3, 9])
def test_a_question_closed_and_opened_within_an_epoch_has_its_answer_once(which):
    """What took its parameters out waits for the next epoch; putting them back must not meet it."""
    world = World()
    world.take([Transaction(0.0, tuple(Change("room", 1, (f"r{n}", n)) for n in range(4)))])
    world.take([Transaction(0.0, tuple(Change("door", 1, (n, n + 1)) for n in range(3)))])
    world.take(world.entries(("heat", 3, 1, 3)))
    world.take([entry for n in (1, 2) for entry in world.entries(("ask", which, n, n))])
    (asked, _) = sorted(world.asked)
    lane = world.lanes["tenant"]
    view = lane.views.by_name[asked]
    before = dict(view.rows)
    assert before
    lane.views.close(view)
    assert lane.views.open(view.entry).rows == before
    world.take([Transaction(0.0, (Change("door", 1, (1, 4)), Change("room", 1, ("r9", 1))))])
    world.check()


# A cycle whose numbers sum to less than nothing makes a way along it ever cheaper.
ENDLESS = """WITH RECURSIVE way(a, b, n) AS (
    SELECT r.level, r.level, 0 FROM room r WHERE r.rid = '{r}'
    UNION SELECT w.a, d.b, MIN(w.n + d.b) FROM way w JOIN door d ON d.a = w.b GROUP BY w.a, d.b
) SELECT b, n FROM way"""


@pytest.mark.parametrize("mode", MODES)
def test_a_recursion_that_fails_leaves_no_view_of_it_stale(mode):
    """Each of its views says so and takes its rows back; the others go on."""
    lane, held = Lane(), {}

    def take(*entries):
        errors = {}
        for change in lane.apply(list(enumerate(entries, start=lane.position + 1))):
            merge(held.setdefault(change.view, {}), change.delta)
            if change.error is not None:
                errors[change.view] = change.error["code"]
        return errors

    def register(name, sql):
        plan = plan_text(compile_query(sql, CATALOG).plan)
        return Register(0.0, name, plan, sharing=mode)

    take(*(Declare(0.0, relation) for relation in (ROOM, HEAT, DOOR)))
    rooms = (Change("room", 1, ("r1", 1)), Change("room", 1, ("r5", 5)))
    take(Transaction(0.0, (*rooms, Change("door", 1, (1, -2)), Change("door", 1, (5, 6)))))
    views = [register(name, ENDLESS.format(r="r1")) for name in ("one", "two", "three")]
    take(*views, register("far", ENDLESS.format(r="r5")), register("rooms", SHAPES[5].format(n=9)))
    assert held["one"] == held["two"] == held["three"] == {(1, 0): 1, (-2, -2): 1}
    # From room 5 nobody comes to the cycle; from room 1 the way along it grows ever cheaper.
    errors = take(Transaction(0.0, (Change("door", 1, (-2, 1)),)))
    assert {errors.get(name) for name in ("one", "two", "three")} == {
        "aspen.views.endless_recursion"
    }
    assert held["one"] == held["two"] == held["three"] == {}
    for name in ("one", "two", "three"):
        assert lane.views.by_name[name].error is not None
        assert lane.rows(name) == {}
    # A shared dataflow fails for all of its guests; a view with one of its own is not touched.
    for name in ("far", "rooms"):
        assert lane.rows(name) == held[name]
        assert (lane.views.by_name[name].error is not None) == (name in errors)
    assert ("far" in errors) == (mode in ("tenant", "auto"))
    assert "rooms" not in errors
    # Mended and registered again, they are there again.
    take(Transaction(0.0, (Change("door", -1, (-2, 1)),)))
    assert take(*views, register("far", ENDLESS.format(r="r5"))) == {}
    assert held["one"] == held["two"] == held["three"] == {(1, 0): 1, (-2, -2): 1}
    assert held["far"] == lane.rows("far") == {(5, 0): 1, (6, 6): 1}


def test_a_question_that_breaks_a_shared_dataflow_leaves_no_guest_stale():
    """Whoever asked before is told of the error that the newcomer's parameters brought."""
    lane, held, errors = Lane(), {}, {}

    def take(*entries):
        for change in lane.apply(list(enumerate(entries, start=lane.position + 1))):
            merge(held.setdefault(change.view, {}), change.delta)
            errors[change.view] = (change.error or {}).get("code")

    def register(name, rid):
        plan = plan_text(compile_query(ENDLESS.format(r=rid), CATALOG).plan)
        return Register(0.0, name, plan, sharing="tenant")

    take(*(Declare(0.0, relation) for relation in (ROOM, HEAT, DOOR)))
    rooms = (Change("room", 1, ("r1", 1)), Change("room", 1, ("r5", 5)))
    doors = tuple(Change("door", 1, pair) for pair in ((1, -2), (-2, 1), (5, 6)))
    take(Transaction(0.0, (*rooms, *doors)))
    take(register("one", "r5"), register("two", "r5"))
    assert held["one"] == held["two"] == {(5, 0): 1, (6, 6): 1}
    take(register("endless", "r1"))
    assert errors["endless"] == "aspen.views.endless_recursion"
    for name in ("one", "two"):
        assert errors[name] == errors["endless"]
        assert held[name] == lane.rows(name) == {}
    take(register("one", "r5"), register("three", "r5"))
    assert held["one"] == held["three"] == {(5, 0): 1, (6, 6): 1}
    assert errors["one"] is errors["three"] is None


@pytest.mark.parametrize("spelt", ["", "alone"])
def test_an_unknown_sharing_is_an_error_of_that_view(spelt):
    lane = Lane()
    plan = plan_text(compile_query("SELECT r.rid FROM room r", CATALOG).plan)
    changes = lane.apply([(1, Declare(0.0, ROOM)), (2, Register(0.0, "v", plan, sharing=spelt))])
    assert changes[-1].error["code"] == "aspen.runtime.unknown_sharing"


def test_the_reason_is_told():
    lane = Lane()
    lane.apply([(n, Declare(0.0, one)) for n, one in enumerate((ROOM, HEAT, DOOR), start=1)])
    reasons = {}
    for number, sql in enumerate(SHAPES):
        plan = plan_text(compile_query(sql.format(r="r1", n=2), CATALOG).plan)
        lane.apply([(number + 4, Register(0.0, f"v{number}", plan, sharing="auto"))])
        chosen = lane.views.by_name[f"v{number}"].sharing
        reasons[number] = (chosen.mode.value, chosen.reason)
    assert reasons[1] == ("tenant", "queries of its template differ in 2 alone")
    assert reasons[5][0] == "trunk"
    assert "by order alone" in reasons[5][1]
    assert {reasons[number][0] for number in RECURSIVE} == {"tenant"}
    assert reasons[6] == ("trunk", "it compares no column with a constant of its own")


@pytest.mark.parametrize("which", RECURSIVE)
def test_thirty_recursions_of_one_shape_are_one_dataflow(which):
    world = World()
    rooms = tuple(Change("room", 1, (f"r{n}", n)) for n in range(4))
    doors = tuple(Change("door", 1, (n, n + 1)) for n in range(8))
    world.take([Transaction(0.0, rooms + doors)])
    world.take(world.entries(("ask", which, 1, 1)))
    sizes = {mode: len(lane.circuit._known) for mode, lane in world.lanes.items()}
    for number in range(30):
        sql = SHAPES[which].format(r=f"r{number}", n=number)
        plan = plan_text(compile_query(sql, CATALOG).plan)
        world.take([Register(0.0, f"n{number}", plan)])
    for n in range(2, 4):
        world.take([Transaction(0.0, (Change("door", 1, (n, 30 + n)),))])
        world.take([Transaction(0.0, (Change("door", -1, (n, n + 1)),))])
    assert len(world.lanes["auto"].circuit._known) == sizes["auto"]
    assert len(world.lanes["own"].circuit._known) > sizes["own"] + 60
    assert world.lanes["auto"].rows("n3")
    world.asked = {f"n{n}": None for n in range(30)}
    world.check()
