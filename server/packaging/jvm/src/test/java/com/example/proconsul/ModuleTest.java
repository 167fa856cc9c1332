package com.example.proconsul;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.ecwid.consul.v1.ConsulClient;
import com.ecwid.consul.v1.QueryParams;
import com.ecwid.consul.v1.kv.model.GetValue;
import com.ecwid.consul.v1.kv.model.PutParams;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A server in this process: what it does not share with one in a process of its own. */
@Timeout(60)
class ModuleTest {
    private final HttpClient http = HttpClient.newHttpClient();

    private static Server started() {
        return Server.builder().inProcess().start();
    }

    private HttpResponse<byte[]> sent(HttpRequest.Builder request) throws IOException, InterruptedException {
        return http.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
    }

    private HttpRequest.Builder to(Server server, String path) {
        return HttpRequest.newBuilder(URI.create(server.url() + path));
    }

    private String text(Server server, String path) throws IOException, InterruptedException {
        return new String(sent(to(server, path)).body(), StandardCharsets.UTF_8);
    }

    private static Socket connected(Server server) throws IOException {
        Socket connection = new Socket(server.host(), server.port());
        // A read of a socket is not interrupted.
        connection.setSoTimeout(30_000);
        return connection;
    }

    @Test
    void itRunsWhereThereIsNoBinary() throws IOException, InterruptedException {
        try (Server server = Server.builder().variables(Map.of("PATH", "/nowhere")::get).start()) {
            assertTrue(server.isInProcess());
            assertEquals("\"127.0.0.1:8300\"", text(server, "/v1/status/leader"));
        }
    }

    @Test
    void whatIsDueHappensWithoutAnInput() throws IOException, InterruptedException {
        try (Server server = Server.builder().inProcess().config("session_ttl_min = \"1ms\"").start()) {
            assertEquals(404, sent(to(server, "/v1/kv/a?index=1000&wait=500ms")).statusCode());
            String made = new String(sent(to(server, "/v1/session/create").PUT(HttpRequest.BodyPublishers.ofString("{\"TTL\": \"500ms\"}"))).body(), StandardCharsets.UTF_8);
            String id = (String) ((Map<?, ?>) Json.parse(made)).get("ID");
            // The read ends when the session does, in machine time: long before its own end. A second, so that it has begun by then.
            HttpResponse<byte[]> first = sent(to(server, "/v1/session/info/" + id));
            String index = first.headers().firstValue("X-Consul-Index").orElseThrow();
            assertEquals("[]", text(server, "/v1/session/info/" + id + "?wait=5m&index=" + (first.body().length > 2 ? index : "0")));
        }
    }

    @Test
    void requestsThatAreBlockedHoldNobodyUp() throws Exception {
        ExecutorService threads = Executors.newCachedThreadPool();
        try (Server server = started()) {
            ConsulClient client = new ConsulClient(server.host(), server.port());
            client.setKVValue("config/color", "red");
            long index = client.getKVValue("config/color").getConsulIndex();
            List<CompletableFuture<String>> watches = new ArrayList<>();
            for (int count = 0; count < 50; count++) {
                watches.add(CompletableFuture.supplyAsync(() -> {
                    GetValue seen = new ConsulClient(server.host(), server.port()).getKVValue("config/color", new QueryParams(60, index)).getValue();
                    return seen.getDecodedValue();
                }, threads));
            }
            server.waitBlocked(50, new Server.WaitBlockedOptions().prefix("config/"));
            assertTrue(client.setKVValue("other", "one").getValue());
            assertEquals(50, server.blocked().blocked().size());
            client.setKVValue("config/color", "green");
            for (CompletableFuture<String> watch : watches) assertEquals("green", watch.get(30, TimeUnit.SECONDS));
        } finally {
            threads.shutdown();
        }
    }

