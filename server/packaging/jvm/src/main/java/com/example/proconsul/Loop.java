package com.example.proconsul;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;

/**
 * The one thread that calls a server's machine: it moves bytes between sockets and the machine, takes requests of other threads, and
 * gives the machine the time at each deadline. It never waits but in its selector, so a request that is blocked costs a connection and
 * no lock.
 */
final class Loop {
    /** The machine's functions call each other on the thread's stack. In bytes, because the default depends on the system. */
    private static final long STACK = 8 << 20;
    private static final int BACKLOG = 1024;
    private static final int READ_SIZE = 64 << 10;
    private static final long NEVER = Long.MAX_VALUE;
    private static final byte[] NOTHING = {};

    private final Selector selector;
    /** One for each agent. */
    private final List<ServerSocketChannel> listeners = new ArrayList<>();
    private final List<Integer> ports = new ArrayList<>();
    private final long began = System.nanoTime();
    private final ByteBuffer read = ByteBuffer.allocate(READ_SIZE);
    /** Who has a connection or a request, by its number. */
    private final Map<Long, User> users = new HashMap<>();
    private final CompletableFuture<Void> started = new CompletableFuture<>();
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private Machine machine;
    private long last;
    private long deadline = NEVER;

    /** What other threads want done. Its lock is held only while it changes. */
    private final Deque<Runnable> tasks = new ArrayDeque<>();
    /** Why no more is done; null while the thread runs. */
    private volatile RuntimeException over;

    /** Takes the outputs for a number. */
    private interface User {
        void take(Machine.Output output);

        /** The machine has ended for this reason, and all sockets are closed. */
        default void cut(RuntimeException reason) {}
    }

    /** Starts a server that listens at a port of the loopback interface, or at a free one if it is 0. */
    Loop(Supplier<Machine> made, int port) {
        try {
            selector = Selector.open();
        } catch (IOException error) {
            throw new IllegalStateException("cannot listen: " + error.getMessage(), error);
        }
        try {
            listen(port);
        } catch (IOException error) {
            closeAll();
            throw new IllegalStateException("cannot listen at port " + port + ": " + error.getMessage(), error);
        }
        Thread thread = new Thread(null, () -> run(made), "proconsul-" + ports.get(0), STACK);
        // A test that forgets its server ends all the same.
        thread.setDaemon(true);
        thread.start();
        try {
            started.join();
        } catch (CompletionException error) {
            throw over;
        }
    }

