import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** What all contenders on the JVM share: who they are, what they print, and their guarded writes. */
final class Contender {
    /** Where the holder writes, and nobody else may. */
    private static final String WORK_KEY = "work/item";
    /** What a contender without a lock watches. */
    static final String WATCHED_KEY = "config/value";
    /** Milliseconds between two guarded writes. */
    private static final long RHYTHM = 100;

    final String address = or("CONSUL_HTTP_ADDR", "127.0.0.1:8500");
    final URI uri = URI.create("http://" + address);
    final String name = or("PROCONSUL_CONTENDER", "a");
    /** In whole seconds, as the library has them. */
    final int ttl = seconds("SESSION_TTL");
    final int lockDelay = seconds("LOCK_DELAY");

    private final HttpClient http = HttpClient.newHttpClient();
    private boolean holds;
    private int writes;

    /** Begins the work of a holder. The lines are printed under the lock under which a write begins. */
    synchronized void begin() {
        if (!holds) {
            holds = true;
            say("held");
        }
    }

    synchronized void end() {
        if (holds) {
            holds = false;
            say("lost");
        }
    }

    /** Writes again and again, one write at a time, while the program holds the lock. */
    void work() {
        Executors.newSingleThreadScheduledExecutor()
                .scheduleWithFixedDelay(this::write, 0, RHYTHM, TimeUnit.MILLISECONDS);
    }

    private void write() {
        try {
            var sent = send();
            if (sent != null) {
                sent.get(ttl, TimeUnit.SECONDS);
            }
        } catch (Exception error) {
            report(error);
        }
    }

    private synchronized java.util.concurrent.Future<?> send() {
        if (!holds) {
            return null;
        }
        writes += 1;
        var request = HttpRequest.newBuilder(uri.resolve("/v1/kv/" + WORK_KEY))
                .timeout(Duration.ofSeconds(ttl))
                .PUT(HttpRequest.BodyPublishers.ofString(name + " " + writes))
                .build();
        return http.sendAsync(request, BodyHandlers.discarding());
    }

    /** Prints a line at once. */
    static synchronized void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    static void report(Exception error) {
        System.err.println(error);
    }

    private static int seconds(String variable) {
        var text = or(variable, "1s");
        var duration = text.endsWith("ms")
                ? Duration.ofMillis(Long.parseLong(text.substring(0, text.length() - 2)))
                : Duration.parse("PT" + text);
        return (int) Math.max(1, duration.toSeconds());
    }

    private static String or(String variable, String usual) {
        var value = System.getenv(variable);
        return value == null ? usual : value;
    }
}
