"""The controls in Java 11. Structures, unions and options are classes within `Controls`, so that `Server` has their names."""

from description import Named, pascal

MARK = "Made by server/packaging/controls/generate from the server's own description: do not edit."

# What is left out is null, which long has not.
BOXED = {"long": "Long", "double": "Double", "boolean": "Boolean"}
SIMPLE = {
    "string": "String", "integer": "long", "unsigned": "long", "number": "double", "boolean": "boolean",
    "object": "Map<String, ?>", "duration": "Duration",
}
# How a value is made of what JSON has.
MADE = {
    "string": "String.class::cast", "integer": "Fields::whole", "unsigned": "Fields::whole", "number": "Fields::real",
    "boolean": "Boolean.class::cast",
}


def java_type(type_):
    if type_.kind == "list":
        return f"List<{java_type(type_.of)}>"
    if type_.kind == "map":
        return f"Map<String, {java_type(type_.of)}>"
    return type_.of if type_.kind == "named" else SIMPLE[type_.kind]


def made(type_):
    """A function that makes a value of what JSON has."""
    if type_.kind == "list":
        return f"json -> list(json, {made(type_.of)})"
    return f"{type_.of}::of" if type_.kind == "named" else MADE[type_.kind]


def camel(name):
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("@", "&#64;")


def arguments(fields):
    return ", ".join(f"{java_type(one.type)} {camel(one.name)}" for one in fields)


def documented(text, fields=()):
    parameters = [f" * @param {camel(one.name)} {escaped(one.text)}" for one in fields]
    return [f"/** {escaped(text)} */"] if not parameters else ["/**", f" * {escaped(text)}", *parameters, " */"]


def indented(lines):
    return [f"    {line}" if line else "" for line in lines]


def structure(type_, taken, given, base="Fields"):
    """A class: who sends it has a constructor for what is needed and a method for what is not; who gets it has getters."""
    name = type_.name
    needed = [one for one in type_.fields if one.required]
    lines = []
    if type_.kind or taken and needed:
        lines += [*documented(type_.text, needed), f"public {name}({arguments(needed)}) {{"]
        lines += [f'    set("kind", "{type_.kind}");'] if type_.kind else []
        lines += [f'    set("{one.name}", {camel(one.name)});' for one in needed] + ["}", ""]
    if taken:
        for one in (one for one in type_.fields if not one.required):
            lines += [*documented(one.text), f"public {name} {camel(one.name)}({arguments([one])}) {{"]
            lines += [f'    set("{one.name}", {camel(one.name)});', "    return this;", "}", ""]
    if given:
        lines += [f"private {name}(Object json) {{", "    super(json);", "}", ""]
        lines += [f"static {name} of(Object json) {{", f"    return new {name}(json);", "}", ""]
        for one in type_.fields:
            of = java_type(one.type)
            of = BOXED.get(of, of) if one.type.nullable or not one.required else of
            lines += [*documented(one.text), f"public {of} {camel(one.name)}() {{"]
            lines += [f'    return field("{one.name}", {made(one.type)});', "}", ""]
    return [*documented(type_.text), f"public static final class {name} extends {base} {{", *indented(lines[:-1]), "}", ""]


def enumeration(type_):
    lines = [*documented(type_.text), f"public enum {type_.name} {{"]
    for value in type_.values:
        end = ";" if value is type_.values[-1] else ","
        lines += indented([*documented(value.text), value.name.upper().replace("-", "_") + end])
    return [
        *lines,
        "",
        f"    static {type_.name} of(Object json) {{",
        "        return valueOf(String.valueOf(json).toUpperCase(Locale.ROOT).replace('-', '_'));",
        "    }",
        "",
        "    /** The name in JSON. */",
        "    @Override",
        "    public String toString() {",
        "        return name().toLowerCase(Locale.ROOT).replace('_', '-');",
        "    }",
        "}",
        "",
    ]


