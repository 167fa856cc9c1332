package com.example.proconsul;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/** A server in a process of its own, which ends when it is closed. */
public final class Server extends Controls implements AutoCloseable {
    /** The version of proconsul whose control plane this class knows. */
    public static final String VERSION = "0.1.0";
    /** The variable that names the server's binary, in place of the one of the jar or on the PATH. */
    public static final String BINARY = Binary.VARIABLE;

    /** How long a start may take. On a fast machine it takes a few milliseconds. */
    private static final Duration START_WITHIN = Duration.ofSeconds(30);
    /** How many lines of the server's log are kept for errors. */
    private static final int LOG_LINES = 200;

    private final Process process;
    private final Deque<String> log = new ArrayDeque<>();
    private final CompletableFuture<Map<?, ?>> ports = new CompletableFuture<>();
    // The control plane is on this machine, whatever proxies the settings name.
    private final HttpClient client = HttpClient.newBuilder().proxy(HttpClient.Builder.NO_PROXY).version(HttpClient.Version.HTTP_1_1).build();
    private final String address;
    private final String control;
    private final String httpsAddress;
    private final Path certificates;
    private final long seed;

    /** How a server is started. */
    public static final class Builder {
        private final List<String> arguments = new ArrayList<>(List.of("agent", "-dev", "-control-port=0", "-log-level=warn"));
        private String binary = "";
        private String release = "";
        private boolean https;
        private String port = "-http-port-ephemeral";

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
            this.port = "-http-port=" + port;
            return this;
        }

        /** Takes settings as a configuration file of Consul has them, in HCL or JSON. */
        public Builder config(String text) {
            return arguments("-hcl=" + text);
        }

        /** Reads a configuration file of Consul, or a folder of them. */
        public Builder file(Path path) {
            return arguments((Files.isRegularFile(path) ? "-config-file=" : "-config-dir=") + path);
        }

        /** Starts with a file: a state, an archive of a snapshot, or keys as {@code consul kv export} prints them. */
        public Builder data(Path path) {
            return arguments("-load=" + path);
        }

        /** Enables ACLs. The token with this secret may do everything; without a token nothing is allowed. */
        public Builder acl(String management) {
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
        String binary = Binary.find(builder.binary, System::getenv);
        List<String> command = new ArrayList<>(List.of(binary));
        command.addAll(builder.arguments);
        command.add(builder.port);
        certificates = builder.https ? temporaryFolder() : null;
        if (builder.https) command.addAll(List.of("-https-dev", "-https-dev-dir=" + certificates));
        ProcessBuilder start = new ProcessBuilder(command).redirectErrorStream(true);
        // A server is what its arguments say, whatever the environment of the tests is.
        start.environment().keySet().removeIf(name -> name.startsWith("CONSUL_") || name.startsWith("PROCONSUL_"));
        try {
            process = start.start();
            process.getOutputStream().close();
        } catch (IOException error) {
            removeCertificates();
            throw new IllegalStateException(binary + " cannot be run: " + error.getMessage() + "; it may be a binary for another platform", error);
        }
        Thread reader = new Thread(this::read, "proconsul-log");
        reader.setDaemon(true);
        reader.start();
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
        try {
            Map<?, ?> said = await(binary);
            address = (String) said.get("http");
            httpsAddress = (String) said.get("https");
            control = "http://" + said.get("control") + "/proconsul/v1";
            About about = server();
            seed = about.seed();
            if (!VERSION.equals(about.proconsul())) {
                throw new IllegalStateException(binary + " is proconsul " + about.proconsul() + ", and this helper is " + VERSION
                    + ": install the binary of " + VERSION + ", or name it with " + BINARY);
            }
            String release = (String) about.get("version");
            if (!builder.release.isEmpty() && !(release + ".").startsWith(builder.release + ".")) {
                throw new IllegalStateException("Consul " + builder.release + " is not known: the newest release that is emulated is " + release);
            }
        } catch (RuntimeException error) {
            close();
            throw error;
        }
    }

