"""A stand-in for Consul's KV store and sessions, for tests.

    with proconsul.Server(frozen=True) as server:
        consul = consul_client(server.url)  # any client of Consul
        ...
        server.advance("20s")

`Server` is a process of its own with free ports; it ends with the `with` block. `AsyncServer` is the same for asyncio.
The pytest plugin has it as a fixture, `consul_server`; see the README.
"""

from . import _controls
from ._binary import BinaryError, find_binary
from ._controls import *  # noqa: F403
from ._server import AsyncServer, ControlError, ProconsulError, Server, StartError

__all__ = [
    "AsyncServer",
    "BinaryError",
    "ControlError",
    "ProconsulError",
    "Server",
    "StartError",
    "find_binary",
]
__all__ += _controls.__all__
