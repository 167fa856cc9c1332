"""The controls of a server. Made by server/packaging/controls/generate from the server's own description: do not edit."""

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

ErrorName = Literal["no-cluster-leader", "rpc-eof", "rpc-connection-refused", "no-known-servers", "leadership-lost", "rate-limited", "too-many-connections", "server-rate-limited", "leader-rate-limited", "permission-denied", "acl-not-found"]
"""Which error.

- `no-cluster-leader`: 500 `No cluster leader`, after Consul has waited 7 s for one.
- `rpc-eof`: 500 `rpc error making call: EOF`: the connection to the leader ended.
- `rpc-connection-refused`: 500: the old leader's port refuses connections.
- `no-known-servers`: 500 `No known Consul servers`: a client agent has given up all servers.
- `leadership-lost`: 500 `leadership lost while committing log`, after half a second: the write may or may not have been applied.
- `rate-limited`: 429 of `limits.rpc_rate`; without a text before 1.15.
- `too-many-connections`: 429 of `limits.http_max_conns_per_client`; before 1.9 the connection is closed without a word.
- `server-rate-limited`: 429 of `request_limits`: another server may do it.
- `leader-rate-limited`: 503 of `request_limits`: only the leader could do it.
- `permission-denied`: 403 `Permission denied`, with what is missing since 1.12.
- `acl-not-found`: 403 `ACL not found`: the token is unknown.
"""

Kind = Literal["request", "answer", "blocked", "woken", "held", "key-written", "key-deleted", "key-tree-deleted", "write-refused", "acquired", "acquire-refused", "released", "release-refused", "lock-delay-began", "lock-delay-ended", "session-created", "session-renewed", "session-refused", "session-ended", "catalog-changed", "tombstones-reaped", "access-denied", "token-unknown", "rows-removed", "belief", "control"]
"""A kind of record.

- `request`: A request arrived.
- `answer`: A request was answered.
- `blocked`: A blocking query waits.
- `woken`: A blocking query looks again.
- `held`: A fault holds a request.
- `key-written`: A key was created or changed.
- `key-deleted`: A key was deleted.
- `key-tree-deleted`: All keys with a prefix were deleted.
- `write-refused`: A conditional write did not take place.
- `acquired`: A key was acquired.
- `acquire-refused`: A key was not acquired.
- `released`: A key has no holder any more.
- `release-refused`: A release by somebody who holds nothing.
- `lock-delay-began`: A key is guarded.
- `lock-delay-ended`: A key is guarded no more.
- `session-created`: A session was created.
- `session-renewed`: A TTL started anew.
- `session-refused`: A session call was refused.
- `session-ended`: A session ended.
- `catalog-changed`: Nodes, services or checks changed.
- `tombstones-reaped`: The memory of deleted keys was cleared.
- `access-denied`: A request was refused: its token lacks a permission.
- `token-unknown`: A request was refused: its token is unknown.
- `rows-removed`: An answer lacks what its token may not see.
- `belief`: A program said whether it believes that it holds a lock.
- `control`: The test did something to the server.
"""

Link = Literal["up", "silent", "cut"]
"""The state of the link.

- `up`: Requests and responses get through.
- `silent`: Nothing gets through. What is sent meanwhile arrives when the link is up again.
- `cut`: Connections are reset.
"""

Moment = Literal["arrival", "blocked"]
"""When something happens to a request.

- `arrival`: Before the request is looked at.
- `blocked`: When it blocks, for a blocking query that finds nothing new.
"""

Phase = Literal["never-elected", "unreachable", "silent", "electing", "quorum-lost", "no-leader"]
"""A phase.

- `never-elected`: There never was a leader: everything but the agent's own endpoints waits 7 s for one (from 1.15 on up to 13.5 s) and fails, reads with `?stale` too.
- `unreachable`: The leader, another server, is dead, and this one does not know it yet: calls fail at once. Reads with `?stale` go on.
- `silent`: The leader, another server, does not answer, and this one does not know it yet: calls hang for 28 s and fail, unless there is a leader again. Reads with `?stale` go on.
- `electing`: A leader is being elected: calls are held until the phase is over, and then go on; for as long as Consul waits for a leader at all. Reads with `?stale` go on.
- `quorum-lost`: This server is the leader and has just lost the others: writes fail after half a second, reads go on.
- `no-leader`: There is no leader and no election succeeds: calls wait 7 s for one and fail; reads with `?stale` say that there is none, and how long ago there was one.
"""

RestartState = Literal["keep", "wipe"]
"""What the restart leaves of the state.

- `keep`: What Consul writes to its disk: keys, sessions, catalog and indexes. TTLs start anew, lock-delays are forgotten.
- `wipe`: Nothing, as of `consul agent -dev`.
"""

Scenario = Literal["never-elected", "leader-killed", "quorum-lost", "starting"]
"""A scenario.

- `never-elected`: The cluster never had a leader, until it is given one by `POST /leader/find`.
- `leader-killed`: The leader, another server, dies: two seconds of failures at once, then an election of 1.16 s, and there is a leader again.
- `quorum-lost`: This server is the leader and loses the others: for half a second writes fail, then there is no leader until `POST /leader/find`.
- `starting`: The server has just been started: calls are held for a quarter of a second, and go on.
"""


class About(TypedDict):
    """What a server is."""

    proconsul: str
    """The version of proconsul."""
    version: str
    """The emulated release of Consul."""
    seed: int
    """The seed from which session ids, the node's id and jitter are drawn; `--seed` and `POST /servers` take it."""
    node: str
    """The name of the agent's node."""
    datacenter: str
    """The name of the datacenter."""
    epoch_ms: int
    """The wall clock at the start of the server's clock, in milliseconds since the Unix epoch: with the time of a record it is the wall clock of that record."""


class Agent(TypedDict):
    """An agent."""

    agent: int
    """Its number, from 0 on."""
    node: str
    """The name of its node."""
    address: str | None
    """The address of its Consul API; none if it does not listen on TCP."""
    server: bool
    """Whether it is a server."""
    leads: bool
    """Whether it leads."""
    runs: bool
    """Whether its process runs."""
    cut: bool
    """Whether it is cut off from the others."""
    failed: bool
    """Whether the others have marked it as failed, or as one that has left."""


class Agents(TypedDict):
    """The agents."""

    agents: list[Agent]
    """The agents, servers first."""


class AllDue(TypedDict):
    """What will happen by itself."""

    now_ms: int
    """The time, in milliseconds since the clock began."""
    due: list[Due]
    """What will happen, the next thing first."""


class AtIndex(TypedDict):
    """The index of the state."""

    index: int
    """The index of the last change, now."""


class Belief(TypedDict):
    """That a program believed to hold the lock."""

    session: str
    """The session with which the program acquired the lock."""
    from_ms: int
    """Since when it believed to hold it, in milliseconds of the server's clock."""
    to_ms: int
    """Until when, in milliseconds of the server's clock; not before `from_ms`."""


class Blocked(TypedDict):
    """A request that waits for a change."""

    request: int
    """The number of the request."""
    client: str | None
    """The address that it came from; null for one through a Unix socket."""
    target: str
    """Its path and parameters, as sent."""
    read: str
    """What it reads, in words."""
    min_index: int
    """The index that it waits to be passed."""
    since_ms: int
    """When it arrived, in milliseconds of the server's clock."""
    record: int
    """The number of the record of its arrival."""
    until_ms: int
    """When its wait ends, in milliseconds of the server's clock."""


class Caused(TypedDict):
    """What happened while time passed."""

    now_ms: int
    """The time, in milliseconds since the clock began."""
    caused: list[Record]
    """What the time that passed has caused, in order."""


