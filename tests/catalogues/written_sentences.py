"""Sentences that the code writes for people and no page wraps: found in its syntax trees.

Each is followed from where it is given to an error, or to a class that keeps a reason, back to the
texts that it is made of: through variables, helpers and their callers. What is known only while
the product runs becomes a placeholder, named for what stands there:

    unknown("door", found)  ──►  NotFound(f"there is no {what} {found!r}")
                                 └──►  there is no door {found}
"""

from __future__ import annotations

import ast
import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tests.catalogues.declared_names import Class, Module, Scope, inside, names_in, read_module

PACKAGES = ("aspen", "federation", "sensors_sim", "smartcis")
ERROR = "AspenError"
GIVEN = ("message", "attempt", "found", "exists")
KEPT = {"reason", "why", "verdict", "about", "doubt"}
"""What people read is called so: by errors, and by classes that keep what is said of something."""
LEFT_OUT = {"migrations", "management", "client", "services"}  # no page tells what these say
MOST = 40  # ways to write one sentence: beyond, a part of it is a placeholder
RAISED = {"raise_error", "_refuse_at"}
"""How the grammar refuses a text; sqlglot has its own sentences, and few of them are shown."""
TOLD = {"progress"}
"""Functions that are called so tell people what they are given."""
THROUGHOUT = {
    "aspen/streamsql/unread.py",
    "aspen/views/choose.py",
    "smartcis/actions/accept_proposals.py",
    "smartcis/importers/points/described.py",
    *(f"federation/{one}.py" for one in ("accesses", "explain", "explained", "pieces", "regions")),
    *(f"federation/{one}.py" for one in ("sampled", "sites")),
}
"""Modules that hold and pass on texts in tables and tuples: all that is prose in them is taken."""
CALLS = 4  # that a text is followed through
DEEPEST = 8  # steps that a text is followed back
WORDS = re.compile(r"[^\W\d_]+")
PROSE = re.compile(r"\b[a-z]+\b")
PLACEHOLDER = re.compile(r"\{(\w*)\}")
SHORT = {"up to"}
WRAPPED = {"_", "gettext", "ngettext", "gettext_lazy", "ngettext_lazy"}

Texts = tuple[str, ...]
Env = Mapping[str, Texts]


def sentences_written(root: Path) -> dict[str, str]:
    """Returns the sentences of the code below a folder, each with the module that says it first."""
    found: dict[str, str] = {}
    for text, where in Reader(root).sentences():
        if says_something(text.strip()):
            found.setdefault(told_apart(text.strip()), where)
    alike: dict[str, str] = {}
    for text in sorted(found):
        alike.setdefault(PLACEHOLDER.sub("{}", text), text)
    return {text: found[text] for text in alike.values()}


def told_apart(text: str) -> str:
    """Returns a sentence whose placeholders all have names of their own."""
    seen: Counter[str] = Counter()

    def named(part: re.Match[str]) -> str:
        seen[part[1]] += 1
        return "{" + part[1] + (str(seen[part[1]]) if seen[part[1]] > 1 else "") + "}"

    return PLACEHOLDER.sub(named, text)


def says_something(text: str) -> bool:
    """Returns whether a text is prose, more than names and what is filled in."""
    own = PLACEHOLDER.sub(" ", text)
    longest = max(map(len, PROSE.findall(own)), default=0)
    if " " not in text or text != text.strip(" :"):
        return False
    if len(WORDS.findall(own)) > 1:
        return longest > 2 or own.strip() in SHORT  # no "x in y" of a query
    return longest > 3 and own != text  # "write {names}", but no "{one} and {other}"


