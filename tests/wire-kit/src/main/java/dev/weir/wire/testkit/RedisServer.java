package dev.weir.wire.testkit;

import dev.weir.Ticker;
import dev.weir.testkit.ChildProcess;
import dev.weir.testkit.Ports;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import redis.embedded.core.ExecutableProvider;

/**
 * A real redis-server on a port of its own, in a directory of its own, which ends with this process
 * at the latest. Not safe for use by several threads.
 *
 * <p>It is the binary that the test library brings (Redis 6.2), or the one that the system property
 * {@value #BINARY_PROPERTY} names: another version, or Valkey.
 */
public final class RedisServer implements AutoCloseable {
  /*
   * When has a server started? When it answers PING, or answers that it requires a password. Its
   * output does not show it: a sentinel has no such line, and a server that still reads its file
   * answers with an error. If another process has taken the port in the meantime, the server's last
   * output shows this, and it is started on another port. It is always killed and never stopped in
   * order, so that a restart finds what a crash leaves, and it is killed before its files are
   * deleted. When this process ends, all servers are killed first, so that none survives because
   * the files of another one cannot be deleted.
   */

  /** The system property that names the server's binary. */
  public static final String BINARY_PROPERTY = "weir.redis";

  /** The longest time that a server may take to follow a command. */
  private static final Duration LONGEST = Duration.ofSeconds(60);

  private static final Duration MOMENT = Duration.ofMillis(5);
  private static final Ticker CLOCK = Ticker.system();

  private static final int ATTEMPTS = 5;

  private static final Set<RedisServer> OPEN = ConcurrentHashMap.newKeySet();

  private static @Nullable File bundled;

  static {
    Runtime.getRuntime().addShutdownHook(new Thread(RedisServer::closeAll, "redis-servers-end"));
  }

  private final File binary;
  private final List<String> within;
  private final List<String> arguments;
  private final @Nullable String password;
  private final Path directory;
  private final int port;
  private ChildProcess process;

  private RedisServer(int port, List<String> within, List<String> options, List<String> arguments)
      throws IOException {
    this.port = port;
    this.binary = binary();
    this.within = within;
    this.arguments = arguments;
    this.password = password(options);
    directory = Files.createTempDirectory("weir-redis");
    List<String> lines = new ArrayList<>();
    lines.add("port " + port);
    lines.add("bind 127.0.0.1");
    if (!arguments.contains("--sentinel")) {
      lines.add("save \"\"");
      lines.add("repl-diskless-sync-delay 0");
    }
    lines.addAll(options);
    Files.write(directory.resolve("redis.conf"), lines);
    process = launch();
  }

  private static @Nullable String password(List<String> options) {
    String name = "requirepass ";
    return options.stream()
        .filter(option -> option.startsWith(name))
        .map(option -> option.substring(name.length()).replaceAll("^\"|\"$", ""))
        .findFirst()
        .orElse(null);
  }

  /**
   * Starts a server and returns when it answers. It keeps nothing on disk by default.
   *
   * @param options lines of its configuration, for example {@code appendonly yes}
   * @throws IllegalStateException if it does not start; the message shows what it printed
   */
  public static RedisServer start(String... options) {
    return startWithin(List.of(), options);
  }

  /**
   * Starts a server by a command that runs it in its own place, for example {@code taskset}, and
   * returns when it answers. Its replicas are started in the same way.
   *
   * @param within the command before the server's own; empty if it needs none
   * @param options lines of its configuration
   * @throws IllegalStateException if it does not start; the message shows what it printed
   */
  public static RedisServer startWithin(List<String> within, String... options) {
    return start(within, List.of(options), List.of());
  }

  /**
   * Starts a sentinel that by itself promotes a replica of the master when that is gone for half a
   * second.
   *
   * @param name the name by which clients find the master
   */
  public static RedisServer startSentinel(String name, RedisServer master) {
    return start(
        List.of(),
        List.of(
            "sentinel monitor " + name + " 127.0.0.1 " + master.port() + " 1",
            "sentinel down-after-milliseconds " + name + " 500",
            "sentinel failover-timeout " + name + " 5000"),
        List.of("--sentinel"));
  }

