"""Questions of facility managers are answered as written: asked once, and while things change.

time.sql, graph.sql, rooms.sql ─ compile ─> kept by one lane ── after each step ──┐
                                       ─> asked once of another, that keeps none ─┤
                              ─ as they stand, over the same rows ─ DuckDB ───────┴──> equal
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from pathlib import Path

import duckdb
import pytest
from questions.building import NOON_S, OPERATORS, afterwards, until_noon

from aspen.algebra.explain import plan_text
from aspen.errors import AspenError
from aspen.log.entry import Declare, OneTimeKind, OneTimeQuery, Register, Transaction
from aspen.model.catalog import Catalog
from aspen.model.schema import Relation, SourceKind
from aspen.runtime.lane import Lane
from aspen.runtime.one_time_queries import answer_name
from aspen.streamsql import compile_query, compile_views, parse
from smartcis.catalog import CATALOG
from smartcis.queries import standing_queries

ASKED = 60
README = Path(__file__).parent.parent.parent / "aspen" / "streamsql" / "README.md"
FILES = ("time", "graph", "rooms")
HEAD = re.compile(r"^-- (question|source|not answered): (.*)$")
WINDOW = re.compile(r"(\w+) \[RANGE (\d+) (MINUTE|HOUR|DAY)S?\]")
NOW = re.compile(r"\bnow\(\)|\bcurrent_date\b")
SECONDS = {"MINUTE": 60, "HOUR": 3600, "DAY": 86_400}
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Question:
    """A text with what it asks; `unanswered` says why it is not answered, empty where it is."""

    words: str
    source: str
    unanswered: str
    text: str


def _questions() -> list[Question]:
    found = []
    for name in FILES:
        content = Path(__file__).with_name(f"{name}.sql").read_text(encoding="utf-8")
        for block in re.split(r"^(?=-- question: )", content, flags=re.MULTILINE)[1:]:
            lines = block.strip().splitlines()
            head = dict(match.groups() for line in lines if (match := HEAD.match(line)))
            text = "\n".join(line for line in lines if not HEAD.match(line)).rstrip(";")
            found.append(
                Question(head["question"], head["source"], head.get("not answered", ""), text)
            )
    return found


QUESTIONS = _questions()


class Duck:
    """DuckDB over the rows of a lane at one moment; windows are selections by time of arrival."""

    def __init__(self, relations: Catalog) -> None:
        self._relations = relations
        self._connection = duckdb.connect(config={"threads": 1})
        self._connection.execute("SET TimeZone = 'UTC'")
        self._connection.execute("SET default_null_order = 'nulls_first_on_asc_last_on_desc'")
        for relation in relations:
            kinds = {"INT": "BIGINT", "FLOAT": "DOUBLE"}
            columns = [
                f"{c.name} {kinds.get(c.type.value, c.type.value)}" for c in relation.columns
            ]
            if relation.kind is SourceKind.STREAM:
                columns.append("arrived DOUBLE")
            self._connection.execute(f"CREATE TABLE {relation.name} ({', '.join(columns)})")

    def hold(self, name: str, rows: list[tuple]) -> None:
        """Makes a table hold these rows."""
        self._connection.execute(f"DELETE FROM {name}")
        if rows:
            marks = ", ".join("?" * len(rows[0]))
            self._connection.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)

    def ask(self, text: str, now_s: float) -> Counter:
        """Returns a text's rows."""

        def window(found: re.Match[str]) -> str:
            name, amount, unit = found.groups()
            columns = ", ".join(self._relations.get(name).names)
            since_s = now_s - int(amount) * SECONDS[unit]
            return f"(SELECT {columns} FROM {name} WHERE arrived > {since_s})"

        text = NOW.sub(
            lambda m: f"to_timestamp({now_s}){'::DATE' if m[0] == 'current_date' else ''}",
            WINDOW.sub(window, text),
        )
        return bag((row, 1) for row in self._connection.execute(text).fetchall())


def bag(rows: Iterable[tuple[tuple, int]]) -> Counter:
    """Returns rows in one spelling: spans as seconds, times as texts, numbers to nine digits."""
    told: Counter = Counter()
    for row, weight in rows:
        told[tuple(map(_spelt, row))] += weight
    return told


def _spelt(value: object) -> object:
    match value:
        case bool() | None | str():
            return value
        case list() | tuple():
            return tuple(map(_spelt, value))
        case timedelta():
            return _spelt(value.total_seconds())
        case datetime():
            return str(value).replace("+00:00", "+00")
        case date() | time():
            return str(value)
    return float(f"{value:.9g}")


