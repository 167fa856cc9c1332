package com.example.proconsul;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The first servers of a JVM, in its process; prints how long they take. */
class FirstTest {
    @Test
    void aJvmEndsAlthoughItHasForgottenItsServers() throws IOException, InterruptedException {
        // Surefire names the class path of the tests so, where it has put another in its place.
        String classes = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        String java = String.join(File.separator, System.getProperty("java.home"), "bin", "java");
        Process jvm = new ProcessBuilder(java, "-cp", classes, FirstTest.class.getName()).redirectErrorStream(true).start();
        try {
            String said = new String(jvm.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertTrue(jvm.waitFor(60, TimeUnit.SECONDS));
            assertEquals(0, jvm.exitValue(), said);
            assertFalse(said.isEmpty());
            System.out.print(said);
        } finally {
            jvm.destroyForcibly();
        }
    }

    public static void main(String[] arguments) throws IOException {
        for (String which : new String[] {"first", "second"}) {
            long began = System.nanoTime();
            Server server = Server.builder().inProcess().start();
            Duration start = Duration.ofNanos(System.nanoTime() - began);
            request(server);
            Duration all = Duration.ofNanos(System.nanoTime() - began);
            System.out.println("jvm: the " + which + " server in a process: started after " + start.toMillis() + " ms, its first response after " + all.toMillis() + " ms");
        }
    }

    private static void request(Server server) throws IOException {
        try (Socket connection = new Socket(server.host(), server.port())) {
            String put = "PUT /v1/kv/a HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 1\r\n\r\nb";
            connection.getOutputStream().write(put.getBytes(StandardCharsets.UTF_8));
            String answer = new String(connection.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (!answer.startsWith("HTTP/1.1 200 OK")) throw new IllegalStateException(answer);
        }
    }
}
