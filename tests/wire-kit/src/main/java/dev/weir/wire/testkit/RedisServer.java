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
   * When has it started? When it answers PING, or says that it wants a password. Its output does not
   * tell: a sentinel has no such line, and a server that still reads its file answers with an
   * error. A port that another process has taken in the meantime is found in what it prints before
   * it ends; then it is started on another one. It is killed and never asked to stop, so that what
   * is there after a restart is what a crash leaves, and it is killed before its files are deleted.
   * When this process ends, all servers are killed first: none is to survive because the files of
   * another are in the way.
   */

  /** The system property that names the server's binary. */
  public static final String BINARY_PROPERTY = "weir.redis";

  /** How long a server may take to follow a command. */
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
  private final List<String> arguments;
  private final @Nullable String password;
  private final Path directory;
  private final int port;
  private ChildProcess process;

  private RedisServer(int port, List<String> options, List<String> arguments) throws IOException {
    this.port = port;
    this.binary = binary();
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
   * Starts a server and returns when it answers. It keeps nothing on disk unless the options say
   * so.
   *
   * @param options lines of its configuration, for example {@code appendonly yes}
   * @throws IllegalStateException if it does not start; the message shows what it printed
   */
  public static RedisServer start(String... options) {
    return start(List.of(options), List.of());
  }

  /**
   * Starts a sentinel that by itself promotes a replica of the master when that is gone for half a
   * second.
   *
   * @param name what clients ask it for
   */
  public static RedisServer startSentinel(String name, RedisServer master) {
    return start(
        List.of(
            "sentinel monitor " + name + " 127.0.0.1 " + master.port() + " 1",
            "sentinel down-after-milliseconds " + name + " 500",
            "sentinel failover-timeout " + name + " 5000"),
        List.of("--sentinel"));
  }

  private static RedisServer start(List<String> options, List<String> arguments) {
    for (int attempt = 1; ; attempt++) {
      try {
        RedisServer server = new RedisServer(Ports.free(), options, arguments);
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

  /** Starts a replica of this server and returns when it has all that this one has. */
  public RedisServer startReplica(String... options) {
    List<String> all = new ArrayList<>(List.of(options));
    all.add("replicaof 127.0.0.1 " + port);
    if (password != null) {
      all.add("masterauth " + password);
    }
    RedisServer replica = start(all, List.of());
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
    return ChildProcess.of(command).folder(directory).start();
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

  /** Returns whether it answers; false if it has ended. */
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

  /** Asks until the answer is as expected. */
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

  /** Lets some milliseconds pass, none of them if the process has ended. */
  private void moment() {
    boolean unused = process.endsWithin(MOMENT);
  }

  public int port() {
    return port;
  }

  /** Returns where clients find it: {@code redis://127.0.0.1:port}, with the password if any. */
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
   * Sends a command by a connection of its own and returns the answer as text.
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

  /** Returns the folder that is the server's own, while it is there. */
  public Path directory() {
    return directory;
  }

  public boolean running() {
    return process.running();
  }

  /** Ends it at once, as a crash would: SIGKILL. */
  public void kill() {
    process.close();
  }

  /** Kills it if it runs, and starts it on the same port with what it had kept on disk. */
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

  /** Kills it if it runs, and starts it on the same port with nothing on disk. */
  public void restartEmpty() {
    kill();
    for (Path file : files()) {
      if (!file.equals(directory) && !file.endsWith("redis.conf")) {
        delete(file);
      }
    }
    restart();
  }

  /** Stops it as it is, so that it takes connections but answers nothing: SIGSTOP. */
  public void pause() {
    signal("STOP");
    long deadline = CLOCK.nanos() + LONGEST.toNanos();
    while (!stopped()) {
      checkDeadline(deadline, "survives SIGSTOP");
      moment();
    }
  }

  /** Lets it go on: SIGCONT. */
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

  /** Returns whether the system shows it as stopped, on Linux. */
  private boolean stopped() {
    try {
      return Files.readString(Path.of("/proc", process.handle().pid() + "", "stat"))
          .contains(") T ");
    } catch (IOException notLinux) {
      return true;
    }
  }

  /** Kills it and leaves nothing on disk. */
  @Override
  public void close() {
    kill();
    files().forEach(RedisServer::delete);
    OPEN.remove(this);
  }

  /** No server is to survive because the files of another are in the way. */
  private static void closeAll() {
    OPEN.forEach(server -> server.process.close());
    OPEN.forEach(RedisServer::close);
  }

  /** Returns what is on disk, contents before directories. */
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