class Reader:
    """Follows sentences through the modules of the product."""

    def __init__(self, root: Path) -> None:
        paths = [one for name in PACKAGES for one in sorted((root / name).rglob("*.py"))]
        modules = [read_module(one, root) for one in paths if not LEFT_OUT & {*one.parts}]
        self.modules = {one.name: one for one in modules}
        self.scopes = [scope for one in modules for scope in one.scopes]
        self.classes: dict[str, Class] = {}
        self._known: dict[tuple[object, ...], list[Env]] = {}
        self.methods: defaultdict[str, list[Scope]] = defaultdict(list)
        for one in modules:
            self.classes |= one.classes
            for owner in one.classes.values():
                for name, method in owner.methods.items():
                    self.methods[name].append(method)
        self.calls: defaultdict[int, list[tuple[Scope, ast.Call]]] = defaultdict(list)
        for scope in self.scopes:
            for node in inside(scope.body):
                if isinstance(node, ast.Call) and (called := self.called(node, scope)):
                    self.calls[id(called)].append((scope, node))

    def sentences(self) -> Iterator[tuple[str, str]]:
        """Returns every sentence and the module that says it."""
        for scope in self.scopes:
            for node in inside(scope.body):
                given = self._given(node, scope)
                for text in (one for expr in given for one in self.said(expr, scope)):
                    yield text, scope.module.path
            if scope.module.path in THROUGHOUT:
                for expr in _prose(scope.body):
                    yield from ((text, scope.module.path) for text in self.said(expr, scope))

    def _given(self, node: ast.AST, scope: Scope) -> Iterator[ast.expr]:
        """Returns what a statement gives to be read by people."""
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(scope.body, ast.ClassDef):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(one, ast.Name) and one.id in GIVEN for one in targets):
                yield from [node.value] if node.value else []
        if not isinstance(node, ast.Call):
            return
        if isinstance(node.func, ast.Attribute) and node.func.attr in RAISED:
            yield from [one for one in node.args if not isinstance(one, ast.Name)]
            return
        if isinstance(node.func, ast.Name) and node.func.id in TOLD:
            yield from node.args
            return
        made = self._class_of(node.func, scope)
        if made is None:
            return
        constructor = self._constructor(made)
        if self._is_error(made) and constructor is None:
            names: Iterable[str] = ("message",)
            wanted = {*GIVEN}
        elif constructor is None:
            names, wanted = made.fields, KEPT
        else:
            return
        if self._is_error(made) or wanted & {*made.fields}:
            given = {**dict(zip(names, node.args, strict=False))}
            given |= {one.arg: one.value for one in node.keywords if one.arg}
            for name, value in given.items():
                if name in wanted:
                    yield from _elements(value) if name == "exists" else [value]

    def _class_of(self, name: ast.expr, scope: Scope) -> Class | None:
        """Returns the class that a call makes one of, or whose beginnings it calls."""
        match name:
            case ast.Name(id=said):
                source, known = scope.module.imported.get(said, ("", said))
                module = self.modules.get(source, scope.module)
                return module.classes.get(known) or (self.classes.get(known) if source else None)
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr="__init__"):
                bases = scope.owner.bases if scope.owner else ()
                return next((self.classes[one] for one in bases if one in self.classes), None)
            case ast.Attribute(value=ast.Name(id=said), attr=kind):
                source = ".".join(scope.module.imported.get(said, ("", "")))
                return self.modules[source].classes.get(kind) if source in self.modules else None
        return None

    def _is_error(self, made: Class) -> bool:
        return made.name == ERROR or any(
            self._is_error(self.classes[one]) for one in made.bases if one in self.classes
        )

    def _constructor(self, made: Class) -> Scope | None:
        """Returns how one is made, where that is written; an error's fields are its own."""
        if made.name == ERROR:
            return None
        if "__init__" in made.methods:
            begun = made.methods["__init__"]
            return begun if begun.parameters[:1] != ["message"] else None
        found = (self._constructor(self.classes[one]) for one in made.bases if one in self.classes)
        return next(filter(None, found), None)

    def called(self, call: ast.Call, scope: Scope) -> Scope | None:
        """Returns the function of the product that a call runs, where that is plain."""
        made = self._class_of(call.func, scope)
        if made is not None:
            return self._constructor(made)
        match call.func:
            case ast.Name(id=said):
                source, name = scope.module.imported.get(said, ("", said))
                module = self.modules.get(source, scope.module)
                if name not in module.functions and name in module.imported:  # given on
                    source, name = module.imported[name]
                    module = self.modules.get(source, module)
                return module.functions.get(name)
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name) if scope.owner:
                return scope.owner.methods.get(name) or self._only_method(name)
            case ast.Attribute(value=ast.Name(id=said), attr=name):
                source = ".".join(scope.module.imported.get(said, ("", "")))
                if source in self.modules:
                    return self.modules[source].functions.get(name)
                return self._only_method(name)
            case ast.Attribute(attr=name):
                return self._only_method(name)
        return None

    def _only_method(self, name: str) -> Scope | None:
        found = self.methods[name]
        return found[0] if len(found) == 1 else None

    def said(self, expr: ast.expr, scope: Scope) -> list[str]:
        """Returns the ways in which a sentence may be written, each caller's words filled in."""
        names = names_in([expr])
        names |= names_in(value for name in names for value in scope.assigned.get(name, ()))
        needed = [one for one in scope.parameters if one in names]
        envs = self._envs(scope, needed, ())
        return list(dict.fromkeys(text for env in envs for text in self._texts(expr, scope, env)))

    def _envs(self, scope: Scope, needed: list[str], passed: tuple[int, ...]) -> list[Env]:
        """Returns what a function's parameters are in the calls of it."""
        if not needed or len(passed) >= CALLS or id(scope) in passed:
            return [{}]
        key = (id(scope), *needed)
        if key not in self._known:
            self._known[key] = self._envs_of_calls(scope, needed, passed)
        return self._known[key]

    def _envs_of_calls(self, scope: Scope, needed: list[str], passed: tuple[int, ...]) -> list[Env]:
        found: dict[tuple[Texts, ...], Env] = {}
        for caller, call in self.calls.get(id(scope), ()):
            given = dict(zip(scope.parameters, call.args, strict=False))
            given |= {one.arg: one.value for one in call.keywords if one.arg}
            wanted = {name: given.get(name, scope.defaults.get(name)) for name in needed}
            names = names_in(wanted.values())
            outer = [one for one in caller.parameters if one in names]
            for env in self._envs(caller, outer, (*passed, id(scope))):
                made = {
                    name: ("{" + name + "}",)
                    if value is None
                    else tuple(
                        "{" + name + "}" if PLACEHOLDER.fullmatch(text) else text
                        for text in self._texts(value, caller if name in given else scope, env)
                    )
                    for name, value in wanted.items()
                }
                made = {name: tuple(dict.fromkeys(texts)) for name, texts in made.items()}
                found.setdefault(tuple(made.values()), made)
        return [*found.values()] or [{}]

    def _texts(self, expr: ast.expr, scope: Scope, env: Env, depth: int = 0) -> list[str]:
        """Returns the ways in which an expression may be written out."""
        if depth > DEEPEST:
            return [_held(expr)]
        found = list(dict.fromkeys(self._written(expr, scope, env, depth + 1)))
        return found if 0 < len(found) <= MOST else [_held(expr)]

    def _written(self, expr: ast.expr, scope: Scope, env: Env, depth: int) -> Iterator[str]:
        match expr:
            case ast.Constant(value=str(text)):
                yield text.replace("{", "{{").replace("}", "}}")
            case ast.JoinedStr(values=parts):
                yield from self._joined(parts, scope, env, depth)
            case ast.FormattedValue(value=value, conversion=how):
                texts = [] if how == ord("r") else self._texts(value, scope, env, depth)
                if any(PROSE.search(PLACEHOLDER.sub("", one)) for one in texts):
                    yield from texts
                else:
                    yield _held(value)  # names, or the keywords of a language
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                yield from self._joined((left, right), scope, env, depth)
            case ast.IfExp(body=one, orelse=other):
                yield from self._texts(one, scope, env, depth)
                yield from self._texts(other, scope, env, depth)
            case ast.BoolOp(values=values):
                for one in values:
                    yield from self._texts(one, scope, env, depth)
            case ast.NamedExpr(value=value):
                yield from self._texts(value, scope, env, depth)
            case ast.Name(id=name):
                yield from self._named(name, expr, scope, env, depth)
            case ast.Attribute(value=ast.Name(id="self"), attr=name) if scope.owner:
                known = scope.owner.constants.get(name)
                yield from [_held(expr)] if known is None else self._texts(known, scope, env, depth)
            case ast.Subscript(value=value, slice=ast.Slice()):
                yield from self._texts(value, scope, env, depth)
            case ast.Subscript(value=ast.Dict(values=values)):
                for one in values:
                    yield from self._texts(one, scope, env, depth)
            case ast.Subscript(value=ast.Name(id=name)):
                yield from self._looked_up(name, expr, scope, env, depth)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="get"), args=[_, *rest]):
                yield from self._looked_up(name, expr, scope, env, depth)
                for one in rest:
                    yield from self._texts(one, scope, env, depth)
            case ast.Call(func=ast.Name(id=name)) if name in WRAPPED:
                return  # the page's own catalogue has it
            case ast.Call() if (called := self.called(expr, scope)) and called.returned:
                yield from self._returned(expr, called, scope, env, depth)
            case _:
                yield _held(expr)

    def _joined(self, parts: Iterable[ast.expr], scope: Scope, env: Env, depth: int) -> list[str]:
        ways = [self._texts(one, scope, env, depth) for one in parts]
        while len([*itertools.islice(itertools.product(*ways), MOST + 1)]) > MOST:
            widest = max(range(len(ways)), key=lambda at: len(ways[at]))
            ways[widest] = [_held([*parts][widest])]
        return ["".join(one) for one in itertools.product(*ways)]

    def _named(
        self, name: str, expr: ast.expr, scope: Scope, env: Env, depth: int
    ) -> Iterator[str]:
        if name in env:
            yield from env[name]
        elif name in scope.assigned or name in scope.parameters:
            for value in scope.assigned.get(name) or [None]:
                texts = [] if value is None else self._texts(value, scope, env, depth)
                yield from (_held(expr) if PLACEHOLDER.fullmatch(one) else one for one in texts)
                if value is None:
                    yield _held(expr)
        else:
            value, module = self._constant(name, scope.module)
            if value is None:
                yield _held(expr)
            else:
                yield from self._texts(value, module.scopes[0], {}, depth)

    def _constant(self, name: str, module: Module) -> tuple[ast.expr | None, Module]:
        source, known = module.imported.get(name, ("", name))
        module = self.modules.get(source, module)
        return module.constants.get(known), module

    def _looked_up(
        self, name: str, expr: ast.expr, scope: Scope, env: Env, depth: int
    ) -> Iterator[str]:
        """Returns the texts of a table in the code."""
        value, module = self._constant(name, scope.module)
        if name in scope.assigned or not isinstance(value, ast.Dict):
            yield _held(expr)
            return
        for one in value.values:
            yield from self._texts(one, module.scopes[0], env, depth)

    def _returned(
        self, call: ast.Call, called: Scope, scope: Scope, env: Env, depth: int
    ) -> Iterator[str]:
        given = dict(zip(called.parameters, call.args, strict=False))
        given |= {one.arg: one.value for one in call.keywords if one.arg}
        inner = {
            name: tuple(self._texts(value, scope, env, depth))
            for name, value in given.items()
            if name in names_in(called.returned)
        }
        for value in called.returned:
            yield from self._texts(value, called, inner, depth)


def _prose(tree: ast.AST) -> Iterator[ast.expr]:
    """Returns the texts of a function, without its descriptions and functions inside it."""
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.JoinedStr() | ast.Constant(value=str()):
                yield node
            case ast.Expr(value=ast.Constant()) | ast.ClassDef() | ast.FunctionDef():
                pass
            case _:
                yield from _prose(node)


def _elements(expr: ast.expr) -> list[ast.expr]:
    return expr.elts if isinstance(expr, ast.List | ast.Tuple | ast.Set) else []


def _held(expr: ast.expr) -> str:
    """Returns the placeholder for what is known only while the product runs."""
    names = [one for one in ast.walk(expr) if isinstance(one, ast.Name | ast.Attribute)]
    called = {id(one.func) for one in ast.walk(expr) if isinstance(one, ast.Call)}
    said = [one for one in names if id(one) not in called] or names
    first = said[0] if said else None
    name = first.attr if isinstance(first, ast.Attribute) else getattr(first, "id", "value")
    return "{" + name.strip("_").lower() + "}"
