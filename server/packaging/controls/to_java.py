"""The controls in Java. Answers are maps, lists and texts, as JSON has them; arguments that can be left out are a map."""

MARK = "Made by server/packaging/controls/generate from the server's own description: do not edit."

SIMPLE = {
    "string": "String", "integer": "long", "unsigned": "long", "number": "double", "boolean": "boolean",
    "object": "Map<String, ?>", "duration": "Duration", "list": "List<?>", "named": "String",
}


def answer_type(type_):
    if type_ is None:
        return "void"
    return {"list": "List<Object>", "string": "String"}.get(type_.kind, "Map<String, Object>")


def camel(name):
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("@", "&#64;")


def method(call):
    needed = [one for one in call.parameters if one.required]
    others = [one for one in call.parameters if not one.required]
    head = [f"{SIMPLE[one.type.kind]} {camel(one.name)}" for one in needed]
    doc = ["    /**", f"     * {escaped(call.text)}"]
    doc += [f"     * @param {camel(one.name)} {escaped(one.text)}" for one in needed]
    lines = []
    returns = answer_type(call.returns)
    if others:
        names = [camel(one.name) for one in needed] + ["Map.of()"]
        lines += [*doc, "     */", f"    public {returns} {call.name}({', '.join(head)}) {{"]
        lines += [f"        {'return ' if call.returns else ''}{call.name}({', '.join(names)});", "    }", ""]
        doc.append("     * @param options any of these: " + "; ".join(f"{one.name}: {escaped(one.text)}" for one in others))
        head.append("Map<String, ?> options")
    lines += [*doc, "     */"]
    if call.returns and returns != "String":
        lines.append('    @SuppressWarnings("unchecked")')
    lines.append(f"    public {returns} {call.name}({', '.join(head)}) {{")
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
        names = ", ".join(f'"{one.name}"' for one in others)
        start = f"chosen(options, {names})" if others else "new LinkedHashMap<>()"
        lines.append(f"        Map<String, Object> given = {start};")
        lines += [f'        given.putIfAbsent("{one.name}", "{one.default}");' for one in others if one.default]
        lines += [f'        given.put("{one.name}", {camel(one.name)});' for one in needed if one.where != "path"]
    query, body = (given, "null") if where == {"query"} else ("null", given)
    work = f'call("{call.method}", {path}, {query}, {body})'
    lines += [f"        {f'return ({returns}) ' if call.returns else ''}{work};", "    }", ""]
    return lines


def generate(calls, types):
    del types
    lines = [
        f"// {MARK}",
        "",
        "package com.example.proconsul;",
        "",
        "import java.time.Duration;",
        "import java.util.LinkedHashMap;",
        "import java.util.List;",
        "import java.util.Map;",
        "",
        "/** What a test can do to a server, and learn about it. */",
        "public abstract class Controls {",
        "    Controls() {}",
        "",
        "    abstract Object call(String method, String path, Map<String, ?> query, Object body);",
        "",
        "    abstract Map<String, Object> chosen(Map<String, ?> options, String... names);",
        "",
        *[line for call in calls for line in method(call)],
    ]
    return {"jvm/src/main/java/com/example/proconsul/Controls.java": "\n".join(lines).rstrip() + "\n}\n"}
