import com.dylibso.chicory.build.time.compiler.Config;
import com.dylibso.chicory.build.time.compiler.Generator;
import com.dylibso.chicory.compiler.InterpreterFallback;
import java.io.IOException;
import java.nio.file.Path;

/** Compiles a WebAssembly module to classes of the JVM. */
final class Compile {
    private Compile() {}

    /** Takes the file of the module, the folder for the classes, and their name. */
    public static void main(String[] arguments) throws IOException {
        Path folder = Path.of(arguments[1]);
        Config config = Config.builder()
            .withWasmFile(Path.of(arguments[0]))
            .withTargetClassFolder(folder)
            .withTargetWasmFolder(folder)
            .withTargetSourceFolder(folder)
            .withName(arguments[2])
            // A function that is too long for a method of the JVM fails the build, because interpreting it would be slow.
            .withInterpreterFallback(InterpreterFallback.FAIL)
            .build();
        Generator generator = new Generator(config);
        generator.generateMetaWasm(generator.generateResources());
    }
}
