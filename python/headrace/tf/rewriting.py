"""Functions with loops on values, rewritten so that a trace sees the loops: AutoGraph's part.

Python asks a tensor for its truth, and a trace can say one thing only. So where a trace has failed
the source of the function is read again, and its loops, branches and calls are turned into calls of
`staged`, with what they do as functions of their own and the variables that they set as their
state. What cannot be rewritten (``return`` in a loop, ``for ... else``, assignments to attributes)
is left as it is. The function itself stays what it was; where it runs as Python it runs as written.
"""

from __future__ import annotations

import ast
import copy
import dis
import functools
import linecache
import sys
import types
from typing import Any

__all__ = ["loops", "rewritten"]

_STAGED = "__staged__"
_MAX_RETURNING = 5  # each doubles what comes behind it
_MAX_SOURCE = 1 << 20  # a longer file is not read for this
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
# Methods that change what they are called on, which a trace would do once.
_CHANGES = {"append", "appendleft", "clear", "discard", "extend", "extendleft", "insert", "pop"}
_CHANGES |= {"popitem", "remove", "setdefault", "update", "write", "writerow"}
_NOT_OURS = {"headrace", "numpy", *sys.stdlib_module_names}


class _NoRewrite(Exception):
    """The statement or function cannot be rewritten."""


def rewritten(function: Any) -> Any:
    """Return a function that does the same in calls of `staged`; None if there is none.

    Parameters
    ----------
    function
        A function, lambda, method, partial, or an object that can be called.
    """
    if isinstance(function, functools.partial):
        inner = rewritten(function.func)
        if inner is None:
            return None
        return functools.partial(inner, *function.args, **function.keywords)
    if isinstance(function, types.MethodType):
        inner = rewritten(function.__func__)
        return None if inner is None else types.MethodType(inner, function.__self__)
    own = getattr(function, "python_function", None)
    if own is not None:
        from .control import function as as_tf

        inner = rewritten(own)
        return None if inner is None else as_tf(inner)
    if not isinstance(function, types.FunctionType):
        if isinstance(function, type) or not callable(function):
            return None
        call: Any = type(function).__call__
        if not isinstance(call, types.FunctionType):
            return None
        return rewritten(types.MethodType(call, function))
    if (function.__module__ or "").partition(".")[0] in _NOT_OURS:
        return None
    code = _code(function.__code__)
    return None if code is None else _with_cells(function, code)


def loops(function: Any, depth: int = 3) -> bool:
    """Tell whether a function, or one that it calls by name, has a loop."""
    while not isinstance(function, types.FunctionType):
        inner = getattr(function, "python_function", None) or getattr(function, "func", None)
        inner = inner or getattr(function, "__func__", None)
        if inner is None:
            return False
        function = inner
    if hasattr(function, "python_function"):
        return loops(function.python_function, depth)
    if (function.__module__ or "").partition(".")[0] in _NOT_OURS:
        return False
    code = function.__code__
    if any("BACKWARD" in step.opname for step in dis.get_instructions(code)):
        return True
    cells = [cell.cell_contents for cell in function.__closure__ or () if _is_full(cell)]
    called = [*(function.__globals__.get(name) for name in code.co_names), *cells]
    return depth > 0 and any(loops(other, depth - 1) for other in called if callable(other))


def _is_full(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def _with_cells(function: types.FunctionType, code: types.CodeType) -> Any:
    """Return a function of new code that shares globals, defaults and cells with the old one."""
    from . import staged

    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells[_STAGED] = types.CellType(staged)
    closure = tuple(cells[name] for name in code.co_freevars)
    made = types.FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, closure
    )
    made.__kwdefaults__ = function.__kwdefaults__
    made.__module__ = function.__module__
    made.__qualname__ = function.__qualname__
    return made


