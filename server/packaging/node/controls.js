// Made by server/packaging/controls/generate from the server's own description: do not edit.

/** Milliseconds, or text as Go writes durations. */
function duration(value) {
  return typeof value === "number" ? `${Math.round(value * 1000)}us` : value;
}

/** Rejects options that do not exist: a misspelled one would be ignored. */
export function onlyKnown(options, ...known) {
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) throw new TypeError(`unknown option ${name}: the options are ${known.join(", ")}`);
  }
}

/** What a test can do to a server, and learn about it. */
export class Controls {
  acceptConnections() {
    return this.call("POST", "/connections/accept");
  }

  advance(by) {
    return this.call("POST", "/clock/advance", { body: { by: duration(by) } });
  }

  advanceToNext() {
    return this.call("POST", "/clock/advance-to-next");
  }

  agents() {
    return this.call("GET", "/agents");
  }

  auto(clients) {
    return this.call("POST", "/clock/auto", { body: { clients: clients } });
  }

  believe(options) {
    onlyKnown(options, "program", "holds", "fencingToken");
    return this.call("POST", "/beliefs", { body: { program: options.program, holds: options.holds, fencing_token: options.fencingToken } });
  }

  blocked() {
    return this.call("GET", "/blocked");
  }

  changeRules(options) {
    onlyKnown(options, "token", "rules");
    return this.call("POST", "/acl/rules", { body: { token: options.token, rules: options.rules } });
  }

  checkpoint(name) {
    return this.call("POST", "/state/checkpoint", { body: { name: name } });
  }

  checkpoints() {
    return this.call("GET", "/state/checkpoints");
  }

  clearFaults() {
    return this.call("DELETE", "/faults");
  }

  clearHistory() {
    return this.call("DELETE", "/history");
  }

  clock() {
    return this.call("GET", "/clock");
  }

  cutAgent(options) {
    onlyKnown(options, "agent", "datacenter");
    return this.call("POST", "/agents/cut", { body: { agent: options.agent, datacenter: options.datacenter } });
  }

  cutDatacenter(datacenter) {
    return this.call("POST", "/datacenters/cut", { body: { datacenter: datacenter } });
  }

  datacenters() {
    return this.call("GET", "/datacenters");
  }

  delayWakes(options) {
    onlyKnown(options, "prefix", "by", "times");
    return this.call("POST", "/wakes/delay", { body: { prefix: options.prefix, by: duration(options.by), times: options.times } });
  }

  deleteCheckpoint(name) {
    return this.call("DELETE", "/state/checkpoint", { query: { name: name } });
  }

  deleteNode(node) {
    return this.call("POST", "/nodes/delete", { body: { node: node } });
  }

  due() {
    return this.call("GET", "/clock/due");
  }

  expireSession(session) {
    return this.call("POST", "/sessions/expire", { body: { session: session } });
  }

  explain(key) {
    return this.call("GET", "/explain", { query: { key: key } });
  }

  explainPermission(options) {
    onlyKnown(options, "permission", "token", "name");
    return this.call("GET", "/acl/explain", { query: { permission: options.permission, token: options.token, name: options.name } });
  }

  exportKv(prefix) {
    return this.call("GET", "/state/kv", { query: { prefix: prefix } });
  }

  failCheck(options) {
    onlyKnown(options, "check", "node");
    return this.call("POST", "/checks/fail", { body: { check: options.check, node: options.node } });
  }

  fault(options) {
    onlyKnown(options, "effect", "agent", "chance", "client", "fromMs", "header", "keyPrefix", "method", "nth", "path", "question", "seed", "session", "times", "toMs");
    return this.call("POST", "/faults", { body: { effect: options.effect, agent: options.agent, chance: options.chance, client: options.client, from_ms: options.fromMs, header: options.header, key_prefix: options.keyPrefix, method: options.method, nth: options.nth, path: options.path, question: options.question, seed: options.seed, session: options.session, times: options.times, to_ms: options.toMs } });
  }

  faults() {
    return this.call("GET", "/faults");
  }

  findLeader() {
    return this.call("POST", "/leader/find");
  }

  freeze() {
    return this.call("POST", "/clock/freeze");
  }

  healAgent(options) {
    onlyKnown(options, "agent", "datacenter");
    return this.call("POST", "/agents/heal", { body: { agent: options.agent, datacenter: options.datacenter } });
  }

  healDatacenter(datacenter) {
    return this.call("POST", "/datacenters/heal", { body: { datacenter: datacenter } });
  }

  history(options = {}) {
    onlyKnown(options, "after", "key", "kind", "limit", "session");
    return this.call("GET", "/history", { query: { after: options.after, key: options.key, kind: options.kind, limit: options.limit, session: options.session } });
  }

  importKv(keys) {
    return this.call("PUT", "/state/kv", { body: keys });
  }

  jump(by) {
    return this.call("POST", "/clock/jump", { body: { by: duration(by) } });
  }

  killAgent(options) {
    onlyKnown(options, "agent", "datacenter");
    return this.call("POST", "/agents/kill", { body: { agent: options.agent, datacenter: options.datacenter } });
  }

