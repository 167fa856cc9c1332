"""Starting and stopping a server, and asking its control plane."""

from __future__ import annotations

import asyncio
import collections
import http.client
import json
import os
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.parse
import urllib.request
import weakref
from importlib import metadata
from typing import Any, Mapping, Sequence

from ._binary import VARIABLE, BinaryError, find_command
from ._controls import AsyncControls, Controls

#: How long a start may take, in seconds. It takes milliseconds; the first one with the module compiles it, which lasts half a
#: minute on a machine that is busy.
START_WITHIN = 120
#: How long a call of the control plane may take beside what it waits for itself, in seconds.
ANSWER_WITHIN = 600
#: How long a server that is ending may take, in seconds: more than a second on a busy machine.
ENDS_WITHIN = 5
#: How many lines of the server's log are kept for errors.
LOG_LINES = 200


#: The servers of this process that have not been stopped, the oldest first. Reports of failing tests are about them.
_RUNNING: weakref.WeakValueDictionary[int, Server] = weakref.WeakValueDictionary()


class ProconsulError(Exception):
    """Something is wrong with the server, or with what it was asked."""


class StartError(ProconsulError):
    """The server did not start. Its log is in the text."""


class ControlError(ProconsulError):
    """The control plane rejected a call; the message says why. `status` is 409 where a wait timed out."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class Server(Controls):
    """A server in a process of its own. Use it in a `with` block, or call `stop`.

    as_version: The release of Consul that is emulated, such as "1.8.7".
    seed: Repeats the session ids and the jitter of the run with this seed.
    frozen: Whether the clock stands still, from the start on, until the test moves it.
    epoch: The time of day when the server's clock starts, such as "2026-01-01T00:00:00Z", in place of the machine's.
    port: The port of Consul's API; a free one when it is left out.
    agents: How many agents there are, where there is more than one: servers, or servers and client agents, such as "3:1".
    datacenters: The names of datacenters that are joined, the server's own first. Each has its own agents.
    config: Settings as in a configuration file of Consul.
    files: Configuration files of Consul, or folders of them.
    data: Files to start with: states, archives of snapshots, or keys as `consul kv export` prints them.
    acl: Enables ACLs. The token with this secret may do everything; without a token nothing is allowed.
    https: Whether HTTPS is served, too: at `https_url`, with a certificate that the authority in `ca_file` has signed.
    args: More arguments of `proconsul agent`.
    binary: The server's binary, in place of the one that the package brings.
    """

    def __init__(
        self,
        *,
        as_version: str | None = None,
        seed: int | None = None,
        frozen: bool = False,
        epoch: str | None = None,
        port: int | None = None,
        agents: str | int | None = None,
        datacenters: Sequence[str] = (),
        config: Mapping[str, Any] | None = None,
        files: Sequence[str | os.PathLike[str]] = (),
        data: Sequence[str | os.PathLike[str]] = (),
        acl: str | None = None,
        https: bool = False,
        args: Sequence[str] = (),
        binary: str | os.PathLike[str] | None = None,
    ) -> None:
        command = find_command(binary)
        self._binary = command[-1]
        arguments = [*command, "agent", "-dev", "-control-port=0", "-log-level=warn"]
        if as_version is not None:
            arguments.append(f"-as-version={as_version}")
        if seed is not None:
            arguments.append(f"-seed={seed}")
        if frozen:
            arguments.append("-frozen")
        if epoch is not None:
            arguments.append(f"-epoch={epoch}")
        arguments.append("-http-port-ephemeral" if port is None else f"-http-port={port}")
        if agents is not None:
            arguments.append(f"-agents={agents}")
        if datacenters:
            arguments.append(f"-datacenters={','.join(datacenters)}")
        if config is not None:
            arguments.append(f"-hcl={json.dumps(config)}")
        arguments += [f"-config-file={os.fspath(file)}" for file in files if os.path.isfile(file)]
        arguments += [f"-config-dir={os.fspath(file)}" for file in files if not os.path.isfile(file)]
        arguments += [f"-load={os.fspath(file)}" for file in data]
        if acl is not None:
            arguments.append(f"-acl={acl}")
        self._certificates = tempfile.TemporaryDirectory(prefix="proconsul-") if https else None
        if self._certificates is not None:
            arguments += ["-https-dev", f"-https-dev-dir={self._certificates.name}"]
        self._log: collections.deque[str] = collections.deque(maxlen=LOG_LINES)
        self._ports: dict[str, Any] | None = None
        self._process = self._spawn([*arguments, *args])
        # A server that nobody stops ends with the tests.
        weakref.finalize(self, self._process.kill)
        try:
            self._await_start()
            self._check_version(as_version)
        except BaseException:
            self._end()
            raise
        _RUNNING[id(self)] = self

    def _spawn(self, arguments: list[str]) -> subprocess.Popen[str]:
        # A server is what its arguments say, whatever the environment of the tests is.
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("CONSUL_", "PROCONSUL_"))
        }
        try:
            process = subprocess.Popen(
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=environment,
                text=True,
                encoding="utf-8",
                errors="replace",
            )
        except OSError as error:
            raise BinaryError(f"{arguments[0]} cannot be run: {error}; it may be a binary for another platform") from error
        self._started = threading.Event()
        self._reader = threading.Thread(target=self._read, args=(process,), daemon=True)
        self._reader.start()
        return process

    def _read(self, process: subprocess.Popen[str]) -> None:
        """Reads the log to its end, so that the server never waits for its reader."""
        assert process.stdout is not None
        for line in process.stdout:
            if self._ports is None and line.startswith('{"'):
                self._ports = json.loads(line)
                self._started.set()
            else:
                self._log.append(line)
        process.stdout.close()
        self._started.set()

    def _await_start(self) -> None:
        if not self._started.wait(START_WITHIN):
            raise StartError(f"the server has not said within {START_WITHIN} s where it listens:\n{self.log}")
        if self._ports is None:
            code = self._process.wait()
            advice = "" if self._log else f"; is {self._binary} proconsul?"
            raise StartError(f"the server ended at its start with exit code {code}{advice}\n{self.log}".rstrip())
        #: The URL of Consul's API, such as http://127.0.0.1:40123.
        self.url = f"http://{self._ports['http']}"
        addresses = list(self._ports.get("agents", [self._ports["http"]]))
        for others in self._ports.get("datacenters", {}).values():
            addresses += others
        #: The URLs of Consul's API of each agent, the one above first. Those of joined datacenters follow.
        self.agent_urls = [f"http://{address}" for address in addresses]
        #: The URL of the control plane.
        self.control_url = f"http://{self._ports['control']}/proconsul/v1"
        #: Host and port of DNS, over UDP and TCP; empty where the server answers none: as WebAssembly, or at a `port` other than 8500.
        self.dns_address = self._ports.get("dns", "")
        #: The URL of Consul's API over HTTPS; empty without `https`.
        self.https_url = f"https://{self._ports['https']}" if "https" in self._ports else ""
        #: The file with the certificate of the authority that has signed the server's; empty without `https`.
        self.ca_file = self._ports.get("https_ca_file", "")

    def _check_version(self, wanted: str | None) -> None:
        about = self.server()
        if wanted is not None and f"{about['version']}.".find(f"{wanted}.") != 0:
            raise StartError(f"Consul {wanted} is not known: the newest release that is emulated is {about['version']}")
        #: The seed of the run, which `Server(seed=...)` repeats.
        self.seed = about["seed"]
        try:
            own = metadata.version("proconsul")
        except metadata.PackageNotFoundError:
            return
        if about["proconsul"] != own:
            raise BinaryError(
                f"{self._binary} is proconsul {about['proconsul']}, and this package is {own}: install the binary of "
                f"{own}, or unset {VARIABLE}, so that the one of the package is used"
            )

    @property
    def host(self) -> str:
        """The IP address of Consul's API."""
        return self.url.rsplit("/", 1)[1].rsplit(":", 1)[0]

    @property
    def port(self) -> int:
        """The port of Consul's API."""
        return int(self.url.rsplit(":", 1)[1])

    @property
    def address(self) -> str:
        """Host and port, as CONSUL_HTTP_ADDR takes them."""
        return f"{self.host}:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which clients of Consul find this server."""
        return {"CONSUL_HTTP_ADDR": self.address}

    @property
    def log(self) -> str:
        """The last lines of the server's log."""
        return "".join(self._log)

    def history_text(self) -> str:
        """What happened on the server, a line for each record."""
        return self._call("GET", "/history", query={"format": "text"})

    def failure_text(self) -> str:
        """What to print when a test has failed: seed, history, and the timeline of each key that was locked."""
        parts = [f"what happened on {self.url} (seed {self.seed}):", self.history_text()]
        locks = self.history(kind=["acquired", "acquire-refused"])["records"]
        for key in dict.fromkeys(record["key"] for record in locks if record["key"]):
            parts.append(self.timeline(key))
        return "\n".join(parts)

    def stop(self) -> None:
        """Ends the server. Nothing is lost by it: all of its state is in memory.

        Where an exception is on its way, as in a `finally` block, it gets a note with `failure_text()`; Python before
        3.11 prints it on standard error.
        """
        self._stop(sys.exc_info()[1])

    def _stop(self, failure: BaseException | None) -> None:
        if failure is not None and _RUNNING.pop(id(self), None) is not None:
            text = self._failure_or_reason()
            if hasattr(failure, "add_note"):
                failure.add_note(text)
            else:
                print(text, file=sys.stderr)
        self._end()

    def _failure_or_reason(self) -> str:
        try:
            return self.failure_text()
        except Exception as error:  # a report must not hide the failure that it is about
            return f"the server cannot be asked: {error}"

    def _end(self) -> None:
        _RUNNING.pop(id(self), None)
        self._process.kill()
        self._process.wait()
        self._reader.join()
        if self._certificates is not None:
            self._certificates.cleanup()

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _call(self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None) -> Any:
        url = self.control_url + path
        given = {name: value for name, value in (query or {}).items() if value is not None}
        if given:
            url += "?" + urllib.parse.urlencode(given, doseq=True)
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url, data=data, method=method)
        try:
            # The control plane is on this machine, whatever proxies the environment names.
            with _DIRECT.open(request, timeout=ANSWER_WITHIN) as answer:
                text = answer.read().decode()
                return json.loads(text) if answer.headers.get_content_type() == "application/json" else text
        except urllib.error.HTTPError as error:
            with error:
                raise ControlError(error.code, error.read().decode().strip()) from None
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            raise ProconsulError(f"{method} {path}: {reason}; the server {self._state()}\n{self.log}".rstrip()) from None

    def _state(self) -> str:
        try:
            # One that has closed a connection may be ending.
            code = self._process.wait(ENDS_WITHIN)
        except subprocess.TimeoutExpired:
            return "runs"
        self._reader.join()
        return f"has ended with exit code {code}"