@functools.lru_cache(maxsize=256)
def _code(code: types.CodeType) -> types.CodeType | None:
    """Return the code of the rewritten function; None where there is no source, or no way."""
    if _STAGED in code.co_freevars:
        return None
    node = _node(code)
    if node is None:
        return None
    try:
        made = _Rewriter().function(node)
    except _NoRewrite:
        return None
    if isinstance(made, ast.Lambda):
        inner: ast.stmt = ast.Return(made)
    else:
        inner = made
        made.decorator_list = []
    names = [*(name for name in code.co_freevars), _STAGED]
    outer = ast.FunctionDef(
        name="__outer__",
        args=ast.arguments(
            posonlyargs=[], args=[ast.arg(name) for name in names], kwonlyargs=[], kw_defaults=[],
            defaults=[],
        ),
        body=[inner],
        decorator_list=[],
    )  # fmt: skip
    if sys.version_info >= (3, 12):
        outer.type_params = []
    module = ast.fix_missing_locations(ast.Module([outer], []))
    compiled = compile(module, code.co_filename, "exec", dont_inherit=True)
    made_code: types.CodeType | None = _find(_find(compiled, "__outer__"), code.co_name)
    return made_code


def _find(code: types.CodeType, name: str) -> Any:
    for item in code.co_consts:
        if isinstance(item, types.CodeType) and item.co_name == name:
            return item
    return None


def _node(code: types.CodeType) -> Any:
    """Return the syntax of a function; None if its source is not there, or another's."""
    tree = _tree(code.co_filename)
    if tree is None:
        return None
    kinds = ast.Lambda if code.co_name == "<lambda>" else ast.FunctionDef
    places = [p for p in code.co_positions() if None not in p]
    found: list[Any] = []
    for node in ast.walk(tree):
        if not isinstance(node, kinds):
            continue
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            if node.name == code.co_name and first == code.co_firstlineno:
                found.append(node)
        elif node.lineno == code.co_firstlineno and all(
            _within(node.body, place) for place in places if place[1] != place[0] or place[3]
        ):
            found.append(node)
    if len(found) != 1:
        return None
    names = {a.arg for a in ast.walk(found[0].args) if isinstance(a, ast.arg)}
    given = code.co_argcount + code.co_kwonlyargcount
    own = set(code.co_varnames[:given])
    return found[0] if own <= names else None


def _within(node: Any, place: Any) -> bool:
    """Tell whether a place (first line, last line, first column, last column) is in a node."""
    start, end = (place[0], place[2]), (place[1], place[3])
    return (node.lineno, node.col_offset) <= start and end <= (
        node.end_lineno,
        node.end_col_offset,
    )


@functools.lru_cache(maxsize=8)
def _parsed(text: str) -> Any:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _tree(filename: str) -> Any:
    linecache.checkcache(filename)
    text = "".join(linecache.getlines(filename))
    return _parsed(text) if 0 < len(text) <= _MAX_SOURCE else None


def _own_statements(body: list[ast.stmt]) -> Any:
    """Yield all nodes of statements but those of inner functions and classes."""
    pending: list[ast.AST] = list(body)
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, _SCOPES):
            pending += ast.iter_child_nodes(node)


def _jumps(body: list[ast.stmt]) -> bool:
    """Tell whether statements leave the loop around them, or go on with its next turn."""
    pending: list[ast.AST] = list(body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Break | ast.Continue):
            return True
        if not isinstance(node, (*_SCOPES, ast.While, ast.For)):
            pending += ast.iter_child_nodes(node)
    return False


def _set_names(body: list[ast.stmt]) -> list[str]:
    """Return the variables that statements set, in order of their names."""
    names = set()
    for node in _own_statements(body):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            names.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
    comprehended = {
        name.id
        for node in _own_statements(body)
        if isinstance(node, ast.comprehension)
        for name in ast.walk(node.target)
        if isinstance(name, ast.Name)
    }
    # What a comprehension binds is its own.
    return sorted(names - comprehended)


def _refuse_what_leaves(body: list[ast.stmt], *, returns: bool = False) -> None:
    """Refuse statements whose effect is not on variables, or that leave the block."""
    for node in _own_statements(body):
        if isinstance(node, ast.Return) and not returns:
            raise _NoRewrite
        if isinstance(
            node,
            ast.Yield | ast.YieldFrom | ast.Await | ast.Delete | ast.Global
            | ast.Nonlocal | ast.Import | ast.ImportFrom | ast.ClassDef | ast.Try,
        ):  # fmt: skip
            raise _NoRewrite
        if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
            raise _NoRewrite
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            changes = node.func.attr in _CHANGES
            if changes and not _is_assigned(node, body):
                raise _NoRewrite


