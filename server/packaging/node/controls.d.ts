// Made by server/packaging/controls/generate from the server's own description: do not edit.

/** A duration: milliseconds, or text as Go writes it, such as "20s" or "1m30s". */
export type Duration = number | string;

/** What a server is. */
export interface About {
  /** The version of proconsul. */
  proconsul: string;
  /** The emulated release of Consul. */
  version: string;
  /** The seed from which session ids, the node's id and jitter are drawn; `--seed` and `POST /servers` take it. */
  seed: number;
  /** The name of the agent's node. */
  node: string;
  /** The name of the datacenter. */
  datacenter: string;
  /** The wall clock at the start of the server's clock, in milliseconds since the Unix epoch: with the time of a record it is the wall clock of that record. */
  epoch_ms: number;
}

/** An agent. */
export interface Agent {
  /** Its number, from 0 on. */
  agent: number;
  /** The name of its node. */
  node: string;
  /** The address of its Consul API; none if it does not listen on TCP. */
  address: string | null;
  /** Whether it is a server. */
  server: boolean;
  /** Whether it leads. */
  leads: boolean;
  /** Whether its process runs. */
  runs: boolean;
  /** Whether it is cut off from the others. */
  cut: boolean;
  /** Whether the others have marked it as failed, or as one that has left. */
  failed: boolean;
}

/** The agents. */
export interface Agents {
  /** The agents, servers first. */
  agents: Agent[];
}

/** What will happen by itself. */
export interface AllDue {
  /** The time, in milliseconds since the clock began. */
  now_ms: number;
  /** What will happen, the next thing first. */
  due: Due[];
}

/** The index of the state. */
export interface AtIndex {
  /** The index of the last change, now. */
  index: number;
}

/** That a program believed to hold the lock. */
export interface Belief {
  /** The session with which the program acquired the lock. */
  session: string;
  /** Since when it believed to hold it, in milliseconds of the server's clock. */
  from_ms: number;
  /** Until when, in milliseconds of the server's clock; not before `from_ms`. */
  to_ms: number;
}

/** A request that waits for a change. */
export interface Blocked {
  /** The number of the request. */
  request: number;
  /** The address that it came from; null for one through a Unix socket. */
  client: string | null;
  /** Its path and parameters, as sent. */
  target: string;
  /** What it reads, in words. */
  read: string;
  /** The index that it waits to be passed. */
  min_index: number;
  /** When it arrived, in milliseconds of the server's clock. */
  since_ms: number;
  /** The number of the record of its arrival. */
  record: number;
  /** When its wait ends, in milliseconds of the server's clock. */
  until_ms: number;
}

/** What happened while time passed. */
export interface Caused {
  /** The time, in milliseconds since the clock began. */
  now_ms: number;
  /** What the time that passed has caused, in order. */
  caused: Record[];
}

/** The checkpoints of a server. */
export interface Checkpoints {
  /** Their names, in byte order. */
  checkpoints: string[];
}

/** The clock of a server. */
export interface Clock {
  /** The time, in milliseconds since the clock began. */
  now_ms: number;
  /** How fast the clock runs; 0 stands still, 1 is the machine's time. */
  rate: number;
  /** How long it is until something happens by itself, in milliseconds; null for never. */
  next_deadline_in_ms: number | null;
}

/** A datacenter. */
export interface Datacenter {
  /** Its name. */
  datacenter: string;
  /** Whether it is cut off from the others. */
  cut: boolean;
  /** Its agents, servers first. */
  agents: Agent[];
}

/** The datacenters. */
export interface Datacenters {
  /** The datacenters, in the order in which they were given. */
  datacenters: Datacenter[];
}

/** Something that will happen by itself. */
export interface Due {
  /** When, in milliseconds since the clock began. */
  at_ms: number;
  /** What will happen, in words. */
  text: string;
  /** The key whose lock-delay ends. */
  key?: string | null;
  /** The session that expires unless it is renewed. */
  session?: string | null;
}

/** Answers with one of Consul's own errors, after the time that Consul takes to give it. Nothing is applied. */
export interface ErrorEffect {
  kind: "error";
  /** Which error. */
  error: ErrorName;
  /** After how long on the server's clock, in place of Consul's time: a duration such as `0s` or `250ms`. `0s` answers at once; on a clock that stands still every other time lasts until the clock is moved. */
  after?: string | null;
}

/** Answers with any status, headers and body, as a proxy between client and Consul does. Nothing is applied. */
export interface RespondEffect {
  kind: "respond";
  /** The status, from 200 to 999. */
  status: number;
  /** The body, as text. Without any the body is empty. */
  body?: string | null;
  /** The body as base64, for one that is not text. At most one of the two is given. */
  body_base64?: string | null;
  /** The headers, by name. `Content-Length`, `Transfer-Encoding` and `Date` are the server's own and refused. */
  headers?: { [name: string]: string };
}

/** Holds the request before it is applied. */
export interface DelayBeforeEffect {
  kind: "delay-before";
  /** For how long on the server's clock: a duration such as `20s` or `250ms`. */
  by: string;
}

