package com.example.proconsul;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.testkit.engine.EventConditions.finishedWithFailure;
import static org.junit.platform.testkit.engine.EventConditions.test;
import static org.junit.platform.testkit.engine.TestExecutionResultConditions.message;

import java.io.IOException;
import java.net.ConnectException;
import java.net.Socket;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.platform.testkit.engine.EngineTestKit;

/** A panic of the module, which would be a bug of the server's. */
@Timeout(60)
class PanicTest {
    private static final String TEXT = "there is no input of kind 99";

    /** Lets the module panic, and returns the error of who waits for it. */
    private static Exception panic(Server server) {
        Loop loop = ((ServerModule) server.backend).loop;
        return assertThrows(ExecutionException.class, () -> loop.ask(99, new byte[0]).get(30, TimeUnit.SECONDS));
    }

    private static boolean isSaid(String text) {
        return text.contains("the server has panicked: ") && text.contains(TEXT);
    }

    @Test
    void itEndsTheServerWithItsText() throws IOException {
        Server server = Server.builder().inProcess().start();
        try (Socket connection = new Socket(server.host(), server.port())) {
            connection.setSoTimeout(30_000);
            // The connection is the server's before the panic.
            connection.getOutputStream().write("GET /v1/status/leader HTTP/1.1\r\nHost: a\r\n\r\n".getBytes());
            assertEquals('H', connection.getInputStream().read());

            assertTrue(isSaid(panic(server).getMessage()));
            assertThrows(IOException.class, () -> connection.getInputStream().readAllBytes());
        }
        assertTrue(isSaid(assertThrows(IllegalStateException.class, server::clock).getMessage()));
        assertTrue(isSaid(server.log()));
        assertThrows(ConnectException.class, () -> new Socket(server.host(), server.port()));
        assertTrue(isSaid(assertThrows(IllegalStateException.class, server::close).getMessage()));
    }

    @Test
    void itIsSaidBesideTheErrorOfABlock() {
        IllegalStateException ofClock = assertThrows(IllegalStateException.class, () -> {
            try (Server server = Server.builder().inProcess().start()) {
                panic(server);
                server.clock();
            }
        });
        assertTrue(isSaid(ofClock.getMessage()));
        assertTrue(isSaid(ofClock.getSuppressed()[0].getMessage()));
    }

    @Test
    void itFailsTheTest() {
        for (Class<?> failing : new Class<?>[] {Own.class, Shared.class}) {
            EngineTestKit.engine("junit-jupiter").selectors(selectClass(failing)).execute().testEvents()
                .assertThatEvents().haveExactly(1, org.assertj.core.api.Assertions.allOf(test("panics"), finishedWithFailure(message(PanicTest::isSaid))));
        }
    }

    @Proconsul(inProcess = true)
    static class Own {
        @Test
        void panics(Server server) {
            panic(server);
        }
    }

    @Proconsul(inProcess = true)
    static class Shared {
        @BeforeAll
        static void all(Server server) {}

        @Test
        void panics(Server server) {
            panic(server);
        }
    }
}
