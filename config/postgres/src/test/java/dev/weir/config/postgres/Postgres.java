package dev.weir.config.postgres;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.weir.testkit.ChildProcess;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A PostgreSQL server of the tests, started once, with a database for each store. */
final class Postgres {
  /** A user who needs a password; no other user does. */
  static final String LOCKED = "locked";

  private static final AtomicInteger DATABASES = new AtomicInteger();
  private static @Nullable Postgres started;

  private final EmbeddedPostgres server;
  private final Path folder;
  private final List<String> command;

  private Postgres() throws IOException {
    server =
        EmbeddedPostgres.builder()
            .setPGStartupWait(Duration.ofMinutes(3))
            .setDataDirectoryCustomizer(Postgres::lock)
            .start();
    folder = Path.of(query("postgres", "show data_directory"));
    String running = Files.readString(Path.of("/proc", "" + pid(), "cmdline"), UTF_8);
    // PostgreSQL refuses to run as root, so it starts in a user namespace of its own.
    List<String> words = new ArrayList<>();
    if (System.getProperty("user.name").equals("root")) {
      words.addAll(List.of("unshare", "-U"));
    }
    words.addAll(List.of(running.split("\0")));
    command = List.copyOf(words);
  }

  private static void lock(File folder) {
    Path rules = folder.toPath().resolve("pg_hba.conf");
    try {
      Files.writeString(
          rules, "host all " + LOCKED + " all scram-sha-256\n" + Files.readString(rules));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static synchronized Postgres server() {
    try {
      Postgres running = started;
      if (running == null) {
        running = new Postgres();
        started = running;
      }
      return running;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  int port() {
    return server.getPort();
  }

  /** Creates an empty database; returns its name. */
  String newDatabase() {
    String name = "weir_" + DATABASES.incrementAndGet();
    execute("postgres", "create database " + name);
    return name;
  }

  /** Returns the address of a database, with a timeout that is long enough for a busy machine. */
  String address(String database) {
    return address("postgres", database, "60s");
  }

  String address(String user, String database, String timeout) {
    return "postgresql://%s@localhost:%d/%s?sslmode=disable&timeout=%s"
        .formatted(user, port(), database, timeout);
  }

  /** Returns the address of a new store. */
  static String newAddress() {
    Postgres postgres = server();
    return postgres.address(postgres.newDatabase());
  }

  Connection connect(String database) throws SQLException {
    return server.getDatabase("postgres", database).getConnection();
  }

  void execute(String database, String sql) {
    try (Connection connection = connect(database);
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  /** Returns the first column of the first row as text, or nothing. */
  String query(String database, String sql) {
    try (Connection connection = connect(database);
        Statement statement = connection.createStatement();
        ResultSet found = statement.executeQuery(sql)) {
      return found.next() ? String.valueOf(found.getString(1)) : "";
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  private long pid() throws IOException {
    try (Stream<String> lines = Files.lines(folder.resolve("postmaster.pid"))) {
      return Long.parseLong(lines.findFirst().orElseThrow().strip());
    }
  }

  /** Sends a signal to all processes of the server. */
  void signal(String name) throws IOException {
    ProcessHandle main = ProcessHandle.of(pid()).orElseThrow();
    List<String> words = new ArrayList<>(List.of("kill", "-" + name, "" + main.pid()));
    main.descendants().forEach(each -> words.add("" + each.pid()));
    try (ChildProcess kill = ChildProcess.of(words).start()) {
      if (!kill.endsWithin(Duration.ofMinutes(1))) { // Some may have ended by themselves.
        throw new IOException(words + ": still there (expected: done)");
      }
    }
  }

  /** Kills all processes at once, as a power failure would. */
  void kill() throws Exception {
    ProcessHandle main = ProcessHandle.of(pid()).orElseThrow();
    signal("KILL");
    ProcessHandle unused = main.onExit().get(60, TimeUnit.SECONDS);
  }

  /** Starts the server that was killed; returns when it answers. */
  void start() throws Exception {
    Deadline deadline = new Deadline();
    while (true) {
      ChildProcess process = ChildProcess.of(command).start();
      while (process.running()) {
        try (Connection connection = connect("postgres")) {
          if (connection.isValid(60)) {
            return;
          }
        } catch (SQLException e) {
          deadline.check(e); // Not yet.
        }
      }
      // Resources of the killed process, such as its shared memory, may still be in use.
      process.close();
      deadline.check(
          new IOException(command + ": exit " + process.exitStatus() + "\n" + process.output()));
    }
  }
}
