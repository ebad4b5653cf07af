package dev.weir.config.postgres;

import java.util.Properties;

/**
 * How to reach a database.
 *
 * @param url for the driver
 * @param schema that has the tables; it is part of statements, so it holds letters, digits and _
 * @param sslMode one of the driver's
 */
record PostgresSettings(String url, String user, String password, String schema, String sslMode) {

  /** No call waits longer than this for a server that has stopped to answer, in seconds. */
  private static final String TIMEOUT_SECONDS = "5";

  Properties properties() {
    Properties properties = new Properties();
    properties.setProperty("user", user);
    if (!password.isEmpty()) {
      properties.setProperty("password", password);
    }
    properties.setProperty("sslmode", sslMode);
    properties.setProperty("ApplicationName", "weir");
    properties.setProperty("loginTimeout", TIMEOUT_SECONDS);
    properties.setProperty("connectTimeout", TIMEOUT_SECONDS);
    properties.setProperty("socketTimeout", TIMEOUT_SECONDS);
    properties.setProperty("tcpKeepAlive", "true");
    return properties;
  }

  /** Without the password. */
  @Override
  public String toString() {
    return url;
  }
}
