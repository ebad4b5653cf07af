package dev.weir.config.postgres;

import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A few connections, each used by one thread at a time, made when they are needed. */
final class Connections implements AutoCloseable {
  /** A node asks for rules with one and for records with two batches; one is to spare. */
  static final int MAX = 4;

  private static final long WAIT_SECONDS = 5;

  private final PostgresSettings settings;
  private final Semaphore free = new Semaphore(MAX);
  private final Deque<Connection> idle = new ArrayDeque<>();
  private volatile boolean closed;

  Connections(PostgresSettings settings) {
    this.settings = settings;
  }

  /** What is done with a connection, in one transaction. */
  interface Work<T> {
    T on(Connection connection) throws SQLException;
  }

  /**
   * Does some work and commits it; what throws is rolled back.
   *
   * @throws ConfigException if the database does not do it
   */
  <T> T use(Work<T> work) {
    try {
      if (!free.tryAcquire(WAIT_SECONDS, TimeUnit.SECONDS)) {
        throw unavailable("no free connection within " + WAIT_SECONDS + " s", null);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw unavailable("interrupted", e);
    }
    try {
      return useOne(work);
    } finally {
      free.release();
    }
  }

  private <T> T useOne(Work<T> work) {
    Connection connection = null;
    boolean sound = false;
    try {
      connection = take();
      T result = work.on(connection);
      connection.commit();
      sound = true;
      return result;
    } catch (SQLException e) {
      throw failure(e);
    } catch (RuntimeException e) {
      sound = connection != null && rolledBack(connection);
      throw e;
    } finally {
      giveBack(connection, sound);
    }
  }

  private Connection take() throws SQLException {
    if (closed) {
      throw unavailable("closed", null);
    }
    Connection connection;
    synchronized (idle) {
      connection = idle.poll();
    }
    if (connection != null) {
      return connection;
    }
    Connection made = DriverManager.getConnection(settings.url(), settings.properties());
    made.setAutoCommit(false);
    return made;
  }

  /**
   * Where one has failed, the others are as old: all are made anew, so a restart of the database
   * costs one call.
   */
  private void giveBack(@Nullable Connection connection, boolean sound) {
    if (connection == null) {
      return;
    }
    synchronized (idle) {
      if (sound && !closed) {
        idle.push(connection);
        return;
      }
      idle.forEach(Connections::closeQuietly);
      idle.clear();
    }
    closeQuietly(connection);
  }

  private static boolean rolledBack(Connection connection) {
    try {
      connection.rollback();
      return true;
    } catch (SQLException e) {
      return false;
    }
  }

  private static void closeQuietly(Connection connection) {
    try {
      connection.close();
    } catch (SQLException e) {
      System.getLogger("dev.weir.config.postgres")
          .log(System.Logger.Level.DEBUG, "a connection was not closed", e);
    }
  }

  private ConfigException failure(SQLException e) {
    String state = String.valueOf(e.getSQLState());
    String message = settings + ": " + String.valueOf(e.getMessage()).replaceAll("\\s+", " ");
    if (state.equals("53100")) { // disk_full
      return new ConfigException(Kind.FULL, message, e);
    }
    // data_corrupted, index_corrupted
    boolean damaged = state.equals("XX001") || state.equals("XX002");
    return new ConfigException(damaged ? Kind.DAMAGED : Kind.UNAVAILABLE, message, e);
  }

  private ConfigException unavailable(String how, @Nullable Exception cause) {
    String message = settings + ": " + how + " (expected: a database that answers)";
    return cause == null
        ? new ConfigException(Kind.UNAVAILABLE, message)
        : new ConfigException(Kind.UNAVAILABLE, message, cause);
  }

  @Override
  public void close() {
    synchronized (idle) {
      closed = true;
      idle.forEach(Connections::closeQuietly);
      idle.clear();
    }
  }
}
