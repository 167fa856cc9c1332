package com.example.proconsul;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.ecwid.consul.v1.ConsistencyMode;
import com.ecwid.consul.v1.ConsulClient;
import com.ecwid.consul.v1.OperationException;
import com.ecwid.consul.v1.QueryParams;
import com.ecwid.consul.v1.kv.model.GetValue;
import com.ecwid.consul.v1.kv.model.PutParams;
import com.ecwid.consul.v1.session.model.NewSession;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** The scenarios that all helpers share, with Ecwid's client, on the binary and in this process. */
class ScenariosTest {
    @TestFactory
    Stream<DynamicTest> scenarios() throws IOException {
        String file = System.getenv("SCENARIOS");
        String text = Files.readString(Path.of(file == null ? "../scenarios/scenarios.json" : file));
        List<?> scenarios = (List<?>) ((Map<?, ?>) Json.parse(text)).get("scenarios");
        return Stream.of(false, true).flatMap(inProcess -> scenarios.stream().map(one -> played((Map<?, ?>) one, inProcess)));
    }

    private static DynamicTest played(Map<?, ?> scenario, boolean inProcess) {
        return DynamicTest.dynamicTest(scenario.get("name") + (inProcess ? ", in process" : ""), () -> {
            try (Server server = started((Map<?, ?>) scenario.get("server"), inProcess)) {
                assertEquals(inProcess, server.isInProcess());
                Run run = new Run(server);
                for (Object step : (List<?>) scenario.get("steps")) run.step((Map<?, ?>) step);
            }
        });
    }

    private static Server started(Map<?, ?> options, boolean inProcess) {
        Server.Builder builder = Server.builder();
        if (inProcess) builder.inProcess();
        if (options.containsKey("asVersion")) builder.asVersion((String) options.get("asVersion"));
        if (options.containsKey("seed")) builder.seed((Long) options.get("seed"));
        if (options.containsKey("frozen")) builder.frozen();
        if (options.containsKey("epoch")) builder.epoch((String) options.get("epoch"));
        if (options.containsKey("agents")) builder.agents((String) options.get("agents"));
        return builder.start();
    }

    private static final class Run {
        private final Server server;
        private final List<ConsulClient> clients;
        private final Map<String, String> sessions = new HashMap<>();
        private final Map<String, CompletableFuture<String>> watches = new HashMap<>();

        Run(Server server) {
            this.server = server;
            this.clients = server.agentAddresses().stream().map(Run::clientOf).collect(Collectors.toList());
        }

        private static ConsulClient clientOf(String address) {
            int colon = address.lastIndexOf(':');
            return new ConsulClient(address.substring(0, colon), Integer.parseInt(address.substring(colon + 1)));
        }

        void step(Map<?, ?> step) {
            if (step.containsKey("control")) {
                control(step);
            } else if (step.containsKey("failure")) {
                assertContains(step.get("failure"), server.failureText());
            } else if (step.containsKey("fails")) {
                OperationException refused = assertThrows(OperationException.class, () -> call(step));
                assertTrue(refused.getStatusContent().contains((String) step.get("fails")), refused.toString());
            } else {
                assertEquals(step.get("expect"), call(step));
            }
        }

        private void control(Map<?, ?> step) {
            if (step.containsKey("refused")) {
                ControlException refused = assertThrows(ControlException.class, () -> controlled(step));
                assertTrue(refused.getMessage().contains((String) step.get("refused")), refused.toString());
                return;
            }
            Object answer = controlled(step);
            if (step.containsKey("contains")) assertContains(step.get("contains"), (String) answer);
            if (step.containsKey("expect")) {
                ((Map<?, ?>) step.get("expect")).forEach((name, expected) -> assertEquals(number(expected), number(((Map<?, ?>) answer).get(name))));
            }
        }

        /** A number of one kind for numbers of any: 0 and 0.0 are the same in JSON. */
        private static Object number(Object value) {
            return value instanceof Number ? ((Number) value).doubleValue() : value;
        }

        private static void assertContains(Object parts, String text) {
            for (Object part : (List<?>) parts) assertTrue(text.contains((String) part), part + " is not in " + text);
        }

