"""The calls of the control plane, read from the description that the server generates of itself."""

import json
import re
import subprocess
import urllib.request
from dataclasses import dataclass, replace

# What a call is called in the helpers, where that is not its name in the description.
RENAMED = {"installFault": "fault", "dump": "state"}
# A list for people; and a stream without an end: helpers read `history`.
LEFT_OUT = {"overview", "events"}
# Types that only these use.
TYPES_LEFT_OUT = {"Begin", "Event", "Missed"}
# `history` as text is a method of its own in each helper.
PARAMETERS_LEFT_OUT = {("history", "format")}
# How long barriers wait where nothing else is said.
PATIENCE = "10s"


@dataclass
class Type:
    """kind: string, integer, unsigned, number, boolean, duration, object, map, list, named; of: the items, or the name."""

    kind: str
    of: object = None
    nullable: bool = False


@dataclass
class Parameter:
    name: str
    type: Type
    required: bool
    where: str  # path, query, body
    text: str
    default: object = None


@dataclass
class Call:
    name: str  # in camelCase
    method: str
    path: str
    text: str
    parameters: list
    # The one parameter that is the whole body, if there is one.
    whole: str | None
    returns: Type | None  # None for nothing to say


@dataclass
class Value:
    name: str
    text: str


@dataclass
class Named:
    """A structure with fields, a text that is one of some values, or a union of structures that differ in their `kind`."""

    name: str
    text: str
    fields: list  # of Parameter
    values: list  # of Value
    variants: list  # of Named
    kind: str | None = None  # of a variant; it is not among the fields


def type_of(schema):
    schema = dict(schema)
    nullable = False
    if "anyOf" in schema:
        rest = [one for one in schema["anyOf"] if one.get("type") != "null"]
        if len(rest) == 1:
            schema, nullable = {**rest[0], "description": schema.get("description", "")}, True
    kinds = schema.get("type")
    if isinstance(kinds, list):
        nullable = "null" in kinds
        kinds = next(kind for kind in kinds if kind != "null")
    if "$ref" in schema:
        return Type("named", schema["$ref"].rsplit("/", 1)[1], nullable)
    if kinds == "array":
        return Type("list", type_of(schema.get("items", {})), nullable)
    if kinds == "integer":
        return Type("unsigned" if schema.get("minimum") == 0 else "integer", None, nullable)
    if kinds == "string" and "a duration such as" in schema.get("description", ""):
        return Type("duration", None, nullable)
    if kinds in ("string", "number", "boolean"):
        return Type(kinds, None, nullable)
    if isinstance(schema.get("additionalProperties"), dict):
        return Type("map", type_of(schema["additionalProperties"]), nullable)
    return Type("object", None, nullable)


def sentence(text):
    return re.sub(r"\s+", " ", text or "").strip()


def fields_of(schema, where):
    required = schema.get("required", [])
    made = []
    for name, of in schema.get("properties", {}).items():
        default = PATIENCE if name == "timeout" else None
        needed = name in required and default is None
        made.append(Parameter(name, type_of(of), needed, where, sentence(of.get("description")), default))
    order = {name: place for place, name in enumerate(required)}
    # Those that are needed first, in the order of the description.
    return sorted(made, key=lambda field: (not field.required, order.get(field.name, 0) if field.required else 0))


def call_of(method, path, operation):
    name = operation["operationId"]
    parameters, whole = [], None
    for given in operation.get("parameters", []):
        if (name, given["name"]) not in PARAMETERS_LEFT_OUT:
            type_ = type_of({**given["schema"], "description": given.get("description", "")})
            required = given.get("required", False)
            parameters.append(Parameter(given["name"], type_, required, given["in"], sentence(given.get("description"))))
    body = operation.get("requestBody")
    if body:
        schema = body["content"]["application/json"]["schema"]
        if schema.get("type") == "array":
            whole = "keys"
            parameters.append(Parameter(whole, Type("list", Type("named", "Exported")), True, "body", "What an export gave."))
        elif name == "load":
            whole = "state"
            parameters.append(Parameter(whole, Type("object"), True, "body", "What `state` gave."))
        else:
            parameters += fields_of(schema, "body")
    parameters.sort(key=lambda parameter: not parameter.required)
    answers = operation["responses"]["200"]["content"]
    if "application/json" in answers:
        returns = type_of(answers["application/json"]["schema"])
        if returns.of == "Done":
            returns = None
        elif returns.of in ("State", "OpenApi"):
            returns = Type("object")
    else:
        returns = Type("string")
    return Call(RENAMED.get(name, name), method.upper(), path, sentence(operation["summary"]), parameters, whole, returns)


def lifted(schema, components):
    """Moves schemas that have a title to the components, where those of answers are."""
    if isinstance(schema, list):
        return [lifted(one, components) for one in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {name: lifted(of, components) for name, of in schema.items()}
    title = schema.get("title")
    if not title:
        return schema
    components.setdefault(title, schema)
    kept = {name: schema[name] for name in ("type", "description") if name in schema}
    return {"$ref": f"#/components/schemas/{title}", **kept}


def named(name, schema):
    choices = schema.get("oneOf", [])
    variants = []
    for one in (one for one in choices if "properties" in one):
        fields = dict(one["properties"])
        kind = fields.pop("kind")["const"]
        variant = named(pascal(kind.replace("-", "_")) + name, {**one, "properties": fields})
        variants.append(replace(variant, kind=kind))
    values = [Value(one["const"], sentence(one["description"])) for one in choices if "const" in one]
    return Named(name, sentence(schema.get("description")), fields_of(schema, "body"), values, variants)


def read(openapi):
    """Returns the calls and the named types of a description."""
    components = openapi["components"]["schemas"]
    # The types of answers have their names without a title.
    components.update({name: lifted({**schema, "title": None}, components) for name, schema in components.items()})
    calls = [
        call_of(method, path, operation)
        for path, methods in lifted(openapi["paths"], components).items()
        for method, operation in methods.items()
        if operation["operationId"] not in LEFT_OUT
    ]
    types = []
    for name, schema in sorted(components.items()):
        if name in ("Done", "State", "OpenApi") or name in TYPES_LEFT_OUT:
            continue
        types.append(named(name, schema))
    return sorted(calls, key=lambda call: call.name), types


def of_binary(binary):
    """Asks a server for its description."""
    arguments = [binary, "agent", "-dev", "-http-port-ephemeral", "--control", "-log-level=err"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as server:
        try:
            line = next(line for line in server.stdout if line.startswith('{"'))
            url = f"http://{json.loads(line)['http']}/proconsul/v1/openapi.json"
            with urllib.request.urlopen(url, timeout=20) as answer:
                return json.load(answer)
        finally:
            server.kill()


def words(name):
    """camelCase as words: advanceToNext is advance, to, next."""
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name)]


def snake(name):
    return "_".join(words(name))


def pascal(name):
    text = "".join(word.capitalize() for word in re.split(r"[_\s]", name) if word) if "_" in name else name
    return text[:1].upper() + text[1:]
