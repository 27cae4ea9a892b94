"""Statement: what somebody wrote, read once, for everything that is done with it.

Checking, explaining, compiling, answering, maintaining and changing rows all take a Statement; the
text itself is kept for people and for positions in errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from aspen.errors import Position
from aspen.model.schema import Relation
from aspen.streamsql.alarm_rule import AlarmRule
from aspen.streamsql.declaration import declared
from aspen.streamsql.dialect_statements import DeclaredRelation
from aspen.streamsql.errors import NotAQuery, SyntaxRefused
from aspen.streamsql.parse import read_trees
from aspen.streamsql.positions import Positions, at, placed, whole
from aspen.streamsql.tree import is_query, unsupported

CHANGING = ("INSERT", "DELETE", "UPDATE")
"""Kinds of statements that change rows."""
_KNOWN = {
    "INSERT": {"this", "expression"},
    "DELETE": {"this", "where"},
    "UPDATE": {"this", "expressions", "where"},
}
"""What each may say; to leave anything else out would be wrong."""


@dataclass(frozen=True, slots=True)
class Output:
    """`OUTPUT TO DISPLAY lobby`: where the changes of a query go.

    Args:
        kind: DISPLAY, ALARM or WEBHOOK.
        target: which one; empty for the only one.
        tree: as it is written, with an alarm's clauses.
        rule: what those say, once the query's columns are known; None for what is no alarm.
    """

    kind: str
    target: str
    at: Position
    tree: exp.Expr = field(compare=False, repr=False)
    rule: AlarmRule | None = None

    @property
    def text(self) -> str:
        """Where it goes, in the words of the plan language."""
        rule = self.rule.text if self.rule is not None else ""
        return " ".join(word for word in (self.kind.lower(), self.target, rule) if word)


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement.

    Args:
        text: as it was given; positions count in it.
        kind: `query`, `once`, or the words a statement that changes something begins with.
        tree: sqlglot's, every node with its position.
        at: where it stands in the text; its name, where it gives one.
        name: of the view or relation it makes, changes or drops; empty for a bare query.
        relation: what CREATE STREAM or CREATE TABLE declares.
    """

    text: str
    kind: str
    tree: exp.Expr
    at: Position
    name: str = ""
    relation: Relation | None = None

    @property
    def asks(self) -> bool:
        """Whether it is a query, maintained or asked once."""
        return self.kind in ("query", "once")

    @property
    def maintained(self) -> bool:
        """Whether it is a query whose answer is kept current."""
        return self.kind == "query"

    @property
    def outputs(self) -> tuple[Output, ...]:
        """Where the changes of a query go besides."""
        found = self.tree.meta.get("outputs") or ()
        return tuple(Output(one.args["kind"], one.args["this"], at(one), one) for one in found)

    @property
    def query(self) -> exp.Expr:
        """The query that is asked; what CREATE VIEW says of columns and recursion is a WITH."""
        if not isinstance(self.tree, exp.Create):
            return self.tree
        target = self.tree.this
        query: exp.Expr = self.tree.expression
        recursive = bool(self.tree.meta.get("recursive"))
        if not recursive and not isinstance(target, exp.Schema):
            return query
        columns = target.expressions if isinstance(target, exp.Schema) else []
        name = placed(exp.to_identifier(self.name), self.at)
        alias = exp.TableAlias(this=name, columns=[column.copy() for column in columns])
        cte = exp.CTE(this=query.copy(), alias=alias)
        return exp.Select(
            expressions=[placed(exp.Star(), self.at)],
            from_=exp.From(this=exp.Table(this=name.copy())),
            with_=exp.With(expressions=[cte], recursive=recursive),
        )


def read_statement(text: str) -> Statement:
    """Reads the only statement of a text.

    Raises:
        SyntaxRefused: the text is no SQL, or no single statement.
        Unsupported: it is SQL that StreamSQL leaves out.
        NotAQuery: a statement of a kind that is not known here.
    """
    return only(read_statements(text))


def read_statements(text: str) -> list[Statement]:
    """Reads the statements of a text, in order, as `read_statement`."""
    return [statement_of(tree, text) for tree in read_trees(text)]


def parse(text: str) -> list[Statement]:
    """Reads the queries and declarations of a text, in order.

    Raises:
        SyntaxRefused: there are none.
        NotAQuery: a statement changes something.
        AspenError: as `read_statement`.
    """
    found = read_statements(text)
    if not found:
        raise _nothing()
    for statement in found:
        if not statement.asks and statement.relation is None:
            raise not_a_query(statement)
    return found