    private void listen(int port) throws IOException {
        ServerSocketChannel listener = ServerSocketChannel.open();
        listeners.add(listener);
        listener.bind(new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), port), BACKLOG);
        listener.configureBlocking(false).register(selector, SelectionKey.OP_ACCEPT);
        ports.add(listener.socket().getLocalPort());
    }

    /** The ports of the agents. */
    List<Integer> ports() {
        return ports;
    }

    /** Why the server has ended by itself; null if it has not. */
    RuntimeException failure() {
        return over instanceof Ended ? null : over;
    }

    /** Gives an input of a kind that has a response, and completes with that. Cancelling it withdraws the request. */
    CompletableFuture<ByteBuffer> ask(int kind, byte[] request) {
        Asking asking = new Asking();
        later(() -> {
            asking.number = use(asking);
            input(kind, asking.number, request, request.length);
        });
        asking.response.whenComplete((response, error) -> {
            if (asking.response.isCancelled()) later(() -> drop(asking.number));
        });
        return asking.response;
    }

    /** Ends the server, and cuts off whoever is connected. */
    void close() {
        synchronized (tasks) {
            if (over == null) over = new Ended();
        }
        selector.wakeup();
        ended.join();
    }

    /** The reason of {@link #close}. */
    private static final class Ended extends IllegalStateException {
        private static final long serialVersionUID = 1;

        Ended() {
            super("the server has ended");
        }
    }

    private void later(Runnable task) {
        synchronized (tasks) {
            if (over != null) throw new IllegalStateException(over.getMessage(), over);
            tasks.add(task);
        }
        selector.wakeup();
    }

    private void run(Supplier<Machine> made) {
        try {
            machine = made.get();
            while (listeners.size() < machine.agents()) listen(0);
            input(Machine.TIME, 0, NOTHING, 0);
            started.complete(null);
            while (over == null) turn();
        } catch (Throwable error) {
            synchronized (tasks) {
                if (over == null) over = error instanceof RuntimeException ? (RuntimeException) error : new IllegalStateException(error);
            }
        }
        end();
    }

    /** Waits for the next input, and gives it to the machine. */
    private void turn() throws IOException {
        long left = deadline == NEVER ? NEVER : Math.max(0, deadline - now());
        // In whole milliseconds, of which 0 would be for ever.
        if (left == 0) selector.selectNow(this::serve);
        else selector.select(this::serve, left == NEVER ? 0 : (left + 999_999) / 1_000_000);
        for (Runnable task : takeTasks()) task.run();
        if (deadline <= now()) input(Machine.TIME, 0, NOTHING, 0);
    }

    private List<Runnable> takeTasks() {
        synchronized (tasks) {
            List<Runnable> taken = new ArrayList<>(tasks);
            tasks.clear();
            return taken;
        }
    }

    private void serve(SelectionKey key) {
        if (over != null || !key.isValid()) return;
        if (key.isAcceptable()) {
            accept((ServerSocketChannel) key.channel());
            return;
        }
        Connection connection = (Connection) key.attachment();
        if (key.isReadable()) connection.read();
        if (key.isValid() && key.isWritable()) connection.flush();
    }

    private void accept(ServerSocketChannel listener) {
        int agent = listeners.indexOf(listener);
        try {
            for (SocketChannel channel = listener.accept(); channel != null; channel = listener.accept()) connect(channel, agent);
        } catch (IOException error) {
            // This client has gone. The others are served.
        }
    }

    private void connect(SocketChannel channel, int agent) throws IOException {
        try {
            channel.configureBlocking(false);
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        } catch (IOException error) {
            channel.close();
            return;
        }
        Connection connection = new Connection(channel, channel.register(selector, SelectionKey.OP_READ));
        connection.number = use(connection);
        input(Machine.CONNECT + (agent << 8), connection.number, NOTHING, 0);
    }

    private long now() {
        return System.nanoTime() - began;
    }

    private long use(User user) {
        users.put(++last, user);
        return last;
    }

    /** Says that a client has gone, unless the server has ended this connection or request. */
    private void drop(long number) {
        if (users.remove(number) != null) input(Machine.RESET, number, NOTHING, 0);
    }

    private void input(int kind, long number, byte[] bytes, int length) {
        long now = now();
        // What is due happens at its time, however late this thread is.
        for (long due = -1; deadline > due && deadline <= now;) {
            due = deadline;
            give(due, Machine.TIME, 0, NOTHING, 0);
        }
        give(now, kind, number, bytes, length);
    }

    private void give(long now, int kind, long number, byte[] bytes, int length) {
        if (over != null) throw over;
        deadline = NEVER;
        for (Machine.Output output : machine.input(now, kind, number, bytes, length)) {
            if (output.kind == Machine.DEADLINE) {
                // A negative number is a time that is too late for a long.
                if (output.number >= 0) deadline = output.number;
                continue;
            }
            User user = output.kind == Machine.SENT ? users.get(output.number) : users.remove(output.number);
            if (user != null) user.take(output);
        }
    }

    private void end() {
        // Requests that are still tasks become users, which are cut off; `later` rejects those that come now.
        for (Runnable task : takeTasks()) {
            try {
                task.run();
            } catch (RuntimeException error) {
                // The machine takes no more inputs.
            }
        }
        // Nothing is open any more when somebody learns of the end.
        closeAll();
        for (User user : users.values()) user.cut(over);
        ended.complete(null);
        started.completeExceptionally(over);
    }

    private void closeAll() {
        try {
            for (SelectionKey key : selector.keys()) {
                if (key.attachment() != null && failure() != null) ((Connection) key.attachment()).reset();
                else key.channel().close();
            }
            for (ServerSocketChannel listener : listeners) listener.close();
            selector.close();
        } catch (IOException error) {
            // They are gone.
        }
    }

    /** A request without a connection. */
    private static final class Asking implements User {
        final CompletableFuture<ByteBuffer> response = new CompletableFuture<>();
        long number;

        @Override
        public void take(Machine.Output output) {
            if (output.kind == Machine.RESPONSE) response.complete(output.bytes);
            else response.completeExceptionally(new IllegalStateException("the server has cut the request off"));
        }

        @Override
        public void cut(RuntimeException reason) {
            response.completeExceptionally(reason);
        }
    }

    /** A connection of a client. */
    private final class Connection implements User {
        private final SocketChannel channel;
        private final SelectionKey key;
        private final Deque<ByteBuffer> unsent = new ArrayDeque<>();
        private boolean isLast;
        private long number;

        Connection(SocketChannel channel, SelectionKey key) {
            this.channel = channel;
            this.key = key;
            key.attach(this);
        }

        void read() {
            int count;
            try {
                count = channel.read(read.clear());
            } catch (IOException error) {
                gone();
                return;
            }
            if (count >= 0) {
                input(Machine.BYTES, number, read.array(), count);
            } else {
                key.interestOpsAnd(~SelectionKey.OP_READ);
                input(Machine.END, number, NOTHING, 0);
            }
        }

        @Override
        public void take(Machine.Output output) {
            if (output.kind == Machine.SENT) {
                unsent.add(output.bytes);
                flush();
            } else if (output.kind == Machine.CLOSED) {
                isLast = true;
                if (key.isValid()) key.interestOpsAnd(~SelectionKey.OP_READ);
                flush();
            } else {
                reset();
            }
        }

        /** Sends what the socket takes, and goes on when it takes more. */
        void flush() {
            try {
                while (!unsent.isEmpty()) {
                    channel.write(unsent.peek());
                    if (unsent.peek().hasRemaining()) break;
                    unsent.remove();
                }
                if (unsent.isEmpty() && isLast) close();
                else if (!unsent.isEmpty()) key.interestOpsOr(SelectionKey.OP_WRITE);
                else if (key.isValid()) key.interestOpsAnd(~SelectionKey.OP_WRITE);
            } catch (IOException error) {
                // Later, because other outputs of the same input are still to be handed out.
                unsent.clear();
                synchronized (tasks) {
                    tasks.add(this::gone);
                }
                selector.wakeup();
            }
        }

        private void gone() {
            close();
            drop(number);
        }

        private void close() {
            try {
                channel.close();
            } catch (IOException error) {
                // It is gone.
            }
        }

        private void reset() {
            try {
                // Without a time to send the rest, closing resets the connection.
                channel.setOption(StandardSocketOptions.SO_LINGER, 0);
            } catch (IOException error) {
                // It is gone.
            }
            close();
        }
    }
}
