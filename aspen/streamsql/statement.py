"""Statement: what somebody wrote, read once, for everything that is done with it.

Checking, explaining, compiling, answering, maintaining and changing rows all take a Statement; the
text itself is kept for people and for positions in errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aspen.errors import Position
from aspen.streamsql.ast import CreateRelation, CreateView, Select
from aspen.streamsql.errors import SyntaxRefused
from aspen.streamsql.parse import translated
from aspen.streamsql.script_ast import Drop, ScriptStatement
from aspen.streamsql.translate_script import ScriptTranslator


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement.

    Args:
        text: as it was given; positions count in it.
        tree: what it says.
    """

    text: str
    tree: ScriptStatement

    @property
    def at(self) -> Position:
        """Where it stands in the text."""
        return self.tree.at

    @property
    def kind(self) -> str:
        """`query`, `once`, or the words a statement that changes something begins with."""
        match self.tree:
            case Select(once=True):
                return "once"
            case Select() | CreateView():
                return "query"
            case CreateRelation(relation):
                return f"CREATE {relation.kind.value}"
            case Drop():
                return "DROP"
        return type(self.tree).__name__.upper()

    @property
    def maintained(self) -> bool:
        """Whether it is a query whose answer is kept current."""
        return self.kind == "query"


def read_statement(text: str) -> Statement:
    """Reads the only statement of a text.

    Raises:
        SyntaxRefused: the text is no SQL, or no single statement.
        Unsupported: it is SQL that StreamSQL leaves out.
        NotAQuery: a statement of a kind that is not known here.
    """
    return only(translated(text, lambda spans: ScriptTranslator(spans).script_statement), text)


def only(found: Sequence[ScriptStatement], text: str) -> Statement:
    """Returns the statement a text has, where it has no other.

    Raises:
        SyntaxRefused: it has none, or several.
    """
    if not found:
        raise SyntaxRefused("there is no query in the text", attempt="SELECT … FROM …")
    if len(found) != 1:
        raise SyntaxRefused(
            "one statement at a time",
            position=found[1].at,
            found=f"{len(found)} statements",
            attempt="submit them one by one",
        )
    return Statement(text, found[0])
