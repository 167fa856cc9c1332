import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Base64;
import java.util.concurrent.Executors;
import pl.allegro.tech.discovery.consul.recipes.ConsulRecipes;
import pl.allegro.tech.discovery.consul.recipes.json.JacksonJsonDeserializer;

/** The watcher of allegro's consul-recipes, on one key. */
final class Watch {
    public static void main(String[] arguments) {
        var me = new Contender();
        var decoder = new JacksonJsonDeserializer(new ObjectMapper());
        var recipes = ConsulRecipes.consulRecipes()
                .withAgentUri(me.uri)
                .withJsonDeserializer(decoder)
                .build();
        var watcher = recipes.consulWatcher(Executors.newSingleThreadExecutor()).withAgentUri(me.uri).build();
        watcher.watchEndpoint("/v1/kv/" + Contender.WATCHED_KEY, result -> {
            try {
                var value = (String) decoder.deserializeMapList(result.getBody()).get(0).get("Value");
                Contender.say("saw " + new String(Base64.getDecoder().decode(value)));
            } catch (Exception error) {
                Contender.report(error);
            }
        }, Contender::report);
    }
}
