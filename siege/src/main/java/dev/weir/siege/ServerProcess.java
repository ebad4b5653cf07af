package dev.weir.siege;

import dev.weir.cli.Main;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
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
  private static final Duration COLLECT = Duration.ofMinutes(2);
  private static final long MOMENT_MILLIS = 20;

  /**
   * What a server's process is, beside its flags.
   *
   * @param before the command that runs it in its place; empty if it needs none
   * @param options of its Java machine, beside its heap
   * @param environment beside this process's own
   * @param host the address that its clients use, which is where it listens
   */
  record Launch(
      List<String> before, List<String> options, Map<String, String> environment, String host) {
    static final Launch PLAIN = new Launch(List.of(), List.of(), Map.of(), "127.0.0.1");
  }

  private final Process process;
  private final Path log;
  private final String host;
  private final @Nullable String token;
  private final Thread ending;
  private volatile @Nullable Target target;

  private ServerProcess(Process process, Path log, String host, @Nullable String token) {
    this.process = process;
    this.log = log;
    this.host = host;
    this.token = token;
    ending = new Thread(process::destroyForcibly, "server-ends");
    Runtime.getRuntime().addShutdownHook(ending);
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
    ServerProcess started = launch(Launch.PLAIN, log, token, flags);
    try {
      started.awaitReady();
      return started;
    } catch (IOException | RuntimeException e) {
      started.close();
      throw e;
    }
  }

  /** As {@link #start}, and returns at once. */
  static ServerProcess launch(Launch how, Path log, @Nullable String token, String... flags)
      throws IOException {
    List<String> command = new ArrayList<>(how.before());
    command.addAll(List.of(java("java"), HEAP, "-XX:+ExitOnOutOfMemoryError"));
    command.addAll(how.options());
    command.addAll(
        List.of(
            "-cp",
            classPath(),
            Main.class.getName(),
            "serve",
            "--port",
            "0",
            "--grpc-port",
            "0",
            "--resp-port",
            "0"));
    command.addAll(List.of(flags));
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.to(log.toFile()));
    builder.environment().putAll(how.environment());
    return new ServerProcess(builder.start(), log, how.host(), token);
  }

  /**
   * What a command has come to.
   *
   * @param text all that it has written
   */
  record Said(int status, String text) {}

  /** Runs {@code weir cluster} in a process of its own, and returns when that has ended. */
  static Said cluster(Target target, String... words) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                java("java"),
                HEAP,
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName(),
                "cluster"));
    command.addAll(List.of(words));
    command.addAll(List.of("--url", "http://" + target.host() + ":" + target.http()));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    try {
      String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return new Said(process.waitFor(), text);
    } catch (InterruptedException e) {
      throw interrupted(e);
    } finally {
      process.destroyForcibly();
    }
  }

  /** Returns whether all that a server needs is in archives, whose classes processes can share. */
  static boolean packaged() {
    return Main.class
        .getProtectionDomain()
        .getCodeSource()
        .getLocation()
        .getPath()
        .endsWith(".jar");
  }

  /** Returns what a server needs: nothing of this module, if the others are packaged. */
  private static String classPath() {
    String all = System.getProperty("java.class.path");
    return packaged()
        ? Stream.of(all.split(File.pathSeparator, -1))
            .filter(each -> each.endsWith(".jar"))
            .collect(Collectors.joining(File.pathSeparator))
        : all;
  }

  /** Returns a tool of the JDK that runs this. */
  private static String java(String tool) {
    return Path.of(System.getProperty("java.home"), "bin", tool).toString();
  }

  /**
   * Waits until it answers.
   *
   * @throws IOException if it does not; the message has its log
   */
  void awaitReady() throws IOException {
    long deadline = System.nanoTime() + START.toNanos();
    while (System.nanoTime() - deadline < 0) {
      if (ready()) {
        return;
      }
      if (endsWithin(Duration.ofMillis(MOMENT_MILLIS))) {
        throw new IOException("server: exit status " + process.exitValue() + "\n" + log());
      }
    }
    throw new IOException("server: not ready within " + START + "\n" + log());
  }

  /** Returns whether it is ready, or was. */
  boolean ready() {
    if (target != null) {
      return true;
    }
    Matcher ready = READY.matcher(log());
    if (!ready.find()) {
      return false;
    }
    target =
        new Target(
            host,
            Integer.parseInt(ready.group(1)),
            Integer.parseInt(ready.group(2)),
            Integer.parseInt(ready.group(3)),
            token);
    return true;
  }

  /** Returns its ports. It must be {@link #ready}. */
  Target target() {
    return Objects.requireNonNull(target, "not ready");
  }

  /**
   * Sends a signal.
   *
   * @param name for example {@code STOP}
   */
  void signal(String name) throws IOException {
    Process kill = new ProcessBuilder("kill", "-" + name, process.pid() + "").start();
    try {
      int unused = kill.waitFor();
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
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
    return Metrics.of(target());
  }

  /** Makes the process collect all garbage now. */
  private void collect() throws IOException {
    command("GC.run");
  }

  /**
   * Has its Java machine do something, by {@code jcmd}, and waits until that is done.
   *
   * @return what it says
   */
  String command(String... words) throws IOException {
    List<String> command = new ArrayList<>(List.of(java("jcmd"), process.pid() + ""));
    command.addAll(List.of(words));
    Path said = Files.createTempFile("weir-jcmd", ".txt");
    Process jcmd =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(said.toFile()).start();
    try {
      if (!jcmd.waitFor(COLLECT.toSeconds(), TimeUnit.SECONDS) || jcmd.exitValue() != 0) {
        throw new IOException(
            "jcmd " + words[0] + ": failed (expected: done within " + COLLECT + ")");
      }
      return Files.readString(said);
    } catch (InterruptedException e) {
      throw interrupted(e);
    } finally {
      jcmd.destroyForcibly();
      Files.delete(said);
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
    try {
      boolean unused = Runtime.getRuntime().removeShutdownHook(ending);
    } catch (IllegalStateException shuttingDown) {
      // It has ended.
    }
  }

  private static IllegalStateException interrupted(InterruptedException cause) {
    Thread.currentThread().interrupt();
    return new IllegalStateException("interrupted", cause);
  }
}
