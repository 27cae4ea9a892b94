"""Text → plan: the reader of what `aspen.algebra.explain` prints."""

from __future__ import annotations

import re

from aspen.algebra.explain import NODES
from aspen.algebra.plan import Plan, PlanError
from aspen.algebra.read_expr import Words
from aspen.errors import Position
from aspen.model.schema import SchemaError

_INDENT = re.compile(r"( *)(.*)")


def read_plan(text: str) -> Plan:
    """Read a plan.

    Args:
        text: as `plan_text` prints it; blank lines and lines beginning with `#` are skipped.

    Raises:
        PlanTextError: the text is no plan; the position says where.
        PlanError: a node names a column its input lacks.
    """
    lines: list[tuple[int, Words]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        found = _INDENT.match(line)
        spaces = len(found.group(1)) if found else 0
        words = Words(line, number)
        if spaces % 2:
            raise words.error("inputs stand two spaces further in than their node")
        lines.append((spaces // 2, words))
    if not lines:
        raise Words("", 1).error("an empty text is no plan")
    plan, after = _subtree(lines, 0)
    if after < len(lines):
        raise lines[after][1].error("a plan has one root")
    return plan


def _subtree(lines: list[tuple[int, Words]], index: int) -> tuple[Plan, int]:
    depth, words = lines[index]
    inputs: list[Plan] = []
    after = index + 1
    while after < len(lines) and lines[after][0] > depth:
        if lines[after][0] != depth + 1:
            raise lines[after][1].error("inputs stand two spaces further in than their node")
        child, after = _subtree(lines, after)
        inputs.append(child)
    kind = words.name()
    if kind not in NODES:
        words.back()
        raise words.error("no such plan node", exists=tuple(NODES))
    form = NODES[kind]
    if kind == "Union" and not inputs:
        raise words.error("a Union has inputs", found="0")
    if form.inputs is not None and len(inputs) != form.inputs:
        raise words.error(f"{kind} has {form.inputs} input(s)", found=str(len(inputs)))
    try:
        fields = form.read(words)
        if kind == "Fixpoint" and len(inputs) != 2 * len(fields["relations"]):
            raise words.error("each relation of a Fixpoint has 2 inputs", found=str(len(inputs)))
        node = form.make(*inputs, **fields)
    except (PlanError, SchemaError) as error:
        if error.position is None:
            error.position = Position(words.line, 2 * depth + 1, len(kind))
        raise
    words.end()
    return node, after
