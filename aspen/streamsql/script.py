"""Scripts: StreamSQL beside the statements that create and fill tables, as test files hold them."""

from __future__ import annotations

from aspen.streamsql.dialect import ScriptSql
from aspen.streamsql.parse import translated
from aspen.streamsql.script_ast import ScriptStatement
from aspen.streamsql.translate_script import ScriptTranslator


def parse_script(text: str) -> list[ScriptStatement]:
    """Read the statements of a script, in order.

    Raises:
        SyntaxRefused: the text is no SQL.
        Unsupported: it is SQL that scripts leave out.
    """
    return translated(text, lambda spans: ScriptTranslator(spans).script_statement, ScriptSql)
