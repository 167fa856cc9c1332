// Made by server/packaging/controls/generate from the server's own description: do not edit.

package com.example.proconsul;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a test can do to a server, and learn about it. */
public abstract class Controls {
    Controls() {}

    abstract Object call(String method, String path, Map<String, ?> query, Object body);

    abstract Map<String, Object> chosen(Map<String, ?> options, String... names);

    /**
     * Takes connections again, on the same port.
     */
    public void acceptConnections() {
        call("POST", "/connections/accept", null, null);
    }

    /**
     * Moves the clock on through every deadline, and returns what that caused when all who were woken have been answered.
     * @param by How far the clock moves: a duration such as `20s`, `1m30s` or `250ms`.
     */
    @SuppressWarnings("unchecked")
    public Map<String, Object> advance(Duration by) {
        Map<String, Object> given = new LinkedHashMap<>();
        given.put("by", by);
        return (Map<String, Object>) call("POST", "/clock/advance", null, given);
    }

    /**
     * Moves the clock to the next deadline; does nothing when nothing is ever due.
     */
    @SuppressWarnings("unchecked")
    public Map<String, Object> advanceToNext() {
        return (Map<String, Object>) call("POST", "/clock/advance-to-next", null, null);
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
     * The blocking queries that wait now, and the requests that faults hold: where the clock stands still, they wait until it is moved.
     */
    @SuppressWarnings("unchecked")
    public Map<String, Object> blocked() {
        return (Map<String, Object>) call("GET", "/blocked", null, null);
    }

    /**
     * Gives the policies of a token other rules. They count for all tokens with these policies.
     * @param token The SecretID or the AccessorID of the token.
     * @param rules The rules, in HCL or JSON, as a policy has them.
     */
    @SuppressWarnings("unchecked")
    public Map<String, Object> changeRules(String token, String rules) {
        Map<String, Object> given = new LinkedHashMap<>();
        given.put("token", token);
        given.put("rules", rules);
        return (Map<String, Object>) call("POST", "/acl/rules", null, given);
    }

    /**
     * Keeps the state under a name, in place of what was kept under it before.
     * @param name The name of the checkpoint. Any text is one.
     */
    @SuppressWarnings("unchecked")
    public Map<String, Object> checkpoint(String name) {
        Map<String, Object> given = new LinkedHashMap<>();
        given.put("name", name);
        return (Map<String, Object>) call("POST", "/state/checkpoint", null, given);
    }

    /**
     * The names of the checkpoints.
     */
    @SuppressWarnings("unchecked")
    public Map<String, Object> checkpoints() {
        return (Map<String, Object>) call("GET", "/state/checkpoints", null, null);
    }

    /**
     * Takes all rules away; wakes come in time, and there is a leader.
     */
    public void clearFaults() {
        call("DELETE", "/faults", null, null);
    }

    /**
     * Forgets the history so far.
     */
    public void clearHistory() {
        call("DELETE", "/history", null, null);
    }

    /**
     * The time, the rate, and when something next happens by itself.
     */
    @SuppressWarnings("unchecked")
    public Map<String, Object> clock() {
        return (Map<String, Object>) call("GET", "/clock", null, null);
    }

    /**
     * Lets the wakes of requests that are blocked on keys under a prefix come late.
     * @param prefix What the keys begin with; all keys when it is empty.
     * @param by How late the wakes come on the server's clock: a duration such as `20s` or `250ms`.
     */
    public void delayWakes(String prefix, Duration by) {
        delayWakes(prefix, by, Map.of());
    }

    /**
     * Lets the wakes of requests that are blocked on keys under a prefix come late.
     * @param prefix What the keys begin with; all keys when it is empty.
     * @param by How late the wakes come on the server's clock: a duration such as `20s` or `250ms`.
     * @param options any of these: times: How many wakes come late, at least 1; all of them when it is left out.
     */
    public void delayWakes(String prefix, Duration by, Map<String, ?> options) {
        Map<String, Object> given = chosen(options, "times");
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

    /**
     * What will happen by itself, and when. Blocked requests, whose waits end, are in `GET /blocked`.
     */
    @SuppressWarnings("unchecked")
    public Map<String, Object> due() {
        return (Map<String, Object>) call("GET", "/clock/due", null, null);
    }

    /**
     * Lets a session lapse now.
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
    @SuppressWarnings("unchecked")
    public Map<String, Object> explain(String key) {
        Map<String, Object> given = new LinkedHashMap<>();
        given.put("key", key);
        return (Map<String, Object>) call("GET", "/explain", given, null);
    }

    /**
     * Whether a token has a permission, and what decides that.
     * @param permission The permission as refusals name it, such as `key:write`. For the keys below a prefix there are `key:list` and, to delete them, `key:write-prefix`.
     * @param token The SecretID or the AccessorID of the token; `anonymous` for requests without one.
     */
    public Map<String, Object> explainPermission(String permission, String token) {
        return explainPermission(permission, token, Map.of());
    }

    /**
     * Whether a token has a permission, and what decides that.
     * @param permission The permission as refusals name it, such as `key:write`. For the keys below a prefix there are `key:list` and, to delete them, `key:write-prefix`.
     * @param token The SecretID or the AccessorID of the token; `anonymous` for requests without one.
     * @param options any of these: name: The name of what it is about; empty for a resource without names.
     */
    @SuppressWarnings("unchecked")
    public Map<String, Object> explainPermission(String permission, String token, Map<String, ?> options) {
        Map<String, Object> given = chosen(options, "name");
        given.put("permission", permission);
        given.put("token", token);
        return (Map<String, Object>) call("GET", "/acl/explain", given, null);
    }

    /**
     * Keys in the format of `consul kv export`.
     */
    public List<Object> exportKv() {
        return exportKv(Map.of());
    }

    /**
     * Keys in the format of `consul kv export`.
     * @param options any of these: prefix: Only keys that begin with this.
     */
    @SuppressWarnings("unchecked")
    public List<Object> exportKv(Map<String, ?> options) {
        Map<String, Object> given = chosen(options, "prefix");
        return (List<Object>) call("GET", "/state/kv", given, null);
    }

    /**
     * Makes a check critical, which ends the sessions that are bound to it.
     * @param check The id of the check, such as `serfHealth`.
     */
    public void failCheck(String check) {
        failCheck(check, Map.of());
    }

    /**
     * Makes a check critical, which ends the sessions that are bound to it.
     * @param check The id of the check, such as `serfHealth`.
     * @param options any of these: node: The name of the check's node; the agent's own node when it is left out.
     */
    public void failCheck(String check, Map<String, ?> options) {
        Map<String, Object> given = chosen(options, "node");
        given.put("check", check);
        call("POST", "/checks/fail", null, given);
    }

    /**
     * Installs a rule behind those that there are: the first that matches a request wins.
     * @param effect What happens to the requests.
     */
    public Map<String, Object> fault(Map<String, ?> effect) {
        return fault(effect, Map.of());
    }

    /**
     * Installs a rule behind those that there are: the first that matches a request wins.
     * @param effect What happens to the requests.
     * @param options any of these: chance: With which probability a request is hit: more than 0, at most 1.; client: Requests from this IP address.; from_ms: Requests that come at this time or later, in milliseconds of the server's clock.; header: Requests with this header, by which clients on one machine can be told apart.; key_prefix: Requests for a key that begins with this, or for a tree of keys whose prefix does.; method: Requests with this method, such as `PUT`.; nth: Only one of the requests that meet the other conditions: the one with this number, counted from 1.; path: Requests whose decoded path begins with this, such as `/v1/session/`.; seed: What `chance` is drawn from: the same seed hits the same requests.; session: Requests that name this session: in the path of `/v1/session/`, or in `acquire=` or `release=`.; times: How many requests are hit at most, at least 1; all of them when it is left out.; to_ms: Requests that come before this time, in milliseconds of the server's clock.
     */
    @SuppressWarnings("unchecked")
    public Map<String, Object> fault(Map<String, ?> effect, Map<String, ?> options) {
        Map<String, Object> given = chosen(options, "chance", "client", "from_ms", "header", "key_prefix", "method", "nth", "path", "seed", "session", "times", "to_ms");
        given.put("effect", effect);
        return (Map<String, Object>) call("POST", "/faults", null, given);
    }

    /**
     * The rules, in the order in which they are tried, with how often they have hit.
     */
    @SuppressWarnings("unchecked")
    public Map<String, Object> faults() {
        return (Map<String, Object>) call("GET", "/faults", null, null);
    }

    /**
     * Gives the cluster a leader again.
     */
    public void findLeader() {
        call("POST", "/leader/find", null, null);
    }

    /**
     * Stops the clock: nothing happens by itself, and a request that a fault holds for a time waits until the clock is moved (`held` of `GET /blocked`).
     */
    @SuppressWarnings("unchecked")
    public Map<String, Object> freeze() {
        return (Map<String, Object>) call("POST", "/clock/freeze", null, null);
    }

    /**
     * What happened, in order, and why. `lost` says how many of the oldest records are gone because there were more than the history keeps.
     */
    public Map<String, Object> history() {
        return history(Map.of());
    }

    /**
     * What happened, in order, and why. `lost` says how many of the oldest records are gone because there were more than the history keeps.
     * @param options any of these: after: Only records after the one with this number.; key: Only records about this key.; kind: Only records of this kind. May be repeated.; limit: Only the first so many of them.; session: Only records about this session.
     */
    @SuppressWarnings("unchecked")
    public Map<String, Object> history(Map<String, ?> options) {
        Map<String, Object> given = chosen(options, "after", "key", "kind", "limit", "session");
        return (Map<String, Object>) call("GET", "/history", given, null);
    }

    /**
     * Writes the keys of an export.
     * @param keys What an export gave.
     */
    @SuppressWarnings("unchecked")
    public Map<String, Object> importKv(List<?> keys) {
        return (Map<String, Object>) call("PUT", "/state/kv", null, keys);
    }

    /**
     * Lets time pass as if the server's process had been stopped: what was due happens late, all at once.
     * @param by How far the clock moves: a duration such as `20s`, `1m30s` or `250ms`.
     */
    @SuppressWarnings("unchecked")
    public Map<String, Object> jump(Duration by) {
        Map<String, Object> given = new LinkedHashMap<>();
        given.put("by", by);
        return (Map<String, Object>) call("POST", "/clock/jump", null, given);
    }

    /**
     * Goes over to a state that GET gave, of this server or of another with the same version, node and datacenter; blocked requests are answered. All times in it are durations from the moment of the dump.
     * @param state What `state` gave.
     */
    @SuppressWarnings("unchecked")
    public Map<String, Object> load(Map<String, ?> state) {
        return (Map<String, Object>) call("PUT", "/state", null, state);
    }

    /**
     * The keys that are held, and by whom.
     */
    @SuppressWarnings("unchecked")
    public Map<String, Object> locks() {
        return (Map<String, Object>) call("GET", "/locks", null, null);
    }

    /**
     * Loses the leader, by a scenario or by a list of phases.
     */
    public void loseLeader() {
        loseLeader(Map.of());
    }

    /**
     * Loses the leader, by a scenario or by a list of phases.
     * @param options any of these: phases: A loss of one's own: phases in their order. When the last one is over there is a leader again.; scenario: A loss as it was measured on real clusters.
     */
    public void loseLeader(Map<String, ?> options) {
        Map<String, Object> given = chosen(options, "phases", "scenario");
        call("POST", "/leader/lose", null, given);
    }

    /**
     * Lowers every index, but to 1 at the least, as after a restore; blocked requests are answered.
     * @param by By how much the indexes are lowered.
     */
    @SuppressWarnings("unchecked")
    public Map<String, Object> lowerIndexes(long by) {
        Map<String, Object> given = new LinkedHashMap<>();
        given.put("by", by);
        return (Map<String, Object>) call("POST", "/indexes/lower", null, given);
    }

    /**
     * Makes a token with these rules. It counts at once, and goes with `/state/reset`.
     * @param rules The rules, in HCL or JSON, as a policy has them.
     */
    public Map<String, Object> makeToken(String rules) {
        return makeToken(rules, Map.of());
    }

    /**
     * Makes a token with these rules. It counts at once, and goes with `/state/reset`.
     * @param rules The rules, in HCL or JSON, as a policy has them.
     * @param options any of these: description: The description, by which the history names the token.
     */
    @SuppressWarnings("unchecked")
    public Map<String, Object> makeToken(String rules, Map<String, ?> options) {
        Map<String, Object> given = chosen(options, "description");
        given.put("rules", rules);
        return (Map<String, Object>) call("POST", "/acl/token", null, given);
    }

    /**
     * Ends the jumps of the clock.
     */
    public void noAuto() {
        call("DELETE", "/clock/auto", null, null);
    }

    /**
     * This description, as JSON.
     */
    @SuppressWarnings("unchecked")
    public Map<String, Object> openapi() {
        return (Map<String, Object>) call("GET", "/openapi.json", null, null);
    }

    /**
     * Makes a check passing.
     * @param check The id of the check, such as `serfHealth`.
     */
    public void passCheck(String check) {
        passCheck(check, Map.of());
    }

    /**
     * Makes a check passing.
     * @param check The id of the check, such as `serfHealth`.
     * @param options any of these: node: The name of the check's node; the agent's own node when it is left out.
     */
    public void passCheck(String check, Map<String, ?> options) {
        Map<String, Object> given = chosen(options, "node");
        given.put("check", check);
        call("POST", "/checks/pass", null, given);
    }

    /**
     * Lets the clock run at a multiple of the machine's time.
     * @param rate How fast the clock is to run: 0 stands still, 1 is the machine's time; else from 0.001 to 1000000.
     */
    @SuppressWarnings("unchecked")
    public Map<String, Object> rate(double rate) {
        Map<String, Object> given = new LinkedHashMap<>();
        given.put("rate", rate);
        return (Map<String, Object>) call("POST", "/clock/rate", null, given);
    }

    /**
     * Closes all connections and refuses new ones; the port stays the server's. Needs a control port.
     */
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

    /**
     * Goes back to the state of the start, and forgets all checkpoints; blocked requests are answered.
     */
    @SuppressWarnings("unchecked")
    public Map<String, Object> reset() {
        return (Map<String, Object>) call("POST", "/state/reset", null, null);
    }

    /**
     * Restarts the server on the same port, keeping what Consul keeps or nothing. Needs a control port.
     * @param state What the restart leaves of the state.
     */
    @SuppressWarnings("unchecked")
    public Map<String, Object> restart(String state) {
        Map<String, Object> given = new LinkedHashMap<>();
        given.put("state", state);
        return (Map<String, Object>) call("POST", "/restart", null, given);
    }

    /**
     * Lets the clock run as the machine's does.
     */
    @SuppressWarnings("unchecked")
    public Map<String, Object> resume() {
        return (Map<String, Object>) call("POST", "/clock/resume", null, null);
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
    @SuppressWarnings("unchecked")
    public Map<String, Object> rollback(String name) {
        Map<String, Object> given = new LinkedHashMap<>();
        given.put("name", name);
        return (Map<String, Object>) call("POST", "/state/rollback", null, given);
    }

    /**
     * Whether a lock was safe: in the history, and in what programs believed.
     * @param key The key of the lock.
     */
    public Map<String, Object> safety(String key) {
        return safety(key, Map.of());
    }

    /**
     * Whether a lock was safe: in the history, and in what programs believed.
     * @param key The key of the lock.
     * @param options any of these: beliefs: When programs believed that they held the lock. Without any, the history alone is checked.
     */
    @SuppressWarnings("unchecked")
    public Map<String, Object> safety(String key, Map<String, ?> options) {
        Map<String, Object> given = chosen(options, "beliefs");
        given.put("key", key);
        return (Map<String, Object>) call("POST", "/safety", null, given);
    }

    /**
     * What this server is, and the seed with which it can be started again.
     */
    @SuppressWarnings("unchecked")
    public Map<String, Object> server() {
        return (Map<String, Object>) call("GET", "/server", null, null);
    }

    /**
     * The servers that were started on demand.
     */
    @SuppressWarnings("unchecked")
    public Map<String, Object> servers() {
        return (Map<String, Object>) call("GET", "/servers", null, null);
    }

    /**
     * Starts another, isolated server in this process, with the settings of this one where none is given.
     */
    public Map<String, Object> startServer() {
        return startServer(Map.of());
    }

    /**
     * Starts another, isolated server in this process, with the settings of this one where none is given.
     * @param options any of these: address: The IP address at which the new server listens. When it is left out: all addresses at which this one does.; control_port: A port for its control plane alone; 0 takes a free one. When it is left out the new server has one if this one has.; datacenter: The name of the datacenter.; epoch: The wall clock at the start of the server's clock, which the server's wall clock follows from then on: a time such as `2026-01-01T00:00:00Z`. When neither server has one: the machine's wall clock.; frozen: Whether the clock stands still, at 0, until a test moves it.; history_capacity: How many records the history keeps, at least 1; when there are more the oldest go, and who reads it is told.; http_port: The port of its Consul API; 0, which is the default, takes a free one.; node: The name of the agent's node.; seed: What session ids and jitter are drawn from. When it is left out it follows from this server's seed and the new server's id.; session_ttl_min: The shortest TTL that a session may have: a duration such as `1s`.; settings: Any other settings, as a configuration file has them: Consul's keys, such as `{"limits": {"kv_max_value_size": 10}}`. Lists grow and maps are merged as with one file more.; strict: Whether endpoints that are not emulated are answered as unknown paths, and not with 501.; version: The emulated release of Consul, such as `1.8.7`.
     */
    @SuppressWarnings("unchecked")
    public Map<String, Object> startServer(Map<String, ?> options) {
        Map<String, Object> given = chosen(options, "address", "control_port", "datacenter", "epoch", "frozen", "history_capacity", "http_port", "node", "seed", "session_ttl_min", "settings", "strict", "version");
        return (Map<String, Object>) call("POST", "/servers", null, given);
    }

    /**
     * The whole state: what clients see, and what is left of every TTL and lock-delay. The same state gives the same bytes.
     */
    @SuppressWarnings("unchecked")
    public Map<String, Object> state() {
        return (Map<String, Object>) call("GET", "/state", null, null);
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
    public Map<String, Object> waitBlocked(long count) {
        return waitBlocked(count, Map.of());
    }

    /**
     * Waits until so many requests are blocked on keys under a prefix, on a session, on a service, or on anything.
     * @param count How many requests have to be blocked, at least.
     * @param options any of these: prefix: Requests that are blocked on keys under this prefix. At most one of prefix, session and service is given; with none of them every blocked request counts.; service: Requests that are blocked on the instances or checks of this service.; session: Requests that are blocked on this session.; timeout: How long to wait in the machine's time: a duration such as `20s` or `250ms`.
     */
    @SuppressWarnings("unchecked")
    public Map<String, Object> waitBlocked(long count, Map<String, ?> options) {
        Map<String, Object> given = chosen(options, "prefix", "service", "session", "timeout");
        given.putIfAbsent("timeout", "10s");
        given.put("count", count);
        return (Map<String, Object>) call("POST", "/wait/blocked", null, given);
    }

    /**
     * Waits until the history has such a record; one that is there already counts.
     */
    public Map<String, Object> waitEvent() {
        return waitEvent(Map.of());
    }

    /**
     * Waits until the history has such a record; one that is there already counts.
     * @param options any of these: after: After the record with this number.; key: About this key.; kind: Of this kind.; session: About this session.; timeout: How long to wait in the machine's time: a duration such as `20s` or `250ms`.
     */
    @SuppressWarnings("unchecked")
    public Map<String, Object> waitEvent(Map<String, ?> options) {
        Map<String, Object> given = chosen(options, "after", "key", "kind", "session", "timeout");
        given.putIfAbsent("timeout", "10s");
        return (Map<String, Object>) call("POST", "/wait/event", null, given);
    }

    /**
     * Waits until every request is answered, blocked, or held by a fault.
     */
    public void waitIdle() {
        waitIdle(Map.of());
    }

    /**
     * Waits until every request is answered, blocked, or held by a fault.
     * @param options any of these: timeout: How long to wait in the machine's time: a duration such as `20s` or `250ms`.
     */
    public void waitIdle(Map<String, ?> options) {
        Map<String, Object> given = chosen(options, "timeout");
        given.putIfAbsent("timeout", "10s");
        call("POST", "/wait/idle", null, given);
    }

    /**
     * Answers requests that are blocked on keys under a prefix, though nothing has changed.
     * @param prefix What the keys begin with; all keys when it is empty.
     */
    @SuppressWarnings("unchecked")
    public Map<String, Object> wake(String prefix) {
        Map<String, Object> given = new LinkedHashMap<>();
        given.put("prefix", prefix);
        return (Map<String, Object>) call("POST", "/wakes/spurious", null, given);
    }
}
