package dev.weir.siege;

import dev.weir.cli.Main;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * {@code weir serve} in a process of its own with a small heap, on free ports, as {@code ./weir}
 * starts it. It ends no later than this process. Safe for use by many threads.
 */
final class ServerProcess implements AutoCloseable {
  /** The heap with which the attacks of {@code dev.weir.siege} were found. */
  private static final String HEAP = "-Xmx256m";

  private static final Pattern READY =
      Pattern.compile("ready: http on \\S+?:(\\d+), grpc on \\S+?:(\\d+), resp on \\S+?:(\\d+)");

  private static final Duration START = Duration.ofMinutes(2);
  private static final Duration COLLECT = Duration.ofSeconds(30);
  private static final long MOMENT_MILLIS = 20;

  private final Process process;
  private final Path log;
  private final Target target;

  private ServerProcess(Process process, Path log, @Nullable String token) throws IOException {
    this.process = process;
    this.log = log;
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly, "server-ends"));
    try {
      Matcher ready = awaitReady();
      target =
          new Target(
              Integer.parseInt(ready.group(1)),
              Integer.parseInt(ready.group(2)),
              Integer.parseInt(ready.group(3)),
              token);
    } catch (IOException | RuntimeException e) {
      process.destroyForcibly();
      throw e;
    }
  }

  /**
   * Starts a server and returns when it is ready.
   *
   * @param log the file for its output
   * @param token a valid one, for this class's own requests; null if none is required
   * @param flags of {@code weir serve}; the ports are chosen here
   * @throws IOException if it does not get ready; the message has its log
   */
  static ServerProcess start(Path log, @Nullable String token, String... flags) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                java("java"),
                HEAP,
                "-XX:+ExitOnOutOfMemoryError",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName(),
                "serve",
                "--port",
                "0",
                "--grpc-port",
                "0",
                "--resp-port",
                "0"));
    command.addAll(List.of(flags));
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.to(log.toFile()))
            .start();
    return new ServerProcess(process, log, token);
  }

  /** Returns a tool of the JDK that runs this. */
  private static String java(String tool) {
    return Path.of(System.getProperty("java.home"), "bin", tool).toString();
  }

  private Matcher awaitReady() throws IOException {
    long deadline = System.nanoTime() + START.toNanos();
    while (System.nanoTime() - deadline < 0) {
      Matcher matcher = READY.matcher(log());
      if (matcher.find()) {
        return matcher;
      }
      if (endsWithin(Duration.ofMillis(MOMENT_MILLIS))) {
        throw new IOException("server: exit status " + process.exitValue() + "\n" + log());
      }
    }
    throw new IOException("server: not ready within " + START + "\n" + log());
  }

  Target target() {
    return target;
  }

  boolean running() {
    return process.isAlive();
  }

  /** Returns its output. */
  String log() {
    try {
      return Files.readString(log);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the length of its output. */
  long logBytes() {
    try {
      return Files.size(log);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Collects garbage, then reads the resources that the server uses.
   *
   * @throws IOException if the HTTP port does not answer: a healthy server answers
   */
  Resources resources() throws IOException {
    collect();
    Metrics metrics = metrics();
    return new Resources(
        metrics.value("jvm_memory_used_bytes{area=\"heap\"}"),
        descriptors(metrics),
        (int) metrics.value("jvm_threads_current"),
        metrics.value("process_resident_memory_bytes"));
  }

  /**
   * Reads the resources of a server that may not answer: descriptors are counted from outside if
   * possible.
   */
  private int descriptors(Metrics metrics) {
    try (Stream<Path> open = Files.list(Path.of("/proc", process.pid() + "", "fd"))) {
      return (int) open.count();
    } catch (IOException notLinux) {
      return (int) metrics.value("process_open_fds");
    }
  }

  Metrics metrics() throws IOException {
    return Metrics.of(target);
  }

  /** Makes the process collect all garbage now. */
  private void collect() throws IOException {
    Process jcmd =
        new ProcessBuilder(java("jcmd"), process.pid() + "", "GC.run")
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    try {
      if (!jcmd.waitFor(COLLECT.toSeconds(), TimeUnit.SECONDS) || jcmd.exitValue() != 0) {
        throw new IOException("jcmd GC.run: failed (expected: done within " + COLLECT + ")");
      }
    } catch (InterruptedException e) {
      throw interrupted(e);
    } finally {
      jcmd.destroyForcibly();
    }
  }

  /** Asks it to stop: SIGTERM. */
  void terminate() {
    process.destroy();
  }

  /** Waits for its end; returns whether it came. */
  boolean endsWithin(Duration limit) {
    try {
      return process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
  }

  /** Returns the status that it ended with. */
  int exitStatus() {
    return process.exitValue();
  }

  /** Ends it at once, if it has not ended. */
  @Override
  public void close() {
    process.destroyForcibly();
    endsWithin(COLLECT);
  }

  private static IllegalStateException interrupted(InterruptedException cause) {
    Thread.currentThread().interrupt();
    return new IllegalStateException("interrupted", cause);
  }
}
