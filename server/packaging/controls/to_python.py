"""The controls in Python: types of the standard library alone, and each call twice, the second time for asyncio."""

from dataclasses import replace

from description import Value, snake

HEAD = '''"""The controls of a server. Made by server/packaging/controls/generate from the server's own description: do not edit."""

from __future__ import annotations

import asyncio
import sys
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal, Mapping, Sequence, TypedDict, Union

if sys.version_info >= (3, 11):
    from typing import NotRequired
elif TYPE_CHECKING:
    from typing_extensions import NotRequired

#: A duration: seconds, a `timedelta`, or text as Go writes it, such as "20s" or "1m30s".
Duration = Union[str, int, float, timedelta]
'''

SIMPLE = {
    "string": "str", "integer": "int", "unsigned": "int", "number": "float", "boolean": "bool",
    "object": "dict[str, Any]", "duration": "str",
}


def answer_type(type_):
    if type_ is None:
        return "None"
    if type_.kind == "list":
        text = f"list[{answer_type(type_.of)}]"
    elif type_.kind == "named":
        text = type_.of
    elif type_.kind == "map":
        text = f"dict[str, {answer_type(type_.of)}]"
    else:
        text = SIMPLE[type_.kind]
    return text + " | None" if type_.nullable else text


def argument_type(type_):
    if type_.kind == "duration":
        return "Duration"
    if type_.kind == "object":
        return "Mapping[str, Any]"
    if type_.kind == "list":
        return f"Sequence[{argument_type(type_.of)}]"
    return answer_type(replace(type_, nullable=False))


def signature(call):
    needed = [f"{one.name}: {argument_type(one.type)}" for one in call.parameters if one.required]
    others = []
    for one in call.parameters:
        if one.required:
            continue
        of = argument_type(one.type)
        others.append(f'{one.name}: {of} = "{one.default}"' if one.default else f"{one.name}: {of} | None = None")
    return ", ".join(["self", *needed, *(["*"] + others if others else [])])


def told(call):
    lines = [f'        """{call.text}']
    lines += [""] if call.parameters else []
    lines += [f"        {one.name}: {one.text}" for one in call.parameters]
    return lines[:1] + lines[1:] + (['        """'] if call.parameters else [])


def body_of(call):
    def value(one):
        return f"_duration({one.name})" if one.type.kind == "duration" else one.name

    path = call.path
    for one in call.parameters:
        path = path.replace("{%s}" % one.name, "{%s}" % one.name)
    quoted = f'f"{path}"' if "{" in path else f'"{path}"'
    arguments = [f'"{call.method}"', quoted]
    query = [one for one in call.parameters if one.where == "query"]
    body = [one for one in call.parameters if one.where == "body"]
    if query:
        arguments.append("query={" + ", ".join(f'"{one.name}": {value(one)}' for one in query) + "}")
    if call.whole:
        arguments.append(f"body={call.whole}")
    elif body:
        arguments.append("body=_given({" + ", ".join(f'"{one.name}": {value(one)}' for one in body) + "})")
    return f"self._call({', '.join(arguments)})"


def methods(call):
    name = snake(call.name)
    doc = told(call)
    if len(doc) == 1:
        doc[0] += '"""'
    head = f"def {name}({signature(call)}) -> {answer_type(call.returns)}:"
    work = body_of(call)
    sync = [f"    {head}", *doc, f"        {'return ' if call.returns else ''}{work}", ""]
    given = ", ".join(f"{one.name}={one.name}" for one in call.parameters)
    given = f", {given}" if given else ""
    twin = [f"    async {head}", f'        """As `Controls.{name}`."""', f"        return await asyncio.to_thread(self.sync.{name}{given})", ""]
    return sync, twin


def named(type_):
    if type_.values:
        values = ", ".join(f'"{value.name}"' for value in type_.values)
        return [f"{type_.name} = Literal[{values}]", *choice(type_.text, type_.values)]
    if type_.variants:
        names = ", ".join(one.name for one in type_.variants)
        lines = [line for one in type_.variants for line in named(one)]
        kinds = [Value(one.kind, one.text) for one in type_.variants]
        return [*lines, f"{type_.name} = Union[{names}]", *choice(type_.text, kinds)]
    lines = ["", f"class {type_.name}(TypedDict):", f'    """{type_.text}"""', ""]
    if type_.kind:
        lines += [f'    kind: Literal["{type_.kind}"]']
    for field in type_.fields:
        of = answer_type(field.type)
        lines += [f"    {field.name}: {of if field.required else f'NotRequired[{of}]'}", f'    """{field.text}"""']
    return [*lines, ""]


def choice(text, values):
    """What an editor shows of an alias: each value with its meaning."""
    return [f'"""{text}', "", *[f"- `{value.name}`: {value.text}" for value in values], '"""', ""]


def generate(calls, types):
    lines = [HEAD]
    # A name has to be there before the unions that use it at run time; annotations are not evaluated.
    for type_ in sorted(types, key=lambda one: not one.values):
        lines += named(type_)
    names = sorted(one.name for type_ in types for one in (type_, *type_.variants))
    lines += ["", "__all__ = [", *[f'    "{name}",' for name in ("AsyncControls", "Controls", "Duration", *names)], "]", ""]
    sync, twins = [], []
    for call in calls:
        one, twin = methods(call)
        sync += one
        twins += twin
    lines += [
        "",
        "def _duration(value: Duration | None) -> str | None:",
        "    if value is None or isinstance(value, str):",
        "        return value",
        "    seconds = value.total_seconds() if isinstance(value, timedelta) else value",
        '    return f"{round(seconds * 1_000_000)}us"',
        "",
        "",
        "def _given(fields: Mapping[str, Any]) -> dict[str, Any]:",
        "    return {name: value for name, value in fields.items() if value is not None}",
        "",
        "",
        "class Controls:",
        '    """What a test can do to a server, and learn about it."""',
        "",
        "    def _call(self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None) -> Any:",
        "        raise NotImplementedError",
        "",
        *sync,
        "",
        "class AsyncControls:",
        '    """The same as `Controls`, for asyncio."""',
        "",
        "    sync: Controls",
        "",
        *twins,
    ]
    return {"python/python/proconsul/_controls.py": "\n".join(lines).rstrip() + "\n"}
