package dev.weir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** The packed command: its jar, the jars beside it, and those of its providers. */
final class PackedCommand {
  private static final Path TARGET = Path.of("target").toAbsolutePath();
  static final Path LIBRARIES = TARGET.resolve("lib");
  static final String PACKED =
      TARGET.resolve("weir.jar") + File.pathSeparator + LIBRARIES.resolve("*");

  /** The options of the virtual machine, as in the script {@code ./weir}. */
  static final List<String> OPTIONS = List.of("--enable-native-access=ALL-UNNAMED");

  /** The modules of the providers, by the providers' names. */
  static final Map<String, String> MODULES =
      Map.of(
          "cluster", "stores/cluster-server",
          "dynamodb", "contrib/dynamodb",
          "etcd", "config/etcd",
          "mongodb", "contrib/mongo",
          "postgresql", "config/postgres",
          "rocksdb", "config/rocksdb");

  private PackedCommand() {}

  /**
   * Copies the jars of all providers to their places in an installation, in the way of {@code
   * dist}.
   */
  static void install(Path installed) throws IOException {
    for (Map.Entry<String, String> each : MODULES.entrySet()) {
      Path made = Path.of("..", each.getValue(), "target", "provider").toAbsolutePath();
      Path provider = Files.createDirectories(installed.resolve(each.getKey()));
      for (Path jar : jars(made)) {
        if (!Files.exists(LIBRARIES.resolve(jar.getFileName()))) {
          Files.createSymbolicLink(provider.resolve(jar.getFileName()), jar);
        }
      }
    }
  }

  static List<Path> jars(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.filter(file -> file.toString().endsWith(".jar")).sorted().toList();
    }
  }

  static List<String> options(Path providers) {
    return List.of(OPTIONS.get(0), "-D" + Providers.FOLDER + "=" + providers);
  }

  /** Runs the packed command to its end. */
  static Ran weir(Path providers, String... arguments) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-XX:TieredStopAtLevel=1");
    command.addAll(options(providers));
    command.addAll(List.of("-cp", PACKED, Main.class.getName()));
    command.addAll(List.of(arguments));
    Path errors = Files.createTempFile("weir", ".txt");
    Process process = new ProcessBuilder(command).redirectError(errors.toFile()).start();
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    String err = Files.readString(errors);
    Files.delete(errors);
    return new Ran(process.exitValue(), out, err);
  }
}
