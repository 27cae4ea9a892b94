"""sqlglot's tree → text with every bracket, for EXPLAIN and the golden files (border 1)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from sqlglot import exp, generator

from aspen.algebra.text import column_text
from aspen.model.schema import Relation
from aspen.streamsql.dialect import StreamSql, StreamWindow, bounds_of
from aspen.streamsql.statement import Output, Statement


class _Generator(generator.Generator):
    """sqlglot's printer, with windows, and with brackets around every operation."""

    TRANSFORMS: ClassVar = {
        **generator.Generator.TRANSFORMS,
        StreamWindow: lambda self, window: self.window_text(window),
    }
    _BRACKETED = (exp.Binary, exp.Not, exp.Neg, exp.Between, exp.In)

    def sql(self, expression: Any, key: str | None = None, comment: bool = True) -> str:  # noqa: FBT001, FBT002  # sqlglot's
        text: str = super().sql(expression, key, comment)
        bracketed = key is None and isinstance(expression, self._BRACKETED)
        return f"({text})" if bracketed else text

    def table_sql(self, expression: exp.Table, sep: str = " AS ") -> str:
        window = self.sql(expression, "stream_window")
        return f"{super().table_sql(expression, sep)}{f' {window}' if window else ''}"

    def array_sql(self, expression: exp.Array) -> str:
        """Prints an array as it is written."""
        return f"[{self.expressions(expression, flat=True)}]"

    def datatype_sql(self, expression: exp.DataType) -> str:
        """Prints a type, that of an array as its values' with brackets behind."""
        if expression.this == exp.DType.ARRAY:
            return f"{self.expressions(expression, flat=True)}[]"
        return str(super().datatype_sql(expression))

    def with_sql(self, expression: exp.With) -> str:
        most = expression.meta.get("most")
        limited = f"WITH RECURSIVE (ERROR AT {most} ROWS)" if most else "WITH RECURSIVE"
        return str(super().with_sql(expression)).replace("WITH RECURSIVE", limited, 1)

    def create_sql(self, expression: exp.Create) -> str:
        kind = "CREATE RECURSIVE VIEW" if expression.meta.get("recursive") else "CREATE VIEW"
        return str(super().create_sql(expression)).replace("CREATE VIEW", kind, 1)

    def window_text(self, expression: StreamWindow) -> str:
        """Prints the window of a stream."""
        by = self.expressions(expression, key="partition_by", flat=True)
        words = [f"PARTITION BY {by}"] if by else []
        words += [
            f"{word.upper()} {amount}{' SECONDS' if seconds else ''}"
            for word, amount, seconds in bounds_of(expression).words
        ]
        on = expression.args.get("on")
        words += [f"ON {self.sql(on)}"] if on else []
        return f"[{' '.join(words)}]"


def statement_text(statement: Statement) -> str:
    """Prints a statement as StreamSQL reads it, one clause per line."""
    if statement.relation is not None:
        return _relation(statement.relation)
    text = _Generator(dialect=StreamSql, pretty=True, comments=False).generate(statement.tree)
    head = "ONCE\n" if statement.kind == "once" else ""
    outputs = ", ".join(" ".join(_output(one)) for one in statement.outputs)
    return f"{head}{text}\n" + (f"OUTPUT TO {outputs}\n" if outputs else "")


def _output(output: Output) -> Iterator[str]:
    """Gives the words of an output, an alarm's clauses in one order."""
    given = output.tree.args
    yield output.kind
    if output.target:
        yield _target(output.target)
    if given.get("keys"):
        yield f"KEY ({', '.join(_sql(one) for one in given['keys'])})"
    for word in ("raise", "clear"):
        when, held_s = given.get(f"{word}_when"), given.get(f"{word}_s")
        if when is not None or held_s:
            yield word.upper()
        if when is not None:
            yield f"WHEN {_sql(when)}"
        if held_s:
            yield f"FOR {held_s:g} SECONDS"
    if given.get("silent_s"):
        yield f"NO DATA AFTER {given['silent_s']:g} SECONDS"
    if given.get("severity"):
        yield f"SEVERITY {given['severity']}"
    for one in given.get("notify") or ():
        yield f"NOTIFY {one.args['kind']} {exp.Literal.string(one.args['this']).sql()}"


def _sql(tree: exp.Expr) -> str:
    return _Generator(dialect=StreamSql, comments=False).generate(tree)


def _target(text: str) -> str:
    return text if not text or text.isidentifier() else exp.Literal.string(text).sql()


def _relation(relation: Relation) -> str:
    lines = [f"Create {relation.kind.value.lower()} {relation.name}"]
    lines += [f"  {column_text(column)}" for column in relation.columns]
    facts = {
        "key": ", ".join(relation.key),
        "device": relation.device,
        "rate_hz": relation.rate_hz,
        "ttl_s": relation.ttl_s,
        "network": relation.network,
        "static": "" if relation.deletable else "yes",
        "comment": relation.comment,
    }
    lines += [f"  {name}: {value}" for name, value in facts.items() if value]
    return "\n".join(lines) + "\n"