class Checkpoints(TypedDict):
    """The checkpoints of a server."""

    checkpoints: list[str]
    """Their names, in byte order."""


class Clock(TypedDict):
    """The clock of a server."""

    now_ms: int
    """The time, in milliseconds since the clock began."""
    rate: float
    """How fast the clock runs; 0 stands still, 1 is the machine's time."""
    next_deadline_in_ms: int | None
    """How long it is until something happens by itself, in milliseconds; null for never."""


class Datacenter(TypedDict):
    """A datacenter."""

    datacenter: str
    """Its name."""
    cut: bool
    """Whether it is cut off from the others."""
    agents: list[Agent]
    """Its agents, servers first."""


class Datacenters(TypedDict):
    """The datacenters."""

    datacenters: list[Datacenter]
    """The datacenters, in the order in which they were given."""


class Due(TypedDict):
    """Something that will happen by itself."""

    at_ms: int
    """When, in milliseconds since the clock began."""
    text: str
    """What will happen, in words."""
    key: NotRequired[str | None]
    """The key whose lock-delay ends."""
    session: NotRequired[str | None]
    """The session that expires unless it is renewed."""


class ErrorEffect(TypedDict):
    """Answers with one of Consul's own errors, after the time that Consul takes to give it. Nothing is applied."""

    kind: Literal["error"]
    error: ErrorName
    """Which error."""
    after: NotRequired[str | None]
    """After how long on the server's clock, in place of Consul's time: a duration such as `0s` or `250ms`. `0s` answers at once; on a clock that stands still every other time lasts until the clock is moved."""


class RespondEffect(TypedDict):
    """Answers with any status, headers and body, as a proxy between client and Consul does. Nothing is applied."""

    kind: Literal["respond"]
    status: int
    """The status, from 200 to 999."""
    body: NotRequired[str | None]
    """The body, as text. Without any the body is empty."""
    body_base64: NotRequired[str | None]
    """The body as base64, for one that is not text. At most one of the two is given."""
    headers: NotRequired[dict[str, str]]
    """The headers, by name. `Content-Length`, `Transfer-Encoding` and `Date` are the server's own and refused."""


class DelayBeforeEffect(TypedDict):
    """Holds the request before it is applied."""

    kind: Literal["delay-before"]
    by: str
    """For how long on the server's clock: a duration such as `20s` or `250ms`."""


class DelayAfterEffect(TypedDict):
    """Applies the request, and holds its answer."""

    kind: Literal["delay-after"]
    by: str
    """For how long on the server's clock: a duration such as `20s` or `250ms`."""


class HangEffect(TypedDict):
    """Never answers. Nothing is applied."""

    kind: Literal["hang"]


class ResetEffect(TypedDict):
    """Resets the connection without an answer. Nothing is applied."""

    kind: Literal["reset"]


class EmptyReplyEffect(TypedDict):
    """Closes the connection without an answer. Nothing is applied."""

    kind: Literal["empty-reply"]


class AppliedThenResetEffect(TypedDict):
    """Applies the request, and resets the connection without an answer."""

    kind: Literal["applied-then-reset"]


class AppliedThenEmptyReplyEffect(TypedDict):
    """Applies the request, and closes the connection without an answer."""

    kind: Literal["applied-then-empty-reply"]


class TruncateEffect(TypedDict):
    """Applies the request, and closes the connection within the body of the answer."""

    kind: Literal["truncate"]
    bytes: int
    """How many bytes of the body are sent."""


class AcquireInFlightEffect(TypedDict):
    """Lets a PUT with `?acquire` take its key during the lock-delay, as a real Consul does now and then when the acquire is in flight while the holder's session ends. The acquire of a key that another session holds waits (`GET /blocked` has it) until that session holds it no more, and is then applied. One that comes later, into the lock-delay, is refused as always."""

    kind: Literal["acquire-in-flight"]


class RevokeTokenEffect(TypedDict):
    """Deletes the token with which the request comes. The request is then handled as always."""

    kind: Literal["revoke-token"]
    when: NotRequired[Moment | None]
    """When; `arrival` if it is left out."""


class ChangeRulesEffect(TypedDict):
    """Gives the policies of the token with which the request comes other rules. The request is then handled as always."""

    kind: Literal["change-rules"]
    rules: str
    """The rules, in HCL or JSON, as a policy has them."""
    when: NotRequired[Moment | None]
    """When; `arrival` if it is left out."""


class IndexEffect(TypedDict):
    """Lets a read report another `X-Consul-Index` than the true one."""

    kind: Literal["index"]
    index: int
    """The index that is reported; 0 is one that no Consul reports."""


class IndexBackEffect(TypedDict):
    """Lets a read report an `X-Consul-Index` that is lower than the true one, but at least 1."""

    kind: Literal["index-back"]
    by: int
    """By how much."""


class ReadFromEffect(TypedDict):
    """Answers reads with `?stale` from a checkpoint, as a server that has fallen behind does."""

    kind: Literal["read-from"]
    checkpoint: str
    """The name of the checkpoint."""
    last_contact: str
    """What `X-Consul-LastContact` says: a duration such as `20s` or `250ms`."""


class DnsServfailEffect(TypedDict):
    """Answers questions of DNS with the code SERVFAIL."""

    kind: Literal["dns-servfail"]


class DnsTruncatedEffect(TypedDict):
    """Answers questions of DNS over UDP without records, as truncated: a client asks again over TCP."""

    kind: Literal["dns-truncated"]

Effect = Union[ErrorEffect, RespondEffect, DelayBeforeEffect, DelayAfterEffect, HangEffect, ResetEffect, EmptyReplyEffect, AppliedThenResetEffect, AppliedThenEmptyReplyEffect, TruncateEffect, AcquireInFlightEffect, RevokeTokenEffect, ChangeRulesEffect, IndexEffect, IndexBackEffect, ReadFromEffect, DnsServfailEffect, DnsTruncatedEffect]
"""What happens to the requests.

- `error`: Answers with one of Consul's own errors, after the time that Consul takes to give it. Nothing is applied.
- `respond`: Answers with any status, headers and body, as a proxy between client and Consul does. Nothing is applied.
- `delay-before`: Holds the request before it is applied.
- `delay-after`: Applies the request, and holds its answer.
- `hang`: Never answers. Nothing is applied.
- `reset`: Resets the connection without an answer. Nothing is applied.
- `empty-reply`: Closes the connection without an answer. Nothing is applied.
- `applied-then-reset`: Applies the request, and resets the connection without an answer.
- `applied-then-empty-reply`: Applies the request, and closes the connection without an answer.
- `truncate`: Applies the request, and closes the connection within the body of the answer.
- `acquire-in-flight`: Lets a PUT with `?acquire` take its key during the lock-delay, as a real Consul does now and then when the acquire is in flight while the holder's session ends. The acquire of a key that another session holds waits (`GET /blocked` has it) until that session holds it no more, and is then applied. One that comes later, into the lock-delay, is refused as always.
- `revoke-token`: Deletes the token with which the request comes. The request is then handled as always.
- `change-rules`: Gives the policies of the token with which the request comes other rules. The request is then handled as always.
- `index`: Lets a read report another `X-Consul-Index` than the true one.
- `index-back`: Lets a read report an `X-Consul-Index` that is lower than the true one, but at least 1.
- `read-from`: Answers reads with `?stale` from a checkpoint, as a server that has fallen behind does.
- `dns-servfail`: Answers questions of DNS with the code SERVFAIL.
- `dns-truncated`: Answers questions of DNS over UDP without records, as truncated: a client asks again over TCP.
"""


