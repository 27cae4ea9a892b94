"""What modules declare, read from their syntax trees: functions, classes, constants, imports."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(eq=False)
class Module:
    """What a module declares, and where its names come from."""

    name: str
    path: str
    imported: dict[str, tuple[str, str]] = field(default_factory=dict)
    constants: dict[str, ast.expr] = field(default_factory=dict)
    classes: dict[str, Class] = field(default_factory=dict)
    functions: dict[str, Scope] = field(default_factory=dict)
    scopes: list[Scope] = field(default_factory=list)


@dataclass(eq=False)
class Class:
    """A class: its bases by name, its fields in order, its methods and constants."""

    name: str
    module: Module
    bases: tuple[str, ...]
    fields: tuple[str, ...]
    constants: dict[str, ast.expr]
    methods: dict[str, Scope] = field(default_factory=dict)


@dataclass(eq=False)
class Scope:
    """A function, or the statements of a module or of a class outside any."""

    module: Module
    body: ast.AST
    owner: Class | None = None

    @cached_property
    def parameters(self) -> list[str]:
        """Names of what is given to it in order, and by name; a method's first is left out."""
        if not isinstance(self.body, Function):
            return []
        given = [one.arg for one in (*self.body.args.posonlyargs, *self.body.args.args)]
        bound = self.owner is not None and given[:1] in (["self"], ["cls"])
        return [*given[bound:], *(one.arg for one in self.body.args.kwonlyargs)]

    @cached_property
    def defaults(self) -> dict[str, ast.expr]:
        """What parameters are where a call leaves them out."""
        if not isinstance(self.body, Function):
            return {}
        about = self.body.args
        given = [*about.posonlyargs, *about.args]
        late = zip(reversed(given), reversed(about.defaults), strict=False)
        named = zip(about.kwonlyargs, about.kw_defaults, strict=True)
        return {one.arg: value for one, value in (*late, *named) if value is not None}

    @cached_property
    def assigned(self) -> dict[str, list[ast.expr | None]]:
        """What each variable is set to; None for what cannot be followed."""
        found: defaultdict[str, list[ast.expr | None]] = defaultdict(list)
        for node in inside(self.body):
            match node:
                case ast.Assign(targets=targets, value=value):
                    for target in targets:
                        _note(found, target, value)
                case ast.AnnAssign(target=target, value=ast.expr() as value):
                    _note(found, target, value)
                case ast.NamedExpr(target=target, value=value):
                    _note(found, target, value)
                case ast.AugAssign(target=target):
                    _note(found, target, None)
                case ast.For(target=target) | ast.comprehension(target=target):
                    _note(found, target, None)
                case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                    found[name].append(None)
                case ast.ExceptHandler(name=str(name)):
                    found[name].append(None)
                case ast.withitem(optional_vars=ast.expr() as target):
                    _note(found, target, None)
        return found

    @cached_property
    def returned(self) -> list[ast.expr]:
        """What it returns."""
        return [one.value for one in inside(self.body) if isinstance(one, ast.Return) and one.value]


def _note(
    found: dict[str, list[ast.expr | None]], target: ast.expr, value: ast.expr | None
) -> None:
    match target, value:
        case ast.Name(id=name), _:
            found[name].append(value)
        case ast.Tuple(elts=targets) | ast.List(elts=targets), ast.Tuple(elts=values) if len(
            targets
        ) == len(values):
            for one, other in zip(targets, values, strict=True):
                _note(found, one, other)
        case ast.Tuple(elts=targets) | ast.List(elts=targets), _:
            for one in targets:
                _note(found, one, None)
        case ast.Starred(value=one), _:
            _note(found, one, None)


def inside(body: ast.AST) -> Iterator[ast.AST]:
    """Returns the nodes of a function, but not those of functions and classes inside it."""
    for node in ast.iter_child_nodes(body):
        if not isinstance(node, Function | ast.ClassDef):
            yield node
            yield from inside(node)


def names_in(exprs: Iterable[ast.expr | None]) -> set[str]:
    """Returns the names that expressions read."""
    nodes = (node for one in exprs if one is not None for node in ast.walk(one))
    return {node.id for node in nodes if isinstance(node, ast.Name)}


def read_module(path: Path, root: Path) -> Module:
    """Returns what a module below a folder declares."""
    parts = path.relative_to(root).with_suffix("").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    module = Module(name, path.relative_to(root).as_posix(), constants=_constants(tree.body))
    module.scopes.append(Scope(module, tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for one in node.names:
                module.imported[one.asname or one.name] = (node.module, one.name)
    _read(tree, module, None)
    return module


def _read(tree: ast.AST, module: Module, owner: Class | None) -> None:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            made = module.classes[node.name] = _class(node, module)
            module.scopes.append(Scope(module, node))
            _read(node, module, made)
            continue
        if isinstance(node, Function):
            scope = Scope(module, node, owner)
            module.scopes.append(scope)
            (module.functions if owner is None else owner.methods).setdefault(node.name, scope)
            _read(node, module, None)
            continue
        _read(node, module, owner)


def _constants(body: Iterable[ast.stmt]) -> dict[str, ast.expr]:
    found = {}
    for node in body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                found[name] = value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                found[name] = value
    return found


def _class(node: ast.ClassDef, module: Module) -> Class:
    bases = tuple(ast.unparse(one).split("[")[0].rpartition(".")[2] for one in node.bases)
    fields = tuple(
        one.target.id
        for one in node.body
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
    )
    return Class(node.name, module, bases, fields, _constants(node.body))
