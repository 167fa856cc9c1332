// Made by server/packaging/controls/generate from the server's own description: do not edit.

package com.example.proconsul;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** What a test can do to a server, and learn about it. */
public abstract class Controls {
    Controls() {}

    abstract Object call(String method, String path, Map<String, ?> query, Object body);

    /** Takes connections again, on the same port. */
    public void acceptConnections() {
        call("POST", "/connections/accept", null, null);
    }

    /**
     * Moves the clock on through every deadline, and returns what that caused when all who were woken have been answered.
     * @param by How far the clock moves: a duration such as `20s`, `1m30s` or `250ms`.
     */
    public Caused advance(Duration by) {
        Map<String, Object> given = new LinkedHashMap<>();
        given.put("by", by);
        return Caused.of(call("POST", "/clock/advance", null, given));
    }

    /** Moves the clock to the next deadline; does nothing when nothing is ever due. */
    public Caused advanceToNext() {
        return Caused.of(call("POST", "/clock/advance-to-next", null, null));
    }

    /** The agents of the datacenter: one, unless the server was started with `--agents`. */
    public Agents agents() {
        return Agents.of(call("GET", "/agents", null, null));
    }

    /**
     * Lets the clock jump to the next deadline whenever at least so many requests are open and all of them are blocked.
     * @param clients How many requests have to be open, at least 1: one for each program that waits.
     */
    public void auto(long clients) {
        Map<String, Object> given = new LinkedHashMap<>();
        given.put("clients", clients);
        call("POST", "/clock/auto", null, given);
    }

    /**
     * Records that a program believes from now on that it holds a lock, or that it does not: `proconsul explore` judges programs by this, and the history shows it.
     * @param program The name of the program.
     * @param holds Whether it believes that it holds the lock.
     */
    public void believe(String program, boolean holds) {
        believe(program, holds, new BelieveOptions());
    }

    /**
     * Records that a program believes from now on that it holds a lock, or that it does not: `proconsul explore` judges programs by this, and the history shows it.
     * @param program The name of the program.
     * @param holds Whether it believes that it holds the lock.
     */
    public void believe(String program, boolean holds, BelieveOptions options) {
        Map<String, Object> given = new LinkedHashMap<>(options);
        given.put("program", program);
        given.put("holds", holds);
        call("POST", "/beliefs", null, given);
    }

    /** The blocking queries that wait now, and the requests that faults hold: where the clock stands still, they wait until it is moved. */
    public Waiting blocked() {
        return Waiting.of(call("GET", "/blocked", null, null));
    }

    /**
     * Gives the policies of a token other rules. They count for all tokens with these policies.
     * @param token The SecretID or the AccessorID of the token.
     * @param rules The rules, in HCL or JSON, as a policy has them.
     */
    public AtIndex changeRules(String token, String rules) {
        Map<String, Object> given = new LinkedHashMap<>();
        given.put("token", token);
        given.put("rules", rules);
        return AtIndex.of(call("POST", "/acl/rules", null, given));
    }

    /**
     * Keeps the state under a name, in place of what was kept under it before.
     * @param name The name of the checkpoint. Any text is one.
     */
    public AtIndex checkpoint(String name) {
        Map<String, Object> given = new LinkedHashMap<>();
        given.put("name", name);
        return AtIndex.of(call("POST", "/state/checkpoint", null, given));
    }

    /** The names of the checkpoints. */
    public Checkpoints checkpoints() {
        return Checkpoints.of(call("GET", "/state/checkpoints", null, null));
    }

    /** Takes all rules away; wakes come in time, and there is a leader. */
    public void clearFaults() {
        call("DELETE", "/faults", null, null);
    }

    /** Forgets the history so far. */
    public void clearHistory() {
        call("DELETE", "/history", null, null);
    }

    /** The time, the rate, and when something next happens by itself. */
    public Clock clock() {
        return Clock.of(call("GET", "/clock", null, null));
    }

    /**
     * Cuts an agent off from all others; its clients still reach it.
     * @param agent The number of the agent, from 0 on.
     */
    public void cutAgent(long agent) {
        cutAgent(agent, new CutAgentOptions());
    }

    /**
     * Cuts an agent off from all others; its clients still reach it.
     * @param agent The number of the agent, from 0 on.
     */
    public void cutAgent(long agent, CutAgentOptions options) {
        Map<String, Object> given = new LinkedHashMap<>(options);
        given.put("agent", agent);
        call("POST", "/agents/cut", null, given);
    }

    /**
     * Cuts a datacenter off from all others; within it all goes on.
     * @param datacenter The name of the datacenter.
     */
    public void cutDatacenter(String datacenter) {
        Map<String, Object> given = new LinkedHashMap<>();
        given.put("datacenter", datacenter);
        call("POST", "/datacenters/cut", null, given);
    }

    /** The datacenters: one, unless the server was started with `--datacenters`. Each has its own agents, state, history and faults, and a control plane at the addresses of its agents; the time of all is one. */
    public Datacenters datacenters() {
        return Datacenters.of(call("GET", "/datacenters", null, null));
    }

    /**
     * Lets the wakes of requests that are blocked on keys under a prefix come late.
     * @param prefix What the keys begin with; all keys when it is empty.
     * @param by How late the wakes come on the server's clock: a duration such as `20s` or `250ms`.
     */
    public void delayWakes(String prefix, Duration by) {
        delayWakes(prefix, by, new DelayWakesOptions());
    }

    /**
     * Lets the wakes of requests that are blocked on keys under a prefix come late.
     * @param prefix What the keys begin with; all keys when it is empty.
     * @param by How late the wakes come on the server's clock: a duration such as `20s` or `250ms`.
     */
    public void delayWakes(String prefix, Duration by, DelayWakesOptions options) {
        Map<String, Object> given = new LinkedHashMap<>(options);
        given.put("prefix", prefix);
        given.put("by", by);
        call("POST", "/wakes/delay", null, given);
    }

    /**
     * Deletes a checkpoint, and frees what only it still holds.
     * @param name The name of the checkpoint. Any text is one.
     */
    public void deleteCheckpoint(String name) {
        Map<String, Object> given = new LinkedHashMap<>();
        given.put("name", name);
        call("DELETE", "/state/checkpoint", given, null);
    }

    /**
     * Deletes a node with its services, checks and sessions.
     * @param node The name of the node.
     */
    public void deleteNode(String node) {
        Map<String, Object> given = new LinkedHashMap<>();
        given.put("node", node);
        call("POST", "/nodes/delete", null, given);
    }

    /** What will happen by itself, and when. Blocked requests, whose waits end, are in `GET /blocked`. */
    public AllDue due() {
        return AllDue.of(call("GET", "/clock/due", null, null));
    }

    /**
     * Expires a session now.
     * @param session The id of the session.
     */
    public void expireSession(String session) {
        Map<String, Object> given = new LinkedHashMap<>();
        given.put("session", session);
        call("POST", "/sessions/expire", null, given);
    }

    /**
     * Who holds a key, since when, what keeps others from it, and who waits.
     * @param key The key.
     */
    public Explanation explain(String key) {
        Map<String, Object> given = new LinkedHashMap<>();
        given.put("key", key);
        return Explanation.of(call("GET", "/explain", given, null));
    }

    /**
     * Whether a token has a permission, and what decides that.
     * @param permission The permission as refusals name it, such as `key:write`. For the keys below a prefix there are `key:list` and, to delete them, `key:write-prefix`.
     * @param token The SecretID or the AccessorID of the token; `anonymous` for requests without one.
     */
    public Permission explainPermission(String permission, String token) {
        return explainPermission(permission, token, new ExplainPermissionOptions());
    }

    /**
     * Whether a token has a permission, and what decides that.
     * @param permission The permission as refusals name it, such as `key:write`. For the keys below a prefix there are `key:list` and, to delete them, `key:write-prefix`.
     * @param token The SecretID or the AccessorID of the token; `anonymous` for requests without one.
     */
    public Permission explainPermission(String permission, String token, ExplainPermissionOptions options) {
        Map<String, Object> given = new LinkedHashMap<>(options);
        given.put("permission", permission);
        given.put("token", token);
        return Permission.of(call("GET", "/acl/explain", given, null));
    }

    /** Keys in the format of `consul kv export`. */
    public List<Exported> exportKv() {
        return exportKv(new ExportKvOptions());
    }

    /** Keys in the format of `consul kv export`. */
    public List<Exported> exportKv(ExportKvOptions options) {
        Map<String, Object> given = new LinkedHashMap<>(options);
        return Fields.list(call("GET", "/state/kv", given, null), Exported::of);
    }

    /**
     * Makes a check critical, which ends the sessions that are bound to it.
     * @param check The id of the check, such as `serfHealth`.
     */
    public void failCheck(String check) {
        failCheck(check, new FailCheckOptions());
    }

    /**
     * Makes a check critical, which ends the sessions that are bound to it.
     * @param check The id of the check, such as `serfHealth`.
     */
    public void failCheck(String check, FailCheckOptions options) {
        Map<String, Object> given = new LinkedHashMap<>(options);
        given.put("check", check);
        call("POST", "/checks/fail", null, given);
    }

    /**
     * Installs a rule behind those that there are: the first that matches a request wins.
     * @param effect What happens to the requests.
     */
    public Id fault(Effect effect) {
        return fault(effect, new FaultOptions());
    }

