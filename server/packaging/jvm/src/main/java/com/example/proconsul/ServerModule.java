package com.example.proconsul;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A server in this process: the WebAssembly module, behind a listener. */
final class ServerModule implements Backend {
    /** The largest seed that is used if none is given. */
    private static final long SEEDS = 1L << 48;
    /** The first byte of an archive of a snapshot. */
    private static final byte GZIP = 0x1f;
    /** How far white space is skipped to see what a file has. */
    private static final int BEGINNING = 1024;
    private static final String PREFIX = "/proconsul/v1";
    private static final String EMPTY_LINE = "\r\n\r\n";
    private static final String TYPE = "content-type: ";

    final Loop loop;

    ServerModule(Server.Builder options) {
        if (options.https) throw new IllegalStateException("HTTPS needs the server's binary: this server is the WebAssembly module in this process");
        List<String> arguments = argumentsOf(options);
        long seed = ThreadLocalRandom.current().nextLong(SEEDS);
        loop = new Loop(() -> new Machine(arguments, seed, ChronoUnit.NANOS.between(Instant.EPOCH, Instant.now())), options.port);
        try {
            load(options.data, options.management);
        } catch (RuntimeException error) {
            close();
            throw error;
        }
    }

    private static List<String> argumentsOf(Server.Builder options) {
        List<String> settings = new ArrayList<>();
        // The binary reads the machine's name itself.
        String name = hostname();
        if (!name.isEmpty()) settings.add(Json.write(Map.of("node_name", name)));
        for (Path file : options.files) settings.addAll(settingsIn(file));
        // As in the binary, flags come after files, and win.
        Stream<String> files = settings.stream().map(text -> "-hcl=" + text);
        return Stream.of(files, Stream.of("-dev", "-control"), options.arguments.stream()).flatMap(part -> part).collect(Collectors.toList());
    }

    /** The machine's name, which the JVM does not know; empty where it is not found. */
    private static String hostname() {
        try {
            Path ofLinux = Path.of("/proc/sys/kernel/hostname");
            if (Files.isReadable(ofLinux)) return Files.readString(ofLinux).strip();
            Process program = new ProcessBuilder("hostname").redirectErrorStream(true).start();
            String said = new String(program.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            return program.waitFor() == 0 ? said : "";
        } catch (IOException error) {
            return "";
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            return "";
        }
    }

    /** The settings in a file, or in those of a folder that Consul reads, by their names. */
    private static List<String> settingsIn(Path path) {
        if (!Files.isDirectory(path)) return List.of(new String(content(path), StandardCharsets.UTF_8));
        try (Stream<Path> files = Files.list(path)) {
            return files.filter(file -> file.toString().matches(".*\\.(hcl|json)")).sorted()
                .map(file -> new String(content(file), StandardCharsets.UTF_8)).collect(Collectors.toList());
        } catch (IOException error) {
            throw new IllegalStateException("cannot read " + path + ": " + error, error);
        }
    }

    private static byte[] content(Path file) {
        try {
            return Files.readAllBytes(file);
        } catch (IOException error) {
            throw new IllegalStateException("cannot read " + file + ": " + error, error);
        }
    }

    /** Loads files: the states, then the keys. */
    private void load(List<Path> files, String token) {
        for (boolean ofKeys : new boolean[] {false, true}) {
            for (Path file : files) {
                byte[] content = content(file);
                if (isKeys(content) != ofKeys) continue;
                boolean isArchive = content.length > 0 && content[0] == GZIP;
                String target = isArchive ? "/v1/snapshot" : PREFIX + (ofKeys ? "/state/kv" : "/state");
                Response answer = ask("PUT", target, isArchive ? "X-Consul-Token: " + token + "\r\n" : "", content);
                if (answer.status != 200) throw new IllegalStateException("cannot load " + file + ": " + answer.text.strip());
            }
        }
    }

    private static boolean isKeys(byte[] content) {
        String beginning = new String(content, 0, Math.min(content.length, BEGINNING), StandardCharsets.ISO_8859_1);
        return beginning.stripLeading().startsWith("[");
    }

    private Response ask(String method, String target, String headers, byte[] body) {
        ByteArrayOutputStream request = new ByteArrayOutputStream();
        request.writeBytes((method + " " + target + " HTTP/1.1\r\nHost: proconsul\r\n" + headers + "\r\n").getBytes(StandardCharsets.UTF_8));
        request.writeBytes(body);
        CompletableFuture<ByteBuffer> response = loop.ask(Machine.REQUEST, request.toByteArray());
        try {
            return responseOf(StandardCharsets.UTF_8.decode(response.get()).toString());
        } catch (ExecutionException error) {
            throw new IllegalStateException(error.getCause().getMessage(), error.getCause());
        } catch (InterruptedException error) {
            response.cancel(false);
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted: " + method + " " + target, error);
        }
    }

    private static Response responseOf(String text) {
        int end = text.indexOf(EMPTY_LINE);
        String[] head = text.substring(0, end).split("\r\n");
        String type = Stream.of(head).filter(line -> line.regionMatches(true, 0, TYPE, 0, TYPE.length())).findFirst().orElse("");
        return new Response(Integer.parseInt(head[0].split(" ")[0]), type.isEmpty() ? "" : type.substring(TYPE.length()), text.substring(end + EMPTY_LINE.length()));
    }

    @Override
    public String file() {
        return "the module of the jar";
    }

    @Override
    public String address() {
        return agentAddresses().get(0);
    }

    @Override
    public List<String> agentAddresses() {
        return loop.ports().stream().map(port -> "127.0.0.1:" + port).collect(Collectors.toList());
    }

    @Override
    public String dnsAddress() {
        return null;
    }

    @Override
    public String httpsAddress() {
        return null;
    }

    @Override
    public Path caFile() {
        return null;
    }

    /** The module has no log but the text of its panic. */
    @Override
    public String log() {
        RuntimeException failure = loop.failure();
        return failure == null ? "" : failure.getMessage();
    }

    @Override
    public Response ask(String method, String target, String body) {
        return ask(method, PREFIX + target, "", body == null ? new byte[0] : body.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public RuntimeException failure() {
        return loop.failure();
    }

    @Override
    public void close() {
        loop.close();
    }
}
