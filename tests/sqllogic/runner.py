"""Runs the records of a file and counts what passed, failed and was skipped."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from aspen.algebra.order import row_order
from aspen.errors import AspenError
from aspen.model.delta import Delta
from aspen.model.schema import Row
from aspen.streamsql.compile import Compiled
from aspen.streamsql.errors import (
    NonStratified,
    NotAQuery,
    NotMonotone,
    UnknownFunction,
    Unsupported,
)
from aspen.streamsql.statement import Statement as Asked
from tests.sqllogic.compare import difference
from tests.sqllogic.database import Database, result_plan
from tests.sqllogic.records import Halt, Query, Statement, read_records
from tests.sqllogic.script import CreateTable, ScriptStatement, Step, parse_script

ENGINE = "aspen"
_KEPT = 16
_IDLE = ("CREATE INDEX", "CREATE UNIQUE INDEX", "DROP INDEX", "PRAGMA", "SET ", "ANALYZE", "VACUUM")
_LEFT_OUT = (
    Unsupported.code,
    NotAQuery.code,
    UnknownFunction.code,
    NonStratified.code,
    NotMonotone.code,
)
"""What the language refuses by name; records that need it are skipped, with the refusal."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What became of one record.

    Args:
        line: of the record's head.
        reason: why it failed or was skipped, empty when it passed.
    """

    line: int
    outcome: str
    reason: str = ""
    sql: str = ""


@dataclass
class Report:
    """What became of a file's records."""

    findings: list[Finding] = field(default_factory=list)

    def count(self, outcome: str) -> int:
        """Count the records that passed, failed or were skipped."""
        return sum(1 for finding in self.findings if finding.outcome == outcome)

    @property
    def summary(self) -> str:
        """The last line of a run."""
        passed, failed, skipped = map(self.count, ("passed", "failed", "skipped"))
        return f"{passed} passed, {failed} failed, {skipped} skipped"


class Runner:
    """Runs files against a new database each.

    Args:
        engine: the name that `skipif` and `onlyif` compare with.
    """

    def __init__(self, engine: str = ENGINE) -> None:
        self.engine = engine
        self.report = Report()
        self.database = Database()
        self._labels: dict[str, list[str]] = {}
        self._kept: deque[tuple[str, int]] = deque()
        self._numbers = 0
        self._changed = False

    def run(self, text: str) -> Report:
        """Run a file's text."""
        for record in read_records(text, self.engine):
            if record.skip:
                self._note(record.line, "skipped", record.skip, getattr(record, "sql", ""))
                continue
            match record:
                case Halt():
                    break
                case Statement():
                    self._statement(record)
                case Query():
                    self._query(record)
        self._check_kept()
        return self.report

    def _note(self, line: int, outcome: str, reason: str = "", sql: str = "") -> None:
        self.report.findings.append(Finding(line, outcome, reason, sql))

    def _statement(self, record: Statement) -> None:
        if record.sql.strip().upper().startswith(_IDLE) and not record.fails:
            self._note(record.line, "skipped", "the engine has no such thing to set", record.sql)
            return
        try:
            changed = self._execute(record.sql)
        except AspenError as error:
            self._refused(record, error)
            return
        if record.fails:
            self._note(
                record.line, "failed", "it should be refused, but is carried out", record.sql
            )
        elif record.count is not None and record.count != changed:
            reason = f"it should change {record.count} rows, but changes {changed}"
            self._note(record.line, "failed", reason, record.sql)
        else:
            self._note(record.line, "passed")

    def _execute(self, sql: str) -> int:
        changed = 0
        for statement in parse_script(sql):
            if not _is_asked(statement):
                self._before_change(statement)
            changed += self.database.execute(statement)
        return changed

    def _before_change(self, statement: ScriptStatement) -> None:
        drops = isinstance(statement, Asked) and statement.kind == "DROP"
        moves = drops or statement is Step.ROLLBACK
        if moves or (isinstance(statement, CreateTable) and statement.replace):
            # The rest may move to a new lane: kept queries end here.
            self._check_kept()
            for name, _ in self._kept:
                self.database.forget(name)
            self._kept.clear()
        self._changed = True

    def _refused(self, record: Statement | Query, error: AspenError) -> None:
        if isinstance(record, Statement) and record.fails:
            self._note(record.line, "passed")
        elif error.code in _LEFT_OUT:
            self._note(record.line, "skipped", f"{error.code}: {error.message}", record.sql)
        else:
            self._note(record.line, "failed", error.render(record.sql), record.sql)

    def _query(self, record: Query) -> None:
        try:
            statements = parse_script(record.sql)
            for statement in statements[:-1]:
                self.database.execute(statement)
            asked = statements[-1]
            if not isinstance(asked, Asked) or not _is_asked(asked):
                self.database.execute(asked)
                self._note(record.line, "passed")
                return
            compiled = self.database.compile(asked)
            maintained = self.database.maintained(compiled)
            once = self.database.once(compiled)
        except AspenError as error:
            self._refused(record, error)
            return
        for way, rows in (("maintained", maintained), ("one-shot", once)):
            if rows is None:
                continue
            wrong = difference(record, *shown(compiled, rows))
            if wrong:
                self._note(record.line, "failed", f"{way}: {wrong}", record.sql)
                return
        if not self._same_label(record, compiled, once):
            return
        self._keep(record.line, compiled)
        self._note(record.line, "passed")

    def _same_label(self, record: Query, compiled: Compiled, rows: Delta) -> bool:
        if not record.label:
            return True
        values = sorted(repr(row) for row in shown(compiled, rows)[0])
        if self._labels.setdefault(record.label, values) == values:
            return True
        reason = f"it differs from an earlier query labelled {record.label}"
        self._note(record.line, "failed", reason, record.sql)
        return False

    def _keep(self, line: int, compiled: Compiled) -> None:
        """Go on maintaining a query that was right, to look at it again after later changes."""
        self._check_kept()
        self._numbers += 1
        name = f"kept_{self._numbers}"
        self.database.keep(name, result_plan(compiled))
        self._kept.append((name, line))
        if len(self._kept) > _KEPT:
            self.database.forget(self._kept.popleft()[0])

    def _check_kept(self) -> None:
        if not self._changed:
            return
        self._changed = False
        for name, line in self._kept:
            try:
                right = self.database.kept(name) == self.database.from_scratch(name)
                reason = "after later statements the view differs from the answer from scratch"
            except AspenError as error:
                right, reason = False, error.render()
            if not right:
                self._note(line, "failed", reason)


def _is_asked(statement: ScriptStatement) -> bool:
    """Whether a statement is a query without a name."""
    return isinstance(statement, Asked) and statement.asks and not statement.name


def shown(compiled: Compiled, rows: Delta) -> tuple[list[Row], list[Row] | None]:
    """Returns a result's rows in the order they are shown.

    Returns:
        The rows, and what they are ordered by; None where the text says no order.
    """
    each = [row for row, weight in rows.items() for _ in range(weight)]
    order = compiled.order
    if order is None:
        return sorted(each, key=row_order((), compiled.plan.columns)), None
    by = row_order(order.keys, order.plan.columns)
    each.sort(key=by)
    return [row[: order.width] for row in each], [by(row)[0] for row in each]