_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class AsyncServer(AsyncControls):
    """The same as `Server`, for asyncio: `async with proconsul.AsyncServer() as server`."""

    def __init__(self, **options: Any) -> None:
        self._options = options
        self.sync: Server

    @classmethod
    def over(cls, server: Server) -> "AsyncServer":
        """The controls of a running server, for asyncio. Who started it stops it."""
        made = cls()
        made.sync = server
        return made

    async def __aenter__(self) -> "AsyncServer":
        self.sync = await asyncio.to_thread(lambda: Server(**self._options))
        return self

    async def __aexit__(self, _type: object, failure: BaseException | None, _traceback: object) -> None:
        await asyncio.to_thread(self.sync._stop, failure)

    @property
    def url(self) -> str:
        """The URL of Consul's API."""
        return self.sync.url

    @property
    def agent_urls(self) -> list[str]:
        """The URLs of Consul's API of each agent, the one above first. Those of joined datacenters follow."""
        return self.sync.agent_urls

    @property
    def dns_address(self) -> str:
        """Host and port of DNS, over UDP and TCP; empty where the server answers none: as WebAssembly, or at a `port` other than 8500."""
        return self.sync.dns_address

    @property
    def https_url(self) -> str:
        """The URL of Consul's API over HTTPS; empty without `https`."""
        return self.sync.https_url

    @property
    def ca_file(self) -> str:
        """The file with the certificate of the authority that has signed the server's; empty without `https`."""
        return self.sync.ca_file

    @property
    def host(self) -> str:
        """The IP address of Consul's API."""
        return self.sync.host

    @property
    def port(self) -> int:
        """The port of Consul's API."""
        return self.sync.port

    @property
    def address(self) -> str:
        """Host and port, as CONSUL_HTTP_ADDR takes them."""
        return self.sync.address

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which clients of Consul find this server."""
        return self.sync.environment

    @property
    def seed(self) -> int:
        """The seed of the run, which `AsyncServer(seed=...)` repeats."""
        return self.sync.seed

    @property
    def log(self) -> str:
        """The last lines of the server's log."""
        return self.sync.log

    async def history_text(self) -> str:
        """As `Server.history_text`."""
        return await asyncio.to_thread(self.sync.history_text)

    async def failure_text(self) -> str:
        """As `Server.failure_text`."""
        return await asyncio.to_thread(self.sync.failure_text)