def named(type_, taken, given):
    if type_.values:
        return enumeration(type_)
    if not type_.variants:
        return structure(type_, type_.name in taken, type_.name in given)
    names = ", ".join(f"{{@link {one.name}}}" for one in type_.variants)
    lines = ["/**", f" * {escaped(type_.text)}", f" * It is one of {names}.", " */"]
    lines += [f"public abstract static class {type_.name} extends Fields {{", f"    private {type_.name}() {{}}", "}", ""]
    return lines + [line for one in type_.variants for line in structure(one, True, False, type_.name)]


def options_of(call):
    """The class of the arguments that can be left out, if there are any."""
    others = [one for one in call.parameters if not one.required]
    name = f"{pascal(call.name)}Options"
    return Named(name, f"The arguments of `{call.name}` that can be left out.", others, [], []) if others else None


def method(call):
    needed = [one for one in call.parameters if one.required]
    options = options_of(call)
    head = arguments(needed)
    lines = []
    returns = java_type(call.returns) if call.returns else "void"
    returns = returns.replace("Map<String, ?>", "Map<String, Object>")
    if options:
        names = ", ".join([*(camel(one.name) for one in needed), f"new {options.name}()"])
        lines += [*documented(call.text, needed), f"public {returns} {call.name}({head}) {{"]
        lines += [f"    {'return ' if call.returns else ''}{call.name}({names});", "}", ""]
        head = ", ".join([*([head] if head else []), f"{options.name} options"])
    lines += [*documented(call.text, needed), f"public {returns} {call.name}({head}) {{"]
    path = f'"{call.path}"'
    for one in call.parameters:
        if one.where == "path":
            before, after = call.path.split("{%s}" % one.name)
            path = f'"{before}" + {camel(one.name)}' + (f' + "{after}"' if after else "")
    where = {one.where for one in call.parameters if one.where != "path"}
    given = "null"
    if call.whole:
        given = camel(call.whole)
    elif where:
        given = "given"
        lines.append(f"    Map<String, Object> given = new LinkedHashMap<>({'options' if options else ''});")
        lines += [f'    given.putIfAbsent("{one.name}", "{one.default}");' for one in call.parameters if one.default]
        lines += [f'    given.put("{one.name}", {camel(one.name)});' for one in needed if one.where != "path"]
    query, body = (given, "null") if where == {"query"} else ("null", given)
    work = f'call("{call.method}", {path}, {query}, {body})'
    return [*lines, f"    {returned(call.returns, work)};", "}", ""]


def returned(type_, work):
    if type_ is None:
        return work
    if type_.kind == "list":
        return f"return Fields.list({work}, {made(type_.of)})"
    if type_.kind == "object":
        return f"return Fields.map({work})"
    return f"return {type_.of}.of({work})" if type_.kind == "named" else f"return (String) {work}"


def reached(types, all_types):
    """The names of the structures that some types have in them."""
    names, rest = set(), list(types)
    while rest:
        type_ = rest.pop()
        if type_ is None or type_.kind in ("list", "map"):
            rest += [type_.of] if type_ else []
        elif type_.kind == "named" and type_.of not in names:
            names.add(type_.of)
            rest += [field.type for field in all_types[type_.of].fields]
    return names


def generate(calls, types):
    all_types = {one.name: one for one in types}
    taken = reached([one.type for call in calls for one in call.parameters], all_types)
    given = reached([call.returns for call in calls], all_types)
    options = [one for one in map(options_of, calls) if one]
    body = [
        "Controls() {}",
        "",
        "abstract Object call(String method, String path, Map<String, ?> query, Object body);",
        "",
        *[line for call in calls for line in method(call)],
        *[line for one in options for line in structure(one, True, False)],
        *[line for one in types for line in named(one, taken, given)],
    ]
    lines = [
        f"// {MARK}",
        "",
        "package com.example.proconsul;",
        "",
        "import java.time.Duration;",
        "import java.util.LinkedHashMap;",
        "import java.util.List;",
        "import java.util.Locale;",
        "import java.util.Map;",
        "",
        "/** What a test can do to a server, and learn about it. */",
        "public abstract class Controls {",
        *indented(body),
    ]
    return {"jvm/src/main/java/com/example/proconsul/Controls.java": "\n".join(lines).rstrip() + "\n}\n"}
