package com.example.proconsul;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Gives each test that has a parameter of type {@link Server} a server of its own, and shows what happened on it when the
 * test fails. On a method it says how that test's server is started, in place of what the class says. A parameter of a
 * {@code @BeforeAll} method makes one server for all tests of the class, which ends with the class; {@link Server#reset} empties it.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(ProconsulExtension.class)
public @interface Proconsul {
    /** The release of Consul that is emulated, such as 1.8.7. */
    String asVersion() default "";

    /** Repeats the run with this seed; 0 takes a fresh one. */
    long seed() default 0;

    /** Whether the clock stands still, from the start on, until the test moves it. */
    boolean frozen() default false;

    /** The time of day when the server's clock starts, such as 2026-01-01T00:00:00Z, in place of the machine's. */
    String epoch() default "";

    /** Configuration files of Consul, or folders of them. */
    String[] files() default {};

    /** Files to start with: states, archives of snapshots, or keys as {@code consul kv export} prints them. */
    String[] data() default {};

    /** Enables ACLs. The token with this secret may do everything; without a token nothing is allowed. */
    String acl() default "";

    /** Whether HTTPS is served, too, at {@link Server#httpsUrl}. */
    boolean https() default false;

    /** Whether the server runs in this process, though there may be a binary; where there is none, it does. */
    boolean inProcess() default false;

    /** How many agents there are, where there is more than one: servers, or servers and client agents, such as 3:1. */
    String agents() default "";

    /** The names of datacenters that are joined, the server's own first. Each has its own agents. */
    String[] datacenters() default {};

    /** More arguments of {@code proconsul agent}. */
    String[] arguments() default {};
}
