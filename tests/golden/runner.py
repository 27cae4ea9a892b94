"""Golden files: one case per file, read and refreshed here.

    # what the case is about
    rewrite expect=filter_below_join disable=fold_filter     (04_rewrite only, optional)
    SELECT …            (or a written plan, for 04_rewrite)
    ----
    what the border gives; for *.fail.test the whole error with its caret

`manage.py golden --update` calls `update`; nothing else ever writes an expectation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from federation_support import building
from federation_support.explaining import explain, fragments_text, optimize_text
from golden.catalog import CATALOG
from golden.readings import trace

from aspen.algebra.explain import plan_text
from aspen.algebra.read import read_plan
from aspen.algebra.rewrite import FLATTENING, RULES, flat, rewrite, rewrite_steps
from aspen.errors import AspenError
from aspen.overlog import compile_program
from aspen.streamsql.bind import bind
from aspen.streamsql.compile import compile_query, compile_views, refuse_undelivered
from aspen.streamsql.show import statement_text
from aspen.streamsql.statement import parse
from federation.deploy import deploy
from federation.placement import assign_sites
from federation.split import split

HERE = Path(__file__).parent
LINE = "----\n"


@dataclass(frozen=True)
class Case:
    """One golden file.

    Args:
        directives: `expect`, `expect-not` and `disable`, each with rule names.
        text: the query or plan.
    """

    path: Path
    head: str
    directives: dict[str, list[str]] = field(hash=False)
    text: str
    expected: str

    @property
    def name(self) -> str:
        return f"{self.path.parent.name}/{self.path.name.removesuffix('.test')}"

    @property
    def fails(self) -> bool:
        return self.path.name.endswith(".fail.test")


def cases() -> list[Case]:
    """Read every golden file, in order."""
    return [_read(path) for path in sorted(HERE.glob("[0-9][0-9]_*/*.test"))]


def _read(path: Path) -> Case:
    before, _, expected = path.read_text(encoding="utf-8").partition(LINE)
    lines = before.splitlines(keepends=True)
    directives: dict[str, list[str]] = {}
    count = 0
    for line in lines:
        if line.startswith("rewrite "):
            for word in line.split()[1:]:
                key, _, rule = word.partition("=")
                directives.setdefault(key, []).append(rule)
        elif not line.startswith("#"):
            break
        count += 1
    return Case(path, "".join(lines[:count]), directives, "".join(lines[count:]), expected)


def actual(case: Case) -> str:
    """Returns what the border makes of a case today."""
    stage = STAGES[case.path.parent.name]
    try:
        given = stage(case)
    except AspenError as error:
        if not case.fails:
            raise
        return error.render(case.text).rstrip() + "\n"
    if case.fails:
        raise AssertionError(f"{case.name} should be refused, but gives\n{given}")
    return given


def check(case: Case) -> None:
    """Refuse a case whose border gives something else than the file says."""
    assert actual(case) == case.expected, f"{case.name}: run manage.py golden --update to accept"


def update() -> list[Path]:
    """Write today's answers into all files; give those that changed."""
    changed: list[Path] = []
    for case in cases():
        given = actual(case)
        if given != case.expected:
            case.path.write_text(case.head + case.text + LINE + given, encoding="utf-8")
            changed.append(case.path)
    return changed


def _parse(case: Case) -> str:
    statements = parse(case.text)
    if case.fails:
        # What the language leaves out is refused while the tree is bound.
        return "\n".join(bind(statement, CATALOG).text for statement in statements)
    return "\n".join(statement_text(statement) for statement in statements)


def _overlog(case: Case) -> str:
    views = compile_program(case.text, CATALOG)
    return "\n".join(f"{view.name}\n{plan_text(view.plan)}" for view in views)


def _bind(case: Case) -> str:
    if case.text.startswith("-- views"):
        # Several statements that read each other, compiled together.
        texts = dict(enumerate(case.text.split(";")))
        named = {f"view {i}": text for i, text in texts.items() if text.strip()}
        return "\n".join(str(c.name) for c in compile_views(named, CATALOG)) + "\n"
    if case.fails:
        compiled = compile_query(case.text, CATALOG)
        refuse_undelivered(compiled, ())
        return plan_text(compiled.plan)
    return "\n".join(bind(statement, CATALOG).text for statement in parse(case.text))


def _build(case: Case) -> str:
    plans = [flat(bind(statement, CATALOG).plan) for statement in parse(case.text)]
    return "\n".join(map(plan_text, plans))


def _rewrite(case: Case) -> str:
    disabled = case.directives.get("disable", [])
    named = {*case.directives.get("expect", []), *case.directives.get("expect-not", [])}
    flattening = named & {rule.name for rule in FLATTENING} - {rule.name for rule in RULES}
    rules = [r for r in (FLATTENING if flattening else RULES) if r.name not in disabled]
    steps = rewrite_steps(read_plan(case.text), rules)
    used = {step.rule.name for step in steps}
    for name in case.directives.get("expect", []):
        assert name in used, f"{case.name}: {name} was not used, but {sorted(used)}"
    for name in case.directives.get("expect-not", []):
        assert name not in used, f"{case.name}: {name} was used"
    plan = steps[-1].plan if steps else read_plan(case.text)
    return plan_text(plan)


def _optimize(case: Case) -> str:
    (statement,) = parse(case.text)
    return optimize_text(
        assign_sites(rewrite(flat(bind(statement, CATALOG).plan)), CATALOG), CATALOG
    )


def _federate(case: Case) -> str:
    """Explain borders 5 and 6 over the seeds' building, with its devices counted."""
    text = explain(case.text, building.CATALOG, building.KNOWN)
    return text[text.index("── 5 optimize") :]


def _split(case: Case) -> str:
    plans = [rewrite(flat(bind(statement, CATALOG).plan)) for statement in parse(case.text)]
    fragments = [split(assign_sites(plan, CATALOG)) for plan in plans]
    orders = deploy(fragments, CATALOG).values()
    told = "".join(f"{order.text}\n" for order in orders)
    return "\n".join([*map(fragments_text, fragments), told])


STAGES: dict[str, Callable[[Case], str]] = {
    "01_overlog": _overlog,
    "01_parse": _parse,
    "02_bind": _bind,
    "03_build": _build,
    "04_rewrite": _rewrite,
    "05_optimize": _optimize,
    "06_split": _split,
    "11_federate": _federate,
    "07_readings": lambda case: trace(case.text),
}
