"""sqlglot's tree → statements of scripts: CREATE TABLE, INSERT, DELETE, UPDATE, DROP."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from aspen.model.schema import Column, Relation
from aspen.streamsql.ast import Expression
from aspen.streamsql.errors import Unsupported
from aspen.streamsql.script_ast import (
    CreateTable,
    Delete,
    Drop,
    Insert,
    ScriptStatement,
    Step,
    Transact,
    Update,
)
from aspen.streamsql.sql_types import SQL_TYPES
from aspen.streamsql.translate import Translator
from aspen.streamsql.translate_expr import word

_GENERATED = (exp.GeneratedAsIdentityColumnConstraint, exp.ComputedColumnConstraint)


class ScriptTranslator(Translator):
    """Turns statements of a script into our AST; queries as `Translator` does."""

    def script_statement(self, tree: exp.Expr) -> ScriptStatement:
        """Translate one statement.

        Raises:
            Unsupported: a statement scripts leave out.
        """
        match tree:
            case exp.Create() if tree.args.get("kind") == "TABLE":
                return self._create_table(tree)
            case exp.Insert():
                return self._insert(tree)
            case exp.Transaction() | exp.Commit() | exp.Rollback():
                spelt = type(tree).__name__.upper().replace("TRANSACTION", "BEGIN")
                return Transact(Step(spelt), self.spans.of(tree))
            case exp.TruncateTable():
                (target,) = tree.expressions
                return Delete(self._table(target), None, self.spans.of(tree))
            case exp.Delete():
                self._only(tree, {"this", "where"})
                where = tree.args.get("where")
                condition = None if where is None else self.expressions.translate(where.this)
                return Delete(self._table(tree.this), condition, self.spans.of(tree))
            case exp.Update():
                return self._update(tree)
            case exp.Drop() if tree.args.get("kind") in ("TABLE", "VIEW"):
                (target,) = tree.args["tables"] if tree.args.get("tables") else (tree.this,)
                return Drop(self._table(target), bool(tree.args.get("exists")), self.spans.of(tree))
        return self.statement(tree)

    def _only(self, tree: exp.Expr, known: set[str]) -> None:
        """Refuse what a statement says besides what is known: to leave it out would be wrong."""
        for key, value in tree.args.items():
            if value and key not in known:
                spelt = f"{type(tree).__name__.upper()} with {key.strip('_').upper()}"
                raise self._unsupported(spelt, tree, "a plain statement")

    def _table(self, tree: exp.Expr) -> str:
        if isinstance(tree, exp.Table) and tree.args.get("alias"):
            raise self._unsupported("alias of a changed table", tree, "its own name")
        if tree.args.get("db") or not isinstance(tree, exp.Table):
            raise self._unsupported("schema in front of a name", tree, "the bare name")
        return word(tree.this)

    def _create_table(self, tree: exp.Create) -> CreateTable:
        at = self.spans.of(tree)
        exists = bool(tree.args.get("exists"))
        if isinstance(tree.expression, exp.Query):
            name = self._table(tree.this)
            made = CreateTable(Relation(name, ()), (), self.query(tree.expression), exists, at=at)
            return replace(made, replace=bool(tree.args.get("replace")))
        if not isinstance(tree.this, exp.Schema):
            raise self._unsupported("a table without columns", tree, "CREATE TABLE t (a INT)")
        columns: list[Column] = []
        defaults: list[tuple[str, Expression]] = []
        unique: list[tuple[str, ...]] = []
        required: set[str] = set()
        for part in tree.this.expressions:
            if isinstance(part, exp.ColumnDef):
                column, alone = self._column(part)
                columns.append(column)
                defaults += self._default(part)
                unique += [(column.name,)] if alone else []
                continue
            names = self._constraint(part)
            if names:
                unique.append(names)
            if isinstance(part, exp.PrimaryKey):
                required.update(names)
        columns = [
            Column(c.name, c.type, c.unit, nullable=False) if c.name in required else c
            for c in columns
        ]
        relation = Relation(self._table(tree.this.this), tuple(columns))
        again = bool(tree.args.get("replace"))
        return CreateTable(relation, tuple(unique), None, exists, tuple(defaults), again, at)

    def _default(self, tree: exp.ColumnDef) -> list[tuple[str, Expression]]:
        kinds = [part.args.get("kind") for part in tree.args.get("constraints") or ()]
        for found in kinds:
            if isinstance(found, _GENERATED):
                raise self._unsupported("a generated column", tree, "a view")
        return [
            (word(tree.this), self.expressions.translate(found.this))
            for found in kinds
            if isinstance(found, exp.DefaultColumnConstraint)
        ]

    def _column(self, tree: exp.ColumnDef) -> tuple[Column, bool]:
        """Returns a column, and whether no two rows may share its value."""
        kind = tree.args.get("kind")
        spelt = str(getattr(kind.this, "name", kind.this)).upper() if kind is not None else "TEXT"
        if spelt not in SQL_TYPES:
            raise Unsupported(
                f"there is no type {spelt}",
                position=self.spans.of(tree),
                found=spelt,
                exists=tuple(SQL_TYPES),
                attempt="INTEGER, REAL, VARCHAR or BOOLEAN",
            )
        kinds = [constraint.args.get("kind") for constraint in tree.args.get("constraints") or ()]
        primary = any(isinstance(found, exp.PrimaryKeyColumnConstraint) for found in kinds)
        filled = primary or any(
            isinstance(found, exp.NotNullColumnConstraint) and not found.args.get("allow_null")
            for found in kinds
        )
        alone = primary or any(isinstance(found, exp.UniqueColumnConstraint) for found in kinds)
        return Column(word(tree.this), SQL_TYPES[spelt], "", not filled), alone

    def _constraint(self, tree: exp.Expr) -> tuple[str, ...]:
        if isinstance(tree, exp.Constraint):
            return next((key for part in tree.expressions if (key := self._constraint(part))), ())
        if isinstance(tree, exp.PrimaryKey):
            return tuple(word(part.find(exp.Identifier)) for part in tree.expressions)
        if isinstance(tree, exp.UniqueColumnConstraint):
            return tuple(word(part) for part in tree.this.expressions)
        # Foreign keys and checks describe rows that are right; scripts bring right rows.
        return ()

    def _insert(self, tree: exp.Insert) -> Insert:
        target = tree.this
        columns: tuple[str, ...] = ()
        if isinstance(target, exp.Schema):
            columns = tuple(word(part) for part in target.expressions)
            target = target.this
        source = tree.expression
        self._only(tree, {"this", "expression"})
        return Insert(self._table(target), columns, self.query(source), self.spans.of(tree))

    def _update(self, tree: exp.Update) -> Update:
        self._only(tree, {"this", "expressions", "where"})
        values = []
        for part in tree.expressions:
            if not isinstance(part, exp.EQ) or not isinstance(part.this, exp.Column):
                raise self._unsupported("this assignment", part, "SET column = value")
            values.append((word(part.this.this), self.expressions.translate(part.expression)))
        where = tree.args.get("where")
        condition = None if where is None else self.expressions.translate(where.this)
        return Update(self._table(tree.this), tuple(values), condition, self.spans.of(tree))
