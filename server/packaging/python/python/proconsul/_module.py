"""The server as WebAssembly, for platforms without a binary: a program that takes the arguments of `proconsul agent`.

It runs the module, whose interface `server/wasm/README.md` describes, by wasmtime, and moves the bytes of its connections.
"""

from __future__ import annotations

import asyncio
import functools
import gzip
import hashlib
import json
import os
import secrets
import socket
import struct
import sys
import tempfile
import time
from importlib import metadata
from pathlib import Path
from urllib.parse import quote

#: The module, which only the wheel for all platforms has.
MODULE = Path(__file__).with_name("proconsul.wasm.gz")

# The kinds of inputs and of outputs.
CONNECT, BYTES, END, RESET, TIME, REQUEST = range(6)
SENT, CLOSED, CUT, DEADLINE, RESPONSE = range(1, 6)
#: What an output has in front of its bytes: kind, number and length.
HEAD = struct.Struct("<BQI")


class Panic(Exception):
    """The server has panicked. It cannot be used any more."""


def compiled(wasmtime):
    """Returns the engine and the module. It takes seconds to compile, so the user's cache keeps the result."""
    packed = MODULE.read_bytes()
    engine = wasmtime.Engine()
    name = f"{hashlib.sha256(packed).hexdigest()[:32]}-{metadata.version('wasmtime')}.cwasm"
    cached = _cache() / name
    try:
        return engine, wasmtime.Module.deserialize_file(engine, str(cached))
    except wasmtime.WasmtimeError:
        module = wasmtime.Module(engine, gzip.decompress(packed))
    try:
        cached.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=cached.parent, delete=False) as file:
            file.write(module.serialize())
        os.replace(file.name, cached)
    except OSError:
        # The next start compiles again.
        pass
    return engine, module


def _cache() -> Path:
    if os.name == "nt":
        folder = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        folder = Path.home() / "Library" / "Caches"
    else:
        folder = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(folder) / "proconsul"


class Machine:
    """A server: an instance of the module, on the clock of this machine."""

    def __init__(self, arguments: list[str]) -> None:
        import wasmtime

        engine, module = compiled(wasmtime)
        self._store = wasmtime.Store(engine)
        takes_text = wasmtime.FuncType([wasmtime.ValType.i32(), wasmtime.ValType.i32()], [])
        panic = wasmtime.Func(self._store, takes_text, self._take_panic)
        self._exports = wasmtime.Instance(self._store, module, [panic]).exports(self._store)
        self._panic: str | None = None
        self._began = time.monotonic_ns()
        self._timer: asyncio.TimerHandle | None = None
        #: What the server has connections and requests with, by number: `kind -> bytes`.
        self._users: dict[int, object] = {}
        self._last = 0
        refusal = self._call(json.dumps(arguments).encode(), "create", secrets.randbits(48), time.time_ns())
        if refusal:
            raise ValueError(refusal.decode())
        self.input(TIME)

    def _take_panic(self, at: int, length: int) -> None:
        self._panic = self._read(at, length).decode()

    def _read(self, at: int, length: int) -> bytes:
        return bytes(self._exports["memory"].read(self._store, at, at + length))

    def _call(self, given: bytes, name: str, *numbers: int) -> bytes:
        exports, store = self._exports, self._store
        at = exports["buffer"](store, len(given))
        exports["memory"].write(store, given, at)
        try:
            length = exports[name](store, *numbers)
        except Exception as error:
            raise Panic(self._panic or error) from None
        return self._read(exports["reply"](store), length)

    def agents(self) -> int:
        """Returns how many agents the server has, those of joined datacenters counted on."""
        return self._exports["agents"](self._store)

    def use(self, user) -> int:
        """Returns a number for a connection or a request, with what takes its outputs: their kind and their bytes."""
        self._last += 1
        self._users[self._last] = user
        return self._last

    def drop(self, number: int) -> bool:
        """Forgets a number. Returns whether it was known."""
        return self._users.pop(number, None) is not None

    def input(self, kind: int, number: int = 0, given: bytes = b"") -> None:
        """Gives the server an input, hands out what it does, and asks again at its next deadline."""
        now = time.monotonic_ns() - self._began
        reply, at, deadline = self._call(given, "input", now, kind, number), 0, None
        while at < len(reply):
            output, target, length = HEAD.unpack_from(reply, at)
            at += HEAD.size + length
            if output == DEADLINE:
                deadline = target
            elif target in self._users:
                user = self._users[target]
                if output != SENT:
                    self.drop(target)
                user(output, reply[at - length : at])
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None
        if deadline is not None:
            left = max(0, deadline - now) / 1e9
            self._timer = asyncio.get_running_loop().call_later(left, self.input, TIME)

    def request(self, head: str, body: bytes) -> bytes:
        """Sends a request that does not wait, and returns its response: status, headers, an empty line and the body."""
        responses: list[bytes] = []
        number = self.use(lambda _, response: responses.append(response))
        self.input(REQUEST, number, f"{head} HTTP/1.1\r\nHost: proconsul\r\n".encode() + b"\r\n" + body)
        return responses[0]


