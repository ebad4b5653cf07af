package dev.weir.config.postgres;

import dev.weir.Ticker;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A few connections, each used by one thread at a time and made when needed. */
final class Connections implements AutoCloseable {
  /*
   * Why an advisory lock? Updates must be in one order, the same for their numbers and for their
   * commits: a sequence gives numbers that can be committed out of order, and a reader that has
   * read a higher one would skip the lower. A lock of the transaction makes all writers wait for
   * each other's commit; writes are few. It is taken before anything is read, at the level "read
   * committed", where each statement sees what was committed before it began. Readers do not wait.
   *
   * A writer that freezes loses the lock, since the server ends idle transactions; see
   * PostgresSettings.
   */
  private static final String LOCK = "select pg_advisory_xact_lock(hashtext('weir'), hashtext(?))";

  /**
   * The most connections: a server uses one to read rules and two to read batches of records; one
   * is to spare.
   */
  static final int MAX = 4;

  /**
   * The longest time that a connection may be idle: a device on the way may drop one that is silent
   * for longer.
   */
  static final long MAX_IDLE_NANOS = 60_000_000_000L;

  private final PostgresSettings settings;
  private final Ticker ticker;
  private final Semaphore free = new Semaphore(MAX, true);

  /** Idle connections, the one that was used last first. Guarded by itself. */
  private final Deque<Idle> idle = new ArrayDeque<>();

  private volatile boolean closed;

  private record Idle(Connection connection, long sinceNanos) {}

  Connections(PostgresSettings settings, Ticker ticker) {
    this.settings = settings;
    this.ticker = ticker;
  }

  /** The work to do with a connection. */
  interface Work<T> {
    T on(Connection connection) throws SQLException;
  }

  /**
   * Runs one statement, which may be repeated: it reads, or it writes the same again.
   *
   * @throws ConfigException if the database fails
   */
  <T> T statement(Work<T> work) {
    return use(work, false);
  }

  /**
   * Runs a transaction that holds the lock of all writers of the schema until it ends. An exception
   * rolls it back. If the commit itself fails, it may have taken effect.
   *
   * @throws ConfigException if the database fails
   */
  <T> T transaction(Work<T> work) {
    return use(work, true);
  }

  private <T> T use(Work<T> work, boolean transaction) {
    try {
      if (!free.tryAcquire(settings.timeoutSeconds(), TimeUnit.SECONDS)) {
        throw unavailable("no free connection within " + settings.timeoutSeconds() + " s");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ConfigException(Kind.UNAVAILABLE, settings + ": interrupted while waiting", e);
    }
    try {
      if (closed) {
        throw unavailable("closed");
      }
      Connection used = poll();
      if (used != null) {
        try {
          return run(used, work, transaction);
        } catch (SQLException e) {
          if (!Failure.isDisconnect(e)) {
            throw e;
          }
        }
      }
      return run(connect(), work, transaction);
    } catch (SQLException e) {
      throw Failure.of(settings, e);
    } finally {
      free.release();
    }
  }

  private ConfigException unavailable(String how) {
    return new ConfigException(
        Kind.UNAVAILABLE, settings + ": " + how + " (expected: a database that answers)");
  }

  private Connection connect() throws SQLException {
    return DriverManager.getConnection(settings.url(), settings.properties());
  }

  /**
   * Runs work on a connection and gives that back.
   *
   * @throws SQLException only if nothing was done, so that another connection may be tried
   */
  private <T> T run(Connection connection, Work<T> work, boolean transaction) throws SQLException {
    boolean sound = false;
    try {
      connection.setAutoCommit(!transaction);
      T result = transaction ? locked(connection, work) : work.on(connection);
      sound = true;
      return result;
    } catch (SQLException e) {
      sound = !Failure.isDisconnect(e) && isUsable(connection);
      throw e;
    } catch (RuntimeException e) {
      sound = isUsable(connection);
      throw e;
    } finally {
      giveBack(connection, sound);
    }
  }

  private <T> T locked(Connection connection, Work<T> work) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(LOCK)) {
      statement.setString(1, settings.schema());
      statement.execute();
    }
    try {
      T result = work.on(connection);
      connection.commit();
      return result;
    } catch (SQLException e) {
      throw Failure.of(settings, e);
    }
  }

  /** Rolls back an open transaction; returns whether the connection can be used again. */
  private static boolean isUsable(Connection connection) {
    try {
      if (connection.isClosed()) {
        return false;
      }
      if (!connection.getAutoCommit()) {
        connection.rollback();
      }
      return true;
    } catch (SQLException e) {
      return false;
    }
  }

  private @Nullable Connection poll() {
    synchronized (idle) {
      long now = ticker.nanos();
      while (!idle.isEmpty() && now - idle.getLast().sinceNanos() > MAX_IDLE_NANOS) {
        closeQuietly(idle.removeLast().connection());
      }
      Idle last = idle.poll();
      return last == null ? null : last.connection();
    }
  }

  /**
   * Keeps a sound connection for reuse. After one has failed, closes it and all idle ones, which
   * will have failed too.
   */
  private void giveBack(Connection connection, boolean sound) {
    synchronized (idle) {
      if (sound && !closed) {
        idle.push(new Idle(connection, ticker.nanos()));
        return;
      }
      closeIdle();
    }
    closeQuietly(connection);
  }

  private void closeIdle() {
    idle.forEach(each -> closeQuietly(each.connection()));
    idle.clear();
  }

  private static void closeQuietly(Connection connection) {
    try {
      connection.close();
    } catch (SQLException e) {
      System.getLogger("dev.weir.config.postgres")
          .log(System.Logger.Level.DEBUG, "a connection was not closed", e);
    }
  }

  @Override
  public void close() {
    synchronized (idle) {
      closed = true;
      closeIdle();
    }
  }
}
