# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which names statements read and assign."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from wavetile.syntax.jumps import JumpingIf

#: What has names of its own.
_SCOPES = (
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
    ast.Lambda,
    ast.FunctionDef,
)


def _own_names(node: ast.AST) -> set[str]:
    """The names that a comprehension, a lambda or a function makes for itself."""
    if isinstance(node, (ast.Lambda, ast.FunctionDef)):
        arguments = node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        every += [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
        inside = stores(node.body) if isinstance(node, ast.FunctionDef) else set()
        return {argument.arg for argument in every} | inside
    targets = [generator.target for generator in getattr(node, "generators", [])]
    return {
        name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)
    }


def _nodes(nodes: Iterable[ast.AST], own: frozenset[str] = frozenset()) -> Iterable[ast.AST]:
    """All nodes but names that belong to a comprehension, a lambda or a function."""
    for node in nodes:
        if isinstance(node, ast.Name) and node.id in own:
            continue
        if not (isinstance(node, ast.FunctionDef) and node.name in own):
            yield node
        inner = own | _own_names(node) if isinstance(node, _SCOPES) else own
        yield from _nodes(ast.iter_child_nodes(node), inner)


def loads(nodes: Iterable[ast.AST]) -> dict[str, ast.Name]:
    """Names that are read, with the first place of each, in the order of the source."""
    found: list[ast.Name] = []
    for node in _nodes(nodes):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            found.append(node)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            found.append(node.target)
    result: dict[str, ast.Name] = {}
    for name in sorted(found, key=lambda name: (name.lineno, name.col_offset)):
        result.setdefault(name.id, name)
    return result


def stores(nodes: Iterable[ast.AST]) -> set[str]:
    """Names that are assigned, loop variables, definitions and imports included."""
    found: set[str] = set()
    for node in _nodes(nodes):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= imported(node)
    return found


def imported(tree: ast.AST) -> set[str]:
    """Names that `import` gives values to."""
    return {
        (alias.asname or alias.name).partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }


def _stored_by_both(choice: ast.If) -> set[str]:
    """Names that have a value from an `if` wherever what follows it is reached."""
    ends = choice.ends if isinstance(choice, JumpingIf) else (False, False)
    reaching = [
        stores(body)
        for body, end in zip((choice.body, choice.orelse), ends, strict=True)
        if not end
    ]
    return set.intersection(*reaching) if reaching else set()


def stored_by_index(nodes: Iterable[ast.AST]) -> list[str]:
    """Names `x` of statements `x[...] = v` and `x[...] += v`, in the order of the source."""
    found = [
        node.value.id
        for node in _nodes(nodes)
        if isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
    ]
    return list(dict.fromkeys(found))


def exposed_loads(body: list[ast.stmt]) -> set[str]:
    """Names whose value from before `body` it may read."""
    exposed: set[str] = set()
    assigned: set[str] = set()
    for statement in body:
        if isinstance(statement, ast.For):
            exposed |= set(loads([statement.iter])) - assigned
            inner = exposed_loads(statement.body) - stores([statement.target])
            exposed |= inner - assigned
        elif isinstance(statement, ast.While):
            # It may run no step, so that it assigns nothing for certain.
            inner = set(loads([statement.test])) | exposed_loads(statement.body)
            exposed |= inner - assigned
        elif isinstance(statement, ast.If):
            exposed |= set(loads([statement.test])) - assigned
            for branch in (statement.body, statement.orelse):
                exposed |= exposed_loads(branch) - assigned
            assigned |= _stored_by_both(statement)
        else:
            exposed |= set(loads([statement])) - assigned
            assigned |= stores([statement])
    return exposed