class Explanation(TypedDict):
    """Who holds a key, and who waits for it."""

    key: str
    """The key."""
    exists: bool
    """Whether the key exists."""
    holder: str | None
    """The session that holds it; null when none does."""
    held_since_ms: int | None
    """Since when, in milliseconds of the server's clock; null where the history does not go back so far."""
    lapses_in_ms: int | None
    """How long the holder's session lives unless it is renewed, in milliseconds; null without a TTL."""
    lock_index: int
    """How often the key was acquired."""
    lock_delay_left_ms: int | None
    """For how long nobody can acquire it, in milliseconds; null when anybody can."""
    waiting: list[Blocked]
    """Who waits for it to change."""
    last: str | None
    """What last happened to the lock, in words; null when nothing did."""
    text: str
    """All of it in words."""


class Exported(TypedDict):
    """A key as `consul kv export` prints it."""

    key: str
    """The key, which is not empty."""
    flags: int
    """The flags that clients keep with the key."""
    value: str
    """The value as base64."""


class Header(TypedDict):
    """A header of the requests, by which clients on one machine can be told apart."""

    name: str
    """The name of the header."""
    value: str
    """All of its value."""


class Held(TypedDict):
    """A request that a fault holds."""

    request: int
    """The number of the request."""
    client: str | None
    """The address that it came from; null for one through a Unix socket."""
    target: str
    """Its path and parameters, as sent."""
    fault: str
    """The fault, in words."""
    since_ms: int
    """When it arrived, in milliseconds of the server's clock."""
    record: int
    """The number of the record of its arrival."""
    until_ms: int | None
    """When it goes on, in milliseconds of the server's clock; null if it is held until its client gives up."""


class History(TypedDict):
    """Records of the history."""

    records: list[Record]
    """The records, oldest first."""
    lost: int
    """How many older records are gone because there were more than the history keeps."""


class Id(TypedDict):
    """A rule was installed."""

    id: int
    """The id of the new rule, for `DELETE /faults/{id}`."""


class Imported(TypedDict):
    """Keys were imported."""

    keys: int
    """How many keys."""


class InstalledRule(TypedDict):
    """A rule that is installed."""

    id: int
    """The rule's id, for `DELETE /faults/{id}`."""
    effect: str
    """What the rule does, in words."""
    requests: str
    """Which requests the rule hits, in words: `PUT, key "job/"`, or `all requests`."""
    times: int | None
    """How many requests the rule hits at most; null without a limit."""
    hits: int
    """How often it has hit a request."""


class Listed(TypedDict):
    """A server that was started on demand."""

    id: int
    """The server's id, for `DELETE /servers/{id}`."""
    url: str
    """The URL of its Consul API."""
    agents: list[str]
    """The URLs of the Consul API of all its agents, the one above first."""
    control: str
    """The URL of its control plane."""
    seed: int
    """The seed with which it can be started again."""


class Lock(TypedDict):
    """A key that is held."""

    key: str
    """The key."""
    session: str
    """The session that holds it."""
    lock_index: int
    """How often the key was acquired."""


class Locks(TypedDict):
    """The keys that are held."""

    locks: list[Lock]
    """The keys, in byte order."""


class LossPhase(TypedDict):
    """A phase of a loss."""

    phase: Phase
    """What the cluster goes through."""
    lasts: NotRequired[str | None]
    """For how long on the server's clock: a duration such as `20s` or `250ms`. Only the last phase can be without; then it lasts until `POST /leader/find`."""


class Permission(TypedDict):
    """Whether a token has a permission."""

    token: str
    """The AccessorID of the token."""
    token_description: str
    """The description of the token."""
    permission: str
    """The permission, with the name of what it is about."""
    allowed: bool
    """Whether the token has it."""
    cause: str
    """What decides: a rule and the policy that has it, or the default policy."""
    text: str
    """All of it in words."""


class Record(TypedDict):
    """Something that happened. Which fields a record has beyond the first five depends on its kind."""

    number: int
    """The record's place in the history, counted from 1."""
    at_ms: int
    """When it happened, in milliseconds of the server's clock."""
    index: int
    """The index of the state after it."""
    kind: Kind
    """What kind of record this is."""
    text: str
    """All of it in one line."""
    agent: NotRequired[int | None]
    """The number of the agent that a request came to, where there are several."""
    cause: NotRequired[str | None]
    """Why: of a wake, a refusal, a release, or the end of a session."""
    caused_by: NotRequired[int | None]
    """The number of the record that it follows from: of a request, of the end of a session, of a control. It is left out where the clock, or the test's own program, did it."""
    client: NotRequired[str | None]
    """The address that a request came from; null for one through a Unix socket."""
    fault: NotRequired[str | None]
    """The fault that hit a request, in words; null when none did."""
    holds: NotRequired[bool | None]
    """Whether that program believes that it holds the lock."""
    key: NotRequired[str | None]
    """The key that the record is about."""
    keys: NotRequired[int | None]
    """How many keys were deleted."""
    lasts_ms: NotRequired[int | None]
    """How long a lock-delay lasts, or a request is held, in milliseconds of the server's clock; left out for a request that is held until its client gives up."""
    method: NotRequired[str | None]
    """A request's method."""
    min_index: NotRequired[int | None]
    """The index that a blocking query waits to be passed."""
    name: NotRequired[str | None]
    """The name of a session that was created, or of what a token lacks a permission on."""
    node: NotRequired[str | None]
    """The node of a session that was created."""
    permission: NotRequired[str | None]
    """What the token lacks, such as `key:write`."""
    prefix: NotRequired[str | None]
    """What the deleted keys start with."""
    program: NotRequired[str | None]
    """The program that said what it believes."""
    request: NotRequired[int | None]
    """The number of the request, of the kinds `request`, `answer`, `blocked`, `woken`, `held`, `access-denied`, `token-unknown` and `rows-removed`."""
    rows: NotRequired[int | None]
    """How many rows were removed from an answer."""
    session: NotRequired[str | None]
    """The session that the record is about."""
    status: NotRequired[int | None]
    """The status of an answer, or the code of one of DNS: 0 NOERROR, 2 SERVFAIL, 3 NXDOMAIN, 5 REFUSED; null when none was sent."""
    target: NotRequired[str | None]
    """A request's path and parameters, as sent."""
    token: NotRequired[str | None]
    """The AccessorID of the token that was refused, or from whose answer rows were removed."""
    token_description: NotRequired[str | None]
    """The description of that token."""
    ttl_ms: NotRequired[int | None]
    """The TTL of a session that was created, in milliseconds; 0 for a session without one."""


class Rules(TypedDict):
    """The rules that are installed."""

    rules: list[InstalledRule]
    """The rules, in the order in which they are tried."""
    leader_lost: Phase | None
    """What the cluster goes through without its leader; null while it has one."""


class Safety(TypedDict):
    """Whether a lock was safe."""

    safe: bool
    """Whether there are no violations."""
    violations: list[str]
    """What was wrong, a sentence each."""
    timeline: str
    """The life of the key, for people."""


class Servers(TypedDict):
    """The servers that were started on demand."""

    servers: list[Listed]
    """The servers, oldest first."""


class Token(TypedDict):
    """A token."""

    accessor: str
    """The AccessorID, by which the history names it."""
    secret: str
    """The SecretID, which requests send."""


class Waiting(TypedDict):
    """Requests that wait."""

    blocked: list[Blocked]
    """The blocking queries, oldest first."""
    held: list[Held]
    """The requests that faults hold, oldest first."""


