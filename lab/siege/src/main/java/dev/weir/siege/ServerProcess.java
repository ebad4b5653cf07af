package dev.weir.siege;

import dev.weir.cli.Main;
import dev.weir.siege.soak.Metrics;
import dev.weir.siege.soak.Resources;
import dev.weir.testkit.ChildProcess;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A separate process of {@code weir serve} with a small heap, on free ports, in the way in which
 * {@code ./weir} starts it. It ends no later than this process. Safe for use by many threads.
 */
public final class ServerProcess implements AutoCloseable {
  /** The heap with which the attacks of {@code dev.weir.siege} were found. */
  private static final String HEAP = "-Xmx256m";

  /** The options by which servers start fast and take little of a small machine. */
  public static final List<String> SMALL = List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");

  private static final Pattern READY =
      Pattern.compile("ready: http on \\S+?:(\\d+), grpc on \\S+?:(\\d+), resp on \\S+?:(\\d+)");

  /**
   * The way to start a server's process, beside its flags.
   *
   * @param before the command that runs it in its place; empty if it needs none
   * @param options the options of its Java machine, beside its heap
   * @param environment the environment variables beside this process's own
   * @param host the address that its clients use, and on which it listens
   */
  public record Launch(
      List<String> before, List<String> options, Map<String, String> environment, String host) {
    static final Launch PLAIN = new Launch(List.of(), List.of(), Map.of(), "127.0.0.1");
  }

  private final ChildProcess process;
  private final String host;
  private final @Nullable String token;
  private volatile @Nullable Target target;

  private ServerProcess(ChildProcess process, String host, @Nullable String token) {
    this.process = process;
    this.host = host;
    this.token = token;
  }

  /**
   * Starts a server and returns when it is ready.
   *
   * @param log the file for its output
   * @param token a valid token for this class's own requests; null if none is required
   * @param flags the flags of {@code weir serve}; the ports are chosen here
   * @throws IOException if it does not become ready; the message has its log
   */
  public static ServerProcess start(Path log, @Nullable String token, String... flags)
      throws IOException {
    ServerProcess started = launch(Launch.PLAIN, log, token, flags);
    try {
      started.awaitReady();
      return started;
    } catch (IOException | RuntimeException e) {
      started.close();
      throw e;
    }
  }

  /** Starts a server, and returns at once. */
  public static ServerProcess launch(Launch how, Path log, @Nullable String token, String... flags)
      throws IOException {
    List<String> words =
        new ArrayList<>(List.of("serve", "--port", "0", "--grpc-port", "0", "--resp-port", "0"));
    words.addAll(List.of(flags));
    ChildProcess process =
        ChildProcess.java(Main.class, words.toArray(String[]::new))
            .classPath(classPath())
            .options(HEAP, "-XX:+ExitOnOutOfMemoryError")
            .options(how.options())
            .within(how.before())
            .environment(how.environment())
            .log(log)
            .start();
    return new ServerProcess(process, how.host(), token);
  }

  /**
   * The result of a command.
   *
   * @param text its complete output
   */
  public record CommandResult(int status, String text) {}

  /** Runs {@code weir cluster} in a separate process, and returns when the process has ended. */
  public static CommandResult cluster(Target target, String... words) throws IOException {
    List<String> all = new ArrayList<>(List.of("cluster"));
    all.addAll(List.of(words));
    all.addAll(List.of("--url", "http://" + target.host() + ":" + target.http()));
    try (ChildProcess process =
        ChildProcess.java(Main.class, all.toArray(String[]::new))
            .options(HEAP)
            .options(SMALL)
            .start()) {
      while (!process.endsWithin(Duration.ofMinutes(1))) {}
      return new CommandResult(process.exitStatus(), process.output());
    }
  }

  /** Returns whether all classes of a server are in archives, so that processes can share them. */
  public static boolean packaged() {
    return Main.class
        .getProtectionDomain()
        .getCodeSource()
        .getLocation()
        .getPath()
        .endsWith(".jar");
  }

  /**
   * Returns the class path of a server, without this module's classes if the others are packaged.
   */
  private static String classPath() {
    String all = System.getProperty("java.class.path");
    return packaged()
        ? Stream.of(all.split(File.pathSeparator, -1))
            .filter(each -> each.endsWith(".jar"))
            .collect(Collectors.joining(File.pathSeparator))
        : all;
  }

  /**
   * Waits until the server answers.
   *
   * @throws IOException if it does not; the message has its log
   */
  public synchronized void awaitReady() throws IOException {
    if (!ready()) {
      ready(process.await(READY));
    }
  }

  /** Returns whether the server is ready, or was. */
  public boolean ready() {
    if (target != null) {
      return true;
    }
    Matcher ready = process.find(READY);
    if (ready != null) {
      ready(ready);
    }
    return ready != null;
  }

  private void ready(Matcher ready) {
    target =
        new Target(
            host,
            Integer.parseInt(ready.group(1)),
            Integer.parseInt(ready.group(2)),
            Integer.parseInt(ready.group(3)),
            token);
  }

  /** Returns the server's ports. The server must be {@link #ready}. */
  public Target target() {
    return Objects.requireNonNull(target, "not ready");
  }

  /**
   * Sends a signal.
   *
   * @param name the signal's name, for example {@code STOP}
   */
  public void signal(String name) throws IOException {
    process.signal(name);
  }

  public boolean running() {
    return process.running();
  }

  /** Returns the server's output. */
  public String log() {
    return process.output();
  }

  /** Returns the length of the server's output. */
  long logBytes() {
    return log().length();
  }

  /**
   * Collects garbage, then reads the resources that the server uses.
   *
   * @throws IOException if the HTTP port does not answer: a healthy server answers
   */
  public Resources resources() throws IOException {
    collect();
    Metrics metrics = metrics();
    return new Resources(
        metrics.value("jvm_memory_used_bytes{area=\"heap\"}"),
        descriptors(metrics),
        (int) metrics.value("jvm_threads_current"),
        metrics.value("process_resident_memory_bytes"));
  }

  /**
   * Returns the open descriptors of a server that may not answer: they are counted from outside if
   * possible.
   */
  private int descriptors(Metrics metrics) {
    try (Stream<Path> open = Files.list(Path.of("/proc", process.handle().pid() + "", "fd"))) {
      return (int) open.count();
    } catch (IOException notLinux) {
      return (int) metrics.value("process_open_fds");
    }
  }

  public Metrics metrics() throws IOException {
    return Metrics.of(target());
  }

  /** Makes the process collect all garbage now. */
  private void collect() throws IOException {
    command("GC.run");
  }

  /**
   * Runs a command of its Java machine by {@code jcmd}, and waits until it is done.
   *
   * @return the output of the command
   */
  public String command(String... words) throws IOException {
    String pid = Long.toString(process.handle().pid());
    return ChildProcess.tool("jcmd", words).options(pid).run();
  }

  /** Requests the server to stop: SIGTERM. */
  public void terminate() {
    process.terminate();
  }

  /** Waits for the end of the process; returns whether it came. */
  public boolean endsWithin(Duration limit) {
    return process.endsWithin(limit);
  }

  /** Returns the exit status of the process. */
  public int exitStatus() {
    return process.exitStatus();
  }

  /** Ends the process at once, if it has not ended. */
  @Override
  public void close() {
    process.close();
  }
}
