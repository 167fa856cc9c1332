package com.example.proconsul;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/** Finds the server's binary. */
final class Binary {
    /** The variable that names it. */
    static final String VARIABLE = "PROCONSUL_BINARY";

    private static final boolean IS_WINDOWS = System.getProperty("os.name").startsWith("Windows");
    private static final String NAME = IS_WINDOWS ? "proconsul.exe" : "proconsul";
    /** The file of {@link #ofJar}, which is written once for all servers of this process. */
    private static Path unpacked;

    private Binary() {}

    /**
     * Returns its path: what is given, what the variable names, what the jar for this platform brings, or what is on the PATH. One that
     * is named has to be there.
     */
    static Optional<String> look(String given, UnaryOperator<String> variables) {
        String named = Objects.requireNonNullElse(variables.apply(VARIABLE), "");
        for (String[] source : new String[][] {{given, "binary"}, {named, VARIABLE}}) {
            if (source[0].isEmpty()) continue;
            if (!isProgram(Path.of(source[0]))) {
                throw new IllegalStateException(source[1] + " names \"" + source[0] + "\", which is not a program that can be run");
            }
            return Optional.of(source[0]);
        }
        return ofJar(platform())
            .or(() -> onPath(Objects.requireNonNullElse(variables.apply("PATH"), "")))
            .map(Path::toString);
    }

    /** The error of who needs the binary where there is none. */
    static IllegalStateException missing() {
        return new IllegalStateException("the binary of proconsul is not there: neither a jar proconsul-junit with the classifier "
            + platform() + " is on the class path, nor is it on the PATH. Build it with `cargo install --path server/cli` in a clone of proconsul, or name it with " + VARIABLE);
    }

    /** The classifier of this platform's jar, such as linux-x86_64. */
    static String platform() {
        String system = System.getProperty("os.name").toLowerCase(Locale.ROOT).split(" ")[0];
        String processor = System.getProperty("os.arch");
        return (system.equals("mac") ? "macos" : system) + "-" + (processor.equals("amd64") ? "x86_64" : processor);
    }

    private static Optional<Path> onPath(String path) {
        return Stream.of(path.split(File.pathSeparator)).map(folder -> Path.of(folder, NAME)).filter(Binary::isProgram).findFirst();
    }

    private static boolean isProgram(Path file) {
        return Files.isExecutable(file) && !Files.isDirectory(file);
    }

    private static synchronized Optional<Path> ofJar(String platform) {
        if (unpacked != null) return Optional.of(unpacked);
        try (InputStream packed = Binary.class.getResourceAsStream("/META-INF/proconsul/" + platform + "/" + NAME)) {
            if (packed == null) return Optional.empty();
            Path folder = Files.createTempDirectory("proconsul");
            Path file = folder.resolve(NAME);
            Files.copy(packed, file);
            file.toFile().setExecutable(true);
            unpacked = file;
            // In this order: the last that is named is the first to go.
            folder.toFile().deleteOnExit();
            file.toFile().deleteOnExit();
            return Optional.of(file);
        } catch (IOException error) {
            throw new IllegalStateException("the binary of the jar for " + platform + " cannot be unpacked: " + error, error);
        }
    }
}