    /**
     * Installs a rule behind those that there are: the first that matches a request wins.
     * @param effect What happens to the requests.
     */
    public Id fault(Effect effect, FaultOptions options) {
        Map<String, Object> given = new LinkedHashMap<>(options);
        given.put("effect", effect);
        return Id.of(call("POST", "/faults", null, given));
    }

    /** The rules, in the order in which they are tried, with how often they have hit. */
    public Rules faults() {
        return Rules.of(call("GET", "/faults", null, null));
    }

    /** Gives the cluster a leader again. */
    public void findLeader() {
        call("POST", "/leader/find", null, null);
    }

    /** Stops the clock: nothing happens by itself, and a request that a fault holds for a time waits until the clock is moved (`held` of `GET /blocked`). */
    public Clock freeze() {
        return Clock.of(call("POST", "/clock/freeze", null, null));
    }

    /**
     * Lets an agent that was cut off reach the others again.
     * @param agent The number of the agent, from 0 on.
     */
    public void healAgent(long agent) {
        healAgent(agent, new HealAgentOptions());
    }

    /**
     * Lets an agent that was cut off reach the others again.
     * @param agent The number of the agent, from 0 on.
     */
    public void healAgent(long agent, HealAgentOptions options) {
        Map<String, Object> given = new LinkedHashMap<>(options);
        given.put("agent", agent);
        call("POST", "/agents/heal", null, given);
    }

    /**
     * Lets a datacenter that was cut off reach the others again.
     * @param datacenter The name of the datacenter.
     */
    public void healDatacenter(String datacenter) {
        Map<String, Object> given = new LinkedHashMap<>();
        given.put("datacenter", datacenter);
        call("POST", "/datacenters/heal", null, given);
    }

    /** What happened, in order, and why. `lost` says how many of the oldest records are gone because there were more than the history keeps. */
    public History history() {
        return history(new HistoryOptions());
    }

    /** What happened, in order, and why. `lost` says how many of the oldest records are gone because there were more than the history keeps. */
    public History history(HistoryOptions options) {
        Map<String, Object> given = new LinkedHashMap<>(options);
        return History.of(call("GET", "/history", given, null));
    }

    /**
     * Writes the keys of an export.
     * @param keys What an export gave.
     */
    public Imported importKv(List<Exported> keys) {
        return Imported.of(call("PUT", "/state/kv", null, keys));
    }

    /**
     * Lets time pass as if the server's process had been stopped: what was due happens late, all at once.
     * @param by How far the clock moves: a duration such as `20s`, `1m30s` or `250ms`.
     */
    public Caused jump(Duration by) {
        Map<String, Object> given = new LinkedHashMap<>();
        given.put("by", by);
        return Caused.of(call("POST", "/clock/jump", null, given));
    }

    /**
     * Ends the process of an agent, as `kill -9` does. The first agent can be killed only if the control plane has its own port.
     * @param agent The number of the agent, from 0 on.
     */
    public void killAgent(long agent) {
        killAgent(agent, new KillAgentOptions());
    }

    /**
     * Ends the process of an agent, as `kill -9` does. The first agent can be killed only if the control plane has its own port.
     * @param agent The number of the agent, from 0 on.
     */
    public void killAgent(long agent, KillAgentOptions options) {
        Map<String, Object> given = new LinkedHashMap<>(options);
        given.put("agent", agent);
        call("POST", "/agents/kill", null, given);
    }

    /**
     * Sets how far a server lags behind the leader, for reads with `?stale`; as a real one if nothing says how far.
     * @param agent The number of the agent, from 0 on.
     */
    public void lagAgent(long agent) {
        lagAgent(agent, new LagAgentOptions());
    }

    /**
     * Sets how far a server lags behind the leader, for reads with `?stale`; as a real one if nothing says how far.
     * @param agent The number of the agent, from 0 on.
     */
    public void lagAgent(long agent, LagAgentOptions options) {
        Map<String, Object> given = new LinkedHashMap<>(options);
        given.put("agent", agent);
        call("POST", "/agents/lag", null, given);
    }

    /**
     * Makes a server the leader, without a request that fails.
     * @param agent The number of the agent, from 0 on.
     */
    public void leadAgent(long agent) {
        leadAgent(agent, new LeadAgentOptions());
    }

    /**
     * Makes a server the leader, without a request that fails.
     * @param agent The number of the agent, from 0 on.
     */
    public void leadAgent(long agent, LeadAgentOptions options) {
        Map<String, Object> given = new LinkedHashMap<>(options);
        given.put("agent", agent);
        call("POST", "/agents/lead", null, given);
    }

    /**
     * Sets the link between an agent and its clients.
     * @param agent The number of the agent, from 0 on.
     * @param link The state of the link.
     */
    public void linkAgent(long agent, Link link) {
        linkAgent(agent, link, new LinkAgentOptions());
    }

    /**
     * Sets the link between an agent and its clients.
     * @param agent The number of the agent, from 0 on.
     * @param link The state of the link.
     */
    public void linkAgent(long agent, Link link, LinkAgentOptions options) {
        Map<String, Object> given = new LinkedHashMap<>(options);
        given.put("agent", agent);
        given.put("link", link);
        call("POST", "/agents/link", null, given);
    }

    /**
     * Goes over to a state that GET gave, of this server or of another with the same version, node and datacenter; blocked requests are answered. All times in it are durations from the moment of the dump.
     * @param state What `state` gave.
     */
    public AtIndex load(Map<String, ?> state) {
        return AtIndex.of(call("PUT", "/state", null, state));
    }

    /** The keys that are held, and by whom. */
    public Locks locks() {
        return Locks.of(call("GET", "/locks", null, null));
    }

    /** Loses the leader, by a scenario or by a list of phases. */
    public void loseLeader() {
        loseLeader(new LoseLeaderOptions());
    }

    /** Loses the leader, by a scenario or by a list of phases. */
    public void loseLeader(LoseLeaderOptions options) {
        Map<String, Object> given = new LinkedHashMap<>(options);
        call("POST", "/leader/lose", null, given);
    }

    /**
     * Lowers every index, but to 1 at the least, as of a Consul that was built anew with the same data; blocked requests are answered.
     * @param by By how much the indexes are lowered.
     */
    public AtIndex lowerIndexes(long by) {
        Map<String, Object> given = new LinkedHashMap<>();
        given.put("by", by);
        return AtIndex.of(call("POST", "/indexes/lower", null, given));
    }

    /**
     * Makes a token with these rules. It counts at once, and goes with `/state/reset`.
     * @param rules The rules, in HCL or JSON, as a policy has them.
     */
    public Token makeToken(String rules) {
        return makeToken(rules, new MakeTokenOptions());
    }

    /**
     * Makes a token with these rules. It counts at once, and goes with `/state/reset`.
     * @param rules The rules, in HCL or JSON, as a policy has them.
     */
    public Token makeToken(String rules, MakeTokenOptions options) {
        Map<String, Object> given = new LinkedHashMap<>(options);
        given.put("rules", rules);
        return Token.of(call("POST", "/acl/token", null, given));
    }

    /** Ends the jumps of the clock. */
    public void noAuto() {
        call("DELETE", "/clock/auto", null, null);
    }

    /** The OpenAPI description of these calls, as JSON. */
    public Map<String, Object> openapi() {
        return Fields.map(call("GET", "/openapi.json", null, null));
    }

    /**
     * Makes a check passing.
     * @param check The id of the check, such as `serfHealth`.
     */
    public void passCheck(String check) {
        passCheck(check, new PassCheckOptions());
    }

    /**
     * Makes a check passing.
     * @param check The id of the check, such as `serfHealth`.
     */
    public void passCheck(String check, PassCheckOptions options) {
        Map<String, Object> given = new LinkedHashMap<>(options);
        given.put("check", check);
        call("POST", "/checks/pass", null, given);
    }

    /**
     * Stops the process of an agent, as SIGSTOP does: it takes connections and answers nothing, and the others lose it.
     * @param agent The number of the agent, from 0 on.
     */
    public void pauseAgent(long agent) {
        pauseAgent(agent, new PauseAgentOptions());
    }

    /**
     * Stops the process of an agent, as SIGSTOP does: it takes connections and answers nothing, and the others lose it.
     * @param agent The number of the agent, from 0 on.
     */
    public void pauseAgent(long agent, PauseAgentOptions options) {
        Map<String, Object> given = new LinkedHashMap<>(options);
        given.put("agent", agent);
        call("POST", "/agents/pause", null, given);
    }

    /**
     * Lets the clock run at a multiple of the machine's time.
     * @param rate How fast the clock is to run: 0 stands still, 1 is the machine's time; else from 0.001 to 1000000.
     */
    public Clock rate(double rate) {
        Map<String, Object> given = new LinkedHashMap<>();
        given.put("rate", rate);
        return Clock.of(call("POST", "/clock/rate", null, given));
    }

    /** Closes all connections and refuses new ones; the port stays the server's. Needs a control port. */
    public void refuseConnections() {
        call("POST", "/connections/refuse", null, null);
    }

    /**
     * Takes a rule away.
     * @param id The id, as the call that made it answered.
     */
    public void removeFault(long id) {
        call("DELETE", "/faults/" + id, null, null);
    }

    /** Goes back to the state of the start, and forgets all checkpoints; blocked requests are answered. */
    public AtIndex reset() {
        return AtIndex.of(call("POST", "/state/reset", null, null));
    }