def take(lane: Lane, entries: list) -> list:
    """Lets a lane take entries as one epoch; returns what changed."""
    return lane.apply(list(enumerate(entries, start=lane.position + 1)))


class House:
    """A lane with the questions that compile, one without, and DuckDB beside them."""

    def __init__(self) -> None:
        operators = [one.relation for one in parse(OPERATORS) if one.relation is not None]
        catalog = Catalog.of((*CATALOG, *operators))
        standing = compile_views(standing_queries(), catalog)
        self.catalog = Catalog.of((*catalog, *(view.relation for view in standing)))
        self.lane, self.other = Lane(), Lane()
        self.tables: dict[str, Counter] = {one.name: Counter() for one in catalog}
        self.arrived: dict[str, list[tuple]] = {one.name: [] for one in catalog}
        self.duck = Duck(self.catalog)
        self.plans: dict[str, str] = {}
        self.failed: dict[str, str] = {}
        for question in QUESTIONS:
            try:
                compiled = compile_query(question.text, self.catalog)
            except AspenError as error:
                self.failed[question.words] = error.message
            else:
                self.plans[question.words] = plan_text(compiled.plan)
        begin = [
            *(Declare(0.0, relation) for relation in catalog),
            *(Register(0.0, view.name or "", plan_text(view.plan)) for view in standing),
        ]
        take(self.other, begin)
        take(self.lane, [*begin, *(Register(0.0, *view) for view in self.plans.items())])

    def live(self, entries) -> None:
        """Takes what happens as one epoch."""
        entries = list(entries)
        for lane in (self.lane, self.other):
            take(lane, entries)
        for entry in entries:
            for name, weight, row in entry.changes if isinstance(entry, Transaction) else ():
                self.tables[name][row] += weight
                self.arrived[name].append((row, entry.at_s))

    def compare(self, now_s: float) -> None:
        """Asks DuckDB everything, the lane once, and looks at what is maintained."""
        for relation in self.catalog:
            self.duck.hold(relation.name, self._rows(relation, now_s))
        asked = [
            OneTimeQuery(now_s, w, "", (), OneTimeKind.ONCE, plan_text=plan)
            for w, plan in self.plans.items()
        ]
        answers = {change.view: change for change in take(self.other, asked)}
        for question in QUESTIONS:
            words = question.words
            wanted = self.duck.ask(question.text, now_s)
            if words in self.failed:
                continue
            view, once = self.lane.views.by_name[words], answers[answer_name(words)]
            if view.error is not None or once.error is not None:
                self.failed[words] = (view.error or once.error or {})["message"]
            elif any(bag(rows.items()) != wanted for rows in (self.lane.rows(words), once.delta)):
                self.failed[words] = "its rows are not DuckDB's"
                logger.info("%s\n%s\nis not %s", words, self.lane.rows(words), wanted)

    def _rows(self, relation: Relation, now_s: float) -> list[tuple]:
        if relation.kind is SourceKind.VIEW:
            return list(Counter(self.lane.rows(relation.name)).elements())
        if relation.kind is SourceKind.STREAM:
            return [(*row, at_s) for row, at_s in self.arrived[relation.name]]
        if relation.name == "clock":
            return [(now_s,)]
        if relation.ttl_s:
            held = self.arrived[relation.name]
            return [row for row, at_s in held if at_s > now_s - relation.ttl_s]
        return list(self.tables[relation.name].elements())


@pytest.fixture(scope="module")
def failed() -> dict[str, str]:
    """Returns the questions that are not answered, each with the reason."""
    house = House()
    house.live(until_noon())
    house.compare(NOON_S)
    for entries in afterwards():
        house.live(entries)
        house.compare(entries[-1].at_s)
    return house.failed


def test_there_are_sixty_questions_each_with_its_source():
    assert len({question.words for question in QUESTIONS}) == ASKED
    assert all(question.source for question in QUESTIONS)
    graphs = sum("RECURSIVE" in question.text for question in QUESTIONS)
    times = sum("_s" in question.text for question in QUESTIONS)
    assert min(graphs, times) >= ASKED // 3


def test_all_but_those_the_files_name_are_answered_as_written(failed):
    answered = ASKED - len(failed)
    logger.info("%d of %d questions answered as written", answered, ASKED)
    assert failed == {q.words: q.unanswered for q in QUESTIONS if q.unanswered}
    told = README.read_text(encoding="utf-8")
    assert f"{answered} of {ASKED} questions of facility managers are answered as written" in told