/** Applies the request, and holds its answer. */
export interface DelayAfterEffect {
  kind: "delay-after";
  /** For how long on the server's clock: a duration such as `20s` or `250ms`. */
  by: string;
}

/** Never answers. Nothing is applied. */
export interface HangEffect {
  kind: "hang";
}

/** Resets the connection without an answer. Nothing is applied. */
export interface ResetEffect {
  kind: "reset";
}

/** Closes the connection without an answer. Nothing is applied. */
export interface EmptyReplyEffect {
  kind: "empty-reply";
}

/** Applies the request, and resets the connection without an answer. */
export interface AppliedThenResetEffect {
  kind: "applied-then-reset";
}

/** Applies the request, and closes the connection without an answer. */
export interface AppliedThenEmptyReplyEffect {
  kind: "applied-then-empty-reply";
}

/** Applies the request, and closes the connection within the body of the answer. */
export interface TruncateEffect {
  kind: "truncate";
  /** How many bytes of the body are sent. */
  bytes: number;
}

/** Lets a PUT with `?acquire` take its key during the lock-delay, as a real Consul does now and then when the acquire is in flight while the holder's session ends. The acquire of a key that another session holds waits (`GET /blocked` has it) until that session holds it no more, and is then applied. One that comes later, into the lock-delay, is refused as always. */
export interface AcquireInFlightEffect {
  kind: "acquire-in-flight";
}

/** Deletes the token with which the request comes. The request is then handled as always. */
export interface RevokeTokenEffect {
  kind: "revoke-token";
  /** When; `arrival` if it is left out. */
  when?: Moment | null;
}

/** Gives the policies of the token with which the request comes other rules. The request is then handled as always. */
export interface ChangeRulesEffect {
  kind: "change-rules";
  /** The rules, in HCL or JSON, as a policy has them. */
  rules: string;
  /** When; `arrival` if it is left out. */
  when?: Moment | null;
}

/** Lets a read report another `X-Consul-Index` than the true one. */
export interface IndexEffect {
  kind: "index";
  /** The index that is reported; 0 is one that no Consul reports. */
  index: number;
}

/** Lets a read report an `X-Consul-Index` that is lower than the true one, but at least 1. */
export interface IndexBackEffect {
  kind: "index-back";
  /** By how much. */
  by: number;
}

/** Answers reads with `?stale` from a checkpoint, as a server that has fallen behind does. */
export interface ReadFromEffect {
  kind: "read-from";
  /** The name of the checkpoint. */
  checkpoint: string;
  /** What `X-Consul-LastContact` says: a duration such as `20s` or `250ms`. */
  last_contact: string;
}

/** Answers questions of DNS with the code SERVFAIL. */
export interface DnsServfailEffect {
  kind: "dns-servfail";
}

/** Answers questions of DNS over UDP without records, as truncated: a client asks again over TCP. */
export interface DnsTruncatedEffect {
  kind: "dns-truncated";
}

/**
 * What happens to the requests.
 * - `error`: Answers with one of Consul's own errors, after the time that Consul takes to give it. Nothing is applied.
 * - `respond`: Answers with any status, headers and body, as a proxy between client and Consul does. Nothing is applied.
 * - `delay-before`: Holds the request before it is applied.
 * - `delay-after`: Applies the request, and holds its answer.
 * - `hang`: Never answers. Nothing is applied.
 * - `reset`: Resets the connection without an answer. Nothing is applied.
 * - `empty-reply`: Closes the connection without an answer. Nothing is applied.
 * - `applied-then-reset`: Applies the request, and resets the connection without an answer.
 * - `applied-then-empty-reply`: Applies the request, and closes the connection without an answer.
 * - `truncate`: Applies the request, and closes the connection within the body of the answer.
 * - `acquire-in-flight`: Lets a PUT with `?acquire` take its key during the lock-delay, as a real Consul does now and then when the acquire is in flight while the holder's session ends. The acquire of a key that another session holds waits (`GET /blocked` has it) until that session holds it no more, and is then applied. One that comes later, into the lock-delay, is refused as always.
 * - `revoke-token`: Deletes the token with which the request comes. The request is then handled as always.
 * - `change-rules`: Gives the policies of the token with which the request comes other rules. The request is then handled as always.
 * - `index`: Lets a read report another `X-Consul-Index` than the true one.
 * - `index-back`: Lets a read report an `X-Consul-Index` that is lower than the true one, but at least 1.
 * - `read-from`: Answers reads with `?stale` from a checkpoint, as a server that has fallen behind does.
 * - `dns-servfail`: Answers questions of DNS with the code SERVFAIL.
 * - `dns-truncated`: Answers questions of DNS over UDP without records, as truncated: a client asks again over TCP.
 */
export type Effect = ErrorEffect | RespondEffect | DelayBeforeEffect | DelayAfterEffect | HangEffect | ResetEffect | EmptyReplyEffect | AppliedThenResetEffect | AppliedThenEmptyReplyEffect | TruncateEffect | AcquireInFlightEffect | RevokeTokenEffect | ChangeRulesEffect | IndexEffect | IndexBackEffect | ReadFromEffect | DnsServfailEffect | DnsTruncatedEffect;