    /**
     * Restarts the server on the same port, keeping what Consul keeps or nothing. Needs a control port.
     * @param state What the restart leaves of the state.
     */
    public AtIndex restart(RestartState state) {
        Map<String, Object> given = new LinkedHashMap<>();
        given.put("state", state);
        return AtIndex.of(call("POST", "/restart", null, given));
    }

    /** Lets the clock run as the machine's does. */
    public Clock resume() {
        return Clock.of(call("POST", "/clock/resume", null, null));
    }

    /**
     * Lets the process of an agent go on, as SIGCONT does: it answers what was sent meanwhile.
     * @param agent The number of the agent, from 0 on.
     */
    public void resumeAgent(long agent) {
        resumeAgent(agent, new ResumeAgentOptions());
    }

    /**
     * Lets the process of an agent go on, as SIGCONT does: it answers what was sent meanwhile.
     * @param agent The number of the agent, from 0 on.
     */
    public void resumeAgent(long agent, ResumeAgentOptions options) {
        Map<String, Object> given = new LinkedHashMap<>(options);
        given.put("agent", agent);
        call("POST", "/agents/resume", null, given);
    }

    /**
     * Deletes a token: from now on it is unknown.
     * @param token The SecretID or the AccessorID of the token.
     */
    public void revokeToken(String token) {
        Map<String, Object> given = new LinkedHashMap<>();
        given.put("token", token);
        call("POST", "/acl/revoke", null, given);
    }

    /**
     * Goes back to a checkpoint; blocked requests are answered.
     * @param name The name of the checkpoint. Any text is one.
     */
    public AtIndex rollback(String name) {
        Map<String, Object> given = new LinkedHashMap<>();
        given.put("name", name);
        return AtIndex.of(call("POST", "/state/rollback", null, given));
    }

    /**
     * Whether a lock was safe: in the history, and in what programs believed.
     * @param key The key of the lock.
     */
    public Safety safety(String key) {
        return safety(key, new SafetyOptions());
    }

    /**
     * Whether a lock was safe: in the history, and in what programs believed.
     * @param key The key of the lock.
     */
    public Safety safety(String key, SafetyOptions options) {
        Map<String, Object> given = new LinkedHashMap<>(options);
        given.put("key", key);
        return Safety.of(call("POST", "/safety", null, given));
    }

    /** What this server is, and the seed with which it can be started again. */
    public About server() {
        return About.of(call("GET", "/server", null, null));
    }

    /** The servers that were started on demand. */
    public Servers servers() {
        return Servers.of(call("GET", "/servers", null, null));
    }

    /**
     * Starts the process of an agent again, with the data that it had.
     * @param agent The number of the agent, from 0 on.
     */
    public void startAgent(long agent) {
        startAgent(agent, new StartAgentOptions());
    }

    /**
     * Starts the process of an agent again, with the data that it had.
     * @param agent The number of the agent, from 0 on.
     */
    public void startAgent(long agent, StartAgentOptions options) {
        Map<String, Object> given = new LinkedHashMap<>(options);
        given.put("agent", agent);
        call("POST", "/agents/start", null, given);
    }

    /** Starts another, isolated server in this process, with the settings of this one where none is given. */
    public Listed startServer() {
        return startServer(new StartServerOptions());
    }

    /** Starts another, isolated server in this process, with the settings of this one where none is given. */
    public Listed startServer(StartServerOptions options) {
        Map<String, Object> given = new LinkedHashMap<>(options);
        return Listed.of(call("POST", "/servers", null, given));
    }

    /** The whole state: what clients see, and what is left of every TTL and lock-delay. The same state gives the same bytes. */
    public Map<String, Object> state() {
        return Fields.map(call("GET", "/state", null, null));
    }

    /**
     * Stops a server that was started on demand.
     * @param id The id, as the call that made it answered.
     */
    public void stopServer(long id) {
        call("DELETE", "/servers/" + id, null, null);
    }

    /**
     * The life of one key, for people.
     * @param key The key.
     */
    public String timeline(String key) {
        Map<String, Object> given = new LinkedHashMap<>();
        given.put("key", key);
        return (String) call("GET", "/timeline", given, null);
    }

    /**
     * Waits until so many requests are blocked on keys under a prefix, on a session, on a service, or on anything.
     * @param count How many requests have to be blocked, at least.
     */
    public Waiting waitBlocked(long count) {
        return waitBlocked(count, new WaitBlockedOptions());
    }

    /**
     * Waits until so many requests are blocked on keys under a prefix, on a session, on a service, or on anything.
     * @param count How many requests have to be blocked, at least.
     */
    public Waiting waitBlocked(long count, WaitBlockedOptions options) {
        Map<String, Object> given = new LinkedHashMap<>(options);
        given.putIfAbsent("timeout", "10s");
        given.put("count", count);
        return Waiting.of(call("POST", "/wait/blocked", null, given));
    }

    /** Waits until the history has such a record; one that is there already counts. */
    public Record waitEvent() {
        return waitEvent(new WaitEventOptions());
    }

    /** Waits until the history has such a record; one that is there already counts. */
    public Record waitEvent(WaitEventOptions options) {
        Map<String, Object> given = new LinkedHashMap<>(options);
        given.putIfAbsent("timeout", "10s");
        return Record.of(call("POST", "/wait/event", null, given));
    }

    /** Waits until every request is answered, blocked, or held by a fault. */
    public void waitIdle() {
        waitIdle(new WaitIdleOptions());
    }

    /** Waits until every request is answered, blocked, or held by a fault. */
    public void waitIdle(WaitIdleOptions options) {
        Map<String, Object> given = new LinkedHashMap<>(options);
        given.putIfAbsent("timeout", "10s");
        call("POST", "/wait/idle", null, given);
    }

    /**
     * Answers requests that are blocked on keys under a prefix, though nothing has changed.
     * @param prefix What the keys begin with; all keys when it is empty.
     */
    public Woken wake(String prefix) {
        Map<String, Object> given = new LinkedHashMap<>();
        given.put("prefix", prefix);
        return Woken.of(call("POST", "/wakes/spurious", null, given));
    }

    /** The arguments of `believe` that can be left out. */
    public static final class BelieveOptions extends Fields {
        /** The fencing token with which it holds the lock, if it has one. */
        public BelieveOptions fencingToken(String fencingToken) {
            set("fencing_token", fencingToken);
            return this;
        }
    }

    /** The arguments of `cutAgent` that can be left out. */
    public static final class CutAgentOptions extends Fields {
        /** The name of its datacenter, where several are joined. When it is left out: the one that is asked. */
        public CutAgentOptions datacenter(String datacenter) {
            set("datacenter", datacenter);
            return this;
        }
    }

    /** The arguments of `delayWakes` that can be left out. */
    public static final class DelayWakesOptions extends Fields {
        /** How many wakes come late, at least 1; all of them when it is left out. */
        public DelayWakesOptions times(long times) {
            set("times", times);
            return this;
        }
    }

    /** The arguments of `explainPermission` that can be left out. */
    public static final class ExplainPermissionOptions extends Fields {
        /** The name of what it is about; empty for a resource without names. */
        public ExplainPermissionOptions name(String name) {
            set("name", name);
            return this;
        }
    }

    /** The arguments of `exportKv` that can be left out. */
    public static final class ExportKvOptions extends Fields {
        /** Only keys that begin with this. */
        public ExportKvOptions prefix(String prefix) {
            set("prefix", prefix);
            return this;
        }
    }

    /** The arguments of `failCheck` that can be left out. */
    public static final class FailCheckOptions extends Fields {
        /** The name of the check's node; the agent's own node when it is left out. */
        public FailCheckOptions node(String node) {
            set("node", node);
            return this;
        }
    }

    /** The arguments of `fault` that can be left out. */
    public static final class FaultOptions extends Fields {
        /** Requests that come to the agent with this number, counted from 0. */
        public FaultOptions agent(long agent) {
            set("agent", agent);
            return this;
        }

        /** With which probability a request is hit: more than 0, at most 1. */
        public FaultOptions chance(double chance) {
            set("chance", chance);
            return this;
        }

        /** Requests from this IP address. */
        public FaultOptions client(String client) {
            set("client", client);
            return this;
        }

        /** Requests that come at this time or later, in milliseconds of the server's clock. */
        public FaultOptions fromMs(long fromMs) {
            set("from_ms", fromMs);
            return this;
        }

        /** A header of the requests, by which clients on one machine can be told apart. */
        public FaultOptions header(Header header) {
            set("header", header);
            return this;
        }

        /** Requests for a key that begins with this, or for a tree of keys whose prefix does. */
        public FaultOptions keyPrefix(String keyPrefix) {
            set("key_prefix", keyPrefix);
            return this;
        }

        /** Requests with this method, such as `PUT`. */
        public FaultOptions method(String method) {
            set("method", method);
            return this;
        }

        /** Only one of the requests that meet the other conditions: the one with this number, counted from 1. */
        public FaultOptions nth(long nth) {
            set("nth", nth);
            return this;
        }

        /** Requests whose decoded path begins with this, such as `/v1/session/`. */
        public FaultOptions path(String path) {
            set("path", path);
            return this;
        }

        /** Questions of DNS about this name or one below it, such as `web.service.consul`, in place of requests; `.` is any name. They can be delayed and not answered (`hang`), and their answers fail (`dns-…`). */
        public FaultOptions question(String question) {
            set("question", question);
            return this;
        }

        /** What `chance` is drawn from: the same seed hits the same requests. */
        public FaultOptions seed(long seed) {
            set("seed", seed);
            return this;
        }

