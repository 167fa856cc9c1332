"""The controls in JavaScript, with types for TypeScript."""

from description import words

MARK = "Made by server/packaging/controls/generate from the server's own description: do not edit."

SIMPLE = {
    "string": "string", "integer": "number", "unsigned": "number", "number": "number", "boolean": "boolean",
    "object": "{ [name: string]: unknown }", "duration": "string",
}


def answer_type(type_):
    if type_ is None:
        return "void"
    if type_.kind == "list":
        text = f"{answer_type(type_.of)}[]"
    elif type_.kind == "map":
        text = f"{{ [name: string]: {answer_type(type_.of)} }}"
    elif type_.kind == "named":
        text = type_.of
    else:
        text = SIMPLE[type_.kind]
    return text + " | null" if type_.nullable else text


def argument_type(type_):
    if type_.kind == "duration":
        return "Duration"
    if type_.kind == "list":
        return f"{argument_type(type_.of)}[]"
    if type_.kind == "named":
        return type_.of
    return SIMPLE[type_.kind]


def camel(name):
    first, *rest = words(name) if "_" not in name else name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def is_single(call):
    """One argument stands alone; several are an object with names."""
    return len(call.parameters) == 1


def options_optional(call):
    return not any(one.required for one in call.parameters)


def declared(call):
    returns = f"Promise<{answer_type(call.returns)}>"
    doc = [f"  /** {call.text} */"]
    if not call.parameters:
        return [*doc, f"  {call.name}(): {returns};"]
    if is_single(call):
        one = call.parameters[0]
        mark = "" if one.required else "?"
        doc = [f"  /** {call.text}", f"   * @param {camel(one.name)} {one.text} */"]
        return [*doc, f"  {call.name}({camel(one.name)}{mark}: {argument_type(one.type)}): {returns};"]
    fields = []
    for one in call.parameters:
        mark = "" if one.required else "?"
        fields += [f"    /** {one.text} */", f"    {camel(one.name)}{mark}: {argument_type(one.type)};"]
    mark = "?" if options_optional(call) else ""
    return [*doc, f"  {call.name}(options{mark}: {{", *fields, f"  }}): {returns};"]


def made(call):
    single = is_single(call)
    head = ""
    if single:
        one = call.parameters[0]
        head = camel(one.name) + (f' = "{one.default}"' if one.default else "")
    elif call.parameters:
        head = "options = {}" if options_optional(call) else "options"

    def value(one):
        given = camel(one.name) if single else f"options.{camel(one.name)}"
        if one.default and not single:
            given = f'{given} ?? "{one.default}"'
        return f"duration({given})" if one.type.kind == "duration" else given

    path = call.path
    for one in call.parameters:
        if one.where == "path":
            path = path.replace("{%s}" % one.name, "${%s}" % value(one))
    arguments = [f'"{call.method}"', f"`{path}`" if "$" in path else f'"{path}"']
    query = [one for one in call.parameters if one.where == "query"]
    body = [one for one in call.parameters if one.where == "body"]
    given = "{ query: { " + ", ".join(f"{one.name}: {value(one)}" for one in query) + " } }" if query else ""
    if call.whole:
        given = f"{{ body: {call.whole} }}"
    elif body:
        given = "{ body: { " + ", ".join(f"{one.name}: {value(one)}" for one in body) + " } }"
    arguments += [given] if given else []
    names = ", ".join(f'"{camel(one.name)}"' for one in call.parameters)
    known = [] if single or not call.parameters else [f"    onlyKnown(options, {names});"]
    return [f"  {call.name}({head}) {{", *known, f"    return this.call({', '.join(arguments)});", "  }", ""]


def named(type_):
    if type_.values:
        return choice(type_, [(f'"{value.name}"', value.name, value.text) for value in type_.values])
    if type_.variants:
        lines = [line for one in type_.variants for line in named(one)]
        return lines + choice(type_, [(one.name, one.kind, one.text) for one in type_.variants])
    lines = [f"/** {type_.text} */", f"export interface {type_.name} {{"]
    if type_.kind:
        lines.append(f'  kind: "{type_.kind}";')
    for field in type_.fields:
        lines += [f"  /** {field.text} */", f"  {field.name}{'' if field.required else '?'}: {answer_type(field.type)};"]
    return [*lines, "}", ""]


def choice(type_, values):
    """One of some types, each with what it is called and what it means."""
    lines = ["/**", f" * {type_.text}", *[f" * - `{name}`: {text}" for _, name, text in values], " */"]
    return [*lines, f"export type {type_.name} = {' | '.join(of for of, _, _ in values)};", ""]


def generate(calls, types):
    script = [
        f"// {MARK}",
        "",
        "/** Milliseconds, or text as Go writes durations. */",
        "function duration(value) {",
        '  return typeof value === "number" ? `${Math.round(value * 1000)}us` : value;',
        "}",
        "",
        "/** Rejects options that do not exist: a misspelled one would be ignored. */",
        "export function onlyKnown(options, ...known) {",
        "  for (const name of Object.keys(options)) {",
        "    if (!known.includes(name)) throw new TypeError(`unknown option ${name}: the options are ${known.join(\", \")}`);",
        "  }",
        "}",
        "",
        "/** What a test can do to a server, and learn about it. */",
        "export class Controls {",
        *[line for call in calls for line in made(call)],
    ]
    script = "\n".join(script).rstrip() + "\n}\n"
    declared_types = [line for type_ in types for line in named(type_)]
    text = [
        f"// {MARK}",
        "",
        '/** A duration: milliseconds, or text as Go writes it, such as "20s" or "1m30s". */',
        "export type Duration = number | string;",
        "",
        *declared_types,
        "/** What a test can do to a server, and learn about it. */",
        "export class Controls {",
        *[line for call in calls for line in declared(call)],
        "}",
    ]
    return {"node/controls.js": script, "node/controls.d.ts": "\n".join(text) + "\n"}