/**
 * Which error.
 * - `no-cluster-leader`: 500 `No cluster leader`, after Consul has waited 7 s for one.
 * - `rpc-eof`: 500 `rpc error making call: EOF`: the connection to the leader ended.
 * - `rpc-connection-refused`: 500: the old leader's port refuses connections.
 * - `no-known-servers`: 500 `No known Consul servers`: a client agent has given up all servers.
 * - `leadership-lost`: 500 `leadership lost while committing log`, after half a second: the write may or may not have been applied.
 * - `rate-limited`: 429 of `limits.rpc_rate`; without a text before 1.15.
 * - `too-many-connections`: 429 of `limits.http_max_conns_per_client`; before 1.9 the connection is closed without a word.
 * - `server-rate-limited`: 429 of `request_limits`: another server may do it.
 * - `leader-rate-limited`: 503 of `request_limits`: only the leader could do it.
 * - `permission-denied`: 403 `Permission denied`, with what is missing since 1.12.
 * - `acl-not-found`: 403 `ACL not found`: the token is unknown.
 */
export type ErrorName = "no-cluster-leader" | "rpc-eof" | "rpc-connection-refused" | "no-known-servers" | "leadership-lost" | "rate-limited" | "too-many-connections" | "server-rate-limited" | "leader-rate-limited" | "permission-denied" | "acl-not-found";

/** Who holds a key, and who waits for it. */
export interface Explanation {
  /** The key. */
  key: string;
  /** Whether the key exists. */
  exists: boolean;
  /** The session that holds it; null when none does. */
  holder: string | null;
  /** Since when, in milliseconds of the server's clock; null where the history does not go back so far. */
  held_since_ms: number | null;
  /** How long the holder's session lives unless it is renewed, in milliseconds; null without a TTL. */
  lapses_in_ms: number | null;
  /** How often the key was acquired. */
  lock_index: number;
  /** For how long nobody can acquire it, in milliseconds; null when anybody can. */
  lock_delay_left_ms: number | null;
  /** Who waits for it to change. */
  waiting: Blocked[];
  /** What last happened to the lock, in words; null when nothing did. */
  last: string | null;
  /** All of it in words. */
  text: string;
}

/** A key as `consul kv export` prints it. */
export interface Exported {
  /** The key, which is not empty. */
  key: string;
  /** The flags that clients keep with the key. */
  flags: number;
  /** The value as base64. */
  value: string;
}

/** A header of the requests, by which clients on one machine can be told apart. */
export interface Header {
  /** The name of the header. */
  name: string;
  /** All of its value. */
  value: string;
}

/** A request that a fault holds. */
export interface Held {
  /** The number of the request. */
  request: number;
  /** The address that it came from; null for one through a Unix socket. */
  client: string | null;
  /** Its path and parameters, as sent. */
  target: string;
  /** The fault, in words. */
  fault: string;
  /** When it arrived, in milliseconds of the server's clock. */
  since_ms: number;
  /** The number of the record of its arrival. */
  record: number;
  /** When it goes on, in milliseconds of the server's clock; null if it is held until its client gives up. */
  until_ms: number | null;
}

/** Records of the history. */
export interface History {
  /** The records, oldest first. */
  records: Record[];
  /** How many older records are gone because there were more than the history keeps. */
  lost: number;
}

/** A rule was installed. */
export interface Id {
  /** The id of the new rule, for `DELETE /faults/{id}`. */
  id: number;
}

/** Keys were imported. */
export interface Imported {
  /** How many keys. */
  keys: number;
}

/** A rule that is installed. */
export interface InstalledRule {
  /** The rule's id, for `DELETE /faults/{id}`. */
  id: number;
  /** What the rule does, in words. */
  effect: string;
  /** Which requests the rule hits, in words: `PUT, key "job/"`, or `all requests`. */
  requests: string;
  /** How many requests the rule hits at most; null without a limit. */
  times: number | null;
  /** How often it has hit a request. */
  hits: number;
}

/**
 * A kind of record.
 * - `request`: A request arrived.
 * - `answer`: A request was answered.
 * - `blocked`: A blocking query waits.
 * - `woken`: A blocking query looks again.
 * - `held`: A fault holds a request.
 * - `key-written`: A key was created or changed.
 * - `key-deleted`: A key was deleted.
 * - `key-tree-deleted`: All keys with a prefix were deleted.
 * - `write-refused`: A conditional write did not take place.
 * - `acquired`: A key was acquired.
 * - `acquire-refused`: A key was not acquired.
 * - `released`: A key has no holder any more.
 * - `release-refused`: A release by somebody who holds nothing.
 * - `lock-delay-began`: A key is guarded.
 * - `lock-delay-ended`: A key is guarded no more.
 * - `session-created`: A session was created.
 * - `session-renewed`: A TTL started anew.
 * - `session-refused`: A session call was refused.
 * - `session-ended`: A session ended.
 * - `catalog-changed`: Nodes, services or checks changed.
 * - `tombstones-reaped`: The memory of deleted keys was cleared.
 * - `access-denied`: A request was refused: its token lacks a permission.
 * - `token-unknown`: A request was refused: its token is unknown.
 * - `rows-removed`: An answer lacks what its token may not see.
 * - `belief`: A program said whether it believes that it holds a lock.
 * - `control`: The test did something to the server.
 */