        /** Requests that name this session: in the path of `/v1/session/`, or in `acquire=` or `release=`. */
        public FaultOptions session(String session) {
            set("session", session);
            return this;
        }

        /** How many requests are hit at most, at least 1; all of them when it is left out. */
        public FaultOptions times(long times) {
            set("times", times);
            return this;
        }

        /** Requests that come before this time, in milliseconds of the server's clock. */
        public FaultOptions toMs(long toMs) {
            set("to_ms", toMs);
            return this;
        }
    }

    /** The arguments of `healAgent` that can be left out. */
    public static final class HealAgentOptions extends Fields {
        /** The name of its datacenter, where several are joined. When it is left out: the one that is asked. */
        public HealAgentOptions datacenter(String datacenter) {
            set("datacenter", datacenter);
            return this;
        }
    }

    /** The arguments of `history` that can be left out. */
    public static final class HistoryOptions extends Fields {
        /** Only records after the one with this number. */
        public HistoryOptions after(long after) {
            set("after", after);
            return this;
        }

        /** Only records about this key. */
        public HistoryOptions key(String key) {
            set("key", key);
            return this;
        }

        /** Only records of this kind. May be repeated. */
        public HistoryOptions kind(List<Kind> kind) {
            set("kind", kind);
            return this;
        }

        /** Only the first so many of them. */
        public HistoryOptions limit(long limit) {
            set("limit", limit);
            return this;
        }

        /** Only records about this session. */
        public HistoryOptions session(String session) {
            set("session", session);
            return this;
        }
    }

    /** The arguments of `killAgent` that can be left out. */
    public static final class KillAgentOptions extends Fields {
        /** The name of its datacenter, where several are joined. When it is left out: the one that is asked. */
        public KillAgentOptions datacenter(String datacenter) {
            set("datacenter", datacenter);
            return this;
        }
    }

    /** The arguments of `lagAgent` that can be left out. */
    public static final class LagAgentOptions extends Fields {
        /** The name of its datacenter, where several are joined. When it is left out: the one that is asked. */
        public LagAgentOptions datacenter(String datacenter) {
            set("datacenter", datacenter);
            return this;
        }

        /** It applies an entry when this many newer ones are there. */
        public LagAgentOptions entries(long entries) {
            set("entries", entries);
            return this;
        }

        /** It applies nothing, while this is true. */
        public LagAgentOptions hold(boolean hold) {
            set("hold", hold);
            return this;
        }

        /** It applies each entry after this time on the server's clock: a duration such as `5s`. */
        public LagAgentOptions time(Duration time) {
            set("time", time);
            return this;
        }
    }

    /** The arguments of `leadAgent` that can be left out. */
    public static final class LeadAgentOptions extends Fields {
        /** The name of its datacenter, where several are joined. When it is left out: the one that is asked. */
        public LeadAgentOptions datacenter(String datacenter) {
            set("datacenter", datacenter);
            return this;
        }
    }

    /** The arguments of `linkAgent` that can be left out. */
    public static final class LinkAgentOptions extends Fields {
        /** The name of its datacenter, where several are joined. When it is left out: the one that is asked. */
        public LinkAgentOptions datacenter(String datacenter) {
            set("datacenter", datacenter);
            return this;
        }
    }

    /** The arguments of `loseLeader` that can be left out. */
    public static final class LoseLeaderOptions extends Fields {
        /** A loss of one's own: phases in their order. When the last one is over there is a leader again. */
        public LoseLeaderOptions phases(List<LossPhase> phases) {
            set("phases", phases);
            return this;
        }

        /** A loss as it was measured on real clusters. */
        public LoseLeaderOptions scenario(Scenario scenario) {
            set("scenario", scenario);
            return this;
        }
    }

    /** The arguments of `makeToken` that can be left out. */
    public static final class MakeTokenOptions extends Fields {
        /** The description, by which the history names the token. */
        public MakeTokenOptions description(String description) {
            set("description", description);
            return this;
        }
    }

    /** The arguments of `passCheck` that can be left out. */
    public static final class PassCheckOptions extends Fields {
        /** The name of the check's node; the agent's own node when it is left out. */
        public PassCheckOptions node(String node) {
            set("node", node);
            return this;
        }
    }

    /** The arguments of `pauseAgent` that can be left out. */
    public static final class PauseAgentOptions extends Fields {
        /** The name of its datacenter, where several are joined. When it is left out: the one that is asked. */
        public PauseAgentOptions datacenter(String datacenter) {
            set("datacenter", datacenter);
            return this;
        }
    }

    /** The arguments of `resumeAgent` that can be left out. */
    public static final class ResumeAgentOptions extends Fields {
        /** The name of its datacenter, where several are joined. When it is left out: the one that is asked. */
        public ResumeAgentOptions datacenter(String datacenter) {
            set("datacenter", datacenter);
            return this;
        }
    }

    /** The arguments of `safety` that can be left out. */
    public static final class SafetyOptions extends Fields {
        /** When programs believed that they held the lock. Without any, the history alone is checked. */
        public SafetyOptions beliefs(List<Belief> beliefs) {
            set("beliefs", beliefs);
            return this;
        }
    }

    /** The arguments of `startAgent` that can be left out. */
    public static final class StartAgentOptions extends Fields {
        /** The name of its datacenter, where several are joined. When it is left out: the one that is asked. */
        public StartAgentOptions datacenter(String datacenter) {
            set("datacenter", datacenter);
            return this;
        }
    }

    /** The arguments of `startServer` that can be left out. */
    public static final class StartServerOptions extends Fields {
        /** The IP address at which the new server listens. When it is left out: all addresses at which this one does. */
        public StartServerOptions address(String address) {
            set("address", address);
            return this;
        }

        /** How many agents it has: servers, or servers and client agents, such as `3` or `3:1`. */
        public StartServerOptions agents(String agents) {
            set("agents", agents);
            return this;
        }

        /** A port for its control plane alone; 0 takes a free one. When it is left out the new server has one if this one has. */
        public StartServerOptions controlPort(long controlPort) {
            set("control_port", controlPort);
            return this;
        }

        /** The name of the datacenter. */
        public StartServerOptions datacenter(String datacenter) {
            set("datacenter", datacenter);
            return this;
        }

        /** The names of datacenters that are joined, such as `dc1,dc2`; the first is its own. */
        public StartServerOptions datacenters(String datacenters) {
            set("datacenters", datacenters);
            return this;
        }

        /** The wall clock at the start of the server's clock, which the server's wall clock follows from then on: a time such as `2026-01-01T00:00:00Z`. When neither server has one: the machine's wall clock. */
        public StartServerOptions epoch(String epoch) {
            set("epoch", epoch);
            return this;
        }

        /** Whether the clock stands still, at 0, until a test moves it. */
        public StartServerOptions frozen(boolean frozen) {
            set("frozen", frozen);
            return this;
        }

        /** How many records the history keeps, at least 1; when there are more the oldest go, and who reads it is told. */
        public StartServerOptions historyCapacity(long historyCapacity) {
            set("history_capacity", historyCapacity);
            return this;
        }

        /** The port of its Consul API; 0, which is the default, takes a free one. */
        public StartServerOptions httpPort(long httpPort) {
            set("http_port", httpPort);
            return this;
        }

        /** The name of the agent's node. */
        public StartServerOptions node(String node) {
            set("node", node);
            return this;
        }

        /** What session ids and jitter are drawn from. When it is left out it follows from this server's seed and the new server's id. */
        public StartServerOptions seed(long seed) {
            set("seed", seed);
            return this;
        }

        /** The shortest TTL that a session may have: a duration such as `1s`. */
        public StartServerOptions sessionTtlMin(Duration sessionTtlMin) {
            set("session_ttl_min", sessionTtlMin);
            return this;
        }

        /** Any other settings, as a configuration file has them: Consul's keys, such as `{"limits": {"kv_max_value_size": 10}}`. Lists grow and maps are merged as with one file more. */
        public StartServerOptions settings(Map<String, ?> settings) {
            set("settings", settings);
            return this;
        }

        /** Whether endpoints that are not emulated are answered as unknown paths, and not with 501. */
        public StartServerOptions strict(boolean strict) {
            set("strict", strict);
            return this;
        }

        /** The emulated release of Consul, such as `1.8.7`. */
        public StartServerOptions version(String version) {
            set("version", version);
            return this;
        }
    }

    /** The arguments of `waitBlocked` that can be left out. */
    public static final class WaitBlockedOptions extends Fields {
        /** Requests that are blocked on keys under this prefix. At most one of prefix, session and service is given; with none of them every blocked request counts. */
        public WaitBlockedOptions prefix(String prefix) {
            set("prefix", prefix);
            return this;
        }

        /** Requests that are blocked on the instances or checks of this service. */
        public WaitBlockedOptions service(String service) {
            set("service", service);
            return this;
        }

        /** Requests that are blocked on this session. */
        public WaitBlockedOptions session(String session) {
            set("session", session);
            return this;
        }

        /** How long to wait in the machine's time: a duration such as `20s` or `250ms`. */
        public WaitBlockedOptions timeout(Duration timeout) {
            set("timeout", timeout);
            return this;
        }
    }

    /** The arguments of `waitEvent` that can be left out. */
    public static final class WaitEventOptions extends Fields {
        /** After the record with this number. */
        public WaitEventOptions after(long after) {
            set("after", after);
            return this;
        }

