package com.example.proconsul;

import com.dylibso.chicory.runtime.ByteArrayMemory;
import com.dylibso.chicory.runtime.ExportFunction;
import com.dylibso.chicory.runtime.HostFunction;
import com.dylibso.chicory.runtime.ImportValues;
import com.dylibso.chicory.runtime.Instance;
import com.dylibso.chicory.runtime.Memory;
import com.dylibso.chicory.wasm.Parser;
import com.dylibso.chicory.wasm.WasmModule;
import com.dylibso.chicory.wasm.types.FunctionType;
import com.dylibso.chicory.wasm.types.ValType;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Constructor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A server as an instance of the WebAssembly module, whose interface server/wasm/README.md describes. It takes one call at a time. */
final class Machine {
    /** The kinds of inputs. */
    static final int CONNECT = 0;
    static final int BYTES = 1;
    static final int END = 2;
    static final int RESET = 3;
    static final int TIME = 4;
    static final int REQUEST = 5;

    /** The kinds of outputs. */
    static final int SENT = 1;
    static final int CLOSED = 2;
    static final int CUT = 3;
    static final int DEADLINE = 4;
    static final int RESPONSE = 5;

    /** The version of the interface. */
    private static final long VERSION = 1;
    /** How many bytes an output has in front of its own: kind, number and length. */
    private static final int HEAD = 13;
    /** What `compile` makes of the module: the classes, and a file with all but the code. */
    private static final String CLASS = "com.example.proconsul.module.ModuleMachine";
    private static final String REST = "/com/example/proconsul/module/Module.meta";

    /** The error where the jar has no module. */
    static final String MISSING = "this jar lacks the server's module: install it with server/packaging/jvm/build in a clone of proconsul";

    private static Code code;

    private final Memory memory;
    private final ExportFunction buffer;
    private final ExportFunction agents;
    private final ExportFunction input;
    private final ExportFunction reply;
    private String panic;

    /** An output: its kind, its number, and its bytes. */
    static final class Output {
        final int kind;
        final long number;
        final ByteBuffer bytes;

        Output(int kind, long number, ByteBuffer bytes) {
            this.kind = kind;
            this.number = number;
            this.bytes = bytes;
        }
    }

    /** The module, which all servers of this process share. */
    private static final class Code {
        final WasmModule module;
        final Constructor<? extends com.dylibso.chicory.runtime.Machine> machine;

        Code() {
            try (InputStream rest = Machine.class.getResourceAsStream(REST)) {
                // It was valid when its classes were made. To validate it again takes 0.2 s.
                module = Parser.builder().withValidation(false).build().parse(() -> rest);
                machine = Class.forName(CLASS).asSubclass(com.dylibso.chicory.runtime.Machine.class).getConstructor(Instance.class);
            } catch (IOException | ReflectiveOperationException error) {
                throw new IllegalStateException("the module of the jar cannot be loaded: " + error, error);
            }
        }

        com.dylibso.chicory.runtime.Machine machine(Instance instance) {
            try {
                return machine.newInstance(instance);
            } catch (ReflectiveOperationException error) {
                throw new IllegalStateException(error);
            }
        }
    }

    private static synchronized Code code() {
        if (code == null) code = new Code();
        return code;
    }

    /** Whether the jar has the module. A helper that is built without `compile` lacks it. */
    static boolean isThere() {
        return Machine.class.getResource(REST) != null;
    }

    /** Makes a server. The arguments are those of {@code proconsul agent}; the seed is used if they name none. */
    Machine(List<String> arguments, long seed, long wall) {
        HostFunction takePanic = new HostFunction("env", "panic", FunctionType.of(List.of(ValType.I32, ValType.I32), List.of()), (caller, text) -> {
            this.panic = caller.memory().readString((int) text[0], (int) text[1]);
            return null;
        });
        Instance instance = Instance.builder(code().module)
            .withMachineFactory(code()::machine)
            .withMemoryFactory(ByteArrayMemory::new)
            .withImportValues(ImportValues.builder().addFunction(takePanic).build())
            .build();
        memory = instance.memory();
        buffer = instance.export("buffer");
        agents = instance.export("agents");
        input = instance.export("input");
        reply = instance.export("reply");
        long version = instance.export("abi_version").apply()[0];
        if (version != VERSION) throw new IllegalStateException("the module has version " + version + " of its interface, not " + VERSION);
        byte[] given = Json.write(arguments).getBytes(StandardCharsets.UTF_8);
        ByteBuffer refusal = call(given, given.length, instance.export("create"), seed, wall);
        if (refusal.hasRemaining()) throw new IllegalStateException("the server ended at its start: " + StandardCharsets.UTF_8.decode(refusal));
    }

    /** How many agents the server has, those of joined datacenters counted on. */
    int agents() {
        return (int) agents.apply()[0];
    }

    /** Gives the server an input at a time since it was made, in nanoseconds, with the first bytes of an array. */
    List<Output> input(long now, int kind, long number, byte[] bytes, int length) {
        ByteBuffer answer = call(bytes, length, input, now, kind, number);
        List<Output> outputs = new ArrayList<>();
        while (answer.hasRemaining()) {
            int at = answer.position();
            int end = at + HEAD + answer.getInt(at + 9);
            ByteBuffer own = answer.duplicate().position(at + HEAD).limit(end);
            outputs.add(new Output(answer.get(at), answer.getLong(at + 1), own));
            answer.position(end);
        }
        return outputs;
    }

    /** Calls a function with bytes in the buffer, and returns a copy of its reply. */
    private ByteBuffer call(byte[] bytes, int length, ExportFunction function, long... numbers) {
        try {
            memory.write((int) buffer.apply(length)[0], bytes, 0, length);
            int size = (int) function.apply(numbers)[0];
            return ByteBuffer.wrap(memory.readBytes((int) reply.apply()[0], size)).order(ByteOrder.LITTLE_ENDIAN);
        } catch (RuntimeException | StackOverflowError error) {
            throw new IllegalStateException("the server has panicked: " + (panic == null ? error : panic), error);
        }
    }
}
