"""An import path with literal arguments, read with `ast` and never evaluated as Python."""

from __future__ import annotations

import ast
import inspect
import operator
from collections.abc import Callable, Sequence
from typing import Any

from ipdp.core.words import shown
from ipdp.models.detect import parameters_of
from ipdp.models.load.names import LoadError, check_callable, first_line, hint, is_part, resolve

_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.BitOr: operator.or_,  # a pipeline of river
    ast.Add: operator.add,  # a union of river's transformers, or several metrics
}


def load_object(spec: str, within: Sequence[str] = ()) -> Any:
    """What an import path with arguments makes, such as `river.forest.ARFClassifier(seed=42)`.

    Arguments are numbers, texts, booleans, None, lists, tuples, dicts, and other classes with
    arguments; `a | b` and `a + b` of such things. Without arguments the parentheses may be left
    out. A name without dots is looked for in the modules `within`.
    """
    try:
        return _instance(_parsed(spec.strip()), within)
    except (RecursionError, MemoryError):
        raise LoadError("the import path is nested too deeply") from None


def _parsed(spec: str) -> ast.expr:
    try:
        return ast.parse(spec, mode="eval").body
    except SyntaxError as error:
        why = f"{error.msg} at character {error.offset}" if error.offset else error.msg
    except ValueError as error:  # characters that no program has
        why = str(error)
    start = repr(spec) if len(spec) <= 80 else f"{spec[:76]!r}..."
    raise LoadError(f"{start} is not an import path with arguments: {why}")


def _instance(node: ast.expr, within: Sequence[str]) -> Any:
    """The value of a node; without arguments the parentheses of a class may be left out."""
    made = _value(node, within)
    return _called(made, [], {}, ast.unparse(node)) if inspect.isclass(made) else made


def _value(node: ast.expr, within: Sequence[str]) -> Any:
    if isinstance(node, ast.Call):
        return _call(node, within)
    if isinstance(node, ast.BinOp):
        return _joined(node, within)
    if isinstance(node, (ast.Name, ast.Attribute)):
        return _named(node, within)
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        make: Any = {ast.List: list, ast.Tuple: tuple, ast.Set: set}[type(node)]
        return make([_value(item, within) for item in node.elts])
    if isinstance(node, ast.Dict) and None not in node.keys:
        keys = [_value(key, within) for key in node.keys if key is not None]
        return dict(zip(keys, [_value(item, within) for item in node.values], strict=True))
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError):
        raise LoadError(
            f"{ast.unparse(node)!r} is not a plain value: arguments are numbers, texts, booleans, "
            "None, lists, dicts and other classes with arguments"
        ) from None


def _joined(node: ast.BinOp, within: Sequence[str]) -> Any:
    if type(node.op) not in _OPERATORS:
        raise LoadError(f"{ast.unparse(node)!r} is not a plain value: only | and + join models")
    left, right = _instance(node.left, within), _instance(node.right, within)
    if not (is_part(type(left)) or is_part(type(right))):
        raise LoadError(f"{ast.unparse(node)!r}: only | and + of models are understood")
    try:
        return _OPERATORS[type(node.op)](left, right)
    except Exception as error:
        raise LoadError(f"{ast.unparse(node)!r} cannot be joined: {first_line(error)}") from None


def _named(node: ast.Name | ast.Attribute, within: Sequence[str]) -> Any:
    path = _path(node)
    found = resolve(path, within)
    if not is_part(found):  # a function of one of the libraries is fine as an argument
        check_callable(found, path)
    return found


def _call(node: ast.Call, within: Sequence[str]) -> Any:
    path = _path(node.func)
    starred = [item for item in node.args if isinstance(item, ast.Starred)]
    if starred or any(keyword.arg is None for keyword in node.keywords):
        raise LoadError(f"{path}: arguments with * or ** are not understood")
    made = resolve(path, within)
    arguments = [_value(item, within) for item in node.args]
    named = {str(item.arg): _value(item.value, within) for item in node.keywords}
    return _called(made, arguments, named, path)


def _called(made: Any, arguments: list[Any], named: dict[str, Any], path: str) -> Any:
    check_callable(made, path)
    _check_names(made, named, path)
    try:
        return made(*arguments, **named)
    except Exception as error:  # whatever the class has against its arguments
        raise LoadError(f"{path}: {first_line(error)}") from error


def _check_names(made: Any, named: dict[str, Any], path: str) -> None:
    parameters = parameters_of(made)
    if parameters is None or any(p.kind is p.VAR_KEYWORD for p in parameters):
        return
    known = [p.name for p in parameters]
    for name in named:
        if name not in known:
            raise LoadError(f"{path} has no argument {shown(name)}{hint(name, known)}")


def _path(node: ast.expr) -> str:
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        raise LoadError(f"{ast.unparse(node)!r} is not an import path")
    return ".".join([node.id, *reversed(names)])