        /** About this key. */
        public WaitEventOptions key(String key) {
            set("key", key);
            return this;
        }

        /** Of this kind. */
        public WaitEventOptions kind(Kind kind) {
            set("kind", kind);
            return this;
        }

        /** About this session. */
        public WaitEventOptions session(String session) {
            set("session", session);
            return this;
        }

        /** How long to wait in the machine's time: a duration such as `20s` or `250ms`. */
        public WaitEventOptions timeout(Duration timeout) {
            set("timeout", timeout);
            return this;
        }
    }

    /** The arguments of `waitIdle` that can be left out. */
    public static final class WaitIdleOptions extends Fields {
        /** How long to wait in the machine's time: a duration such as `20s` or `250ms`. */
        public WaitIdleOptions timeout(Duration timeout) {
            set("timeout", timeout);
            return this;
        }
    }

    /** What a server is. */
    public static final class About extends Fields {
        private About(Object json) {
            super(json);
        }

        static About of(Object json) {
            return new About(json);
        }

        /** The version of proconsul. */
        public String proconsul() {
            return field("proconsul", String.class::cast);
        }

        /** The emulated release of Consul. */
        public String version() {
            return field("version", String.class::cast);
        }

        /** The seed from which session ids, the node's id and jitter are drawn; `--seed` and `POST /servers` take it. */
        public long seed() {
            return field("seed", Fields::whole);
        }

        /** The name of the agent's node. */
        public String node() {
            return field("node", String.class::cast);
        }

        /** The name of the datacenter. */
        public String datacenter() {
            return field("datacenter", String.class::cast);
        }

        /** The wall clock at the start of the server's clock, in milliseconds since the Unix epoch: with the time of a record it is the wall clock of that record. */
        public long epochMs() {
            return field("epoch_ms", Fields::whole);
        }
    }

    /** An agent. */
    public static final class Agent extends Fields {
        private Agent(Object json) {
            super(json);
        }

        static Agent of(Object json) {
            return new Agent(json);
        }

        /** Its number, from 0 on. */
        public long agent() {
            return field("agent", Fields::whole);
        }

        /** The name of its node. */
        public String node() {
            return field("node", String.class::cast);
        }

        /** The address of its Consul API; none if it does not listen on TCP. */
        public String address() {
            return field("address", String.class::cast);
        }

        /** Whether it is a server. */
        public boolean server() {
            return field("server", Boolean.class::cast);
        }

        /** Whether it leads. */
        public boolean leads() {
            return field("leads", Boolean.class::cast);
        }

        /** Whether its process runs. */
        public boolean runs() {
            return field("runs", Boolean.class::cast);
        }

        /** Whether it is cut off from the others. */
        public boolean cut() {
            return field("cut", Boolean.class::cast);
        }

        /** Whether the others have marked it as failed, or as one that has left. */
        public boolean failed() {
            return field("failed", Boolean.class::cast);
        }
    }

    /** The agents. */
    public static final class Agents extends Fields {
        private Agents(Object json) {
            super(json);
        }

        static Agents of(Object json) {
            return new Agents(json);
        }

        /** The agents, servers first. */
        public List<Agent> agents() {
            return field("agents", json -> list(json, Agent::of));
        }
    }

    /** What will happen by itself. */
    public static final class AllDue extends Fields {
        private AllDue(Object json) {
            super(json);
        }

        static AllDue of(Object json) {
            return new AllDue(json);
        }

        /** The time, in milliseconds since the clock began. */
        public long nowMs() {
            return field("now_ms", Fields::whole);
        }

        /** What will happen, the next thing first. */
        public List<Due> due() {
            return field("due", json -> list(json, Due::of));
        }
    }

    /** The index of the state. */
    public static final class AtIndex extends Fields {
        private AtIndex(Object json) {
            super(json);
        }

        static AtIndex of(Object json) {
            return new AtIndex(json);
        }

        /** The index of the last change, now. */
        public long index() {
            return field("index", Fields::whole);
        }
    }

    /** That a program believed to hold the lock. */
    public static final class Belief extends Fields {
        /**
         * That a program believed to hold the lock.
         * @param session The session with which the program acquired the lock.
         * @param fromMs Since when it believed to hold it, in milliseconds of the server's clock.
         * @param toMs Until when, in milliseconds of the server's clock; not before `from_ms`.
         */
        public Belief(String session, long fromMs, long toMs) {
            set("session", session);
            set("from_ms", fromMs);
            set("to_ms", toMs);
        }
    }

    /** A request that waits for a change. */
    public static final class Blocked extends Fields {
        private Blocked(Object json) {
            super(json);
        }

        static Blocked of(Object json) {
            return new Blocked(json);
        }

        /** The number of the request. */
        public long request() {
            return field("request", Fields::whole);
        }

        /** The address that it came from; null for one through a Unix socket. */
        public String client() {
            return field("client", String.class::cast);
        }

        /** Its path and parameters, as sent. */
        public String target() {
            return field("target", String.class::cast);
        }

        /** What it reads, in words. */
        public String read() {
            return field("read", String.class::cast);
        }

        /** The index that it waits to be passed. */
        public long minIndex() {
            return field("min_index", Fields::whole);
        }

        /** When it arrived, in milliseconds of the server's clock. */
        public long sinceMs() {
            return field("since_ms", Fields::whole);
        }

        /** The number of the record of its arrival. */
        public long record() {
            return field("record", Fields::whole);
        }

        /** When its wait ends, in milliseconds of the server's clock. */
        public long untilMs() {
            return field("until_ms", Fields::whole);
        }
    }

    /** What happened while time passed. */
    public static final class Caused extends Fields {
        private Caused(Object json) {
            super(json);
        }

        static Caused of(Object json) {
            return new Caused(json);
        }

        /** The time, in milliseconds since the clock began. */
        public long nowMs() {
            return field("now_ms", Fields::whole);
        }

        /** What the time that passed has caused, in order. */
        public List<Record> caused() {
            return field("caused", json -> list(json, Record::of));
        }
    }

    /** The checkpoints of a server. */
    public static final class Checkpoints extends Fields {
        private Checkpoints(Object json) {
            super(json);
        }

        static Checkpoints of(Object json) {
            return new Checkpoints(json);
        }

        /** Their names, in byte order. */
        public List<String> checkpoints() {
            return field("checkpoints", json -> list(json, String.class::cast));
        }
    }

    /** The clock of a server. */
    public static final class Clock extends Fields {
        private Clock(Object json) {
            super(json);
        }

        static Clock of(Object json) {
            return new Clock(json);
        }

        /** The time, in milliseconds since the clock began. */
        public long nowMs() {
            return field("now_ms", Fields::whole);
        }

        /** How fast the clock runs; 0 stands still, 1 is the machine's time. */
        public double rate() {
            return field("rate", Fields::real);
        }

        /** How long it is until something happens by itself, in milliseconds; null for never. */
        public Long nextDeadlineInMs() {
            return field("next_deadline_in_ms", Fields::whole);
        }
    }

    /** A datacenter. */
    public static final class Datacenter extends Fields {
        private Datacenter(Object json) {
            super(json);
        }

        static Datacenter of(Object json) {
            return new Datacenter(json);
        }

        /** Its name. */
        public String datacenter() {
            return field("datacenter", String.class::cast);
        }

        /** Whether it is cut off from the others. */
        public boolean cut() {
            return field("cut", Boolean.class::cast);
        }

        /** Its agents, servers first. */
        public List<Agent> agents() {
            return field("agents", json -> list(json, Agent::of));
        }
    }

    /** The datacenters. */
    public static final class Datacenters extends Fields {
        private Datacenters(Object json) {
            super(json);
        }

        static Datacenters of(Object json) {
            return new Datacenters(json);
        }

        /** The datacenters, in the order in which they were given. */
        public List<Datacenter> datacenters() {
            return field("datacenters", json -> list(json, Datacenter::of));
        }
    }

    /** Something that will happen by itself. */
    public static final class Due extends Fields {
        private Due(Object json) {
            super(json);
        }

        static Due of(Object json) {
            return new Due(json);
        }

        /** When, in milliseconds since the clock began. */
        public long atMs() {
            return field("at_ms", Fields::whole);
        }

        /** What will happen, in words. */
        public String text() {
            return field("text", String.class::cast);
        }

        /** The key whose lock-delay ends. */
        public String key() {
            return field("key", String.class::cast);
        }

        /** The session that expires unless it is renewed. */
        public String session() {
            return field("session", String.class::cast);
        }
    }

    /**
     * What happens to the requests.
     * It is one of {@link ErrorEffect}, {@link RespondEffect}, {@link DelayBeforeEffect}, {@link DelayAfterEffect}, {@link HangEffect}, {@link ResetEffect}, {@link EmptyReplyEffect}, {@link AppliedThenResetEffect}, {@link AppliedThenEmptyReplyEffect}, {@link TruncateEffect}, {@link AcquireInFlightEffect}, {@link RevokeTokenEffect}, {@link ChangeRulesEffect}, {@link IndexEffect}, {@link IndexBackEffect}, {@link ReadFromEffect}, {@link DnsServfailEffect}, {@link DnsTruncatedEffect}.
     */
    public abstract static class Effect extends Fields {
        private Effect() {}
    }

    /** Answers with one of Consul's own errors, after the time that Consul takes to give it. Nothing is applied. */
    public static final class ErrorEffect extends Effect {
        /**
         * Answers with one of Consul's own errors, after the time that Consul takes to give it. Nothing is applied.
         * @param error Which error.
         */
        public ErrorEffect(ErrorName error) {
            set("kind", "error");
            set("error", error);
        }

