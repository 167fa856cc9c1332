package com.example.proconsul;

/** The control plane rejected a call; the message says why. The status is 409 where a wait timed out. */
public final class ControlException extends RuntimeException {
    private static final long serialVersionUID = 1;
    private final int status;

    ControlException(int status, String text) {
        super(text);
        this.status = status;
    }

    /** The HTTP status of the refusal. */
    public int status() {
        return status;
    }
}
