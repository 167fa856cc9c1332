import com.orbitz.consul.Consul;
import com.orbitz.consul.cache.KVCache;

/** The cache of consul-client, which watches one key. */
final class Cache {
    /** Seconds that a read waits: less than the 10 s after which the client gives a response up. */
    private static final int WAIT = 5;

    public static void main(String[] arguments) throws InterruptedException {
        var me = new Contender();
        var client = Consul.builder().withUrl("http://" + me.address).withPing(false).build();
        var cache = KVCache.newCache(client.keyValueClient(), Contender.WATCHED_KEY, WAIT);
        cache.addListener(values -> values.values()
                .forEach(value -> value.getValueAsString().ifPresent(text -> Contender.say("saw " + text))));
        cache.start();
        // All threads of the client are daemons.
        Thread.currentThread().join();
    }
}