        /** After how long on the server's clock, in place of Consul's time: a duration such as `0s` or `250ms`. `0s` answers at once; on a clock that stands still every other time lasts until the clock is moved. */
        public ErrorEffect after(Duration after) {
            set("after", after);
            return this;
        }
    }

    /** Answers with any status, headers and body, as a proxy between client and Consul does. Nothing is applied. */
    public static final class RespondEffect extends Effect {
        /**
         * Answers with any status, headers and body, as a proxy between client and Consul does. Nothing is applied.
         * @param status The status, from 200 to 999.
         */
        public RespondEffect(long status) {
            set("kind", "respond");
            set("status", status);
        }

        /** The body, as text. Without any the body is empty. */
        public RespondEffect body(String body) {
            set("body", body);
            return this;
        }

        /** The body as base64, for one that is not text. At most one of the two is given. */
        public RespondEffect bodyBase64(String bodyBase64) {
            set("body_base64", bodyBase64);
            return this;
        }

        /** The headers, by name. `Content-Length`, `Transfer-Encoding` and `Date` are the server's own and refused. */
        public RespondEffect headers(Map<String, String> headers) {
            set("headers", headers);
            return this;
        }
    }

    /** Holds the request before it is applied. */
    public static final class DelayBeforeEffect extends Effect {
        /**
         * Holds the request before it is applied.
         * @param by For how long on the server's clock: a duration such as `20s` or `250ms`.
         */
        public DelayBeforeEffect(Duration by) {
            set("kind", "delay-before");
            set("by", by);
        }
    }

    /** Applies the request, and holds its answer. */
    public static final class DelayAfterEffect extends Effect {
        /**
         * Applies the request, and holds its answer.
         * @param by For how long on the server's clock: a duration such as `20s` or `250ms`.
         */
        public DelayAfterEffect(Duration by) {
            set("kind", "delay-after");
            set("by", by);
        }
    }

    /** Never answers. Nothing is applied. */
    public static final class HangEffect extends Effect {
        /** Never answers. Nothing is applied. */
        public HangEffect() {
            set("kind", "hang");
        }
    }

    /** Resets the connection without an answer. Nothing is applied. */
    public static final class ResetEffect extends Effect {
        /** Resets the connection without an answer. Nothing is applied. */
        public ResetEffect() {
            set("kind", "reset");
        }
    }

    /** Closes the connection without an answer. Nothing is applied. */
    public static final class EmptyReplyEffect extends Effect {
        /** Closes the connection without an answer. Nothing is applied. */
        public EmptyReplyEffect() {
            set("kind", "empty-reply");
        }
    }

    /** Applies the request, and resets the connection without an answer. */
    public static final class AppliedThenResetEffect extends Effect {
        /** Applies the request, and resets the connection without an answer. */
        public AppliedThenResetEffect() {
            set("kind", "applied-then-reset");
        }
    }

    /** Applies the request, and closes the connection without an answer. */
    public static final class AppliedThenEmptyReplyEffect extends Effect {
        /** Applies the request, and closes the connection without an answer. */
        public AppliedThenEmptyReplyEffect() {
            set("kind", "applied-then-empty-reply");
        }
    }

    /** Applies the request, and closes the connection within the body of the answer. */
    public static final class TruncateEffect extends Effect {
        /**
         * Applies the request, and closes the connection within the body of the answer.
         * @param bytes How many bytes of the body are sent.
         */
        public TruncateEffect(long bytes) {
            set("kind", "truncate");
            set("bytes", bytes);
        }
    }

    /** Lets a PUT with `?acquire` take its key during the lock-delay, as a real Consul does now and then when the acquire is in flight while the holder's session ends. The acquire of a key that another session holds waits (`GET /blocked` has it) until that session holds it no more, and is then applied. One that comes later, into the lock-delay, is refused as always. */
    public static final class AcquireInFlightEffect extends Effect {
        /** Lets a PUT with `?acquire` take its key during the lock-delay, as a real Consul does now and then when the acquire is in flight while the holder's session ends. The acquire of a key that another session holds waits (`GET /blocked` has it) until that session holds it no more, and is then applied. One that comes later, into the lock-delay, is refused as always. */
        public AcquireInFlightEffect() {
            set("kind", "acquire-in-flight");
        }
    }

    /** Deletes the token with which the request comes. The request is then handled as always. */
    public static final class RevokeTokenEffect extends Effect {
        /** Deletes the token with which the request comes. The request is then handled as always. */
        public RevokeTokenEffect() {
            set("kind", "revoke-token");
        }

        /** When; `arrival` if it is left out. */
        public RevokeTokenEffect when(Moment when) {
            set("when", when);
            return this;
        }
    }

    /** Gives the policies of the token with which the request comes other rules. The request is then handled as always. */
    public static final class ChangeRulesEffect extends Effect {
        /**
         * Gives the policies of the token with which the request comes other rules. The request is then handled as always.
         * @param rules The rules, in HCL or JSON, as a policy has them.
         */
        public ChangeRulesEffect(String rules) {
            set("kind", "change-rules");
            set("rules", rules);
        }

        /** When; `arrival` if it is left out. */
        public ChangeRulesEffect when(Moment when) {
            set("when", when);
            return this;
        }
    }

    /** Lets a read report another `X-Consul-Index` than the true one. */
    public static final class IndexEffect extends Effect {
        /**
         * Lets a read report another `X-Consul-Index` than the true one.
         * @param index The index that is reported; 0 is one that no Consul reports.
         */
        public IndexEffect(long index) {
            set("kind", "index");
            set("index", index);
        }
    }

    /** Lets a read report an `X-Consul-Index` that is lower than the true one, but at least 1. */
    public static final class IndexBackEffect extends Effect {
        /**
         * Lets a read report an `X-Consul-Index` that is lower than the true one, but at least 1.
         * @param by By how much.
         */
        public IndexBackEffect(long by) {
            set("kind", "index-back");
            set("by", by);
        }
    }

    /** Answers reads with `?stale` from a checkpoint, as a server that has fallen behind does. */
    public static final class ReadFromEffect extends Effect {
        /**
         * Answers reads with `?stale` from a checkpoint, as a server that has fallen behind does.
         * @param checkpoint The name of the checkpoint.
         * @param lastContact What `X-Consul-LastContact` says: a duration such as `20s` or `250ms`.
         */
        public ReadFromEffect(String checkpoint, Duration lastContact) {
            set("kind", "read-from");
            set("checkpoint", checkpoint);
            set("last_contact", lastContact);
        }
    }

    /** Answers questions of DNS with the code SERVFAIL. */
    public static final class DnsServfailEffect extends Effect {
        /** Answers questions of DNS with the code SERVFAIL. */
        public DnsServfailEffect() {
            set("kind", "dns-servfail");
        }
    }

    /** Answers questions of DNS over UDP without records, as truncated: a client asks again over TCP. */
    public static final class DnsTruncatedEffect extends Effect {
        /** Answers questions of DNS over UDP without records, as truncated: a client asks again over TCP. */
        public DnsTruncatedEffect() {
            set("kind", "dns-truncated");
        }
    }

    /** Which error. */
    public enum ErrorName {
        /** 500 `No cluster leader`, after Consul has waited 7 s for one. */
        NO_CLUSTER_LEADER,
        /** 500 `rpc error making call: EOF`: the connection to the leader ended. */
        RPC_EOF,
        /** 500: the old leader's port refuses connections. */
        RPC_CONNECTION_REFUSED,
        /** 500 `No known Consul servers`: a client agent has given up all servers. */
        NO_KNOWN_SERVERS,
        /** 500 `leadership lost while committing log`, after half a second: the write may or may not have been applied. */
        LEADERSHIP_LOST,
        /** 429 of `limits.rpc_rate`; without a text before 1.15. */
        RATE_LIMITED,
        /** 429 of `limits.http_max_conns_per_client`; before 1.9 the connection is closed without a word. */
        TOO_MANY_CONNECTIONS,
        /** 429 of `request_limits`: another server may do it. */
        SERVER_RATE_LIMITED,
        /** 503 of `request_limits`: only the leader could do it. */
        LEADER_RATE_LIMITED,
        /** 403 `Permission denied`, with what is missing since 1.12. */
        PERMISSION_DENIED,
        /** 403 `ACL not found`: the token is unknown. */
        ACL_NOT_FOUND;

        static ErrorName of(Object json) {
            return valueOf(String.valueOf(json).toUpperCase(Locale.ROOT).replace('-', '_'));
        }

        /** The name in JSON. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /** Who holds a key, and who waits for it. */
    public static final class Explanation extends Fields {
        private Explanation(Object json) {
            super(json);
        }

        static Explanation of(Object json) {
            return new Explanation(json);
        }

        /** The key. */
        public String key() {
            return field("key", String.class::cast);
        }

        /** Whether the key exists. */
        public boolean exists() {
            return field("exists", Boolean.class::cast);
        }

        /** The session that holds it; null when none does. */
        public String holder() {
            return field("holder", String.class::cast);
        }

        /** Since when, in milliseconds of the server's clock; null where the history does not go back so far. */
        public Long heldSinceMs() {
            return field("held_since_ms", Fields::whole);
        }

        /** How long the holder's session lives unless it is renewed, in milliseconds; null without a TTL. */
        public Long lapsesInMs() {
            return field("lapses_in_ms", Fields::whole);
        }