def _is_assigned(call: ast.Call, body: list[ast.stmt]) -> bool:
    """Tell whether a call's result replaces what it was called on: ``x = x.write(1, 2)``."""
    own = call.func.value if isinstance(call.func, ast.Attribute) else None
    return any(
        isinstance(node, ast.Assign)
        and node.value is call
        and isinstance(own, ast.Name)
        and [target.id for target in node.targets if isinstance(target, ast.Name)] == [own.id]
        for node in _own_statements(body)
    )


def _only_within(body: list[ast.stmt]) -> set[str]:
    """Return the variables of ``for`` loops that are read in the turns of such loops only."""
    targets, read = set(), set()
    pending: list[tuple[ast.AST, frozenset[str]]] = [(node, frozenset()) for node in body]
    while pending:
        node, own = pending.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in own:
            read.add(node.id)
        within = own
        if isinstance(node, ast.For):
            names = {part.id for part in ast.walk(node.target) if isinstance(part, ast.Name)}
            targets |= names
            within = own | names
            pending.append((node.iter, own))
            pending += [(child, own) for child in node.orelse]
            pending += [(child, within) for child in (node.target, *node.body)]
            continue
        pending += [(child, within) for child in ast.iter_child_nodes(node)]
    return targets - read


def _has_return(body: list[ast.stmt]) -> bool:
    return any(isinstance(node, ast.Return) for node in _own_statements(body))


def _ends(body: list[ast.stmt]) -> bool:
    """Tell whether nothing behind statements is reached."""
    last = body[-1] if body else None
    if isinstance(last, ast.If):
        return _ends(last.body) and _ends(last.orelse)
    return isinstance(last, ast.Return | ast.Raise)


def _call(name: str, *args: ast.expr) -> ast.Call:
    function = ast.Attribute(ast.Name(_STAGED, ast.Load()), name, ast.Load())
    return ast.Call(function, list(args), [])


def _no_args(*names: str) -> ast.arguments:
    args = [ast.arg(name) for name in names]
    return ast.arguments(posonlyargs=[], args=args, kwonlyargs=[], kw_defaults=[], defaults=[])


def _function(name: str, body: list[ast.stmt], *args: str) -> ast.FunctionDef:
    made = ast.FunctionDef(
        name=name, args=_no_args(*args), body=body or [ast.Pass()], decorator_list=[]
    )
    if sys.version_info >= (3, 12):
        made.type_params = []
    return made


def _load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _store(name: str, value: ast.expr) -> ast.Assign:
    return ast.Assign([ast.Name(name, ast.Store())], value)


class _Jumps(ast.NodeTransformer):
    """Turns ``break`` and ``continue`` of one loop into variables that are asked for."""

    def __init__(self, number: int) -> None:
        self.left, self.skipped = f"left_{number}__", f"skipped_{number}__"
        self.breaks = self.jumps = False

    def block(self, body: list[ast.stmt]) -> tuple[list[ast.stmt], bool]:
        """Return statements without jumps, and whether they may have jumped."""
        made: list[ast.stmt] = []
        for k, statement in enumerate(body):
            jumps = False
            if isinstance(statement, ast.Break | ast.Continue):
                self.jumps = True
                if isinstance(statement, ast.Break):
                    self.breaks = True
                    made.append(_store(self.left, ast.Constant(True)))
                made.append(_store(self.skipped, ast.Constant(True)))
                return made, True
            if isinstance(statement, ast.If):
                body_, first = self.block(statement.body)
                orelse, second = self.block(statement.orelse)
                statement, jumps = ast.If(statement.test, body_, orelse), first or second
            elif _jumps([statement]):
                raise _NoRewrite
            made.append(statement)
            if jumps:
                rest, _ = self.block(body[k + 1 :])
                if rest:
                    made.append(ast.If(ast.UnaryOp(ast.Not(), _load(self.skipped)), rest, []))
                return made, True
        return made, False


