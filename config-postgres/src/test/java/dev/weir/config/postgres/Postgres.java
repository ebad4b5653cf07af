package dev.weir.config.postgres;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A database of the tests' own, started once, with a schema for each store. */
final class Postgres {
  private static final AtomicInteger SCHEMAS = new AtomicInteger();
  private static @Nullable EmbeddedPostgres server;

  private Postgres() {}

  static synchronized EmbeddedPostgres server() {
    try {
      EmbeddedPostgres running = server;
      if (running == null) {
        running = EmbeddedPostgres.builder().setPGStartupWait(Duration.ofMinutes(3)).start();
        server = running;
      }
      return running;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the address of a store that is not there yet. */
  static String newAddress() {
    return "postgresql://postgres@localhost:"
        + server().getPort()
        + "/postgres?sslmode=disable&schema=weir_"
        + SCHEMAS.incrementAndGet();
  }

  static void execute(String sql) {
    try (Connection connection = server().getPostgresDatabase().getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }
}