        /** How often the key was acquired. */
        public long lockIndex() {
            return field("lock_index", Fields::whole);
        }

        /** For how long nobody can acquire it, in milliseconds; null when anybody can. */
        public Long lockDelayLeftMs() {
            return field("lock_delay_left_ms", Fields::whole);
        }

        /** Who waits for it to change. */
        public List<Blocked> waiting() {
            return field("waiting", json -> list(json, Blocked::of));
        }

        /** What last happened to the lock, in words; null when nothing did. */
        public String last() {
            return field("last", String.class::cast);
        }

        /** All of it in words. */
        public String text() {
            return field("text", String.class::cast);
        }
    }

    /** A key as `consul kv export` prints it. */
    public static final class Exported extends Fields {
        /**
         * A key as `consul kv export` prints it.
         * @param key The key, which is not empty.
         * @param flags The flags that clients keep with the key.
         * @param value The value as base64.
         */
        public Exported(String key, long flags, String value) {
            set("key", key);
            set("flags", flags);
            set("value", value);
        }

        private Exported(Object json) {
            super(json);
        }

        static Exported of(Object json) {
            return new Exported(json);
        }

        /** The key, which is not empty. */
        public String key() {
            return field("key", String.class::cast);
        }

        /** The flags that clients keep with the key. */
        public long flags() {
            return field("flags", Fields::whole);
        }

        /** The value as base64. */
        public String value() {
            return field("value", String.class::cast);
        }
    }

    /** A header of the requests, by which clients on one machine can be told apart. */
    public static final class Header extends Fields {
        /**
         * A header of the requests, by which clients on one machine can be told apart.
         * @param name The name of the header.
         * @param value All of its value.
         */
        public Header(String name, String value) {
            set("name", name);
            set("value", value);
        }
    }

    /** A request that a fault holds. */
    public static final class Held extends Fields {
        private Held(Object json) {
            super(json);
        }

        static Held of(Object json) {
            return new Held(json);
        }

        /** The number of the request. */
        public long request() {
            return field("request", Fields::whole);
        }

        /** The address that it came from; null for one through a Unix socket. */
        public String client() {
            return field("client", String.class::cast);
        }

        /** Its path and parameters, as sent. */
        public String target() {
            return field("target", String.class::cast);
        }

        /** The fault, in words. */
        public String fault() {
            return field("fault", String.class::cast);
        }

        /** When it arrived, in milliseconds of the server's clock. */
        public long sinceMs() {
            return field("since_ms", Fields::whole);
        }

        /** The number of the record of its arrival. */
        public long record() {
            return field("record", Fields::whole);
        }

        /** When it goes on, in milliseconds of the server's clock; null if it is held until its client gives up. */
        public Long untilMs() {
            return field("until_ms", Fields::whole);
        }
    }

    /** Records of the history. */
    public static final class History extends Fields {
        private History(Object json) {
            super(json);
        }

        static History of(Object json) {
            return new History(json);
        }

        /** The records, oldest first. */
        public List<Record> records() {
            return field("records", json -> list(json, Record::of));
        }

        /** How many older records are gone because there were more than the history keeps. */
        public long lost() {
            return field("lost", Fields::whole);
        }
    }

    /** A rule was installed. */
    public static final class Id extends Fields {
        private Id(Object json) {
            super(json);
        }

        static Id of(Object json) {
            return new Id(json);
        }

        /** The id of the new rule, for `DELETE /faults/{id}`. */
        public long id() {
            return field("id", Fields::whole);
        }
    }

    /** Keys were imported. */
    public static final class Imported extends Fields {
        private Imported(Object json) {
            super(json);
        }

        static Imported of(Object json) {
            return new Imported(json);
        }

        /** How many keys. */
        public long keys() {
            return field("keys", Fields::whole);
        }
    }

    /** A rule that is installed. */
    public static final class InstalledRule extends Fields {
        private InstalledRule(Object json) {
            super(json);
        }

        static InstalledRule of(Object json) {
            return new InstalledRule(json);
        }

        /** The rule's id, for `DELETE /faults/{id}`. */
        public long id() {
            return field("id", Fields::whole);
        }

        /** What the rule does, in words. */
        public String effect() {
            return field("effect", String.class::cast);
        }

        /** Which requests the rule hits, in words: `PUT, key "job/"`, or `all requests`. */
        public String requests() {
            return field("requests", String.class::cast);
        }

        /** How many requests the rule hits at most; null without a limit. */
        public Long times() {
            return field("times", Fields::whole);
        }

        /** How often it has hit a request. */
        public long hits() {
            return field("hits", Fields::whole);
        }
    }

    /** A kind of record. */
    public enum Kind {
        /** A request arrived. */
        REQUEST,
        /** A request was answered. */
        ANSWER,
        /** A blocking query waits. */
        BLOCKED,
        /** A blocking query looks again. */
        WOKEN,
        /** A fault holds a request. */
        HELD,
        /** A key was created or changed. */
        KEY_WRITTEN,
        /** A key was deleted. */
        KEY_DELETED,
        /** All keys with a prefix were deleted. */
        KEY_TREE_DELETED,
        /** A conditional write did not take place. */
        WRITE_REFUSED,
        /** A key was acquired. */
        ACQUIRED,
        /** A key was not acquired. */
        ACQUIRE_REFUSED,
        /** A key has no holder any more. */
        RELEASED,
        /** A release by somebody who holds nothing. */
        RELEASE_REFUSED,
        /** A key is guarded. */
        LOCK_DELAY_BEGAN,
        /** A key is guarded no more. */
        LOCK_DELAY_ENDED,
        /** A session was created. */
        SESSION_CREATED,
        /** A TTL started anew. */
        SESSION_RENEWED,
        /** A session call was refused. */
        SESSION_REFUSED,
        /** A session ended. */
        SESSION_ENDED,
        /** Nodes, services or checks changed. */
        CATALOG_CHANGED,
        /** The memory of deleted keys was cleared. */
        TOMBSTONES_REAPED,
        /** A request was refused: its token lacks a permission. */
        ACCESS_DENIED,
        /** A request was refused: its token is unknown. */
        TOKEN_UNKNOWN,
        /** An answer lacks what its token may not see. */
        ROWS_REMOVED,
        /** A program said whether it believes that it holds a lock. */
        BELIEF,
        /** The test did something to the server. */
        CONTROL;

        static Kind of(Object json) {
            return valueOf(String.valueOf(json).toUpperCase(Locale.ROOT).replace('-', '_'));
        }

        /** The name in JSON. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /** The state of the link. */
    public enum Link {
        /** Requests and responses get through. */
        UP,
        /** Nothing gets through. What is sent meanwhile arrives when the link is up again. */
        SILENT,
        /** Connections are reset. */
        CUT;

        static Link of(Object json) {
            return valueOf(String.valueOf(json).toUpperCase(Locale.ROOT).replace('-', '_'));
        }

        /** The name in JSON. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /** A server that was started on demand. */
    public static final class Listed extends Fields {
        private Listed(Object json) {
            super(json);
        }

        static Listed of(Object json) {
            return new Listed(json);
        }

        /** The server's id, for `DELETE /servers/{id}`. */
        public long id() {
            return field("id", Fields::whole);
        }

        /** The URL of its Consul API. */
        public String url() {
            return field("url", String.class::cast);
        }

        /** The URLs of the Consul API of all its agents, the one above first. */
        public List<String> agents() {
            return field("agents", json -> list(json, String.class::cast));
        }

        /** The URL of its control plane. */
        public String control() {
            return field("control", String.class::cast);
        }

        /** The seed with which it can be started again. */
        public long seed() {
            return field("seed", Fields::whole);
        }
    }

    /** A key that is held. */
    public static final class Lock extends Fields {
        private Lock(Object json) {
            super(json);
        }

        static Lock of(Object json) {
            return new Lock(json);
        }

        /** The key. */
        public String key() {
            return field("key", String.class::cast);
        }

        /** The session that holds it. */
        public String session() {
            return field("session", String.class::cast);
        }

        /** How often the key was acquired. */
        public long lockIndex() {
            return field("lock_index", Fields::whole);
        }
    }

    /** The keys that are held. */
    public static final class Locks extends Fields {
        private Locks(Object json) {
            super(json);
        }

        static Locks of(Object json) {
            return new Locks(json);
        }

        /** The keys, in byte order. */
        public List<Lock> locks() {
            return field("locks", json -> list(json, Lock::of));
        }
    }

    /** A phase of a loss. */
    public static final class LossPhase extends Fields {
        /**
         * A phase of a loss.
         * @param phase What the cluster goes through.
         */
        public LossPhase(Phase phase) {
            set("phase", phase);
        }

        /** For how long on the server's clock: a duration such as `20s` or `250ms`. Only the last phase can be without; then it lasts until `POST /leader/find`. */
        public LossPhase lasts(Duration lasts) {
            set("lasts", lasts);
            return this;
        }
    }

    /** When something happens to a request. */
    public enum Moment {
        /** Before the request is looked at. */
        ARRIVAL,
        /** When it blocks, for a blocking query that finds nothing new. */
        BLOCKED;

        static Moment of(Object json) {
            return valueOf(String.valueOf(json).toUpperCase(Locale.ROOT).replace('-', '_'));
        }

        /** The name in JSON. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /** Whether a token has a permission. */
    public static final class Permission extends Fields {
        private Permission(Object json) {
            super(json);
        }

