package com.example.proconsul;

import java.nio.file.Path;
import java.util.List;

/** What a {@link Server} runs as: a process, or the module in this one. */
interface Backend extends AutoCloseable {
    /** A response of the control plane. */
    final class Response {
        final int status;
        final String type;
        final String text;

        Response(int status, String type, String text) {
            this.status = status;
            this.type = type;
            this.text = text;
        }
    }

    /** The file that the server is, for errors. */
    String file();

    /** Host and port of Consul's API. */
    String address();

    /** Host and port of Consul's API of each agent. */
    List<String> agentAddresses();

    /** Host and port of DNS, or null. */
    String dnsAddress();

    /** Host and port of Consul's API over HTTPS, or null. */
    String httpsAddress();

    /** The file with the certificate of the authority, or null. */
    Path caFile();

    /** The last lines of the server's log. */
    String log();

    /** Sends a request to the control plane, at a path and query behind its prefix, with JSON or null. */
    Response ask(String method, String target, String body);

    /** Why the server has ended by itself; null if it runs, or if that is not known. */
    RuntimeException failure();

    @Override
    void close();
}