export type Kind = "request" | "answer" | "blocked" | "woken" | "held" | "key-written" | "key-deleted" | "key-tree-deleted" | "write-refused" | "acquired" | "acquire-refused" | "released" | "release-refused" | "lock-delay-began" | "lock-delay-ended" | "session-created" | "session-renewed" | "session-refused" | "session-ended" | "catalog-changed" | "tombstones-reaped" | "access-denied" | "token-unknown" | "rows-removed" | "belief" | "control";

/**
 * The state of the link.
 * - `up`: Requests and responses get through.
 * - `silent`: Nothing gets through. What is sent meanwhile arrives when the link is up again.
 * - `cut`: Connections are reset.
 */
export type Link = "up" | "silent" | "cut";

/** A server that was started on demand. */
export interface Listed {
  /** The server's id, for `DELETE /servers/{id}`. */
  id: number;
  /** The URL of its Consul API. */
  url: string;
  /** The URLs of the Consul API of all its agents, the one above first. */
  agents: string[];
  /** The URL of its control plane. */
  control: string;
  /** The seed with which it can be started again. */
  seed: number;
}

/** A key that is held. */
export interface Lock {
  /** The key. */
  key: string;
  /** The session that holds it. */
  session: string;
  /** How often the key was acquired. */
  lock_index: number;
}

/** The keys that are held. */
export interface Locks {
  /** The keys, in byte order. */
  locks: Lock[];
}

/** A phase of a loss. */
export interface LossPhase {
  /** What the cluster goes through. */
  phase: Phase;
  /** For how long on the server's clock: a duration such as `20s` or `250ms`. Only the last phase can be without; then it lasts until `POST /leader/find`. */
  lasts?: string | null;
}

/**
 * When something happens to a request.
 * - `arrival`: Before the request is looked at.
 * - `blocked`: When it blocks, for a blocking query that finds nothing new.
 */
export type Moment = "arrival" | "blocked";

/** Whether a token has a permission. */
export interface Permission {
  /** The AccessorID of the token. */
  token: string;
  /** The description of the token. */
  token_description: string;
  /** The permission, with the name of what it is about. */
  permission: string;
  /** Whether the token has it. */
  allowed: boolean;
  /** What decides: a rule and the policy that has it, or the default policy. */
  cause: string;
  /** All of it in words. */
  text: string;
}

/**
 * A phase.
 * - `never-elected`: There never was a leader: everything but the agent's own endpoints waits 7 s for one (from 1.15 on up to 13.5 s) and fails, reads with `?stale` too.
 * - `unreachable`: The leader, another server, is dead, and this one does not know it yet: calls fail at once. Reads with `?stale` go on.
 * - `silent`: The leader, another server, does not answer, and this one does not know it yet: calls hang for 28 s and fail, unless there is a leader again. Reads with `?stale` go on.
 * - `electing`: A leader is being elected: calls are held until the phase is over, and then go on; for as long as Consul waits for a leader at all. Reads with `?stale` go on.
 * - `quorum-lost`: This server is the leader and has just lost the others: writes fail after half a second, reads go on.
 * - `no-leader`: There is no leader and no election succeeds: calls wait 7 s for one and fail; reads with `?stale` say that there is none, and how long ago there was one.
 */
export type Phase = "never-elected" | "unreachable" | "silent" | "electing" | "quorum-lost" | "no-leader";

/** Something that happened. Which fields a record has beyond the first five depends on its kind. */
export interface Record {
  /** The record's place in the history, counted from 1. */
  number: number;
  /** When it happened, in milliseconds of the server's clock. */
  at_ms: number;
  /** The index of the state after it. */
  index: number;
  /** What kind of record this is. */
  kind: Kind;
  /** All of it in one line. */
  text: string;
  /** The number of the agent that a request came to, where there are several. */
  agent?: number | null;
  /** Why: of a wake, a refusal, a release, or the end of a session. */
  cause?: string | null;
  /** The number of the record that it follows from: of a request, of the end of a session, of a control. It is left out where the clock, or the test's own program, did it. */
  caused_by?: number | null;
  /** The address that a request came from; null for one through a Unix socket. */
  client?: string | null;
  /** The fault that hit a request, in words; null when none did. */
  fault?: string | null;
  /** Whether that program believes that it holds the lock. */
  holds?: boolean | null;
  /** The key that the record is about. */
  key?: string | null;
  /** How many keys were deleted. */
  keys?: number | null;
  /** How long a lock-delay lasts, or a request is held, in milliseconds of the server's clock; left out for a request that is held until its client gives up. */
  lasts_ms?: number | null;
  /** A request's method. */
  method?: string | null;
  /** The index that a blocking query waits to be passed. */
  min_index?: number | null;
  /** The name of a session that was created, or of what a token lacks a permission on. */
  name?: string | null;
  /** The node of a session that was created. */
  node?: string | null;
  /** What the token lacks, such as `key:write`. */
  permission?: string | null;
  /** What the deleted keys start with. */
  prefix?: string | null;
  /** The program that said what it believes. */
  program?: string | null;
  /** The number of the request, of the kinds `request`, `answer`, `blocked`, `woken`, `held`, `access-denied`, `token-unknown` and `rows-removed`. */
  request?: number | null;
  /** How many rows were removed from an answer. */
  rows?: number | null;
  /** The session that the record is about. */
  session?: string | null;
  /** The status of an answer, or the code of one of DNS: 0 NOERROR, 2 SERVFAIL, 3 NXDOMAIN, 5 REFUSED; null when none was sent. */
  status?: number | null;
  /** A request's path and parameters, as sent. */
  target?: string | null;
  /** The AccessorID of the token that was refused, or from whose answer rows were removed. */
  token?: string | null;
  /** The description of that token. */
  token_description?: string | null;
  /** The TTL of a session that was created, in milliseconds; 0 for a session without one. */
  ttl_ms?: number | null;
}

