"""StreamSQL: text → AST → bound query → plan."""

from aspen.streamsql.compile import Compiled, compile_query, compile_views
from aspen.streamsql.parse import parse

__all__ = ["Compiled", "compile_query", "compile_views", "parse"]
