package dev.weir.config.postgres;

import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.sql.SQLException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The error messages for operators about a failing database: one line, without any password. */
final class Failure {
  /** SQLSTATE of a statement that the server ended because it took too long. */
  private static final String QUERY_CANCELED = "57014";

  /** The expectations that messages state, by SQLSTATE or by its first two digits, the class. */
  private static final Map<String, String> EXPECTED =
      Map.of(
          "08004", "a user and password that the server accepts",
          "28", "a user and password that the server accepts",
          "3D", "a database that is there",
          "25006", "the primary, which may be written to",
          "42501", "a user who may use the schema, and make it if it is not there",
          "42", "the tables as Weir made them",
          "53", "a server with room for it",
          "54", "a server with room for it",
          "XX", "a database without damage");

  private Failure() {}

  static ConfigException of(PostgresSettings settings, SQLException e) {
    String state = String.valueOf(e.getSQLState());
    return new ConfigException(kind(state), settings + ": " + line(settings, state, e), e);
  }

  private static Kind kind(String state) {
    return switch (state) {
      case "53100" -> Kind.FULL; // disk_full
      case "XX001", "XX002" -> Kind.DAMAGED; // data_corrupted, index_corrupted
      case "42P01", "42703", "42804" -> Kind.DAMAGED; // no such table, no such column, another type
      default -> Kind.UNAVAILABLE;
    };
  }

  private static String line(PostgresSettings settings, String state, SQLException e) {
    UnknownHostException host = cause(e, UnknownHostException.class);
    if (host != null) {
      return "no such host (expected: names that can be looked up)";
    }
    if (isTimeout(e)) {
      return "no answer within "
          + settings.timeoutSeconds()
          + " s (expected: a database that answers)";
    }
    if (cause(e, ConnectException.class) != null) {
      return "connection refused (expected: a PostgreSQL server that listens there)";
    }
    String expected =
        EXPECTED.getOrDefault(
            state,
            EXPECTED.getOrDefault(
                state.substring(0, Math.min(2, state.length())), "a database that answers"));
    return String.valueOf(e.getMessage()).replaceAll("\\s+", " ") + " (expected: " + expected + ")";
  }

  static boolean isTimeout(SQLException e) {
    return QUERY_CANCELED.equals(e.getSQLState())
        || cause(e, SocketTimeoutException.class) != null
        || String.valueOf(e.getMessage()).startsWith("Connection attempt timed out");
  }

  /**
   * Returns true if the connection is gone, so that nothing of an open transaction will be
   * committed.
   */
  static boolean isDisconnect(SQLException e) {
    String state = String.valueOf(e.getSQLState());
    return !isTimeout(e) && (state.startsWith("08") || state.startsWith("57P"));
  }

  private static <T extends Throwable> @Nullable T cause(Throwable e, Class<T> type) {
    for (Throwable each = e; each != null; each = each.getCause()) {
      if (type.isInstance(each)) {
        return type.cast(each);
      }
    }
    return null;
  }
}