def only(found: Sequence[Statement]) -> Statement:
    """Returns the statement a text has, where it has no other.

    Raises:
        SyntaxRefused: it has none, or several.
    """
    if not found:
        raise _nothing()
    if len(found) != 1:
        raise SyntaxRefused(
            "one statement at a time",
            position=found[1].at,
            found=f"{len(found)} statements",
            attempt="submit them one by one",
        )
    return found[0]


def _nothing() -> SyntaxRefused:
    return SyntaxRefused("there is no query in the text", attempt="SELECT … FROM …")


def not_a_query(statement: Statement) -> NotAQuery:
    """Returns the refusal of a statement that changes something, where only queries stand."""
    return _refused(statement.text, statement.tree)


def _refused(text: str, tree: exp.Expr) -> NotAQuery:
    first = len(text) - len(text.lstrip())
    end = first + len(text[first:].split(maxsplit=1)[0])
    what = str(tree.this) if isinstance(tree, exp.Command) else type(tree).__name__
    return NotAQuery(
        "a StreamSQL text only asks; it changes nothing",
        position=Positions(text).position(first, end),
        found=f"{what.upper()} {tree.args.get('kind') or ''}".strip(),
        exists=("SELECT", "WITH", "VALUES", "ONCE SELECT", "CREATE VIEW", "CREATE STREAM"),
        attempt="change tables through the map, the admin pages or the REST interface",
    )


def statement_of(tree: exp.Expr, text: str) -> Statement:
    """Returns what one tree of a text says.

    Raises:
        NotAQuery: a statement of a kind that is not known here.
        AspenError: a declaration that contradicts itself; a target that is no bare name.
    """
    match tree:
        case DeclaredRelation():
            relation = declared(tree)
            kind = f"CREATE {relation.kind.value}"
            return Statement(text, kind, tree, whole(tree.this), relation.name, relation)
        case exp.Create() if tree.args.get("kind") == "VIEW":
            target = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
            if not is_query(tree.expression):
                attempt = "CREATE VIEW v AS SELECT …"
                raise unsupported("a view without a query", target, attempt)
            return Statement(text, "query", tree, whole(target.this), target.this.name)
        case exp.Query() | exp.Values():
            return Statement(text, "once" if tree.meta.get("once") else "query", tree, whole(tree))
        case exp.TruncateTable(expressions=[target]):
            emptied = exp.Delete(this=target)
            return Statement(text, "DELETE", emptied, whole(tree), target_name(target))
        case exp.Drop() if tree.args.get("kind") in ("TABLE", "VIEW"):
            target, *more = tree.args.get("tables") or (tree.this,)
            if more or not isinstance(target, exp.Expr):
                raise unsupported("DROP of any but one", tree, "DROP TABLE t")
            return Statement(text, "DROP", tree, whole(tree), target_name(target))
        case exp.Insert() | exp.Delete() | exp.Update():
            return _change(tree, text)
        case exp.Transaction() | exp.Commit() | exp.Rollback() | exp.Create():
            raise NotAQuery(
                "every statement stands by itself here",
                position=whole(tree),
                found=f"{type(tree).__name__.upper()} {tree.args.get('kind') or ''}".strip(),
                attempt="CREATE TABLE t (a INT, b TEXT), INSERT INTO t VALUES (…), SELECT …",
            )
    raise _refused(text, tree)


def _change(tree: exp.Expr, text: str) -> Statement:
    kind = type(tree).__name__.upper()
    target = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
    if not isinstance(target, exp.Expr):
        attempt = "INSERT INTO t …, UPDATE t SET …, DELETE FROM t …"
        raise unsupported(f"{kind} without the name of a table", tree, attempt)
    name = target_name(target)
    for key, value in tree.args.items():
        if value and key not in _KNOWN[kind]:
            raise unsupported(f"{kind} with {key.strip('_').upper()}", tree, "a plain statement")
    if kind == "INSERT" and not is_query(tree.expression):
        raise unsupported("INSERT without rows", tree, "INSERT INTO t VALUES (…)")
    for part in tree.expressions if kind == "UPDATE" else ():
        if not isinstance(part, exp.EQ) or not isinstance(part.this, exp.Column):
            raise unsupported("this assignment", part, "SET column = value")
    return Statement(text, kind, tree, whole(tree), name)


def target_name(tree: exp.Expr) -> str:
    """Returns the name of the table that a statement changes.

    Raises:
        Unsupported: it has an alias, or a schema in front of it.
    """
    if isinstance(tree, exp.Table) and tree.args.get("alias"):
        raise unsupported("alias of a changed table", tree, "its own name")
    if tree.args.get("db") is not None or not isinstance(tree, exp.Table):
        raise unsupported("schema in front of a name", tree, "the bare name")
    return tree.name
