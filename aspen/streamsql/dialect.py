"""The StreamSQL dialect of sqlglot: SQL plus windows in brackets behind a stream or its alias.

seat_reading [PARTITION BY mid ROWS 1 RANGE 120 SECONDS] s
seat_reading s [RANGE 30 SECONDS]
"""

from __future__ import annotations

from typing import Any, ClassVar

from sqlglot import exp, parser, tokens
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError
from sqlglot.tokenizer_core import Token, TokenType

from aspen.algebra.plan import WindowBounds
from aspen.effort import too_complex
from aspen.streamsql.dialect_statements import parse_declaration, parse_outputs

_MOST_JOINS_TRIED = 10_000  # more than the longest text has clauses FROM
_UNIT_SECONDS = {"SECOND": 1, "MINUTE": 60, "HOUR": 3600, "DAY": 86400}


class StreamWindow(exp.Expression):
    """`[PARTITION BY … ROWS … SLIDE … RANGE … SLIDE … | SESSION …]`, `[SIZE n TIME | TUPLE …]`."""

    arg_types = dict.fromkeys(("partition_by", "on", *WindowBounds._fields), False)


def bounds_of(window: exp.Expr) -> WindowBounds:
    """Returns the bounds that a window's text gives."""
    return WindowBounds(**{name: window.args.get(name) for name in WindowBounds._fields})


def _power(this: exp.Expr, expression: exp.Expr) -> exp.Anonymous:
    """Returns `a ** b` as the call it stands for."""
    return exp.Anonymous(this="power", expressions=[this, expression])