class Woken(TypedDict):
    """Requests were woken."""

    woken: int
    """How many requests looked again."""


__all__ = [
    "AsyncControls",
    "Controls",
    "Duration",
    "About",
    "AcquireInFlightEffect",
    "Agent",
    "Agents",
    "AllDue",
    "AppliedThenEmptyReplyEffect",
    "AppliedThenResetEffect",
    "AtIndex",
    "Belief",
    "Blocked",
    "Caused",
    "ChangeRulesEffect",
    "Checkpoints",
    "Clock",
    "Datacenter",
    "Datacenters",
    "DelayAfterEffect",
    "DelayBeforeEffect",
    "DnsServfailEffect",
    "DnsTruncatedEffect",
    "Due",
    "Effect",
    "EmptyReplyEffect",
    "ErrorEffect",
    "ErrorName",
    "Explanation",
    "Exported",
    "HangEffect",
    "Header",
    "Held",
    "History",
    "Id",
    "Imported",
    "IndexBackEffect",
    "IndexEffect",
    "InstalledRule",
    "Kind",
    "Link",
    "Listed",
    "Lock",
    "Locks",
    "LossPhase",
    "Moment",
    "Permission",
    "Phase",
    "ReadFromEffect",
    "Record",
    "ResetEffect",
    "RespondEffect",
    "RestartState",
    "RevokeTokenEffect",
    "Rules",
    "Safety",
    "Scenario",
    "Servers",
    "Token",
    "TruncateEffect",
    "Waiting",
    "Woken",
]


def _duration(value: Duration | None) -> str | None:
    if value is None or isinstance(value, str):
        return value
    seconds = value.total_seconds() if isinstance(value, timedelta) else value
    return f"{round(seconds * 1_000_000)}us"