class Connection(asyncio.Protocol):
    """A connection of a client to an agent."""

    def __init__(self, machine: Machine, agent: int) -> None:
        self._machine = machine
        self._agent = agent

    def connection_made(self, transport) -> None:
        self._transport = transport
        self._number = self._machine.use(self._output)
        self._machine.input(CONNECT + (self._agent << 8), self._number)

    def data_received(self, given: bytes) -> None:
        self._machine.input(BYTES, self._number, given)

    def eof_received(self) -> bool:
        self._machine.input(END, self._number)
        return True

    def connection_lost(self, _) -> None:
        if self._machine.drop(self._number):
            self._machine.input(RESET, self._number)

    def _output(self, kind: int, sent: bytes) -> None:
        if kind == SENT:
            self._transport.write(sent)
        elif kind == CLOSED:
            self._transport.close()
        else:
            # Without a time to send the rest, closing resets the connection.
            linger = struct.pack("hh" if os.name == "nt" else "ii", 1, 0)
            self._transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self._transport.abort()


def split(given: list[str]) -> tuple[list[str], int, list[Path]]:
    """Returns the arguments that the module takes, the port of the API, and the files to load."""
    # The binary asks for the machine's name itself.
    settings, others, port, files = [json.dumps({"node_name": socket.gethostname()})], ["-control"], 0, []
    for argument in given:
        name, _, value = argument.partition("=")
        if name == "-config-file":
            settings.append(Path(value).read_text())
        elif name == "-config-dir":
            found = sorted(path for path in Path(value).iterdir() if path.suffix in (".hcl", ".json"))
            settings += [path.read_text() for path in found]
        elif name == "-load":
            files.append(Path(value))
        elif name == "-http-port":
            port = int(value)
        elif name.startswith("-https"):
            raise ValueError("HTTPS needs the server's binary: this server is the WebAssembly module")
        elif name not in ("agent", "-control-port", "-http-port-ephemeral"):
            others.append(argument)
    return [f"-hcl={text}" for text in settings] + others, port, files


def load(machine: Machine, files: list[Path], token: str) -> None:
    """Loads files to start with: the states, then the keys."""
    read = [(path, path.read_bytes()) for path in files]
    for path, content in sorted(read, key=lambda one: one[1].lstrip()[:1] == b"["):
        head = "PUT /proconsul/v1/state"
        if content[:2] == b"\x1f\x8b":
            head = f"PUT /v1/snapshot?token={quote(token)}"
        elif content.lstrip()[:1] == b"[":
            head += "/kv"
        status, _, text = machine.request(head, content).partition(b"\r\n\r\n")
        if not status.startswith(b"200 "):
            raise ValueError(f"cannot load {path}: {text.decode().strip()}")


async def serve(given: list[str]) -> None:
    """Serves until the process is ended, or the module has panicked."""
    loop = asyncio.get_running_loop()
    ended = loop.create_future()

    def fail(_, context) -> None:
        if not ended.done():
            ended.set_exception(context.get("exception") or Panic(context["message"]))

    loop.set_exception_handler(fail)
    arguments, port, files = split(given)
    machine = Machine(arguments)
    load(machine, files, next((one[5:] for one in given if one.startswith("-acl=")), ""))
    addresses, listeners = [], []
    for agent in range(machine.agents()):
        made = functools.partial(Connection, machine, agent)
        listeners.append(await loop.create_server(made, "127.0.0.1", port if agent == 0 else 0))
        addresses.append("%s:%d" % listeners[agent].sockets[0].getsockname())
    print(json.dumps({"http": addresses[0], "control": addresses[0], "agents": addresses}), flush=True)
    await ended


def main() -> None:
    try:
        asyncio.run(serve(sys.argv[1:]))
    except Panic as panic:
        sys.exit(f"the server has panicked: {panic}")
    except (ValueError, OSError) as error:
        sys.exit(f"==> {error}")


if __name__ == "__main__":
    main()