  private static RedisServer start(
      List<String> within, List<String> options, List<String> arguments) {
    for (int attempt = 1; ; attempt++) {
      try {
        RedisServer server = new RedisServer(Ports.free(), within, options, arguments);
        OPEN.add(server);
        if (server.awaitAnswer()) {
          return server;
        }
        String printed = server.printed();
        server.close();
        if (attempt == ATTEMPTS || !printed.contains("Address already in use")) {
          throw new IllegalStateException("redis-server " + options + ": ended\n" + printed);
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** Starts a replica of this server and returns when it has all data of this one. */
  public RedisServer startReplica(String... options) {
    List<String> all = new ArrayList<>(List.of(options));
    all.add("replicaof 127.0.0.1 " + port);
    if (password != null) {
      all.add("masterauth " + password);
    }
    RedisServer replica = start(within, all, List.of());
    replica.await(info -> info.contains("master_link_status:up"), "INFO", "replication");
    return replica;
  }

  /** Makes a replica a master until it is restarted, and returns when it is one. */
  public void promote() {
    command("REPLICAOF", "NO", "ONE");
    await(info -> info.contains("role:master"), "INFO", "replication");
  }

  private ChildProcess launch() throws IOException {
    List<String> command = new ArrayList<>(List.of(binary.toString(), "redis.conf"));
    command.addAll(arguments);
    return ChildProcess.of(command).within(within).folder(directory).start();
  }

  private static synchronized File binary() throws IOException {
    String named = System.getProperty(BINARY_PROPERTY, "");
    if (!named.isEmpty()) {
      File file = new File(named);
      if (!file.canExecute()) {
        throw new IOException(BINARY_PROPERTY + ": " + named + " (expected: a redis-server)");
      }
      return file;
    }
    if (bundled == null) {
      File directory = Files.createTempDirectory("weir-redis-binary").toFile();
      directory.deleteOnExit();
      bundled = ExecutableProvider.newJarResourceProvider(directory).get();
      bundled.deleteOnExit();
    }
    return bundled;
  }

  /** Returns whether the server answers; false if it has ended. */
  private boolean awaitAnswer() {
    long deadline = CLOCK.nanos() + LONGEST.toNanos();
    while (process.running()) {
      if (answers()) {
        return true;
      }
      checkDeadline(deadline, "no answer");
      moment();
    }
    return false;
  }

  private boolean answers() {
    try (RespClient client = new RespClient(port)) {
      return "PONG".equals(client.timeout(Duration.ofSeconds(10)).call("PING"));
    } catch (IllegalStateException error) {
      String reason = String.valueOf(error.getMessage());
      return reason.startsWith("NOAUTH");
    } catch (IOException notYet) {
      return false;
    }
  }

  /** Repeats a command until the answer is as expected. */
  public void await(Predicate<String> expected, String... command) {
    long deadline = CLOCK.nanos() + LONGEST.toNanos();
    for (String answer = command(command); !expected.test(answer); answer = command(command)) {
      checkDeadline(deadline, List.of(command) + " answers " + answer);
      moment();
    }
  }

  private void checkDeadline(long deadline, String trouble) {
    if (CLOCK.nanos() - deadline > 0) {
      throw new IllegalStateException(
          "redis-server on port " + port + ": " + trouble + "\n" + printed());
    }
  }

  /** Waits some milliseconds, or none if the process has ended. */
  private void moment() {
    boolean unused = process.endsWithin(MOMENT);
  }

  public int port() {
    return port;
  }

  /** Returns the address for clients: {@code redis://127.0.0.1:port}, with the password if any. */
  public String uri() {
    return "redis://" + (password == null ? "" : ":" + password + "@") + "127.0.0.1:" + port;
  }

  /** Returns a new connection, authenticated if there is a password. */
  public RespClient connect() throws IOException {
    RespClient client = new RespClient(port);
    if (password != null) {
      client.call("AUTH", password);
    }
    return client;
  }

  /**
   * Sends a command on a connection of its own and returns the answer as text.
   *
   * @throws IllegalStateException if the answer is an error
   */
  public String command(String... command) {
    try (RespClient client = connect()) {
      return String.valueOf(client.call(command));
    } catch (IOException e) {
      throw new UncheckedIOException(
          "redis-server on port " + port + ": " + List.of(command) + "\n" + printed(), e);
    }
  }

  /** Returns all that the server has printed since it was started last. */
  public String printed() {
    return process.output();
  }

  /** Returns the server's own folder, while it exists. */
  public Path directory() {
    return directory;
  }

  public boolean running() {
    return process.running();
  }

  /** Returns the server's process since it was started last. */
  public ProcessHandle handle() {
    return process.handle();
  }

  /** Ends the server at once, as a crash would: SIGKILL. */
  public void kill() {
    process.close();
  }

  /**
   * Kills the server if it runs, and starts it on the same port with the data that it had on disk.
   */
  public void restart() {
    kill();
    try {
      process = launch();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    if (!awaitAnswer()) {
      throw new IllegalStateException("redis-server on port " + port + ": ended\n" + printed());
    }
  }

  /** Kills the server if it runs, and starts it on the same port with nothing on disk. */
  public void restartEmpty() {
    kill();
    for (Path file : files()) {
      if (!file.equals(directory) && !file.endsWith("redis.conf")) {
        delete(file);
      }
    }
    restart();
  }

  /** Suspends the server, so that it accepts connections but answers nothing: SIGSTOP. */
  public void pause() {
    signal("STOP");
    long deadline = CLOCK.nanos() + LONGEST.toNanos();
    while (!stopped()) {
      checkDeadline(deadline, "survives SIGSTOP");
      moment();
    }
  }

  /** Resumes the server: SIGCONT. */
  public void resume() {
    signal("CONT");
  }

  private void signal(String name) {
    try {
      process.signal(name);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns whether the system reports the server as stopped, on Linux. */
  private boolean stopped() {
    try {
      return Files.readString(Path.of("/proc", process.handle().pid() + "", "stat"))
          .contains(") T ");
    } catch (IOException notLinux) {
      return true;
    }
  }

  /** Kills the server and leaves nothing on disk. */
  @Override
  public void close() {
    kill();
    files().forEach(RedisServer::delete);
    OPEN.remove(this);
  }

  /**
   * Closes all servers, so that none survives because the files of another one cannot be deleted.
   */
  private static void closeAll() {
    OPEN.forEach(server -> server.process.close());
    OPEN.forEach(RedisServer::close);
  }

  /** Returns the files on disk, contents before directories. */
  private List<Path> files() {
    if (!Files.exists(directory)) {
      return List.of();
    }
    try (Stream<Path> files = Files.walk(directory)) {
      return files.sorted(Comparator.reverseOrder()).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void delete(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public String toString() {
    return "redis-server on port " + port;
  }
}
