package com.example.proconsul;

import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;

/** What {@link Proconsul} does. */
public final class ProconsulExtension implements ParameterResolver, AfterEachCallback, AfterAllCallback {
    private static final ExtensionContext.Namespace NAMESPACE = ExtensionContext.Namespace.create(ProconsulExtension.class);

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == Server.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return context.getStore(NAMESPACE).getOrComputeIfAbsent(Server.class, key -> start(context), Server.class);
    }

    @Override
    public void afterEach(ExtensionContext context) {
        end(context);
    }

    @Override
    public void afterAll(ExtensionContext context) {
        end(context);
    }

    /**
     * Shows the server of a test or of its class where it has failed, and stops the server if it is this context's own. A server that
     * has panicked fails the test.
     */
    private static void end(ExtensionContext context) {
        Server server = context.getStore(NAMESPACE).get(Server.class, Server.class);
        if (server == null) return;
        RuntimeException panic = server.failure();
        try {
            if (panic != null) throw new IllegalStateException(panic.getMessage(), panic);
            if (context.getExecutionException().isPresent()) System.err.println(server.failureText());
        } finally {
            Server own = context.getStore(NAMESPACE).remove(Server.class, Server.class);
            if (own != null) own.close();
        }
    }

    private static Server start(ExtensionContext context) {
        Optional<Proconsul> chosen = AnnotationSupport.findAnnotation(context.getElement(), Proconsul.class);
        if (chosen.isEmpty()) chosen = AnnotationSupport.findAnnotation(context.getTestClass(), Proconsul.class);
        Server.Builder builder = Server.builder();
        if (chosen.isPresent()) {
            Proconsul options = chosen.get();
            if (!options.asVersion().isEmpty()) builder.asVersion(options.asVersion());
            if (options.seed() != 0) builder.seed(options.seed());
            if (options.frozen()) builder.frozen();
            if (!options.epoch().isEmpty()) builder.epoch(options.epoch());
            for (String file : options.files()) builder.file(Path.of(file));
            for (String file : options.data()) builder.data(Path.of(file));
            if (!options.acl().isEmpty()) builder.acl(options.acl());
            if (options.https()) builder.https();
            if (!options.agents().isEmpty()) builder.agents(options.agents());
            if (options.datacenters().length > 0) builder.datacenters(options.datacenters());
            if (options.inProcess()) builder.inProcess();
            builder.arguments(options.arguments());
        }
        return builder.start();
    }
}
