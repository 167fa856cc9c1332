package com.example.proconsul;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import javax.naming.NamingException;
import javax.naming.directory.Attributes;
import javax.naming.directory.InitialDirContext;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.platform.testkit.engine.EngineTestKit;

/** Starting, stopping, and what is said when that does not work. */
class ServerTest {
    @Test
    void aServerIsWhatItsArgumentsSay(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("a.json"), "{\"node_name\": \"of-a-file\"}");
        try (Server server = Server.builder().asVersion("1.8.7").seed(7).file(file).config("datacenter = \"dc9\"").start()) {
            Server.About about = server.server();
            assertEquals(List.of("1.8.7", 7L, "of-a-file", "dc9"), List.of(about.version(), about.seed(), about.node(), about.datacenter()));
            assertEquals(server.address(), server.environment().get("CONSUL_HTTP_ADDR"));
        }
    }

    @Test
    void aReleaseThatIsNotKnownIsRefused() {
        assertMessage("Consul 9.9 is not known: the newest release that is emulated is 2.", () -> Server.builder().asVersion("9.9").start());
        try (Server server = Server.builder().asVersion("1.8").start()) {
            assertEquals("1.8.7", server.server().get("version"));
        }
    }

    @Test
    void dataAclsAndHttpsAreOptions(@TempDir Path folder) throws IOException, InterruptedException {
        Path keys = Files.writeString(folder.resolve("keys.json"), "[{\"key\": \"color\", \"flags\": 0, \"value\": \"cmVk\"}]");
        Path authority;
        try (Server server = Server.builder().data(keys).acl("root").https().start()) {
            HttpClient client = HttpClient.newHttpClient();
            HttpRequest.Builder color = HttpRequest.newBuilder(URI.create(server.url() + "/v1/kv/color?raw"));
            HttpResponse.BodyHandler<String> text = HttpResponse.BodyHandlers.ofString();
            assertEquals(403, client.send(color.build(), text).statusCode());
            assertEquals("red", client.send(color.header("X-Consul-Token", "root").build(), text).body());
            authority = server.caFile().orElseThrow();
            assertTrue(Files.readString(authority).contains("BEGIN CERTIFICATE"));
            assertTrue(server.httpsUrl().orElseThrow().startsWith("https://127.0.0.1:"));
        }
        assertFalse(Files.exists(authority.getParent()));
    }

    @Test
    void javasResolverFindsNodes() throws NamingException {
        try (Server server = Server.builder().start()) {
            String resolver = "dns://" + server.dnsAddress().orElseThrow();
            String name = (String) server.server().get("node");
            Attributes found = new InitialDirContext().getAttributes(resolver + "/consul", new String[] {"NS"});
            assertEquals(name + ".node.dc1.consul.", found.get("NS").get());
        }
    }

    @Test
    void timeMovesByDurations() {
        try (Server server = Server.builder().frozen().start()) {
            long before = server.clock().nowMs();
            server.advance(Duration.ofMillis(1500));
            assertEquals(before + 1500, server.clock().nowMs());
        }
    }

    @Test
    void whatIsRefusedIsSaid() {
        try (Server server = Server.start()) {
            Server.WaitBlockedOptions brief = new Server.WaitBlockedOptions().timeout(Duration.ofMillis(1));
            ControlException refused = assertThrows(ControlException.class, () -> server.waitBlocked(1, brief));
            assertEquals(409, refused.status());
        }
    }

    @Test
    void effectsAndAnswersAreTyped() {
        try (Server server = Server.builder().frozen().start()) {
            List<Server.Effect> effects = List.of(
                new Server.ErrorEffect(Server.ErrorName.NO_CLUSTER_LEADER).after(Duration.ZERO),
                new Server.RespondEffect(503).headers(Map.of("Retry-After", "1")),
                new Server.DelayBeforeEffect(Duration.ofSeconds(20)),
                new Server.HangEffect());
            for (Server.Effect effect : effects) {
                server.fault(effect, new Server.FaultOptions().keyPrefix((String) effect.get("kind")).header(new Server.Header("Who", "b")));
            }
            List<Server.InstalledRule> rules = server.faults().rules();
            assertEquals(List.of(1L, 2L, 3L, 4L), rules.stream().map(Server.InstalledRule::id).collect(Collectors.toList()));
            assertEquals("no-cluster-leader after 0ns", rules.get(0).effect());
            assertNull(server.faults().leaderLost());
            server.loseLeader(new Server.LoseLeaderOptions().phases(List.of(new Server.LossPhase(Server.Phase.NO_LEADER))));
            assertEquals(Server.Phase.NO_LEADER, server.faults().leaderLost());
            assertEquals(Server.Kind.CATALOG_CHANGED, server.history().records().get(0).kind());
            assertEquals(0, server.importKv(server.exportKv()).keys());
            assertMessage("expected either a scenario or a list of phases", server::loseLeader);
        }
    }

    @Test
    void whatKeepsAServerFromStartingIsSaid() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertMessage("address already in use", () -> Server.builder().port(taken.getLocalPort()).start());
        }
        assertMessage("ended at its start with exit code 1\n", () -> Server.builder().arguments("-no-such-flag").start());
        assertMessage("no-such-flag", () -> Server.builder().arguments("-no-such-flag").start());
        assertMessage("is /bin/true proconsul?", () -> Server.builder().binary("/bin/true").start());
        assertMessage("binary names \"/nowhere\"", () -> Server.builder().binary("/nowhere").start());
    }

    @Test
    void aBinaryOfAnotherVersionIsRefused() {
        String other = System.getenv("OTHER_PROCONSUL");
        assertMessage("is proconsul 0.0.1, and this helper is " + Server.VERSION + ": install", () -> Server.builder().binary(other).start());
    }

    @Test
    void anOldOneOnThePathIsRefused(@TempDir Path folder) throws IOException {
        Path old = Files.createSymbolicLink(folder.resolve("proconsul"), Path.of(System.getenv("OTHER_PROCONSUL")));
        String found = Binary.look("", Map.of("PATH", folder.toString())::get).orElseThrow();
        assertEquals(old.toString(), found);
        assertMessage(found + " is proconsul 0.0.1", () -> Server.builder().binary(found).start());
    }

    @Test
    void aBinaryThatIsMissingIsSaid() {
        assertTrue(Binary.look("", Map.of("PATH", "/nowhere")::get).isEmpty());
        assertTrue(Binary.missing().getMessage().contains("the classifier " + Binary.platform()));
        assertMessage("PROCONSUL_BINARY names \"/nowhere\"", () -> Binary.look("", Map.of("PROCONSUL_BINARY", "/nowhere")::get));
    }

    private static void assertMessage(String part, Runnable start) {
        RuntimeException error = assertThrows(RuntimeException.class, start::run);
        assertTrue(error.getMessage().contains(part), error.getMessage());
    }

    @Test
    void jsonGoesThereAndBack() {
        for (String text : new String[] {"{\"a\":[1,-2.5,true,null,\"\\\"\\\\\\u0001é\"],\"b\":{}}", "[]", "18446744073709551615"}) {
            assertEquals(text, Json.write(Json.parse(text)));
        }
        assertEquals("/\n\u00e9", Json.parse(" \"\\/\\n\\u00e9\" "));
        for (String wrong : new String[] {"", "[1", "{\"a\"}", "nul", "\"a", "1 2", "-"}) {
            assertThrows(IllegalArgumentException.class, () -> Json.parse(wrong), wrong);
        }
    }

    @Test
    void aFailingTestShowsWhatHappened() {
        PrintStream errors = System.err;
        ByteArrayOutputStream shown = new ByteArrayOutputStream();
        System.setErr(new PrintStream(shown, true));
        try {
            EngineTestKit.engine("junit-jupiter").selectors(selectClass(Example.class)).execute()
                .testEvents().assertStatistics(statistics -> statistics.succeeded(3).failed(1));
        } finally {
            System.setErr(errors);
        }
        assertTrue(shown.toString().contains("(seed 7)"), shown.toString());
        assertEquals(1, shown.toString().split("what happened on", -1).length - 1, "only for the test that fails");
    }

    @Test
    void aServerOfAClassIsSharedAndEndsWithIt() {
        PrintStream errors = System.err;
        ByteArrayOutputStream shown = new ByteArrayOutputStream();
        System.setErr(new PrintStream(shown, true));
        try {
            EngineTestKit.engine("junit-jupiter").selectors(selectClass(Shared.class)).execute()
                .testEvents().assertStatistics(statistics -> statistics.succeeded(1).failed(1));
        } finally {
            System.setErr(errors);
        }
        assertEquals(1, shown.toString().split("what happened on", -1).length - 1, shown.toString());
        assertThrows(RuntimeException.class, () -> Shared.ofClass.clock(), "it has ended");
    }

    @Proconsul
    static class Shared {
        private static Server ofClass;

        @BeforeAll
        static void all(Server server) {
            ofClass = server;
        }

        @Test
        void shares(Server server) {
            assertSame(ofClass, server);
            server.reset();
        }

        @Test
        void fails(Server server) {
            assertEquals("no", "yes");
        }
    }

    @Proconsul(asVersion = "1.8.7", acl = "root", https = true)
    static class Example {
        private static String first = "";

        @Test
        @Proconsul(frozen = true, seed = 7)
        void fails(Server server) {
            assertEquals(0, server.clock().rate());
            assertEquals("no", "yes");
        }

        @Test
        void one(Server server) {
            isNew(server);
        }

        @Test
        void another(Server server) {
            isNew(server);
        }

        @Test
        @Proconsul(files = "src/test/resources/node.hcl", arguments = {"-datacenter", "dc9"})
        void withFilesAndArguments(Server server) {
            Server.About about = server.server();
            assertEquals(List.of("of-a-file", "dc9"), List.of(about.node(), about.datacenter()));
        }

        private static void isNew(Server server) {
            assertEquals("1.8.7", server.server().version());
            assertNotEquals(first, server.address());
            first = server.address();
        }
    }
}
