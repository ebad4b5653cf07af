package dev.weir.config.rocksdb;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A {@link Writer} in a process of its own. */
final class WriterProcess implements AutoCloseable {
  private final Process process;
  private final BufferedReader lines;

  private WriterProcess(Process process) {
    this.process = process;
    lines =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
  }

  static WriterProcess start(Path folder) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx64m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(Writer.class.getName(), folder.toString()));
    return new WriterProcess(
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
  }

  long pid() {
    return process.pid();
  }

  /** Waits for the next line; null when there will be none. */
  @Nullable String line() throws IOException {
    return lines.readLine();
  }

  /** Kills the process at once, and returns what it had said until then. */
  List<String> kill() throws IOException, InterruptedException {
    boolean unused = process.toHandle().destroyForcibly(); // Leaves its output to be read.
    List<String> rest = new ArrayList<>();
    for (String line = line(); line != null; line = line()) {
      rest.add(line);
    }
    if (!process.waitFor(60, TimeUnit.SECONDS)) {
      throw new IOException("process " + pid() + ": still there (expected: killed)");
    }
    return rest;
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