  lagAgent(options) {
    onlyKnown(options, "agent", "datacenter", "entries", "hold", "time");
    return this.call("POST", "/agents/lag", { body: { agent: options.agent, datacenter: options.datacenter, entries: options.entries, hold: options.hold, time: duration(options.time) } });
  }

  leadAgent(options) {
    onlyKnown(options, "agent", "datacenter");
    return this.call("POST", "/agents/lead", { body: { agent: options.agent, datacenter: options.datacenter } });
  }

  linkAgent(options) {
    onlyKnown(options, "agent", "link", "datacenter");
    return this.call("POST", "/agents/link", { body: { agent: options.agent, link: options.link, datacenter: options.datacenter } });
  }

  load(state) {
    return this.call("PUT", "/state", { body: state });
  }

  locks() {
    return this.call("GET", "/locks");
  }

  loseLeader(options = {}) {
    onlyKnown(options, "phases", "scenario");
    return this.call("POST", "/leader/lose", { body: { phases: options.phases, scenario: options.scenario } });
  }

  lowerIndexes(by) {
    return this.call("POST", "/indexes/lower", { body: { by: by } });
  }

  makeToken(options) {
    onlyKnown(options, "rules", "description");
    return this.call("POST", "/acl/token", { body: { rules: options.rules, description: options.description } });
  }

  noAuto() {
    return this.call("DELETE", "/clock/auto");
  }

  openapi() {
    return this.call("GET", "/openapi.json");
  }

  passCheck(options) {
    onlyKnown(options, "check", "node");
    return this.call("POST", "/checks/pass", { body: { check: options.check, node: options.node } });
  }

  pauseAgent(options) {
    onlyKnown(options, "agent", "datacenter");
    return this.call("POST", "/agents/pause", { body: { agent: options.agent, datacenter: options.datacenter } });
  }

  rate(rate) {
    return this.call("POST", "/clock/rate", { body: { rate: rate } });
  }

  refuseConnections() {
    return this.call("POST", "/connections/refuse");
  }

  removeFault(id) {
    return this.call("DELETE", `/faults/${id}`);
  }

  reset() {
    return this.call("POST", "/state/reset");
  }

  restart(state) {
    return this.call("POST", "/restart", { body: { state: state } });
  }

  resume() {
    return this.call("POST", "/clock/resume");
  }

  resumeAgent(options) {
    onlyKnown(options, "agent", "datacenter");
    return this.call("POST", "/agents/resume", { body: { agent: options.agent, datacenter: options.datacenter } });
  }

  revokeToken(token) {
    return this.call("POST", "/acl/revoke", { body: { token: token } });
  }

  rollback(name) {
    return this.call("POST", "/state/rollback", { body: { name: name } });
  }

  safety(options) {
    onlyKnown(options, "key", "beliefs");
    return this.call("POST", "/safety", { body: { key: options.key, beliefs: options.beliefs } });
  }

  server() {
    return this.call("GET", "/server");
  }

  servers() {
    return this.call("GET", "/servers");
  }

  startAgent(options) {
    onlyKnown(options, "agent", "datacenter");
    return this.call("POST", "/agents/start", { body: { agent: options.agent, datacenter: options.datacenter } });
  }

  startServer(options = {}) {
    onlyKnown(options, "address", "agents", "controlPort", "datacenter", "datacenters", "epoch", "frozen", "historyCapacity", "httpPort", "node", "seed", "sessionTtlMin", "settings", "strict", "version");
    return this.call("POST", "/servers", { body: { address: options.address, agents: options.agents, control_port: options.controlPort, datacenter: options.datacenter, datacenters: options.datacenters, epoch: options.epoch, frozen: options.frozen, history_capacity: options.historyCapacity, http_port: options.httpPort, node: options.node, seed: options.seed, session_ttl_min: duration(options.sessionTtlMin), settings: options.settings, strict: options.strict, version: options.version } });
  }

  state() {
    return this.call("GET", "/state");
  }

  stopServer(id) {
    return this.call("DELETE", `/servers/${id}`);
  }

  timeline(key) {
    return this.call("GET", "/timeline", { query: { key: key } });
  }

  waitBlocked(options) {
    onlyKnown(options, "count", "prefix", "service", "session", "timeout");
    return this.call("POST", "/wait/blocked", { body: { count: options.count, prefix: options.prefix, service: options.service, session: options.session, timeout: duration(options.timeout ?? "10s") } });
  }

  waitEvent(options = {}) {
    onlyKnown(options, "after", "key", "kind", "session", "timeout");
    return this.call("POST", "/wait/event", { body: { after: options.after, key: options.key, kind: options.kind, session: options.session, timeout: duration(options.timeout ?? "10s") } });
  }

  waitIdle(timeout = "10s") {
    return this.call("POST", "/wait/idle", { body: { timeout: duration(timeout) } });
  }

  wake(prefix) {
    return this.call("POST", "/wakes/spurious", { body: { prefix: prefix } });
  }
}