        @SuppressWarnings("unchecked")
        private Object controlled(Map<?, ?> step) {
            Map<String, Object> with = new HashMap<>();
            if (step.containsKey("with")) with.putAll((Map<String, Object>) step.get("with"));
            switch ((String) step.get("control")) {
                case "server": return server.server();
                case "clock": return server.clock();
                case "freeze": return server.freeze();
                case "state": return server.state();
                case "timeline": return server.timeline((String) with.get("key"));
                case "loseLeader": server.loseLeader(new Server.LoseLeaderOptions().scenario(Server.Scenario.of(with.get("scenario")))); return null;
                case "findLeader": server.findLeader(); return null;
                case "advance": return server.advance(duration(with.get("by")));
                case "waitBlocked": return server.waitBlocked((Long) with.get("count"), waiting(with));
                case "installFault": return server.fault(effect((Map<?, ?>) with.get("effect")), rule(with));
                case "lagAgent": server.lagAgent(agent(with), new Server.LagAgentOptions().hold(with.containsKey("hold"))); return null;
                case "cutAgent": server.cutAgent(agent(with)); return null;
                case "healAgent": server.healAgent(agent(with)); return null;
                case "leadAgent": server.leadAgent(agent(with)); return null;
                case "checkpoint": return server.checkpoint((String) with.get("name"));
                case "rollback": return server.rollback((String) with.get("name"));
                default: throw new AssertionError("an unknown control: " + step);
            }
        }

        private static long agent(Map<?, ?> with) {
            return (Long) with.get("agent");
        }

        private static Duration duration(Object given) {
            String text = (String) given;
            return text.endsWith("ms") ? Duration.ofMillis(Long.parseLong(text.replace("ms", ""))) : Duration.parse("PT" + text);
        }

        private static Server.WaitBlockedOptions waiting(Map<?, ?> with) {
            return new Server.WaitBlockedOptions().prefix((String) with.get("prefix")).timeout(duration(with.get("timeout")));
        }

        private static Server.Effect effect(Map<?, ?> effect) {
            assertEquals("error", effect.get("kind"));
            return new Server.ErrorEffect(Server.ErrorName.of(effect.get("error"))).after(duration(effect.get("after")));
        }

        private static Server.FaultOptions rule(Map<?, ?> with) {
            Server.FaultOptions rule = new Server.FaultOptions().method((String) with.get("method")).keyPrefix((String) with.get("key_prefix"));
            return with.containsKey("times") ? rule.times((Long) with.get("times")) : rule;
        }

        private Object call(Map<?, ?> step) {
            ConsulClient client = clients.get(step.containsKey("agent") ? ((Long) step.get("agent")).intValue() : 0);
            QueryParams consistency = Boolean.TRUE.equals(step.get("stale")) ? new QueryParams(ConsistencyMode.STALE) : QueryParams.DEFAULT;
            String key = (String) step.get("key");
            String value = (String) step.get("value");
            switch ((String) step.get("client")) {
                case "put":
                    return client.setKVValue(key, value).getValue();
                case "acquire":
                    PutParams params = new PutParams();
                    params.setAcquireSession(sessions.get(step.get("session")));
                    return client.setKVValue(key, value, params).getValue();
                case "get":
                    GetValue found = client.getKVValue(key, consistency).getValue();
                    return found == null ? null : found.getDecodedValue();
                case "session":
                    NewSession session = new NewSession();
                    session.setTtl((String) step.get("ttl"));
                    // This client sends 0 otherwise, which is no lock-delay.
                    session.setLockDelay(15);
                    sessions.put((String) step.get("save"), client.sessionCreate(session, QueryParams.DEFAULT).getValue());
                    return null;
                case "watch":
                    long index = client.getKVValue(key).getConsulIndex();
                    watches.put((String) step.get("save"), CompletableFuture.supplyAsync(() -> {
                        GetValue seen = new ConsulClient(server.host(), server.port()).getKVValue(key, new QueryParams(60, index)).getValue();
                        return seen.getDecodedValue();
                    }));
                    return null;
                case "join":
                    return watches.get(step.get("watch")).join();
                default:
                    throw new AssertionError("an unknown step: " + step);
            }
        }
    }
}