class _Rewriter(ast.NodeTransformer):
    """Rewrites one function with those inside it."""

    def __init__(self) -> None:
        self.count = 0
        self.returning = 0  # branches that return, one behind or in the other
        self.state: list[set[str]] = []
        self.within: list[set[str]] = []

    def function(self, node: Any) -> Any:
        """Return the rewritten function."""
        if isinstance(node, ast.Lambda):
            return ast.copy_location(ast.Lambda(node.args, self.visit(node.body)), node)
        return self.visit_FunctionDef(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        for inner in _own_statements(node.body):
            if isinstance(inner, ast.Yield | ast.YieldFrom | ast.Await):
                raise _NoRewrite
        shared = {
            name
            for inner in _own_statements(node.body)
            if isinstance(inner, ast.Global | ast.Nonlocal)
            for name in inner.names
        }
        self.state.append(set())
        self.within.append(_only_within(node.body))
        body = self.whole(node.body)
        self.within.pop()
        names = self.state.pop()
        if names & shared:
            raise _NoRewrite
        own = {arg.arg for arg in ast.walk(node.args) if isinstance(arg, ast.arg)}
        unset = [_store(name, _undefined()) for name in sorted(names - own)]
        made = ast.FunctionDef(
            name=node.name, args=node.args, body=[*unset, *body], returns=None,
            decorator_list=node.decorator_list, type_comment=None,
        )  # fmt: skip
        if sys.version_info >= (3, 12):
            made.type_params = []
        return ast.copy_location(made, node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> Any:
        raise _NoRewrite

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        return node

    def whole(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Rewrite statements with which a function ends; what follows a return is part of a way."""
        made: list[ast.stmt] = []
        for k, statement in enumerate(body):
            if isinstance(statement, ast.If) and _has_return([statement]):
                try:
                    return [*made, *self._returning(statement, body[k + 1 :])]
                except _NoRewrite:
                    pass
            found = self.visit(statement)
            made += found if isinstance(found, list) else [found]
        return made

    def _returning(self, node: ast.If, rest: list[ast.stmt]) -> list[ast.stmt]:
        """Rewrite a branch that returns, with what comes behind it."""
        if self.returning >= _MAX_RETURNING:
            raise _NoRewrite
        sides = [
            [*side, *([] if _ends(side) else copy.deepcopy(rest))]
            for side in (node.body, node.orelse)
        ]
        for side in sides:
            _refuse_what_leaves(side, returns=True)
        self.count += 1
        self.returning += 1
        number = self.count
        functions, get, put, shared = self._parts(_set_names([*sides[0], *sides[1]]))
        then, other = f"then_{number}__", f"other_{number}__"
        test = self.visit(node.test)
        both = [
            _function(name, [*shared, *self.whole(side)])
            for name, side in zip((then, other), sides, strict=True)
        ]
        self.returning -= 1
        result = _call("returned", test, *map(_load, (then, other, get, put)))
        made = [*functions, *both, ast.Return(result)]
        return [ast.copy_location(statement, node) for statement in made]

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Rewrite statements."""
        made: list[ast.stmt] = []
        for statement in body:
            found = self.visit(statement)
            made += found if isinstance(found, list) else [found]
        return made

    def _parts(self, names: list[str]) -> tuple[list[ast.stmt], str, str, list[ast.stmt]]:
        """Return functions that read and set variables, their names, and what declares these."""
        number = self.count
        self.state[-1].update(names)
        get, put = f"get_{number}__", f"put_{number}__"
        shared: list[ast.stmt] = [ast.Nonlocal(list(names))] if names else []
        values = ast.Tuple([_load(name) for name in names], ast.Load())
        targets = ast.Tuple([ast.Name(name, ast.Store()) for name in names], ast.Store())
        assign: list[ast.stmt] = [ast.Assign([targets], _load("values"))] if names else []
        functions: list[ast.stmt] = [
            _function(get, [ast.Return(values)]),
            _function(put, [*shared, *assign], "values"),
        ]
        return functions, get, put, shared

    def _loop(self, node: ast.While | ast.For) -> tuple[Any, list[ast.stmt], list[ast.stmt]]:
        """Return what turns jumps into variables, the body with them, and what comes before."""
        self.count += 1
        if node.orelse:
            raise _NoRewrite
        _refuse_what_leaves([node])
        jumps = _Jumps(self.count)
        body, _ = jumps.block(node.body)
        before: list[ast.stmt] = []
        if jumps.jumps:
            body = [_store(jumps.skipped, ast.Constant(False)), *body]
        if jumps.breaks:
            before.append(_store(jumps.left, ast.Constant(False)))
        return jumps, body, before

    def visit_While(self, node: ast.While) -> Any:
        try:
            jumps, body, before = self._loop(node)
        except _NoRewrite:
            return self.generic_visit(node)
        test = node.test
        if jumps.breaks:
            on = ast.UnaryOp(ast.Not(), _load(jumps.left))
            test = ast.BoolOp(ast.And(), [on, test])
        names = [n for n in _set_names([*body, ast.Expr(node.test)]) if n != jumps.skipped]
        number = self.count
        functions, get, put, shared = self._parts(names)
        asked, turn = f"test_{number}__", f"turn_{number}__"
        made = [
            *before,
            *functions,
            _function(asked, [*shared, ast.Return(self.visit(test))]),
            _function(turn, [*shared, *self.block(body)]),
            ast.Expr(_call("loop", _load(asked), _load(turn), _load(get), _load(put))),
        ]
        self.state[-1].update({jumps.left} if jumps.breaks else set())
        return [ast.copy_location(statement, node) for statement in made]

    def visit_For(self, node: ast.For) -> Any:
        try:
            jumps, body, before = self._loop(node)
        except _NoRewrite:
            return self.generic_visit(node)
        target: ast.stmt = ast.Assign([node.target], _load("item__"))
        # What each turn sets before it reads it does not go from turn to turn.
        own = {*_set_names([target])} & self.within[-1] | {jumps.skipped}
        names = [n for n in _set_names([target, *body]) if n not in own]
        number = self.count
        functions, get, put, shared = self._parts(names)
        turn = f"turn_{number}__"
        over: ast.expr = ast.Constant(None)
        if jumps.breaks:
            over = ast.Lambda(_no_args(), _load(jumps.left))
        made = [
            *before,
            *functions,
            _function(turn, [*shared, target, *self.block(body)], "item__"),
            ast.Expr(
                _call("loop_over", self.visit(node.iter), over, *map(_load, (turn, get, put)))
            ),
        ]
        self.state[-1].update({jumps.left} if jumps.breaks else set())
        return [ast.copy_location(statement, node) for statement in made]

    def visit_If(self, node: ast.If) -> Any:
        self.count += 1
        number = self.count
        try:
            _refuse_what_leaves([*node.body, *node.orelse])
            if _jumps([*node.body, *node.orelse]):
                raise _NoRewrite
        except _NoRewrite:
            return self.generic_visit(node)
        functions, get, put, shared = self._parts(_set_names([*node.body, *node.orelse]))
        then, other = f"then_{number}__", f"other_{number}__"
        made = [
            *functions,
            _function(then, [*shared, *self.block(node.body)]),
            _function(other, [*shared, *self.block(node.orelse)]),
            ast.Expr(_call("branch", self.visit(node.test), *map(_load, (then, other, get, put)))),
        ]
        return [ast.copy_location(statement, node) for statement in made]

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        sides = (ast.Lambda(_no_args(), self.visit(side)) for side in (node.body, node.orelse))
        return ast.copy_location(_call("choose", self.visit(node.test), *sides), node)

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        name = "both" if isinstance(node.op, ast.And) else "either"
        made = self.visit(node.values[-1])
        for value in reversed(node.values[:-1]):
            made = _call(name, self.visit(value), ast.Lambda(_no_args(), made))
        return ast.copy_location(made, node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        if isinstance(node.op, ast.Not):
            return ast.copy_location(_call("negated", self.visit(node.operand)), node)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in ("super", "locals", "vars", "eval"):
            return node
        called = ast.copy_location(_call("called", node.func), node)
        return ast.copy_location(ast.Call(called, node.args, node.keywords), node)


def _undefined() -> ast.expr:
    return ast.Attribute(_load(_STAGED), "UNDEFINED", ast.Load())
