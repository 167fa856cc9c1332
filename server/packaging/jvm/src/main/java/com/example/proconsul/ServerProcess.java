package com.example.proconsul;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/** A server in a process of its own: the binary. */
final class ServerProcess implements Backend {
    /** How long a start may take. On a fast machine it takes a few milliseconds. */
    private static final Duration START_WITHIN = Duration.ofSeconds(30);
    /** How many lines of the server's log are kept for errors. */
    private static final int LOG_LINES = 200;

    private final String binary;
    private final Process process;
    private final Deque<String> log = new ArrayDeque<>();
    private final CompletableFuture<Map<?, ?>> ports = new CompletableFuture<>();
    // The control plane is on this machine, whatever proxies the settings name.
    private final HttpClient client = HttpClient.newBuilder().proxy(HttpClient.Builder.NO_PROXY).version(HttpClient.Version.HTTP_1_1).build();
    private final Map<?, ?> addresses;
    private final Path certificates;

    ServerProcess(String binary, Server.Builder options) {
        this.binary = binary;
        certificates = options.https ? temporaryFolder() : null;
        ProcessBuilder start = new ProcessBuilder(commandOf(options)).redirectErrorStream(true);
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
            addresses = await();
        } catch (RuntimeException error) {
            close();
            throw error;
        }
    }

    private List<String> commandOf(Server.Builder options) {
        List<String> command = new ArrayList<>(List.of(binary, "agent", "-dev", "-control-port=0", "-log-level=warn"));
        for (Path file : options.files) command.add((Files.isRegularFile(file) ? "-config-file=" : "-config-dir=") + file);
        for (Path file : options.data) command.add("-load=" + file);
        command.addAll(options.arguments);
        command.add(options.port == 0 ? "-http-port-ephemeral" : "-http-port=" + options.port);
        if (options.https) command.addAll(List.of("-https-dev", "-https-dev-dir=" + certificates));
        return command;
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

    private Map<?, ?> await() {
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

    @Override
    public String file() {
        return binary;
    }

    @Override
    public String address() {
        return (String) addresses.get("http");
    }

    @Override
    public List<String> agentAddresses() {
        List<String> all = new ArrayList<>();
        addTo(all, addresses.containsKey("agents") ? addresses.get("agents") : List.of(address()));
        Map<?, ?> others = (Map<?, ?>) addresses.get("datacenters");
        if (others != null) others.values().forEach(there -> addTo(all, there));
        return all;
    }

    private static void addTo(List<String> all, Object addresses) {
        for (Object address : (List<?>) addresses) all.add((String) address);
    }

    @Override
    public String dnsAddress() {
        return (String) addresses.get("dns");
    }

    @Override
    public String httpsAddress() {
        return (String) addresses.get("https");
    }

    @Override
    public Path caFile() {
        return certificates == null ? null : certificates.resolve("ca.pem");
    }

    @Override
    public String log() {
        synchronized (log) {
            return String.join("\n", log);
        }
    }

    @Override
    public Response ask(String method, String target, String body) {
        HttpRequest.BodyPublisher sent = body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(body);
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://" + addresses.get("control") + "/proconsul/v1" + target)).method(method, sent).build();
        try {
            HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
            return new Response(answer.statusCode(), answer.headers().firstValue("content-type").orElse(""), answer.body());
        } catch (IOException error) {
            String state = process.isAlive() ? "runs" : "has ended with exit code " + process.exitValue();
            throw new IllegalStateException(method + " " + target + ": " + error + "; the server " + state + "\n" + log(), error);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted: " + method + " " + target, error);
        }
    }

    @Override
    public RuntimeException failure() {
        return null;
    }

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
}
