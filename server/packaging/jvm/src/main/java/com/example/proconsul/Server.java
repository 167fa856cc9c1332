package com.example.proconsul;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * A server, which ends when it is closed: a process of its own, or a part of this process where {@link Builder#inProcess} says so or
 * where there is no binary.
 */
public final class Server extends Controls implements AutoCloseable {
    /** The version of proconsul whose control plane this class knows. */
    public static final String VERSION = "0.1.0";
    /** The variable that names the server's binary, in place of the one of the jar or on the PATH. */
    public static final String BINARY = Binary.VARIABLE;

    final Backend backend;
    private final long seed;
    /** The state to which {@link #reset} goes back; null where the backend knows it. */
    private final Map<String, ?> start;

    /** How a server is started. */
    public static final class Builder {
        final List<String> arguments = new ArrayList<>();
        final List<Path> files = new ArrayList<>();
        final List<Path> data = new ArrayList<>();
        String management = "";
        boolean https;
        int port;
        private String binary = "";
        private String release = "";
        private boolean inProcess;
        private UnaryOperator<String> variables = System::getenv;

        private Builder() {}

        /** Emulates a release of Consul, such as 1.8.7. */
        public Builder asVersion(String release) {
            this.release = release;
            return arguments("-as-version=" + release);
        }

        /** Repeats the session ids and the jitter of the run with this seed. */
        public Builder seed(long seed) {
            return arguments("-seed=" + seed);
        }

        /** Lets the clock stand still, from the start on, until the test moves it. */
        public Builder frozen() {
            return arguments("-frozen");
        }

        /** Sets the time of day when the server's clock starts, such as 2026-01-01T00:00:00Z, in place of the machine's. */
        public Builder epoch(String epoch) {
            return arguments("-epoch=" + epoch);
        }

        /** Serves Consul's API at this port, in place of a free one. */
        public Builder port(int port) {
            this.port = port;
            return this;
        }

        /** Gives the datacenter more agents than one: servers, or servers and client agents, such as 3 or 3:1. */
        public Builder agents(String counts) {
            return arguments("-agents=" + counts);
        }

        /** Joins datacenters, the server's own first. Each has its own agents. */
        public Builder datacenters(String... names) {
            return arguments("-datacenters=" + String.join(",", names));
        }

        /** Takes settings as a configuration file of Consul has them, in HCL or JSON. */
        public Builder config(String text) {
            return arguments("-hcl=" + text);
        }

        /** Reads a configuration file of Consul, or a folder of them. */
        public Builder file(Path path) {
            files.add(path);
            return this;
        }

        /** Starts with a file: a state, an archive of a snapshot, or keys as {@code consul kv export} prints them. */
        public Builder data(Path path) {
            data.add(path);
            return this;
        }

        /** Enables ACLs. The token with this secret may do everything; without a token nothing is allowed. */
        public Builder acl(String management) {
            this.management = management;
            return arguments("-acl=" + management);
        }

        /** Serves HTTPS, too: at {@link Server#httpsUrl}, with a certificate that the authority in {@link Server#caFile} has signed. */
        public Builder https() {
            https = true;
            return this;
        }

        /** More arguments of {@code proconsul agent}. */
        public Builder arguments(String... more) {
            arguments.addAll(Arrays.asList(more));
            return this;
        }

        /** Names the server's binary. */
        public Builder binary(String path) {
            binary = path;
            return this;
        }

        /** Runs the server in this process, though there may be a binary. It cannot serve HTTPS, run checks, or log in by JSON Web Tokens. */
        public Builder inProcess() {
            inProcess = true;
            return this;
        }

        /** Takes the variables of the environment from here. */
        Builder variables(UnaryOperator<String> variables) {
            this.variables = variables;
            return this;
        }

        private Backend open() {
            Optional<String> found = inProcess ? Optional.empty() : Binary.look(binary, variables);
            if (found.isPresent()) return new ServerProcess(found.get(), this);
            if (!Machine.isThere()) throw inProcess ? new IllegalStateException(Machine.MISSING) : Binary.missing();
            return new ServerModule(this);
        }

        /** Starts the server. */
        public Server start() {
            return new Server(this);
        }
    }

    /** Returns a builder. */
    public static Builder builder() {
        return new Builder();
    }

    /** Starts a server with the default settings. */
    public static Server start() {
        return builder().start();
    }

    private Server(Builder builder) {
        backend = builder.open();
        try {
            About about = server();
            seed = about.seed();
            if (!VERSION.equals(about.proconsul())) {
                throw new IllegalStateException(backend.file() + " is proconsul " + about.proconsul() + ", and this helper is " + VERSION
                    + ": install the binary of " + VERSION + ", or name it with " + BINARY);
            }
            String release = (String) about.get("version");
            if (!builder.release.isEmpty() && !(release + ".").startsWith(builder.release + ".")) {
                throw new IllegalStateException("Consul " + builder.release + " is not known: the newest release that is emulated is " + release);
            }
            // The module takes the state without data for that of the start.
            start = isInProcess() && !builder.data.isEmpty() ? state() : null;
        } catch (RuntimeException error) {
            backend.close();
            throw error;
        }
    }

    /** Whether the server runs in this process. */
    public boolean isInProcess() {
        return backend instanceof ServerModule;
    }

    /** Host and port of Consul's API, as CONSUL_HTTP_ADDR takes them. */
    public String address() {
        return backend.address();
    }

    /** The IP address of Consul's API. */
    public String host() {
        return address().substring(0, address().lastIndexOf(':'));
    }

    /** The port of Consul's API. */
    public int port() {
        return Integer.parseInt(address().substring(address().lastIndexOf(':') + 1));
    }

    /** The URL of Consul's API. */
    public String url() {
        return "http://" + address();
    }

    /** Host and port of the Consul API of each agent, the one above first. Those of joined datacenters follow. */
    public List<String> agentAddresses() {
        return backend.agentAddresses();
    }

    /** Host and port of DNS, over UDP and TCP; empty where the server answers none: in this process, or at a port other than 8500. */
    public Optional<String> dnsAddress() {
        return Optional.ofNullable(backend.dnsAddress());
    }

    /** The URL of Consul's API over HTTPS, where {@link Builder#https} was called. */
    public Optional<String> httpsUrl() {
        return Optional.ofNullable(backend.httpsAddress()).map(found -> "https://" + found);
    }

    /** The file with the certificate of the authority that has signed the server's, where {@link Builder#https} was called. */
    public Optional<Path> caFile() {
        return Optional.ofNullable(backend.caFile());
    }

    /** The seed of the run, which {@link Builder#seed} repeats. */
    public long seed() {
        return seed;
    }

    /** The variables by which programs find this server. */
    public Map<String, String> environment() {
        return Map.of("CONSUL_HTTP_ADDR", address());
    }

    /** The last lines of the server's log. A server in this process has none but the text of its panic. */
    public String log() {
        return backend.log();
    }

    /** What happened on the server, a line for each record. */
    public String historyText() {
        return (String) call("GET", "/history", Map.of("format", "text"), null);
    }

    /** What to print when a test has failed: seed, history, and the timeline of each key that was locked. */
    public String failureText() {
        StringBuilder text = new StringBuilder("what happened on " + url() + " (seed " + seed + "):\n" + historyText());
        Set<String> keys = new LinkedHashSet<>();
        HistoryOptions ofLocks = new HistoryOptions().kind(List.of(Kind.ACQUIRED, Kind.ACQUIRE_REFUSED));
        for (Record record : history(ofLocks).records()) keys.add(record.key());
        keys.remove(null);
        for (String key : keys) text.append('\n').append(timeline(key));
        return text.toString();
    }

    /** Goes back to the state of the start, and forgets all checkpoints; blocked requests are answered. */
    @Override
    public AtIndex reset() {
        AtIndex done = super.reset();
        return start == null ? done : load(start);
    }

    /** Why a server in this process has ended by itself; null where it has not. */
    RuntimeException failure() {
        return backend.failure();
    }

    /**
     * Ends the server. Nothing is lost by it: all of its state is in memory.
     * @throws IllegalStateException if the server, in this process, has panicked; with the text of the panic
     */
    @Override
    public void close() {
        RuntimeException failure = backend.failure();
        backend.close();
        // A new one, because the failure may be what ends a block that closes the server.
        if (failure != null) throw new IllegalStateException(failure.getMessage(), failure);
    }

    @Override
    Object call(String method, String path, Map<String, ?> query, Object body) {
        StringBuilder target = new StringBuilder(path);
        char mark = '?';
        for (Map.Entry<String, ?> field : query == null ? Map.<String, Object>of().entrySet() : query.entrySet()) {
            Object value = field.getValue();
            for (Object one : value instanceof Collection ? (Collection<?>) value : List.of(value)) {
                target.append(mark).append(field.getKey()).append('=').append(URLEncoder.encode(String.valueOf(one), StandardCharsets.UTF_8));
                mark = '&';
            }
        }
        Backend.Response answer = backend.ask(method, target.toString(), body == null ? null : Json.write(body));
        if (answer.status != 200) throw new ControlException(answer.status, answer.text.strip());
        return answer.type.startsWith("application/json") ? Json.parse(answer.text) : answer.text;
    }
}