    @Test
    void callsOfManyThreadsComeOneAfterAnother() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try (Server server = started()) {
            new ConsulClient(server.host(), server.port()).setKVValue("count", "0");
            List<CompletableFuture<Void>> counting = new ArrayList<>();
            for (int thread = 0; thread < 4; thread++) counting.add(CompletableFuture.runAsync(() -> count(server, 10), threads));
            for (CompletableFuture<Void> one : counting) one.get(30, TimeUnit.SECONDS);
            assertEquals("40", new ConsulClient(server.host(), server.port()).getKVValue("count").getValue().getDecodedValue());
        } finally {
            threads.shutdown();
        }
    }

    /** Adds to a number so often, and reads the clock by a control each time. */
    private static void count(Server server, int times) {
        ConsulClient client = new ConsulClient(server.host(), server.port());
        for (int done = 0; done < times;) {
            GetValue seen = client.getKVValue("count").getValue();
            PutParams params = new PutParams();
            params.setCas(seen.getModifyIndex());
            if (client.setKVValue("count", String.valueOf(Integer.parseInt(seen.getDecodedValue()) + 1), params).getValue()) done++;
            assertEquals(1, server.clock().rate());
        }
    }

    @Test
    void filesAndDataAreLoaded(@TempDir Path folder) throws IOException, InterruptedException {
        Path keys = Files.writeString(folder.resolve("keys.json"), "[{\"key\": \"color\", \"flags\": 0, \"value\": \"cmVk\"}]");
        Path settings = Files.createDirectory(folder.resolve("settings"));
        Files.writeString(settings.resolve("a.hcl"), "datacenter = \"of-a-folder\"");
        Files.writeString(settings.resolve("ignored.txt"), "no settings");
        Path file = Files.writeString(folder.resolve("b.json"), "{\"node_name\": \"of-a-file\", \"datacenter\": \"of-a-file\"}");
        // A flag wins over a file, wherever it stands.
        Server.Builder builder = Server.builder().inProcess().config("datacenter = \"of-a-flag\"").file(file).file(settings).acl("root");
        Path state = folder.resolve("state.json");
        Path archive = folder.resolve("archive.tgz");
        try (Server server = builder.data(keys).start()) {
            Server.About about = server.server();
            assertEquals(List.of("of-a-file", "of-a-flag"), List.of(about.node(), about.datacenter()));
            assertEquals(403, sent(to(server, "/v1/kv/color")).statusCode());
            assertColor(server);
            sent(to(server, "/v1/kv/color?token=root").DELETE());
            server.reset();
            assertColor(server);
            Files.writeString(state, Json.write(server.state()));
            Files.write(archive, sent(to(server, "/v1/snapshot?token=root")).body());
        }
        for (Path saved : List.of(state, archive)) {
            builder.data.clear();
            try (Server server = builder.data(saved).start()) {
                assertColor(server);
            }
        }
    }

    private void assertColor(Server server) throws IOException, InterruptedException {
        assertEquals("red", text(server, "/v1/kv/color?raw&token=root"));
    }

    @Test
    void aServerHasTheNameOfTheMachine() {
        try (Server module = started(); Server binary = Server.start()) {
            assertFalse(binary.isInProcess());
            assertEquals(binary.server().node(), module.server().node());
        }
    }

    @Test
    void whatKeepsItFromStartingIsSaid(@TempDir Path folder) throws IOException {
        Path wrong = Files.writeString(folder.resolve("keys.json"), "[{\"key\": 1}]");
        assertMessage("cannot load " + wrong, () -> Server.builder().inProcess().data(wrong).start());
        assertMessage("cannot read " + folder.resolve("none"), () -> Server.builder().inProcess().file(folder.resolve("none")).start());
        assertMessage("no-such-flag", () -> Server.builder().inProcess().arguments("-no-such-flag").start());
        assertMessage("HTTPS needs the server's binary", () -> Server.builder().inProcess().https().start());
        assertMessage("HTTPS needs the server's binary", () -> Server.builder().variables(Map.of("PATH", "/nowhere")::get).https().start());
        assertMessage("Consul 9.9 is not known", () -> Server.builder().inProcess().asVersion("9.9").start());
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertMessage("cannot listen at port " + taken.getLocalPort(), () -> Server.builder().inProcess().port(taken.getLocalPort()).start());
        }
    }

    private static void assertMessage(String part, Runnable start) {
        RuntimeException error = assertThrows(RuntimeException.class, start::run);
        assertTrue(error.getMessage().contains(part), error.getMessage());
    }

    @Test
    void itsPortIsFreeWhenItHasEnded() throws IOException {
        Server first = started();
        try (Socket connection = connected(first)) {
            connection.getOutputStream().write("GET /v1/kv/a?index=1000&wait=5m HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(StandardCharsets.UTF_8));
            first.waitBlocked(1);
            first.close();
            assertEquals(-1, connection.getInputStream().read());
        }
        first.close();
        assertMessage("the server has ended", first::clock);
        try (Server second = Server.builder().inProcess().port(first.port()).start()) {
            assertEquals(first.port(), second.port());
        }
    }

    @Test
    void aFaultResetsTheConnection() throws IOException {
        try (Server server = started(); Socket connection = connected(server)) {
            server.fault(new Server.ResetEffect(), new Server.FaultOptions().path("/v1/kv/").times(1));
            connection.getOutputStream().write("GET /v1/kv/a HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(StandardCharsets.UTF_8));
            assertThrows(SocketException.class, () -> connection.getInputStream().read());
        }
    }

    @Test
    void aClientThatHasSentAllIsAnswered() throws IOException {
        try (Server server = started(); Socket connection = connected(server)) {
            connection.getOutputStream().write("GET /v1/status/leader HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(StandardCharsets.UTF_8));
            connection.shutdownOutput();
            String answer = new String(connection.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertTrue(answer.endsWith("\"127.0.0.1:8300\""), answer);
        }
    }

    @Test
    void aClientThatGoesEndsItsRequest() throws IOException {
        try (Server server = started()) {
            try (Socket connection = connected(server)) {
                connection.getOutputStream().write("GET /v1/kv/a?index=1000&wait=5m HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(StandardCharsets.UTF_8));
                server.waitBlocked(1);
            }
            server.waitIdle();
            assertEquals(0, server.blocked().blocked().size());
        }
    }

    @Test
    void whatASlowClientDoesNotReadIsKept() throws IOException, InterruptedException {
        byte[] value = new byte[500_000];
        for (int at = 0; at < value.length; at++) value[at] = (byte) (at * 31);
        try (Server server = started(); Socket connection = connected(server)) {
            assertEquals(200, sent(to(server, "/v1/kv/large").PUT(HttpRequest.BodyPublishers.ofByteArray(value))).statusCode());
            String request = "GET /v1/kv/large?raw HTTP/1.1\r\nHost: a\r\n\r\n";
            connection.getOutputStream().write(request.repeat(40).getBytes(StandardCharsets.UTF_8));
            // The server has sent what the socket takes, and serves others.
            assertArrayEquals(value, sent(to(server, "/v1/kv/large?raw")).body());
            for (int count = 0; count < 40; count++) {
                StringBuilder head = new StringBuilder();
                while (head.indexOf("\r\n\r\n") < 0) head.append((char) connection.getInputStream().read());
                assertArrayEquals(value, connection.getInputStream().readNBytes(value.length));
            }
        }
    }

    @Test
    void serversShareNothing() {
        try (Server first = Server.builder().inProcess().frozen().start(); Server second = started()) {
            new ConsulClient(first.host(), first.port()).setKVValue("a", "of the first");
            first.advance(Duration.ofHours(1));
            assertNotEquals(first.port(), second.port());
            assertEquals(null, new ConsulClient(second.host(), second.port()).getKVValue("a").getValue());
            assertTrue(second.clock().nowMs() < first.clock().nowMs());
        }
    }

    @Test
    void aCallIsInterrupted() throws Exception {
        try (Server server = started()) {
            CompletableFuture<RuntimeException> refused = new CompletableFuture<>();
            Thread waiting = new Thread(() -> refused.complete(assertThrows(RuntimeException.class, () -> server.waitBlocked(1))));
            waiting.start();
            waiting.interrupt();
            String said = refused.get(30, TimeUnit.SECONDS).getMessage();
            assertTrue(said.startsWith("interrupted: POST /proconsul/v1/wait/blocked"), said);
            assertEquals(1, server.clock().rate());
        }
    }
}
