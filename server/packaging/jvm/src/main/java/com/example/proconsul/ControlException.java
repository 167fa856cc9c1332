package com.example.proconsul;

/** The control plane refused a call, with a sentence. The status is 409 where something was waited for in vain. */
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
