"""The StreamSQL dialect of sqlglot: SQL plus windows in brackets behind a stream or its alias.

seat_reading [PARTITION BY mid ROWS 1 RANGE 120 SECONDS] s
seat_reading s [RANGE 30 SECONDS]
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp, parser, tokens
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError
from sqlglot.tokenizer_core import Token, TokenType

from aspen.streamsql.dialect_statements import parse_declaration, parse_outputs

_UNIT_SECONDS = {"SECOND": 1, "MINUTE": 60, "HOUR": 3600, "DAY": 86400}


class StreamWindow(exp.Expression):
    """`[PARTITION BY … ROWS … RANGE … SLIDE …]`, or the seeds' `[SIZE n TIME | TUPLE …]`."""

    arg_types = {  # noqa: RUF012  # sqlglot's protocol
        "partition_by": False,
        "rows": False,
        "range_s": False,
        "slide_s": False,
    }


class StreamParser(parser.Parser):
    """sqlglot's parser, with windows and without its several hundred functions.

    Every call stays a plain name with arguments, so that the binder alone decides which functions
    exist and how many arguments they take.
    """

    FUNCTIONS = {}  # noqa: RUF012  # sqlglot's protocol
    FUNCTION_PARSERS = {  # noqa: RUF012  # as above
        name: parse
        for name, parse in parser.Parser.FUNCTION_PARSERS.items()
        if name in ("CAST", "TRY_CAST", "SUBSTRING", "TRIM")
    }
    NO_PAREN_FUNCTIONS = {}  # noqa: RUF012  # as above

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
            if self._match_text_seq("ROWS"):
                found["rows"] = int(self._window_number(whole=True))
            if self._match_text_seq("RANGE"):
                found["range_s"] = self.parse_seconds()
            if "range_s" in found and self._match_text_seq("SLIDE"):
                found["slide_s"] = self.parse_seconds()
        if "rows" not in found and "range_s" not in found:
            self.raise_error("Expecting ROWS or RANGE in a window")
        if not self._match(TokenType.R_BRACKET):
            self.raise_error("Expecting ] at the end of a window")
        window = StreamWindow(**found)
        window.meta.update(start=start.start, end=self._prev.end)
        return window

    def _parse_size(self, found: dict[str, Any]) -> None:
        """Read the seeds' windows: `SIZE 300 TIME`, `SIZE 4 TUPLE PARTITION BY carid`."""
        amount = self._window_number()
        if self._match_text_seq("TIME"):
            found["range_s"] = amount
        elif self._match_text_seq("TUPLE") or self._match_text_seq("TUPLES"):
            found["rows"] = int(amount)
        else:
            self.raise_error("Expecting TIME or TUPLE")
        if self._match(TokenType.PARTITION_BY):
            found["partition_by"] = self._parse_csv(self._parse_column)

    def parse_seconds(self) -> float:
        """Read a span of time, `30 SECONDS`, in seconds."""
        amount = self._window_number()
        unit = self._curr.text.upper().removesuffix("S")
        if unit not in _UNIT_SECONDS:
            self.raise_error("Expecting SECONDS, MINUTES, HOURS or DAYS")
        self._advance()
        return amount * _UNIT_SECONDS[unit]

    def _window_number(self, *, whole: bool = False) -> float:
        text = self._curr.text
        try:
            number = float(text)
        except ValueError:
            number = 0.0
        if self._curr.token_type is not TokenType.NUMBER or not 0 < number < float("inf"):
            self.raise_error("Expecting a number above 0")
        if whole and not text.isdigit():
            self.raise_error("Expecting a whole number of rows")
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

    class Tokenizer(tokens.Tokenizer):
        """sqlglot's words, unchanged."""

    Parser = StreamParser


class ScriptParser(StreamParser):
    """The parser of scripts: sqlglot reads their CREATE TABLE, constraints and all."""

    DECLARED = ("STREAM",)


class ScriptSql(StreamSql):
    """StreamSQL beside statements that fill tables."""

    Parser = ScriptParser
