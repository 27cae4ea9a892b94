"""StreamSQL: text → sqlglot's tree → plan."""

from aspen.streamsql.compile import Compiled, compile_query, compile_views
from aspen.streamsql.statement import parse