class StreamParser(parser.Parser):
    """sqlglot's parser, with windows and without its several hundred functions.

    Every call stays a plain name with arguments, so that the binder alone decides which functions
    exist and how many arguments they take.
    """

    FUNCTIONS = {}  # noqa: RUF012  # sqlglot's protocol
    FUNCTION_PARSERS: ClassVar[Any] = {
        name: parse
        for name, parse in parser.Parser.FUNCTION_PARSERS.items()
        if name in ("CAST", "EXTRACT", "TRY_CAST", "SUBSTRING", "TRIM")
    } | {"POSITION": lambda self: self.parse_position()}
    NO_PAREN_FUNCTIONS = {}  # noqa: RUF012  # as above
    NO_PAREN_FUNCTION_PARSERS = {  # noqa: RUF012  # as above; IF(…) is a call like others
        name: parse
        for name, parse in parser.Parser.NO_PAREN_FUNCTION_PARSERS.items()
        if name != "IF"
    }
    BITWISE = {  # noqa: RUF012  # as above
        token: made for token, made in parser.Parser.BITWISE.items() if token != TokenType.CARET
    }
    EXPONENT: ClassVar[Any] = {TokenType.CARET: _power, TokenType.DSTAR: _power}
    DECLARED: tuple[str, ...] = ("STREAM", "TABLE")
    _joins_tried = 0

    def _parse_statement(self) -> Any:
        if self._index:
            # The query of a CTE is a statement of sqlglot's too.
            return super()._parse_statement()
        once = self._match_text_seq("ONCE")
        first = self._prev
        outputs = self._cut_outputs()
        tree: Any
        if self._curr.text.upper() == "CREATE" and self._next.text.upper() in self.DECLARED:
            self._advance()
            tree = parse_declaration(self)
        else:
            recursive = self._cut_recursive()
            tree = super()._parse_statement()
            if recursive and tree is not None:
                tree.meta["recursive"] = True
        if tree is None or isinstance(tree, exp.Command):
            return tree
        if once:
            tree.meta["once"] = {"start": first.start, "end": first.end}
        if outputs:
            if self._curr:
                self.raise_error("expected OUTPUT TO at the end")
            self._tokens, self._tokens_size = outputs, len(outputs)
            self._index = -1
            self._advance()
            tree.meta["outputs"] = parse_outputs(self)
        return tree

    def _cut_outputs(self) -> list[Token]:
        """Take `OUTPUT TO …` off the statement's end; give the tokens behind TO."""
        for index in range(self._index, len(self._tokens) - 1):
            words = [token.text.upper() for token in self._tokens[index : index + 2]]
            if words == ["OUTPUT", "TO"]:
                behind = self._tokens[index + 2 :]
                if not behind:
                    self.raise_error("expected DISPLAY, ALARM or WEBHOOK", self._tokens[-1])
                self._tokens = self._tokens[:index]
                self._tokens_size = index
                self._index -= 1
                self._advance()
                return behind
        return []

    def _cut_recursive(self) -> bool:
        """Take RECURSIVE out of CREATE [RECURSIVE] VIEW [RECURSIVE]."""
        for index in range(self._index + 1, min(self._index + 5, len(self._tokens) - 1)):
            pair = {token.text.upper() for token in self._tokens[index : index + 2]}
            if self._curr.text.upper() == "CREATE" and pair == {"RECURSIVE", "VIEW"}:
                cut = index if self._tokens[index].text.upper() == "RECURSIVE" else index + 1
                self._tokens = self._tokens[:cut] + self._tokens[cut + 1 :]
                self._tokens_size = len(self._tokens)
                self._index -= 1
                self._advance()
                return True
        return False

    @property
    def here(self) -> Token:
        """The next token."""
        return self._curr

    def matches(self, kind: TokenType) -> bool:
        """Take the next token if it is of a kind."""
        return bool(self._match(kind))

    def says(self, *words: str) -> bool:
        """Take the next words if they are these."""
        return bool(self._match_text_seq(*words))

    def word(self) -> str:
        """Take the next word, in upper case."""
        text = self._curr.text.upper() if self._curr else ""
        self._advance()
        return text

    def identifier(self) -> exp.Expr:
        """Take a name."""
        found = self._parse_id_var()
        if found is None:
            self.raise_error("expected a name")
        return found or exp.Identifier(this="")

    def names(self) -> list[exp.Expr]:
        """Take names in brackets."""
        return list(self._parse_wrapped_csv(self._parse_id_var))

    def text(self) -> str:
        """Take a text in quotes."""
        found: Any = self._parse_string()
        if found is None:
            self.raise_error("expected a text in quotes")
        return str(found.this)

    def condition(self) -> exp.Expr:
        """Take a condition."""
        found = self._parse_disjunction()
        if found is None:
            self.raise_error("expected a condition")
        return found or exp.Boolean(this=False)

    def type_name(self) -> exp.Expr:
        """Take the name of a type."""
        found = self._parse_types()
        if found is None:
            self.raise_error("expected a type")
        return found or exp.DataType(this="")

    def argument(self) -> str:
        """Take a name or a text in quotes; nothing where neither comes."""
        found = self._parse_string() or self._parse_id_var()
        return str(found.this) if found is not None else ""

    def _parse_with(self, skip_with_token: bool = False) -> Any:  # noqa: FBT001, FBT002  # sqlglot's
        """Read WITH [MUTUALLY] RECURSIVE [(ERROR AT 1000 ROWS)]; all its queries may read all.

        Types behind column names are taken for remarks: the queries decide.
        """
        ahead = self._tokens[self._index : self._index + 3]
        words = [token.text.upper() for token in ahead]
        index = 2 if words[1:2] == ["MUTUALLY"] else 1
        if skip_with_token or words[:1] != ["WITH"] or words[index:][:1] != ["RECURSIVE"]:
            return super()._parse_with(skip_with_token=skip_with_token)
        self._advance(index + 1)
        most = self._parse_row_limit()
        found: Any = super()._parse_with(skip_with_token=True)
        found.set("recursive", True)
        found.meta["most"] = most
        for cte in found.expressions:
            columns = cte.args["alias"].args.get("columns") or []
            names = [c.this if isinstance(c, exp.ColumnDef) else c for c in columns]
            cte.args["alias"].set("columns", names)
        return found

    def _parse_row_limit(self) -> int | None:
        if not self._match(TokenType.L_PAREN):
            return None
        if not self._match_text_seq("ERROR", "AT"):
            self.raise_error("expected ERROR AT and a number of ROWS")
        most = int(self._window_number(whole=True))
        if not self._match_text_seq("ROWS") or not self._match(TokenType.R_PAREN):
            self.raise_error("expected ROWS) behind a limit")
        return most

    def parse_position(self) -> exp.Expr:
        """Read `POSITION(part IN text)` behind its bracket."""
        part = self._parse_bitwise()
        if not self._match(TokenType.IN):
            self.raise_error("expected IN")
        return exp.Anonymous(this="instr", expressions=[self._parse_bitwise(), part])

    def _parse_interval(self, *args: Any, **kwargs: Any) -> Any:
        # Of '1 day 02:30:00' sqlglot keeps the day alone.
        said = self._curr if self._curr.token_type is TokenType.STRING else self._next
        found: Any = super()._parse_interval(*args, **kwargs)
        if isinstance(found, exp.Interval) and said.token_type is TokenType.STRING:
            if found.args.get("unit") is None or any(letter.isalpha() for letter in said.text):
                found = exp.Interval(this=exp.Literal.string(said.text))
                found.this.update_positions(said)
            found.set("fraction_in_string", None)
        return found

    def _parse_joins(self, *args: Any, **kwargs: Any) -> Any:
        # Behind a JOIN without ON sqlglot tries all that follow as joins within it, and then once
        # more as joins after it: twice the work for each.
        self._joins_tried += 1
        if self._joins_tried > _MOST_JOINS_TRIED:
            raise too_complex("it takes too many steps to read", "JOIN without ON")
        return super()._parse_joins(*args, **kwargs)

    def _parse_table(self, *args: Any, **kwargs: Any) -> Any:
        if not self._names_a_source(args, kwargs):
            return super()._parse_table(*args, **kwargs)
        table: Any = self._parse_table_parts()
        window = self._parse_stream_window()
        alias = self._parse_table_alias(
            alias_tokens=kwargs.get("alias_tokens") or self.TABLE_ALIAS_TOKENS
        )
        if alias:
            table.set("alias", alias)
        second = self._parse_stream_window()
        if window and second:
            self._refuse_at(second, "a stream has one window")
        if window or second:
            table.set("stream_window", window or second)
        if kwargs.get("joins"):
            for join in self._parse_joins():
                table.append("joins", join)
        return table

    def _parse_table_alias(self, *args: Any, **kwargs: Any) -> Any:
        # POSITIONAL is no alias, whatever sqlglot takes it for.
        return None if self._is_positional() else super()._parse_table_alias(*args, **kwargs)

    def _parse_join(self, *args: Any, **kwargs: Any) -> Any:
        positional = self._is_positional()
        if positional:
            self._advance()
        join: Any = super()._parse_join(*args, **kwargs)
        if positional:
            join.set("method", "POSITIONAL")
        return join

    def _is_positional(self) -> bool:
        ahead = self._tokens[self._index : self._index + 2]
        return [token.text.upper() for token in ahead] == ["POSITIONAL", "JOIN"]

    def _names_a_source(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        plain = not args and not kwargs.get("schema") and not kwargs.get("is_db_reference")
        return plain and self._curr.token_type in self.ID_VAR_TOKENS

    def _parse_stream_window(self) -> StreamWindow | None:
        start = self._curr
        if not self._match(TokenType.L_BRACKET):
            return None
        found: dict[str, Any] = {}
        if self._match_text_seq("SIZE"):
            self._parse_size(found)
        else:
            if self._match(TokenType.PARTITION_BY):
                found["partition_by"] = self._parse_csv(self._parse_column)
            if self._match_text_seq("SESSION"):
                found["session_s"] = self.parse_seconds()
            elif self._match_text_seq("ROWS"):
                found["rows"] = int(self._window_number(whole=True))
                if self._match_text_seq("SLIDE"):
                    found["slide_rows"] = int(self._window_number(whole=True))
            if "session_s" not in found and self._match_text_seq("RANGE"):
                found["range_s"] = self.parse_seconds()
            elif "session_s" not in found and self._match_text_seq("TUMBLE"):
                found["range_s"] = found["slide_s"] = self.parse_seconds()
            if "slide_s" not in found and "range_s" in found and self._match_text_seq("SLIDE"):
                found["slide_s"] = self.parse_seconds()
            self._parse_event_time(found)
        if not found.keys() & {"rows", "range_s", "session_s"}:
            self.raise_error("expected ROWS, RANGE or SESSION in a window")
        if not self._match(TokenType.R_BRACKET):
            self.raise_error("expected ] at the end of a window")
        window = StreamWindow(**found)
        window.meta.update(start=start.start, end=self._prev.end)
        return window

    def _parse_event_time(self, found: dict[str, Any]) -> None:
        """Read `ON at_s LATENESS 30 SECONDS`, in any order."""
        for _ in range(2):
            if "on" not in found and self._match_text_seq("ON"):
                found["on"] = self._parse_column()
            elif "lateness_s" not in found and self._match_text_seq("LATENESS"):
                found["lateness_s"] = self.parse_seconds()

    def _parse_size(self, found: dict[str, Any]) -> None:
        """Read the seeds' windows: `SIZE 300 TIME`, `SIZE 4 TUPLE PARTITION BY carid`."""
        amount = self._window_number()
        if self._match_text_seq("TIME"):
            found["range_s"] = amount
        elif self._match_text_seq("TUPLE") or self._match_text_seq("TUPLES"):
            found["rows"] = int(amount)
        else:
            self.raise_error("expected TIME or TUPLE")
        if self._match(TokenType.PARTITION_BY):
            found["partition_by"] = self._parse_csv(self._parse_column)

    def parse_seconds(self) -> float:
        """Read a span of time, `30 SECONDS`, in seconds."""
        amount = self._window_number()
        unit = self._curr.text.upper().removesuffix("S")
        if unit not in _UNIT_SECONDS:
            self.raise_error("expected SECONDS, MINUTES, HOURS or DAYS")
        self._advance()
        return amount * _UNIT_SECONDS[unit]

    def _window_number(self, *, whole: bool = False) -> float:
        text = self._curr.text
        try:
            number = float(text)
        except ValueError:
            number = 0.0
        if self._curr.token_type is not TokenType.NUMBER or not 0 < number < float("inf"):
            self.raise_error("expected a number above 0")
        if whole and not text.isdigit():
            self.raise_error("expected a whole number of rows")
        self._advance()
        return number

    def _refuse_at(self, node: exp.Expression, message: str) -> None:
        error = ParseError(message)
        error.errors = [{"description": message, **node.meta}]
        raise error

    def raise_error(self, message: str, token: Any = None) -> None:
        """Raise at once, with the offsets of the token in the text."""
        token = token or self._curr or self._prev
        error = ParseError(message)
        where = {"start": token.start, "end": token.end} if token else {}
        error.errors = [{"description": message, **where}]
        raise error


class StreamSql(Dialect):
    """StreamSQL for sqlglot."""

    NUMBERS_CAN_BE_UNDERSCORE_SEPARATED = True
    SUPPORTS_LIMIT_ALL = True

    class Tokenizer(tokens.Tokenizer):
        """sqlglot's words, and the sign of powers."""

        KEYWORDS: ClassVar = {
            **tokens.Tokenizer.KEYWORDS,
            "**": TokenType.DSTAR,
            "//": TokenType.DIV,
        }

    Parser = StreamParser