    /** Reads the log to its end, so that the server never waits for its reader. */
    private void read() {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (!ports.isDone() && line.startsWith("{\"")) {
                    ports.complete((Map<?, ?>) Json.parse(line));
                    continue;
                }
                synchronized (log) {
                    log.add(line);
                    if (log.size() > LOG_LINES) log.remove();
                }
            }
        } catch (IOException error) {
            // It was closed; the log ends here.
        }
        ports.completeExceptionally(new IOException("the log has ended"));
    }

    private Map<?, ?> await(String binary) {
        try {
            return ports.get(START_WITHIN.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException error) {
            throw new IllegalStateException("the server has not said within " + START_WITHIN.toSeconds() + " s where it listens:\n" + log());
        } catch (ExecutionException error) {
            int code = process.onExit().join().exitValue();
            String advice = log().isEmpty() ? "; is " + binary + " proconsul?" : "";
            throw new IllegalStateException("the server ended at its start with exit code " + code + advice + "\n" + log());
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while the server starts", error);
        }
    }

    /** Host and port of Consul's API, as CONSUL_HTTP_ADDR takes them. */
    public String address() {
        return address;
    }

    /** The IP address of Consul's API. */
    public String host() {
        return address.substring(0, address.lastIndexOf(':'));
    }

    /** The port of Consul's API. */
    public int port() {
        return Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
    }

    /** The URL of Consul's API. */
    public String url() {
        return "http://" + address;
    }

    /** The URL of Consul's API over HTTPS, where {@link Builder#https} was called. */
    public Optional<String> httpsUrl() {
        return Optional.ofNullable(httpsAddress).map(found -> "https://" + found);
    }

    /** The file with the certificate of the authority that has signed the server's, where {@link Builder#https} was called. */
    public Optional<Path> caFile() {
        return Optional.ofNullable(certificates).map(folder -> folder.resolve("ca.pem"));
    }

    /** The seed of the run, which {@link Builder#seed} repeats. */
    public long seed() {
        return seed;
    }

    /** The variables by which programs find this server. */
    public Map<String, String> environment() {
        return Map.of("CONSUL_HTTP_ADDR", address);
    }

    /** The last lines of the server's log. */
    public String log() {
        synchronized (log) {
            return String.join("\n", log);
        }
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

    /** Ends the server. Nothing is lost by it: all of its state is in memory. */
    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
        removeCertificates();
    }

    private static Path temporaryFolder() {
        try {
            return Files.createTempDirectory("proconsul-");
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    private void removeCertificates() {
        if (certificates == null || !Files.exists(certificates)) return;
        try (Stream<Path> files = Files.list(certificates)) {
            for (Path file : (Iterable<Path>) files::iterator) Files.delete(file);
            Files.delete(certificates);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    @Override
    Object call(String method, String path, Map<String, ?> query, Object body) {
        StringBuilder target = new StringBuilder(control + path);
        char mark = '?';
        for (Map.Entry<String, ?> field : query == null ? Map.<String, Object>of().entrySet() : query.entrySet()) {
            Object value = field.getValue();
            for (Object one : value instanceof Collection ? (Collection<?>) value : List.of(value)) {
                target.append(mark).append(field.getKey()).append('=').append(URLEncoder.encode(String.valueOf(one), StandardCharsets.UTF_8));
                mark = '&';
            }
        }
        HttpRequest.BodyPublisher sent = body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(Json.write(body));
        HttpRequest request = HttpRequest.newBuilder(URI.create(target.toString())).method(method, sent).build();
        try {
            HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
            if (answer.statusCode() != 200) throw new ControlException(answer.statusCode(), answer.body().strip());
            boolean isJson = answer.headers().firstValue("content-type").orElse("").startsWith("application/json");
            return isJson ? Json.parse(answer.body()) : answer.body();
        } catch (IOException error) {
            String state = process.isAlive() ? "runs" : "has ended with exit code " + process.exitValue();
            throw new IllegalStateException(method + " " + path + ": " + error + "; the server " + state + "\n" + log(), error);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted: " + method + " " + path, error);
        }
    }
}