/**
 * What the restart leaves of the state.
 * - `keep`: What Consul writes to its disk: keys, sessions, catalog and indexes. TTLs start anew, lock-delays are forgotten.
 * - `wipe`: Nothing, as of `consul agent -dev`.
 */
export type RestartState = "keep" | "wipe";

/** The rules that are installed. */
export interface Rules {
  /** The rules, in the order in which they are tried. */
  rules: InstalledRule[];
  /** What the cluster goes through without its leader; null while it has one. */
  leader_lost: Phase | null;
}

/** Whether a lock was safe. */
export interface Safety {
  /** Whether there are no violations. */
  safe: boolean;
  /** What was wrong, a sentence each. */
  violations: string[];
  /** The life of the key, for people. */
  timeline: string;
}

/**
 * A scenario.
 * - `never-elected`: The cluster never had a leader, until it is given one by `POST /leader/find`.
 * - `leader-killed`: The leader, another server, dies: two seconds of failures at once, then an election of 1.16 s, and there is a leader again.
 * - `quorum-lost`: This server is the leader and loses the others: for half a second writes fail, then there is no leader until `POST /leader/find`.
 * - `starting`: The server has just been started: calls are held for a quarter of a second, and go on.
 */
export type Scenario = "never-elected" | "leader-killed" | "quorum-lost" | "starting";

/** The servers that were started on demand. */
export interface Servers {
  /** The servers, oldest first. */
  servers: Listed[];
}

/** A token. */
export interface Token {
  /** The AccessorID, by which the history names it. */
  accessor: string;
  /** The SecretID, which requests send. */
  secret: string;
}

/** Requests that wait. */
export interface Waiting {
  /** The blocking queries, oldest first. */
  blocked: Blocked[];
  /** The requests that faults hold, oldest first. */
  held: Held[];
}

/** Requests were woken. */
export interface Woken {
  /** How many requests looked again. */
  woken: number;
}

