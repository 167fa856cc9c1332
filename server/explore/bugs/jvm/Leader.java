import com.fasterxml.jackson.databind.ObjectMapper;
import pl.allegro.tech.discovery.consul.recipes.ConsulRecipes;
import pl.allegro.tech.discovery.consul.recipes.json.JacksonJsonDeserializer;
import pl.allegro.tech.discovery.consul.recipes.json.JacksonJsonSerializer;
import pl.allegro.tech.discovery.consul.recipes.leader.LeadershipObserver;

/**
 * The leader election of allegro's consul-recipes, whose key is {@code service/bugs/leader}. The elector waits for one
 * second more than the session's lock-delay before it acquires, as it does by default (16 s and 15 s).
 */
final class Leader {
    public static void main(String[] arguments) {
        var me = new Contender();
        var mapper = new ObjectMapper();
        var recipes = ConsulRecipes.consulRecipes()
                .withAgentUri(me.uri)
                .withJsonSerializer(new JacksonJsonSerializer(mapper))
                .withJsonDeserializer(new JacksonJsonDeserializer(mapper))
                .build();
        var session = recipes.session("bugs")
                .withAgentUri(me.uri)
                .withSessionTTLSeconds(me.ttl)
                .withLockDelaySeconds(me.lockDelay)
                .build();
        var elector = recipes.leaderElector("bugs")
                .withAgentUri(me.uri)
                .withNodeId(me.name)
                .withSession(session)
                .withLockDelaySeconds(me.lockDelay + 1)
                .build();
        elector.registerObserver(new LeadershipObserver() {
            @Override
            public void leadershipAcquired() {
                me.begin();
            }

            @Override
            public void leadershipLost() {
                me.end();
            }
        });
        me.work();
        elector.start();
    }
}
