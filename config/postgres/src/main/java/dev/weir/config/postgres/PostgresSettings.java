package dev.weir.config.postgres;

import dev.weir.config.StoreAddress;
import java.util.Properties;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The settings of connections to a database.
 *
 * @param url for the driver; it has neither user nor password
 * @param schema that has the tables; it is part of statements, so it holds letters, digits and _
 * @param sslMode one of the driver's
 * @param sslRootCert a file with the certificates to trust, or empty for the driver's own place
 * @param timeoutSeconds the longest time that a call waits for a connection, and then for each
 *     answer
 */
record PostgresSettings(
    String url,
    String user,
    String password,
    String schema,
    String sslMode,
    String sslRootCert,
    int timeoutSeconds) {
  static final String FORM =
      "postgresql://USER@HOST[:PORT][,HOST[:PORT]...]/DATABASE"
          + "[?schema=weir&timeout=5s&sslmode=verify-full&sslrootcert=FILE]";

  private static final String HOST = "(?:\\[[0-9a-fA-F:.]+]|[^@/:,\\[\\]]+)(?::[0-9]{1,5})?";

  private static final Pattern PLACE =
      Pattern.compile(
          "//(?<user>[^@/:]+)@(?<hosts>" + HOST + "(?:," + HOST + ")*)/(?<database>[^/?]+)");

  private static final Pattern SCHEMA = Pattern.compile("[a-z_][a-z0-9_]{0,62}");
  private static final Pattern SECONDS = Pattern.compile("([1-9]|[1-5][0-9]|60)s");

  private static final Set<String> SSL_MODES =
      Set.of("disable", "allow", "prefer", "require", "verify-ca", "verify-full");

  static PostgresSettings of(StoreAddress address) {
    address.requireOptions(Set.of("schema", "sslmode", "sslrootcert", "timeout"));
    Matcher place = PLACE.matcher(address.place());
    if (!place.matches()) {
      // The address is not shown: it may hold a password, which belongs elsewhere.
      throw new IllegalArgumentException(
          "configuration store: not an address of PostgreSQL (expected: "
              + FORM
              + "; the password is given apart)");
    }
    String schema = address.options().getOrDefault("schema", "weir");
    if (!SCHEMA.matcher(schema).matches() || schema.startsWith("pg_")) {
      throw new IllegalArgumentException(
          "schema: " + schema + " (expected: up to 63 of a-z, 0-9 and _, not pg_...)");
    }
    String sslMode = address.options().getOrDefault("sslmode", "prefer");
    if (!SSL_MODES.contains(sslMode)) {
      throw new IllegalArgumentException(
          "sslmode: "
              + sslMode
              + " (expected: "
              + String.join(", ", SSL_MODES.stream().sorted().toList())
              + ")");
    }
    String timeout = address.options().getOrDefault("timeout", "5s");
    Matcher seconds = SECONDS.matcher(timeout);
    if (!seconds.matches()) {
      throw new IllegalArgumentException("timeout: " + timeout + " (expected: 1s..60s)");
    }
    return new PostgresSettings(
        "jdbc:postgresql://" + place.group("hosts") + "/" + place.group("database"),
        place.group("user"),
        address.password(),
        schema,
        sslMode,
        address.options().getOrDefault("sslrootcert", ""),
        Integer.parseInt(seconds.group(1)));
  }

  /** Returns the properties of each connection, for the driver and through it for the server. */
  Properties properties() {
    Properties properties = new Properties();
    properties.setProperty("user", user);
    if (!password.isEmpty()) {
      properties.setProperty("password", password);
    }
    properties.setProperty("sslmode", sslMode);
    if (!sslRootCert.isEmpty()) {
      properties.setProperty("sslrootcert", sslRootCert);
    }
    properties.setProperty("ApplicationName", "weir");
    properties.setProperty("currentSchema", schema);
    properties.setProperty("targetServerType", "primary");
    properties.setProperty("tcpKeepAlive", "true");
    String seconds = Integer.toString(timeoutSeconds);
    properties.setProperty("loginTimeout", seconds);
    properties.setProperty("connectTimeout", seconds);
    // The server ends the statement first and reports it, if it still can.
    properties.setProperty("socketTimeout", Integer.toString(timeoutSeconds + 1));
    properties.setProperty("options", options());
    return properties;
  }

  /**
   * Returns the settings that must hold whatever the defaults of the server, the database and the
   * user are. A Weir server that freezes while it writes must not keep the lock of all writers.
   */
  private String options() {
    return "-c statement_timeout=%1$ds -c idle_in_transaction_session_timeout=%1$ds"
            .formatted(timeoutSeconds)
        + " -c synchronous_commit=on -c default_transaction_isolation=read\\ committed"
        + " -c default_transaction_read_only=off";
  }

  /** Returns the address, without the password. */
  @Override
  public String toString() {
    return url.substring("jdbc:".length());
  }
}