/** What a test can do to a server, and learn about it. */
export class Controls {
  /** Takes connections again, on the same port. */
  acceptConnections(): Promise<void>;
  /** Moves the clock on through every deadline, and returns what that caused when all who were woken have been answered.
   * @param by How far the clock moves: a duration such as `20s`, `1m30s` or `250ms`. */
  advance(by: Duration): Promise<Caused>;
  /** Moves the clock to the next deadline; does nothing when nothing is ever due. */
  advanceToNext(): Promise<Caused>;
  /** The agents of the datacenter: one, unless the server was started with `--agents`. */
  agents(): Promise<Agents>;
  /** Lets the clock jump to the next deadline whenever at least so many requests are open and all of them are blocked.
   * @param clients How many requests have to be open, at least 1: one for each program that waits. */
  auto(clients: number): Promise<void>;
  /** Records that a program believes from now on that it holds a lock, or that it does not: `proconsul explore` judges programs by this, and the history shows it. */
  believe(options: {
    /** The name of the program. */
    program: string;
    /** Whether it believes that it holds the lock. */
    holds: boolean;
    /** The fencing token with which it holds the lock, if it has one. */
    fencingToken?: string;
  }): Promise<void>;
  /** The blocking queries that wait now, and the requests that faults hold: where the clock stands still, they wait until it is moved. */
  blocked(): Promise<Waiting>;
  /** Gives the policies of a token other rules. They count for all tokens with these policies. */
  changeRules(options: {
    /** The SecretID or the AccessorID of the token. */
    token: string;
    /** The rules, in HCL or JSON, as a policy has them. */
    rules: string;
  }): Promise<AtIndex>;
  /** Keeps the state under a name, in place of what was kept under it before.
   * @param name The name of the checkpoint. Any text is one. */
  checkpoint(name: string): Promise<AtIndex>;
  /** The names of the checkpoints. */
  checkpoints(): Promise<Checkpoints>;
  /** Takes all rules away; wakes come in time, and there is a leader. */
  clearFaults(): Promise<void>;
  /** Forgets the history so far. */
  clearHistory(): Promise<void>;
  /** The time, the rate, and when something next happens by itself. */
  clock(): Promise<Clock>;
  /** Cuts an agent off from all others; its clients still reach it. */
  cutAgent(options: {
    /** The number of the agent, from 0 on. */
    agent: number;
    /** The name of its datacenter, where several are joined. When it is left out: the one that is asked. */
    datacenter?: string;
  }): Promise<void>;
  /** Cuts a datacenter off from all others; within it all goes on.
   * @param datacenter The name of the datacenter. */
  cutDatacenter(datacenter: string): Promise<void>;
  /** The datacenters: one, unless the server was started with `--datacenters`. Each has its own agents, state, history and faults, and a control plane at the addresses of its agents; the time of all is one. */
  datacenters(): Promise<Datacenters>;
  /** Lets the wakes of requests that are blocked on keys under a prefix come late. */
  delayWakes(options: {
    /** What the keys begin with; all keys when it is empty. */
    prefix: string;
    /** How late the wakes come on the server's clock: a duration such as `20s` or `250ms`. */
    by: Duration;
    /** How many wakes come late, at least 1; all of them when it is left out. */
    times?: number;
  }): Promise<void>;
  /** Deletes a checkpoint, and frees what only it still holds.
   * @param name The name of the checkpoint. Any text is one. */
  deleteCheckpoint(name: string): Promise<void>;
  /** Deletes a node with its services, checks and sessions.
   * @param node The name of the node. */
  deleteNode(node: string): Promise<void>;
  /** What will happen by itself, and when. Blocked requests, whose waits end, are in `GET /blocked`. */
  due(): Promise<AllDue>;
  /** Expires a session now.
   * @param session The id of the session. */
  expireSession(session: string): Promise<void>;
  /** Who holds a key, since when, what keeps others from it, and who waits.
   * @param key The key. */
  explain(key: string): Promise<Explanation>;
  /** Whether a token has a permission, and what decides that. */
  explainPermission(options: {
    /** The permission as refusals name it, such as `key:write`. For the keys below a prefix there are `key:list` and, to delete them, `key:write-prefix`. */
    permission: string;
    /** The SecretID or the AccessorID of the token; `anonymous` for requests without one. */
    token: string;
    /** The name of what it is about; empty for a resource without names. */
    name?: string;
  }): Promise<Permission>;
  /** Keys in the format of `consul kv export`.
   * @param prefix Only keys that begin with this. */
  exportKv(prefix?: string): Promise<Exported[]>;
  /** Makes a check critical, which ends the sessions that are bound to it. */
  failCheck(options: {
    /** The id of the check, such as `serfHealth`. */
    check: string;
    /** The name of the check's node; the agent's own node when it is left out. */
    node?: string;
  }): Promise<void>;
  /** Installs a rule behind those that there are: the first that matches a request wins. */
  fault(options: {
    /** What happens to the requests. */
    effect: Effect;
    /** Requests that come to the agent with this number, counted from 0. */
    agent?: number;
    /** With which probability a request is hit: more than 0, at most 1. */
    chance?: number;
    /** Requests from this IP address. */
    client?: string;
    /** Requests that come at this time or later, in milliseconds of the server's clock. */
    fromMs?: number;
    /** A header of the requests, by which clients on one machine can be told apart. */
    header?: Header;
    /** Requests for a key that begins with this, or for a tree of keys whose prefix does. */
    keyPrefix?: string;
    /** Requests with this method, such as `PUT`. */
    method?: string;
    /** Only one of the requests that meet the other conditions: the one with this number, counted from 1. */
    nth?: number;
    /** Requests whose decoded path begins with this, such as `/v1/session/`. */
    path?: string;
    /** Questions of DNS about this name or one below it, such as `web.service.consul`, in place of requests; `.` is any name. They can be delayed and not answered (`hang`), and their answers fail (`dns-…`). */
    question?: string;
    /** What `chance` is drawn from: the same seed hits the same requests. */
    seed?: number;
    /** Requests that name this session: in the path of `/v1/session/`, or in `acquire=` or `release=`. */
    session?: string;
    /** How many requests are hit at most, at least 1; all of them when it is left out. */
    times?: number;
    /** Requests that come before this time, in milliseconds of the server's clock. */
    toMs?: number;
  }): Promise<Id>;
  /** The rules, in the order in which they are tried, with how often they have hit. */
  faults(): Promise<Rules>;
  /** Gives the cluster a leader again. */
  findLeader(): Promise<void>;
  /** Stops the clock: nothing happens by itself, and a request that a fault holds for a time waits until the clock is moved (`held` of `GET /blocked`). */
  freeze(): Promise<Clock>;
  /** Lets an agent that was cut off reach the others again. */
  healAgent(options: {
    /** The number of the agent, from 0 on. */
    agent: number;
    /** The name of its datacenter, where several are joined. When it is left out: the one that is asked. */
    datacenter?: string;
  }): Promise<void>;
  /** Lets a datacenter that was cut off reach the others again.
   * @param datacenter The name of the datacenter. */
  healDatacenter(datacenter: string): Promise<void>;
  /** What happened, in order, and why. `lost` says how many of the oldest records are gone because there were more than the history keeps. */
  history(options?: {
    /** Only records after the one with this number. */
    after?: number;
    /** Only records about this key. */
    key?: string;
    /** Only records of this kind. May be repeated. */
    kind?: Kind[];
    /** Only the first so many of them. */
    limit?: number;
    /** Only records about this session. */
    session?: string;
  }): Promise<History>;
  /** Writes the keys of an export.
   * @param keys What an export gave. */
  importKv(keys: Exported[]): Promise<Imported>;
  /** Lets time pass as if the server's process had been stopped: what was due happens late, all at once.
   * @param by How far the clock moves: a duration such as `20s`, `1m30s` or `250ms`. */
  jump(by: Duration): Promise<Caused>;
  /** Ends the process of an agent, as `kill -9` does. The first agent can be killed only if the control plane has its own port. */
  killAgent(options: {
    /** The number of the agent, from 0 on. */
    agent: number;
    /** The name of its datacenter, where several are joined. When it is left out: the one that is asked. */
    datacenter?: string;
  }): Promise<void>;
  /** Sets how far a server lags behind the leader, for reads with `?stale`; as a real one if nothing says how far. */
  lagAgent(options: {
    /** The number of the agent, from 0 on. */
    agent: number;
    /** The name of its datacenter, where several are joined. When it is left out: the one that is asked. */
    datacenter?: string;
    /** It applies an entry when this many newer ones are there. */
    entries?: number;
    /** It applies nothing, while this is true. */
    hold?: boolean;
    /** It applies each entry after this time on the server's clock: a duration such as `5s`. */
    time?: Duration;
  }): Promise<void>;
  /** Makes a server the leader, without a request that fails. */
  leadAgent(options: {
    /** The number of the agent, from 0 on. */
    agent: number;
    /** The name of its datacenter, where several are joined. When it is left out: the one that is asked. */
    datacenter?: string;
  }): Promise<void>;
  /** Sets the link between an agent and its clients. */
  linkAgent(options: {
    /** The number of the agent, from 0 on. */
    agent: number;
    /** The state of the link. */
    link: Link;
    /** The name of its datacenter, where several are joined. When it is left out: the one that is asked. */
    datacenter?: string;
  }): Promise<void>;
  /** Goes over to a state that GET gave, of this server or of another with the same version, node and datacenter; blocked requests are answered. All times in it are durations from the moment of the dump.
   * @param state What `state` gave. */
  load(state: { [name: string]: unknown }): Promise<AtIndex>;
  /** The keys that are held, and by whom. */
  locks(): Promise<Locks>;
  /** Loses the leader, by a scenario or by a list of phases. */
  loseLeader(options?: {
    /** A loss of one's own: phases in their order. When the last one is over there is a leader again. */
    phases?: LossPhase[];
    /** A loss as it was measured on real clusters. */
    scenario?: Scenario;
  }): Promise<void>;
  /** Lowers every index, but to 1 at the least, as of a Consul that was built anew with the same data; blocked requests are answered.
   * @param by By how much the indexes are lowered. */
  lowerIndexes(by: number): Promise<AtIndex>;
  /** Makes a token with these rules. It counts at once, and goes with `/state/reset`. */
  makeToken(options: {
    /** The rules, in HCL or JSON, as a policy has them. */
    rules: string;
    /** The description, by which the history names the token. */
    description?: string;
  }): Promise<Token>;
  /** Ends the jumps of the clock. */
  noAuto(): Promise<void>;
  /** The OpenAPI description of these calls, as JSON. */
  openapi(): Promise<{ [name: string]: unknown }>;
  /** Makes a check passing. */
  passCheck(options: {
    /** The id of the check, such as `serfHealth`. */
    check: string;
    /** The name of the check's node; the agent's own node when it is left out. */
    node?: string;
  }): Promise<void>;
  /** Stops the process of an agent, as SIGSTOP does: it takes connections and answers nothing, and the others lose it. */
  pauseAgent(options: {
    /** The number of the agent, from 0 on. */
    agent: number;
    /** The name of its datacenter, where several are joined. When it is left out: the one that is asked. */
    datacenter?: string;
  }): Promise<void>;
  /** Lets the clock run at a multiple of the machine's time.
   * @param rate How fast the clock is to run: 0 stands still, 1 is the machine's time; else from 0.001 to 1000000. */
  rate(rate: number): Promise<Clock>;
  /** Closes all connections and refuses new ones; the port stays the server's. Needs a control port. */
  refuseConnections(): Promise<void>;
  /** Takes a rule away.
   * @param id The id, as the call that made it answered. */
  removeFault(id: number): Promise<void>;
  /** Goes back to the state of the start, and forgets all checkpoints; blocked requests are answered. */
  reset(): Promise<AtIndex>;
  /** Restarts the server on the same port, keeping what Consul keeps or nothing. Needs a control port.
   * @param state What the restart leaves of the state. */
  restart(state: RestartState): Promise<AtIndex>;
  /** Lets the clock run as the machine's does. */
  resume(): Promise<Clock>;
  /** Lets the process of an agent go on, as SIGCONT does: it answers what was sent meanwhile. */
  resumeAgent(options: {
    /** The number of the agent, from 0 on. */
    agent: number;
    /** The name of its datacenter, where several are joined. When it is left out: the one that is asked. */
    datacenter?: string;
  }): Promise<void>;
  /** Deletes a token: from now on it is unknown.
   * @param token The SecretID or the AccessorID of the token. */
  revokeToken(token: string): Promise<void>;
  /** Goes back to a checkpoint; blocked requests are answered.
   * @param name The name of the checkpoint. Any text is one. */
  rollback(name: string): Promise<AtIndex>;
  /** Whether a lock was safe: in the history, and in what programs believed. */
  safety(options: {
    /** The key of the lock. */
    key: string;
    /** When programs believed that they held the lock. Without any, the history alone is checked. */
    beliefs?: Belief[];
  }): Promise<Safety>;
  /** What this server is, and the seed with which it can be started again. */
  server(): Promise<About>;
  /** The servers that were started on demand. */
  servers(): Promise<Servers>;
  /** Starts the process of an agent again, with the data that it had. */
  startAgent(options: {
    /** The number of the agent, from 0 on. */
    agent: number;
    /** The name of its datacenter, where several are joined. When it is left out: the one that is asked. */
    datacenter?: string;
  }): Promise<void>;
  /** Starts another, isolated server in this process, with the settings of this one where none is given. */
  startServer(options?: {
    /** The IP address at which the new server listens. When it is left out: all addresses at which this one does. */
    address?: string;
    /** How many agents it has: servers, or servers and client agents, such as `3` or `3:1`. */
    agents?: string;
    /** A port for its control plane alone; 0 takes a free one. When it is left out the new server has one if this one has. */
    controlPort?: number;
    /** The name of the datacenter. */
    datacenter?: string;
    /** The names of datacenters that are joined, such as `dc1,dc2`; the first is its own. */
    datacenters?: string;
    /** The wall clock at the start of the server's clock, which the server's wall clock follows from then on: a time such as `2026-01-01T00:00:00Z`. When neither server has one: the machine's wall clock. */
    epoch?: string;
    /** Whether the clock stands still, at 0, until a test moves it. */
    frozen?: boolean;
    /** How many records the history keeps, at least 1; when there are more the oldest go, and who reads it is told. */
    historyCapacity?: number;
    /** The port of its Consul API; 0, which is the default, takes a free one. */
    httpPort?: number;
    /** The name of the agent's node. */
    node?: string;
    /** What session ids and jitter are drawn from. When it is left out it follows from this server's seed and the new server's id. */
    seed?: number;
    /** The shortest TTL that a session may have: a duration such as `1s`. */
    sessionTtlMin?: Duration;
    /** Any other settings, as a configuration file has them: Consul's keys, such as `{"limits": {"kv_max_value_size": 10}}`. Lists grow and maps are merged as with one file more. */
    settings?: { [name: string]: unknown };
    /** Whether endpoints that are not emulated are answered as unknown paths, and not with 501. */
    strict?: boolean;
    /** The emulated release of Consul, such as `1.8.7`. */
    version?: string;
  }): Promise<Listed>;
  /** The whole state: what clients see, and what is left of every TTL and lock-delay. The same state gives the same bytes. */
  state(): Promise<{ [name: string]: unknown }>;
  /** Stops a server that was started on demand.
   * @param id The id, as the call that made it answered. */
  stopServer(id: number): Promise<void>;
  /** The life of one key, for people.
   * @param key The key. */
  timeline(key: string): Promise<string>;
  /** Waits until so many requests are blocked on keys under a prefix, on a session, on a service, or on anything. */
  waitBlocked(options: {
    /** How many requests have to be blocked, at least. */
    count: number;
    /** Requests that are blocked on keys under this prefix. At most one of prefix, session and service is given; with none of them every blocked request counts. */
    prefix?: string;
    /** Requests that are blocked on the instances or checks of this service. */
    service?: string;
    /** Requests that are blocked on this session. */
    session?: string;
    /** How long to wait in the machine's time: a duration such as `20s` or `250ms`. */
    timeout?: Duration;
  }): Promise<Waiting>;
  /** Waits until the history has such a record; one that is there already counts. */
  waitEvent(options?: {
    /** After the record with this number. */
    after?: number;
    /** About this key. */
    key?: string;
    /** Of this kind. */
    kind?: Kind;
    /** About this session. */
    session?: string;
    /** How long to wait in the machine's time: a duration such as `20s` or `250ms`. */
    timeout?: Duration;
  }): Promise<Record>;
  /** Waits until every request is answered, blocked, or held by a fault.
   * @param timeout How long to wait in the machine's time: a duration such as `20s` or `250ms`. */
  waitIdle(timeout?: Duration): Promise<void>;
  /** Answers requests that are blocked on keys under a prefix, though nothing has changed.
   * @param prefix What the keys begin with; all keys when it is empty. */
  wake(prefix: string): Promise<Woken>;
}