def _given(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


class Controls:
    """What a test can do to a server, and learn about it."""

    def _call(self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None) -> Any:
        raise NotImplementedError

    def accept_connections(self) -> None:
        """Takes connections again, on the same port."""
        self._call("POST", "/connections/accept")

    def advance(self, by: Duration) -> Caused:
        """Moves the clock on through every deadline, and returns what that caused when all who were woken have been answered.

        by: How far the clock moves: a duration such as `20s`, `1m30s` or `250ms`.
        """
        return self._call("POST", "/clock/advance", body=_given({"by": _duration(by)}))

    def advance_to_next(self) -> Caused:
        """Moves the clock to the next deadline; does nothing when nothing is ever due."""
        return self._call("POST", "/clock/advance-to-next")

    def agents(self) -> Agents:
        """The agents of the datacenter: one, unless the server was started with `--agents`."""
        return self._call("GET", "/agents")

    def auto(self, clients: int) -> None:
        """Lets the clock jump to the next deadline whenever at least so many requests are open and all of them are blocked.

        clients: How many requests have to be open, at least 1: one for each program that waits.
        """
        self._call("POST", "/clock/auto", body=_given({"clients": clients}))

    def believe(self, program: str, holds: bool, *, fencing_token: str | None = None) -> None:
        """Records that a program believes from now on that it holds a lock, or that it does not: `proconsul explore` judges programs by this, and the history shows it.

        program: The name of the program.
        holds: Whether it believes that it holds the lock.
        fencing_token: The fencing token with which it holds the lock, if it has one.
        """
        self._call("POST", "/beliefs", body=_given({"program": program, "holds": holds, "fencing_token": fencing_token}))

    def blocked(self) -> Waiting:
        """The blocking queries that wait now, and the requests that faults hold: where the clock stands still, they wait until it is moved."""
        return self._call("GET", "/blocked")

    def change_rules(self, token: str, rules: str) -> AtIndex:
        """Gives the policies of a token other rules. They count for all tokens with these policies.

        token: The SecretID or the AccessorID of the token.
        rules: The rules, in HCL or JSON, as a policy has them.
        """
        return self._call("POST", "/acl/rules", body=_given({"token": token, "rules": rules}))

    def checkpoint(self, name: str) -> AtIndex:
        """Keeps the state under a name, in place of what was kept under it before.

        name: The name of the checkpoint. Any text is one.
        """
        return self._call("POST", "/state/checkpoint", body=_given({"name": name}))

    def checkpoints(self) -> Checkpoints:
        """The names of the checkpoints."""
        return self._call("GET", "/state/checkpoints")

    def clear_faults(self) -> None:
        """Takes all rules away; wakes come in time, and there is a leader."""
        self._call("DELETE", "/faults")

    def clear_history(self) -> None:
        """Forgets the history so far."""
        self._call("DELETE", "/history")

    def clock(self) -> Clock:
        """The time, the rate, and when something next happens by itself."""
        return self._call("GET", "/clock")

    def cut_agent(self, agent: int, *, datacenter: str | None = None) -> None:
        """Cuts an agent off from all others; its clients still reach it.

        agent: The number of the agent, from 0 on.
        datacenter: The name of its datacenter, where several are joined. When it is left out: the one that is asked.
        """
        self._call("POST", "/agents/cut", body=_given({"agent": agent, "datacenter": datacenter}))

    def cut_datacenter(self, datacenter: str) -> None:
        """Cuts a datacenter off from all others; within it all goes on.

        datacenter: The name of the datacenter.
        """
        self._call("POST", "/datacenters/cut", body=_given({"datacenter": datacenter}))

    def datacenters(self) -> Datacenters:
        """The datacenters: one, unless the server was started with `--datacenters`. Each has its own agents, state, history and faults, and a control plane at the addresses of its agents; the time of all is one."""
        return self._call("GET", "/datacenters")

    def delay_wakes(self, prefix: str, by: Duration, *, times: int | None = None) -> None:
        """Lets the wakes of requests that are blocked on keys under a prefix come late.

        prefix: What the keys begin with; all keys when it is empty.
        by: How late the wakes come on the server's clock: a duration such as `20s` or `250ms`.
        times: How many wakes come late, at least 1; all of them when it is left out.
        """
        self._call("POST", "/wakes/delay", body=_given({"prefix": prefix, "by": _duration(by), "times": times}))

    def delete_checkpoint(self, name: str) -> None:
        """Deletes a checkpoint, and frees what only it still holds.

        name: The name of the checkpoint. Any text is one.
        """
        self._call("DELETE", "/state/checkpoint", query={"name": name})

    def delete_node(self, node: str) -> None:
        """Deletes a node with its services, checks and sessions.

        node: The name of the node.
        """
        self._call("POST", "/nodes/delete", body=_given({"node": node}))

    def due(self) -> AllDue:
        """What will happen by itself, and when. Blocked requests, whose waits end, are in `GET /blocked`."""
        return self._call("GET", "/clock/due")

    def expire_session(self, session: str) -> None:
        """Expires a session now.

        session: The id of the session.
        """
        self._call("POST", "/sessions/expire", body=_given({"session": session}))

    def explain(self, key: str) -> Explanation:
        """Who holds a key, since when, what keeps others from it, and who waits.

        key: The key.
        """
        return self._call("GET", "/explain", query={"key": key})

    def explain_permission(self, permission: str, token: str, *, name: str | None = None) -> Permission:
        """Whether a token has a permission, and what decides that.

        permission: The permission as refusals name it, such as `key:write`. For the keys below a prefix there are `key:list` and, to delete them, `key:write-prefix`.
        token: The SecretID or the AccessorID of the token; `anonymous` for requests without one.
        name: The name of what it is about; empty for a resource without names.
        """
        return self._call("GET", "/acl/explain", query={"permission": permission, "token": token, "name": name})

    def export_kv(self, *, prefix: str | None = None) -> list[Exported]:
        """Keys in the format of `consul kv export`.

        prefix: Only keys that begin with this.
        """
        return self._call("GET", "/state/kv", query={"prefix": prefix})

    def fail_check(self, check: str, *, node: str | None = None) -> None:
        """Makes a check critical, which ends the sessions that are bound to it.

        check: The id of the check, such as `serfHealth`.
        node: The name of the check's node; the agent's own node when it is left out.
        """
        self._call("POST", "/checks/fail", body=_given({"check": check, "node": node}))

    def fault(self, effect: Effect, *, agent: int | None = None, chance: float | None = None, client: str | None = None, from_ms: int | None = None, header: Header | None = None, key_prefix: str | None = None, method: str | None = None, nth: int | None = None, path: str | None = None, question: str | None = None, seed: int | None = None, session: str | None = None, times: int | None = None, to_ms: int | None = None) -> Id:
        """Installs a rule behind those that there are: the first that matches a request wins.

        effect: What happens to the requests.
        agent: Requests that come to the agent with this number, counted from 0.
        chance: With which probability a request is hit: more than 0, at most 1.
        client: Requests from this IP address.
        from_ms: Requests that come at this time or later, in milliseconds of the server's clock.
        header: A header of the requests, by which clients on one machine can be told apart.
        key_prefix: Requests for a key that begins with this, or for a tree of keys whose prefix does.
        method: Requests with this method, such as `PUT`.
        nth: Only one of the requests that meet the other conditions: the one with this number, counted from 1.
        path: Requests whose decoded path begins with this, such as `/v1/session/`.
        question: Questions of DNS about this name or one below it, such as `web.service.consul`, in place of requests; `.` is any name. They can be delayed and not answered (`hang`), and their answers fail (`dns-…`).
        seed: What `chance` is drawn from: the same seed hits the same requests.
        session: Requests that name this session: in the path of `/v1/session/`, or in `acquire=` or `release=`.
        times: How many requests are hit at most, at least 1; all of them when it is left out.
        to_ms: Requests that come before this time, in milliseconds of the server's clock.
        """
        return self._call("POST", "/faults", body=_given({"effect": effect, "agent": agent, "chance": chance, "client": client, "from_ms": from_ms, "header": header, "key_prefix": key_prefix, "method": method, "nth": nth, "path": path, "question": question, "seed": seed, "session": session, "times": times, "to_ms": to_ms}))

    def faults(self) -> Rules:
        """The rules, in the order in which they are tried, with how often they have hit."""
        return self._call("GET", "/faults")

    def find_leader(self) -> None:
        """Gives the cluster a leader again."""
        self._call("POST", "/leader/find")

    def freeze(self) -> Clock:
        """Stops the clock: nothing happens by itself, and a request that a fault holds for a time waits until the clock is moved (`held` of `GET /blocked`)."""
        return self._call("POST", "/clock/freeze")

    def heal_agent(self, agent: int, *, datacenter: str | None = None) -> None:
        """Lets an agent that was cut off reach the others again.

        agent: The number of the agent, from 0 on.
        datacenter: The name of its datacenter, where several are joined. When it is left out: the one that is asked.
        """
        self._call("POST", "/agents/heal", body=_given({"agent": agent, "datacenter": datacenter}))

    def heal_datacenter(self, datacenter: str) -> None:
        """Lets a datacenter that was cut off reach the others again.

        datacenter: The name of the datacenter.
        """
        self._call("POST", "/datacenters/heal", body=_given({"datacenter": datacenter}))

    def history(self, *, after: int | None = None, key: str | None = None, kind: Sequence[Kind] | None = None, limit: int | None = None, session: str | None = None) -> History:
        """What happened, in order, and why. `lost` says how many of the oldest records are gone because there were more than the history keeps.

        after: Only records after the one with this number.
        key: Only records about this key.
        kind: Only records of this kind. May be repeated.
        limit: Only the first so many of them.
        session: Only records about this session.
        """
        return self._call("GET", "/history", query={"after": after, "key": key, "kind": kind, "limit": limit, "session": session})

    def import_kv(self, keys: Sequence[Exported]) -> Imported:
        """Writes the keys of an export.

        keys: What an export gave.
        """
        return self._call("PUT", "/state/kv", body=keys)

    def jump(self, by: Duration) -> Caused:
        """Lets time pass as if the server's process had been stopped: what was due happens late, all at once.

        by: How far the clock moves: a duration such as `20s`, `1m30s` or `250ms`.
        """
        return self._call("POST", "/clock/jump", body=_given({"by": _duration(by)}))

    def kill_agent(self, agent: int, *, datacenter: str | None = None) -> None:
        """Ends the process of an agent, as `kill -9` does. The first agent can be killed only if the control plane has its own port.

        agent: The number of the agent, from 0 on.
        datacenter: The name of its datacenter, where several are joined. When it is left out: the one that is asked.
        """
        self._call("POST", "/agents/kill", body=_given({"agent": agent, "datacenter": datacenter}))

    def lag_agent(self, agent: int, *, datacenter: str | None = None, entries: int | None = None, hold: bool | None = None, time: Duration | None = None) -> None:
        """Sets how far a server lags behind the leader, for reads with `?stale`; as a real one if nothing says how far.

        agent: The number of the agent, from 0 on.
        datacenter: The name of its datacenter, where several are joined. When it is left out: the one that is asked.
        entries: It applies an entry when this many newer ones are there.
        hold: It applies nothing, while this is true.
        time: It applies each entry after this time on the server's clock: a duration such as `5s`.
        """
        self._call("POST", "/agents/lag", body=_given({"agent": agent, "datacenter": datacenter, "entries": entries, "hold": hold, "time": _duration(time)}))

    def lead_agent(self, agent: int, *, datacenter: str | None = None) -> None:
        """Makes a server the leader, without a request that fails.

        agent: The number of the agent, from 0 on.
        datacenter: The name of its datacenter, where several are joined. When it is left out: the one that is asked.
        """
        self._call("POST", "/agents/lead", body=_given({"agent": agent, "datacenter": datacenter}))

    def link_agent(self, agent: int, link: Link, *, datacenter: str | None = None) -> None:
        """Sets the link between an agent and its clients.

        agent: The number of the agent, from 0 on.
        link: The state of the link.
        datacenter: The name of its datacenter, where several are joined. When it is left out: the one that is asked.
        """
        self._call("POST", "/agents/link", body=_given({"agent": agent, "link": link, "datacenter": datacenter}))

    def load(self, state: Mapping[str, Any]) -> AtIndex:
        """Goes over to a state that GET gave, of this server or of another with the same version, node and datacenter; blocked requests are answered. All times in it are durations from the moment of the dump.

        state: What `state` gave.
        """
        return self._call("PUT", "/state", body=state)

    def locks(self) -> Locks:
        """The keys that are held, and by whom."""
        return self._call("GET", "/locks")

    def lose_leader(self, *, phases: Sequence[LossPhase] | None = None, scenario: Scenario | None = None) -> None:
        """Loses the leader, by a scenario or by a list of phases.

        phases: A loss of one's own: phases in their order. When the last one is over there is a leader again.
        scenario: A loss as it was measured on real clusters.
        """
        self._call("POST", "/leader/lose", body=_given({"phases": phases, "scenario": scenario}))

    def lower_indexes(self, by: int) -> AtIndex:
        """Lowers every index, but to 1 at the least, as of a Consul that was built anew with the same data; blocked requests are answered.

        by: By how much the indexes are lowered.
        """
        return self._call("POST", "/indexes/lower", body=_given({"by": by}))

    def make_token(self, rules: str, *, description: str | None = None) -> Token:
        """Makes a token with these rules. It counts at once, and goes with `/state/reset`.

        rules: The rules, in HCL or JSON, as a policy has them.
        description: The description, by which the history names the token.
        """
        return self._call("POST", "/acl/token", body=_given({"rules": rules, "description": description}))

    def no_auto(self) -> None:
        """Ends the jumps of the clock."""
        self._call("DELETE", "/clock/auto")

    def openapi(self) -> dict[str, Any]:
        """The OpenAPI description of these calls, as JSON."""
        return self._call("GET", "/openapi.json")

    def pass_check(self, check: str, *, node: str | None = None) -> None:
        """Makes a check passing.

        check: The id of the check, such as `serfHealth`.
        node: The name of the check's node; the agent's own node when it is left out.
        """
        self._call("POST", "/checks/pass", body=_given({"check": check, "node": node}))

    def pause_agent(self, agent: int, *, datacenter: str | None = None) -> None:
        """Stops the process of an agent, as SIGSTOP does: it takes connections and answers nothing, and the others lose it.

        agent: The number of the agent, from 0 on.
        datacenter: The name of its datacenter, where several are joined. When it is left out: the one that is asked.
        """
        self._call("POST", "/agents/pause", body=_given({"agent": agent, "datacenter": datacenter}))

    def rate(self, rate: float) -> Clock:
        """Lets the clock run at a multiple of the machine's time.

        rate: How fast the clock is to run: 0 stands still, 1 is the machine's time; else from 0.001 to 1000000.
        """
        return self._call("POST", "/clock/rate", body=_given({"rate": rate}))

    def refuse_connections(self) -> None:
        """Closes all connections and refuses new ones; the port stays the server's. Needs a control port."""
        self._call("POST", "/connections/refuse")

    def remove_fault(self, id: int) -> None:
        """Takes a rule away.

        id: The id, as the call that made it answered.
        """
        self._call("DELETE", f"/faults/{id}")

    def reset(self) -> AtIndex:
        """Goes back to the state of the start, and forgets all checkpoints; blocked requests are answered."""
        return self._call("POST", "/state/reset")

    def restart(self, state: RestartState) -> AtIndex:
        """Restarts the server on the same port, keeping what Consul keeps or nothing. Needs a control port.

        state: What the restart leaves of the state.
        """
        return self._call("POST", "/restart", body=_given({"state": state}))

    def resume(self) -> Clock:
        """Lets the clock run as the machine's does."""
        return self._call("POST", "/clock/resume")

    def resume_agent(self, agent: int, *, datacenter: str | None = None) -> None:
        """Lets the process of an agent go on, as SIGCONT does: it answers what was sent meanwhile.

        agent: The number of the agent, from 0 on.
        datacenter: The name of its datacenter, where several are joined. When it is left out: the one that is asked.
        """
        self._call("POST", "/agents/resume", body=_given({"agent": agent, "datacenter": datacenter}))

    def revoke_token(self, token: str) -> None:
        """Deletes a token: from now on it is unknown.

        token: The SecretID or the AccessorID of the token.
        """
        self._call("POST", "/acl/revoke", body=_given({"token": token}))

    def rollback(self, name: str) -> AtIndex:
        """Goes back to a checkpoint; blocked requests are answered.

        name: The name of the checkpoint. Any text is one.
        """
        return self._call("POST", "/state/rollback", body=_given({"name": name}))

    def safety(self, key: str, *, beliefs: Sequence[Belief] | None = None) -> Safety:
        """Whether a lock was safe: in the history, and in what programs believed.

        key: The key of the lock.
        beliefs: When programs believed that they held the lock. Without any, the history alone is checked.
        """
        return self._call("POST", "/safety", body=_given({"key": key, "beliefs": beliefs}))

    def server(self) -> About:
        """What this server is, and the seed with which it can be started again."""
        return self._call("GET", "/server")

    def servers(self) -> Servers:
        """The servers that were started on demand."""
        return self._call("GET", "/servers")

    def start_agent(self, agent: int, *, datacenter: str | None = None) -> None:
        """Starts the process of an agent again, with the data that it had.

        agent: The number of the agent, from 0 on.
        datacenter: The name of its datacenter, where several are joined. When it is left out: the one that is asked.
        """
        self._call("POST", "/agents/start", body=_given({"agent": agent, "datacenter": datacenter}))

    def start_server(self, *, address: str | None = None, agents: str | None = None, control_port: int | None = None, datacenter: str | None = None, datacenters: str | None = None, epoch: str | None = None, frozen: bool | None = None, history_capacity: int | None = None, http_port: int | None = None, node: str | None = None, seed: int | None = None, session_ttl_min: Duration | None = None, settings: Mapping[str, Any] | None = None, strict: bool | None = None, version: str | None = None) -> Listed:
        """Starts another, isolated server in this process, with the settings of this one where none is given.

        address: The IP address at which the new server listens. When it is left out: all addresses at which this one does.
        agents: How many agents it has: servers, or servers and client agents, such as `3` or `3:1`.
        control_port: A port for its control plane alone; 0 takes a free one. When it is left out the new server has one if this one has.
        datacenter: The name of the datacenter.
        datacenters: The names of datacenters that are joined, such as `dc1,dc2`; the first is its own.
        epoch: The wall clock at the start of the server's clock, which the server's wall clock follows from then on: a time such as `2026-01-01T00:00:00Z`. When neither server has one: the machine's wall clock.
        frozen: Whether the clock stands still, at 0, until a test moves it.
        history_capacity: How many records the history keeps, at least 1; when there are more the oldest go, and who reads it is told.
        http_port: The port of its Consul API; 0, which is the default, takes a free one.
        node: The name of the agent's node.
        seed: What session ids and jitter are drawn from. When it is left out it follows from this server's seed and the new server's id.
        session_ttl_min: The shortest TTL that a session may have: a duration such as `1s`.
        settings: Any other settings, as a configuration file has them: Consul's keys, such as `{"limits": {"kv_max_value_size": 10}}`. Lists grow and maps are merged as with one file more.
        strict: Whether endpoints that are not emulated are answered as unknown paths, and not with 501.
        version: The emulated release of Consul, such as `1.8.7`.
        """
        return self._call("POST", "/servers", body=_given({"address": address, "agents": agents, "control_port": control_port, "datacenter": datacenter, "datacenters": datacenters, "epoch": epoch, "frozen": frozen, "history_capacity": history_capacity, "http_port": http_port, "node": node, "seed": seed, "session_ttl_min": _duration(session_ttl_min), "settings": settings, "strict": strict, "version": version}))

    def state(self) -> dict[str, Any]:
        """The whole state: what clients see, and what is left of every TTL and lock-delay. The same state gives the same bytes."""
        return self._call("GET", "/state")

    def stop_server(self, id: int) -> None:
        """Stops a server that was started on demand.

        id: The id, as the call that made it answered.
        """
        self._call("DELETE", f"/servers/{id}")

    def timeline(self, key: str) -> str:
        """The life of one key, for people.

        key: The key.
        """
        return self._call("GET", "/timeline", query={"key": key})

    def wait_blocked(self, count: int, *, prefix: str | None = None, service: str | None = None, session: str | None = None, timeout: Duration = "10s") -> Waiting:
        """Waits until so many requests are blocked on keys under a prefix, on a session, on a service, or on anything.

        count: How many requests have to be blocked, at least.
        prefix: Requests that are blocked on keys under this prefix. At most one of prefix, session and service is given; with none of them every blocked request counts.
        service: Requests that are blocked on the instances or checks of this service.
        session: Requests that are blocked on this session.
        timeout: How long to wait in the machine's time: a duration such as `20s` or `250ms`.
        """
        return self._call("POST", "/wait/blocked", body=_given({"count": count, "prefix": prefix, "service": service, "session": session, "timeout": _duration(timeout)}))

    def wait_event(self, *, after: int | None = None, key: str | None = None, kind: Kind | None = None, session: str | None = None, timeout: Duration = "10s") -> Record:
        """Waits until the history has such a record; one that is there already counts.

        after: After the record with this number.
        key: About this key.
        kind: Of this kind.
        session: About this session.
        timeout: How long to wait in the machine's time: a duration such as `20s` or `250ms`.
        """
        return self._call("POST", "/wait/event", body=_given({"after": after, "key": key, "kind": kind, "session": session, "timeout": _duration(timeout)}))

    def wait_idle(self, *, timeout: Duration = "10s") -> None:
        """Waits until every request is answered, blocked, or held by a fault.

        timeout: How long to wait in the machine's time: a duration such as `20s` or `250ms`.
        """
        self._call("POST", "/wait/idle", body=_given({"timeout": _duration(timeout)}))

    def wake(self, prefix: str) -> Woken:
        """Answers requests that are blocked on keys under a prefix, though nothing has changed.

        prefix: What the keys begin with; all keys when it is empty.
        """
        return self._call("POST", "/wakes/spurious", body=_given({"prefix": prefix}))


class AsyncControls:
    """The same as `Controls`, for asyncio."""

    sync: Controls

    async def accept_connections(self) -> None:
        """As `Controls.accept_connections`."""
        return await asyncio.to_thread(self.sync.accept_connections)

    async def advance(self, by: Duration) -> Caused:
        """As `Controls.advance`."""
        return await asyncio.to_thread(self.sync.advance, by=by)

    async def advance_to_next(self) -> Caused:
        """As `Controls.advance_to_next`."""
        return await asyncio.to_thread(self.sync.advance_to_next)

    async def agents(self) -> Agents:
        """As `Controls.agents`."""
        return await asyncio.to_thread(self.sync.agents)

    async def auto(self, clients: int) -> None:
        """As `Controls.auto`."""
        return await asyncio.to_thread(self.sync.auto, clients=clients)

    async def believe(self, program: str, holds: bool, *, fencing_token: str | None = None) -> None:
        """As `Controls.believe`."""
        return await asyncio.to_thread(self.sync.believe, program=program, holds=holds, fencing_token=fencing_token)

    async def blocked(self) -> Waiting:
        """As `Controls.blocked`."""
        return await asyncio.to_thread(self.sync.blocked)

    async def change_rules(self, token: str, rules: str) -> AtIndex:
        """As `Controls.change_rules`."""
        return await asyncio.to_thread(self.sync.change_rules, token=token, rules=rules)

    async def checkpoint(self, name: str) -> AtIndex:
        """As `Controls.checkpoint`."""
        return await asyncio.to_thread(self.sync.checkpoint, name=name)

    async def checkpoints(self) -> Checkpoints:
        """As `Controls.checkpoints`."""
        return await asyncio.to_thread(self.sync.checkpoints)

    async def clear_faults(self) -> None:
        """As `Controls.clear_faults`."""
        return await asyncio.to_thread(self.sync.clear_faults)

    async def clear_history(self) -> None:
        """As `Controls.clear_history`."""
        return await asyncio.to_thread(self.sync.clear_history)

    async def clock(self) -> Clock:
        """As `Controls.clock`."""
        return await asyncio.to_thread(self.sync.clock)

    async def cut_agent(self, agent: int, *, datacenter: str | None = None) -> None:
        """As `Controls.cut_agent`."""
        return await asyncio.to_thread(self.sync.cut_agent, agent=agent, datacenter=datacenter)

    async def cut_datacenter(self, datacenter: str) -> None:
        """As `Controls.cut_datacenter`."""
        return await asyncio.to_thread(self.sync.cut_datacenter, datacenter=datacenter)

    async def datacenters(self) -> Datacenters:
        """As `Controls.datacenters`."""
        return await asyncio.to_thread(self.sync.datacenters)

    async def delay_wakes(self, prefix: str, by: Duration, *, times: int | None = None) -> None:
        """As `Controls.delay_wakes`."""
        return await asyncio.to_thread(self.sync.delay_wakes, prefix=prefix, by=by, times=times)

    async def delete_checkpoint(self, name: str) -> None:
        """As `Controls.delete_checkpoint`."""
        return await asyncio.to_thread(self.sync.delete_checkpoint, name=name)

    async def delete_node(self, node: str) -> None:
        """As `Controls.delete_node`."""
        return await asyncio.to_thread(self.sync.delete_node, node=node)

    async def due(self) -> AllDue:
        """As `Controls.due`."""
        return await asyncio.to_thread(self.sync.due)

    async def expire_session(self, session: str) -> None:
        """As `Controls.expire_session`."""
        return await asyncio.to_thread(self.sync.expire_session, session=session)

    async def explain(self, key: str) -> Explanation:
        """As `Controls.explain`."""
        return await asyncio.to_thread(self.sync.explain, key=key)

    async def explain_permission(self, permission: str, token: str, *, name: str | None = None) -> Permission:
        """As `Controls.explain_permission`."""
        return await asyncio.to_thread(self.sync.explain_permission, permission=permission, token=token, name=name)

    async def export_kv(self, *, prefix: str | None = None) -> list[Exported]:
        """As `Controls.export_kv`."""
        return await asyncio.to_thread(self.sync.export_kv, prefix=prefix)

    async def fail_check(self, check: str, *, node: str | None = None) -> None:
        """As `Controls.fail_check`."""
        return await asyncio.to_thread(self.sync.fail_check, check=check, node=node)

    async def fault(self, effect: Effect, *, agent: int | None = None, chance: float | None = None, client: str | None = None, from_ms: int | None = None, header: Header | None = None, key_prefix: str | None = None, method: str | None = None, nth: int | None = None, path: str | None = None, question: str | None = None, seed: int | None = None, session: str | None = None, times: int | None = None, to_ms: int | None = None) -> Id:
        """As `Controls.fault`."""
        return await asyncio.to_thread(self.sync.fault, effect=effect, agent=agent, chance=chance, client=client, from_ms=from_ms, header=header, key_prefix=key_prefix, method=method, nth=nth, path=path, question=question, seed=seed, session=session, times=times, to_ms=to_ms)

    async def faults(self) -> Rules:
        """As `Controls.faults`."""
        return await asyncio.to_thread(self.sync.faults)

    async def find_leader(self) -> None:
        """As `Controls.find_leader`."""
        return await asyncio.to_thread(self.sync.find_leader)

    async def freeze(self) -> Clock:
        """As `Controls.freeze`."""
        return await asyncio.to_thread(self.sync.freeze)

    async def heal_agent(self, agent: int, *, datacenter: str | None = None) -> None:
        """As `Controls.heal_agent`."""
        return await asyncio.to_thread(self.sync.heal_agent, agent=agent, datacenter=datacenter)

    async def heal_datacenter(self, datacenter: str) -> None:
        """As `Controls.heal_datacenter`."""
        return await asyncio.to_thread(self.sync.heal_datacenter, datacenter=datacenter)

    async def history(self, *, after: int | None = None, key: str | None = None, kind: Sequence[Kind] | None = None, limit: int | None = None, session: str | None = None) -> History:
        """As `Controls.history`."""
        return await asyncio.to_thread(self.sync.history, after=after, key=key, kind=kind, limit=limit, session=session)

    async def import_kv(self, keys: Sequence[Exported]) -> Imported:
        """As `Controls.import_kv`."""
        return await asyncio.to_thread(self.sync.import_kv, keys=keys)

    async def jump(self, by: Duration) -> Caused:
        """As `Controls.jump`."""
        return await asyncio.to_thread(self.sync.jump, by=by)

    async def kill_agent(self, agent: int, *, datacenter: str | None = None) -> None:
        """As `Controls.kill_agent`."""
        return await asyncio.to_thread(self.sync.kill_agent, agent=agent, datacenter=datacenter)

    async def lag_agent(self, agent: int, *, datacenter: str | None = None, entries: int | None = None, hold: bool | None = None, time: Duration | None = None) -> None:
        """As `Controls.lag_agent`."""
        return await asyncio.to_thread(self.sync.lag_agent, agent=agent, datacenter=datacenter, entries=entries, hold=hold, time=time)

    async def lead_agent(self, agent: int, *, datacenter: str | None = None) -> None:
        """As `Controls.lead_agent`."""
        return await asyncio.to_thread(self.sync.lead_agent, agent=agent, datacenter=datacenter)

    async def link_agent(self, agent: int, link: Link, *, datacenter: str | None = None) -> None:
        """As `Controls.link_agent`."""
        return await asyncio.to_thread(self.sync.link_agent, agent=agent, link=link, datacenter=datacenter)

    async def load(self, state: Mapping[str, Any]) -> AtIndex:
        """As `Controls.load`."""
        return await asyncio.to_thread(self.sync.load, state=state)

    async def locks(self) -> Locks:
        """As `Controls.locks`."""
        return await asyncio.to_thread(self.sync.locks)

    async def lose_leader(self, *, phases: Sequence[LossPhase] | None = None, scenario: Scenario | None = None) -> None:
        """As `Controls.lose_leader`."""
        return await asyncio.to_thread(self.sync.lose_leader, phases=phases, scenario=scenario)

    async def lower_indexes(self, by: int) -> AtIndex:
        """As `Controls.lower_indexes`."""
        return await asyncio.to_thread(self.sync.lower_indexes, by=by)

    async def make_token(self, rules: str, *, description: str | None = None) -> Token:
        """As `Controls.make_token`."""
        return await asyncio.to_thread(self.sync.make_token, rules=rules, description=description)

    async def no_auto(self) -> None:
        """As `Controls.no_auto`."""
        return await asyncio.to_thread(self.sync.no_auto)

    async def openapi(self) -> dict[str, Any]:
        """As `Controls.openapi`."""
        return await asyncio.to_thread(self.sync.openapi)

    async def pass_check(self, check: str, *, node: str | None = None) -> None:
        """As `Controls.pass_check`."""
        return await asyncio.to_thread(self.sync.pass_check, check=check, node=node)

    async def pause_agent(self, agent: int, *, datacenter: str | None = None) -> None:
        """As `Controls.pause_agent`."""
        return await asyncio.to_thread(self.sync.pause_agent, agent=agent, datacenter=datacenter)

    async def rate(self, rate: float) -> Clock:
        """As `Controls.rate`."""
        return await asyncio.to_thread(self.sync.rate, rate=rate)

    async def refuse_connections(self) -> None:
        """As `Controls.refuse_connections`."""
        return await asyncio.to_thread(self.sync.refuse_connections)

    async def remove_fault(self, id: int) -> None:
        """As `Controls.remove_fault`."""
        return await asyncio.to_thread(self.sync.remove_fault, id=id)

    async def reset(self) -> AtIndex:
        """As `Controls.reset`."""
        return await asyncio.to_thread(self.sync.reset)

    async def restart(self, state: RestartState) -> AtIndex:
        """As `Controls.restart`."""
        return await asyncio.to_thread(self.sync.restart, state=state)

    async def resume(self) -> Clock:
        """As `Controls.resume`."""
        return await asyncio.to_thread(self.sync.resume)

    async def resume_agent(self, agent: int, *, datacenter: str | None = None) -> None:
        """As `Controls.resume_agent`."""
        return await asyncio.to_thread(self.sync.resume_agent, agent=agent, datacenter=datacenter)

    async def revoke_token(self, token: str) -> None:
        """As `Controls.revoke_token`."""
        return await asyncio.to_thread(self.sync.revoke_token, token=token)

    async def rollback(self, name: str) -> AtIndex:
        """As `Controls.rollback`."""
        return await asyncio.to_thread(self.sync.rollback, name=name)

    async def safety(self, key: str, *, beliefs: Sequence[Belief] | None = None) -> Safety:
        """As `Controls.safety`."""
        return await asyncio.to_thread(self.sync.safety, key=key, beliefs=beliefs)

    async def server(self) -> About:
        """As `Controls.server`."""
        return await asyncio.to_thread(self.sync.server)

    async def servers(self) -> Servers:
        """As `Controls.servers`."""
        return await asyncio.to_thread(self.sync.servers)

    async def start_agent(self, agent: int, *, datacenter: str | None = None) -> None:
        """As `Controls.start_agent`."""
        return await asyncio.to_thread(self.sync.start_agent, agent=agent, datacenter=datacenter)

    async def start_server(self, *, address: str | None = None, agents: str | None = None, control_port: int | None = None, datacenter: str | None = None, datacenters: str | None = None, epoch: str | None = None, frozen: bool | None = None, history_capacity: int | None = None, http_port: int | None = None, node: str | None = None, seed: int | None = None, session_ttl_min: Duration | None = None, settings: Mapping[str, Any] | None = None, strict: bool | None = None, version: str | None = None) -> Listed:
        """As `Controls.start_server`."""
        return await asyncio.to_thread(self.sync.start_server, address=address, agents=agents, control_port=control_port, datacenter=datacenter, datacenters=datacenters, epoch=epoch, frozen=frozen, history_capacity=history_capacity, http_port=http_port, node=node, seed=seed, session_ttl_min=session_ttl_min, settings=settings, strict=strict, version=version)

    async def state(self) -> dict[str, Any]:
        """As `Controls.state`."""
        return await asyncio.to_thread(self.sync.state)

    async def stop_server(self, id: int) -> None:
        """As `Controls.stop_server`."""
        return await asyncio.to_thread(self.sync.stop_server, id=id)

    async def timeline(self, key: str) -> str:
        """As `Controls.timeline`."""
        return await asyncio.to_thread(self.sync.timeline, key=key)

    async def wait_blocked(self, count: int, *, prefix: str | None = None, service: str | None = None, session: str | None = None, timeout: Duration = "10s") -> Waiting:
        """As `Controls.wait_blocked`."""
        return await asyncio.to_thread(self.sync.wait_blocked, count=count, prefix=prefix, service=service, session=session, timeout=timeout)

    async def wait_event(self, *, after: int | None = None, key: str | None = None, kind: Kind | None = None, session: str | None = None, timeout: Duration = "10s") -> Record:
        """As `Controls.wait_event`."""
        return await asyncio.to_thread(self.sync.wait_event, after=after, key=key, kind=kind, session=session, timeout=timeout)

    async def wait_idle(self, *, timeout: Duration = "10s") -> None:
        """As `Controls.wait_idle`."""
        return await asyncio.to_thread(self.sync.wait_idle, timeout=timeout)

    async def wake(self, prefix: str) -> Woken:
        """As `Controls.wake`."""
        return await asyncio.to_thread(self.sync.wake, prefix=prefix)