        static Permission of(Object json) {
            return new Permission(json);
        }

        /** The AccessorID of the token. */
        public String token() {
            return field("token", String.class::cast);
        }

        /** The description of the token. */
        public String tokenDescription() {
            return field("token_description", String.class::cast);
        }

        /** The permission, with the name of what it is about. */
        public String permission() {
            return field("permission", String.class::cast);
        }

        /** Whether the token has it. */
        public boolean allowed() {
            return field("allowed", Boolean.class::cast);
        }

        /** What decides: a rule and the policy that has it, or the default policy. */
        public String cause() {
            return field("cause", String.class::cast);
        }

        /** All of it in words. */
        public String text() {
            return field("text", String.class::cast);
        }
    }

    /** A phase. */
    public enum Phase {
        /** There never was a leader: everything but the agent's own endpoints waits 7 s for one (from 1.15 on up to 13.5 s) and fails, reads with `?stale` too. */
        NEVER_ELECTED,
        /** The leader, another server, is dead, and this one does not know it yet: calls fail at once. Reads with `?stale` go on. */
        UNREACHABLE,
        /** The leader, another server, does not answer, and this one does not know it yet: calls hang for 28 s and fail, unless there is a leader again. Reads with `?stale` go on. */
        SILENT,
        /** A leader is being elected: calls are held until the phase is over, and then go on; for as long as Consul waits for a leader at all. Reads with `?stale` go on. */
        ELECTING,
        /** This server is the leader and has just lost the others: writes fail after half a second, reads go on. */
        QUORUM_LOST,
        /** There is no leader and no election succeeds: calls wait 7 s for one and fail; reads with `?stale` say that there is none, and how long ago there was one. */
        NO_LEADER;

        static Phase of(Object json) {
            return valueOf(String.valueOf(json).toUpperCase(Locale.ROOT).replace('-', '_'));
        }

        /** The name in JSON. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /** Something that happened. Which fields a record has beyond the first five depends on its kind. */
    public static final class Record extends Fields {
        private Record(Object json) {
            super(json);
        }

        static Record of(Object json) {
            return new Record(json);
        }

        /** The record's place in the history, counted from 1. */
        public long number() {
            return field("number", Fields::whole);
        }

        /** When it happened, in milliseconds of the server's clock. */
        public long atMs() {
            return field("at_ms", Fields::whole);
        }

        /** The index of the state after it. */
        public long index() {
            return field("index", Fields::whole);
        }

        /** What kind of record this is. */
        public Kind kind() {
            return field("kind", Kind::of);
        }

        /** All of it in one line. */
        public String text() {
            return field("text", String.class::cast);
        }

        /** The number of the agent that a request came to, where there are several. */
        public Long agent() {
            return field("agent", Fields::whole);
        }

        /** Why: of a wake, a refusal, a release, or the end of a session. */
        public String cause() {
            return field("cause", String.class::cast);
        }

        /** The number of the record that it follows from: of a request, of the end of a session, of a control. It is left out where the clock, or the test's own program, did it. */
        public Long causedBy() {
            return field("caused_by", Fields::whole);
        }

        /** The address that a request came from; null for one through a Unix socket. */
        public String client() {
            return field("client", String.class::cast);
        }

        /** The fault that hit a request, in words; null when none did. */
        public String fault() {
            return field("fault", String.class::cast);
        }

        /** Whether that program believes that it holds the lock. */
        public Boolean holds() {
            return field("holds", Boolean.class::cast);
        }

        /** The key that the record is about. */
        public String key() {
            return field("key", String.class::cast);
        }

        /** How many keys were deleted. */
        public Long keys() {
            return field("keys", Fields::whole);
        }

        /** How long a lock-delay lasts, or a request is held, in milliseconds of the server's clock; left out for a request that is held until its client gives up. */
        public Long lastsMs() {
            return field("lasts_ms", Fields::whole);
        }

        /** A request's method. */
        public String method() {
            return field("method", String.class::cast);
        }

        /** The index that a blocking query waits to be passed. */
        public Long minIndex() {
            return field("min_index", Fields::whole);
        }

        /** The name of a session that was created, or of what a token lacks a permission on. */
        public String name() {
            return field("name", String.class::cast);
        }

        /** The node of a session that was created. */
        public String node() {
            return field("node", String.class::cast);
        }

        /** What the token lacks, such as `key:write`. */
        public String permission() {
            return field("permission", String.class::cast);
        }

        /** What the deleted keys start with. */
        public String prefix() {
            return field("prefix", String.class::cast);
        }

        /** The program that said what it believes. */
        public String program() {
            return field("program", String.class::cast);
        }

        /** The number of the request, of the kinds `request`, `answer`, `blocked`, `woken`, `held`, `access-denied`, `token-unknown` and `rows-removed`. */
        public Long request() {
            return field("request", Fields::whole);
        }

        /** How many rows were removed from an answer. */
        public Long rows() {
            return field("rows", Fields::whole);
        }

        /** The session that the record is about. */
        public String session() {
            return field("session", String.class::cast);
        }

        /** The status of an answer, or the code of one of DNS: 0 NOERROR, 2 SERVFAIL, 3 NXDOMAIN, 5 REFUSED; null when none was sent. */
        public Long status() {
            return field("status", Fields::whole);
        }

        /** A request's path and parameters, as sent. */
        public String target() {
            return field("target", String.class::cast);
        }

        /** The AccessorID of the token that was refused, or from whose answer rows were removed. */
        public String token() {
            return field("token", String.class::cast);
        }

        /** The description of that token. */
        public String tokenDescription() {
            return field("token_description", String.class::cast);
        }

        /** The TTL of a session that was created, in milliseconds; 0 for a session without one. */
        public Long ttlMs() {
            return field("ttl_ms", Fields::whole);
        }
    }

    /** What the restart leaves of the state. */
    public enum RestartState {
        /** What Consul writes to its disk: keys, sessions, catalog and indexes. TTLs start anew, lock-delays are forgotten. */
        KEEP,
        /** Nothing, as of `consul agent -dev`. */
        WIPE;

        static RestartState of(Object json) {
            return valueOf(String.valueOf(json).toUpperCase(Locale.ROOT).replace('-', '_'));
        }

        /** The name in JSON. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /** The rules that are installed. */
    public static final class Rules extends Fields {
        private Rules(Object json) {
            super(json);
        }

        static Rules of(Object json) {
            return new Rules(json);
        }

        /** The rules, in the order in which they are tried. */
        public List<InstalledRule> rules() {
            return field("rules", json -> list(json, InstalledRule::of));
        }

        /** What the cluster goes through without its leader; null while it has one. */
        public Phase leaderLost() {
            return field("leader_lost", Phase::of);
        }
    }

    /** Whether a lock was safe. */
    public static final class Safety extends Fields {
        private Safety(Object json) {
            super(json);
        }

        static Safety of(Object json) {
            return new Safety(json);
        }

        /** Whether there are no violations. */
        public boolean safe() {
            return field("safe", Boolean.class::cast);
        }

        /** What was wrong, a sentence each. */
        public List<String> violations() {
            return field("violations", json -> list(json, String.class::cast));
        }

        /** The life of the key, for people. */
        public String timeline() {
            return field("timeline", String.class::cast);
        }
    }

    /** A scenario. */
    public enum Scenario {
        /** The cluster never had a leader, until it is given one by `POST /leader/find`. */
        NEVER_ELECTED,
        /** The leader, another server, dies: two seconds of failures at once, then an election of 1.16 s, and there is a leader again. */
        LEADER_KILLED,
        /** This server is the leader and loses the others: for half a second writes fail, then there is no leader until `POST /leader/find`. */
        QUORUM_LOST,
        /** The server has just been started: calls are held for a quarter of a second, and go on. */
        STARTING;

        static Scenario of(Object json) {
            return valueOf(String.valueOf(json).toUpperCase(Locale.ROOT).replace('-', '_'));
        }

        /** The name in JSON. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /** The servers that were started on demand. */
    public static final class Servers extends Fields {
        private Servers(Object json) {
            super(json);
        }

        static Servers of(Object json) {
            return new Servers(json);
        }

        /** The servers, oldest first. */
        public List<Listed> servers() {
            return field("servers", json -> list(json, Listed::of));
        }
    }

    /** A token. */
    public static final class Token extends Fields {
        private Token(Object json) {
            super(json);
        }

        static Token of(Object json) {
            return new Token(json);
        }

        /** The AccessorID, by which the history names it. */
        public String accessor() {
            return field("accessor", String.class::cast);
        }

        /** The SecretID, which requests send. */
        public String secret() {
            return field("secret", String.class::cast);
        }
    }

    /** Requests that wait. */
    public static final class Waiting extends Fields {
        private Waiting(Object json) {
            super(json);
        }

        static Waiting of(Object json) {
            return new Waiting(json);
        }

        /** The blocking queries, oldest first. */
        public List<Blocked> blocked() {
            return field("blocked", json -> list(json, Blocked::of));
        }

        /** The requests that faults hold, oldest first. */
        public List<Held> held() {
            return field("held", json -> list(json, Held::of));
        }
    }

    /** Requests were woken. */
    public static final class Woken extends Fields {
        private Woken(Object json) {
            super(json);
        }

        static Woken of(Object json) {
            return new Woken(json);
        }

        /** How many requests looked again. */
        public long woken() {
            return field("woken", Fields::whole);
        }
    }
}
