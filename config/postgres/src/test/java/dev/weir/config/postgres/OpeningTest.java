package dev.weir.config.postgres;

import static dev.weir.config.postgres.Writing.assertFails;
import static dev.weir.config.postgres.Writing.assertUnavailable;
import static dev.weir.config.postgres.Writing.user;
import static dev.weir.config.postgres.Writing.write;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.weir.Ticker;
import dev.weir.config.ConfigException.Kind;
import dev.weir.config.ConfigStore;
import dev.weir.config.ConfigStores;
import dev.weir.config.StoreAddress;
import dev.weir.testkit.Ports;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The creation of the schema, and error messages of one line. */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class OpeningTest {
  private final Postgres postgres = Postgres.server();
  private final String database = postgres.newDatabase();

  private static String stackTrace(Throwable e) {
    StringWriter text = new StringWriter();
    e.printStackTrace(new PrintWriter(text));
    return text.toString();
  }

  @Test
  void wrongPassword_isRefusedAndNeverShown() {
    postgres.execute("postgres", "create role " + Postgres.LOCKED + " login password 'right-one'");
    postgres.execute(database, "grant create on database " + database + " to " + Postgres.LOCKED);
    String address = postgres.address(Postgres.LOCKED, database, "60s");
    assertUnavailable(() -> ConfigStores.open(address, "wrong-one"))
        .hasMessageContaining("password authentication failed for user \"locked\"")
        .hasMessageEndingWith("(expected: a user and password that the server accepts)")
        .satisfies(e -> assertThat(stackTrace(e)).doesNotContain("wrong-one"));
    assertUnavailable(() -> ConfigStores.open(address))
        .hasMessageEndingWith("(expected: a user and password that the server accepts)");
    try (ConfigStore store = ConfigStores.open(address, "right-one")) {
      assertThat(write(store, "a")).isEqualTo(1);
    }
  }

  @Test
  void placesWithoutADatabase_areRefused() throws Exception {
    assertUnavailable(() -> ConfigStores.open("postgresql://weir@no-such-host.invalid/weir"))
        .hasMessageContaining("no such host (expected: names that can be looked up)");
    int free = Ports.free();
    assertUnavailable(() -> ConfigStores.open("postgresql://weir@127.0.0.1:" + free + "/weir"))
        .hasMessageContaining("connection refused (expected: a PostgreSQL server");
    assertUnavailable(() -> ConfigStores.open(postgres.address("no_such_database")))
        .hasMessageContaining("database \"no_such_database\" does not exist")
        .hasMessageEndingWith("(expected: a database that is there)");
    assertUnavailable(() -> ConfigStores.open(postgres.address("nobody", database, "60s")))
        .hasMessageContaining("role \"nobody\" does not exist");
  }

  @Test
  void serverOfAnotherProtocol_isRefused() throws Exception {
    try (ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      Thread server =
          new Thread(
              () -> {
                while (!listener.isClosed()) {
                  try (Socket socket = listener.accept()) {
                    socket.getOutputStream().write("HTTP/1.1 400 No\r\n\r\n".getBytes(US_ASCII));
                  } catch (IOException e) {
                    // The test or the client has closed it.
                  }
                }
              });
      server.setDaemon(true);
      server.start();
      for (String mode : List.of("disable", "prefer", "require")) {
        assertUnavailable(
            () ->
                ConfigStores.open(
                    "postgresql://weir@127.0.0.1:"
                        + listener.getLocalPort()
                        + "/weir?sslmode="
                        + mode,
                    "secret"));
      }
    }
  }

  @Test
  void serverThatAcceptsAndIsSilent_isUnavailableInTime() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      assertUnavailable(
              () ->
                  ConfigStores.open(
                      "postgresql://weir@127.0.0.1:" + silent.getLocalPort() + "/weir?timeout=1s",
                      "secret"))
          .hasMessageContaining("no answer within 1 s");
    }
  }

  @Test
  void tablesOfAnotherProgram_areRefusedAndLeftAlone() {
    postgres.execute(database, "create schema weir; create table weir.meta (k integer)");
    assertFails(Kind.DAMAGED, () -> ConfigStores.open(postgres.address(database)))
        .hasMessageContaining("schema weir has tables that are not Weir's: meta");
    assertThat(
            postgres.query(
                database,
                "select string_agg(tablename, ' ') from pg_tables where schemaname = 'weir'"))
        .isEqualTo("meta");
    try (ConfigStore store = ConfigStores.open(postgres.address(database) + "&schema=other")) {
      assertThat(write(store, "a")).isEqualTo(1);
    }
  }

  @Test
  void tablesOfANewerVersion_areRefusedAndLeftAlone() {
    String address = postgres.address(database);
    try (ConfigStore store = ConfigStores.open(address)) {
      write(store, "a");
    }
    postgres.execute(database, "insert into weir.migration (version) values (2)");
    assertFails(Kind.DAMAGED, () -> ConfigStores.open(address))
        .hasMessageContaining(
            "schema weir has version 2 (expected: at most 1; a newer version of Weir made it)");
    postgres.execute(database, "delete from weir.migration where version = 2");
    try (ConfigStore store = ConfigStores.open(address)) {
      assertThat(write(store, "b")).isEqualTo(2);
    }
  }

  @Test
  void tableThatIsMissing_isDamaged() {
    String address = postgres.address(database);
    ConfigStores.open(address).close();
    postgres.execute(database, "drop table weir.record");
    try (ConfigStore store = ConfigStores.open(address)) {
      assertFails(Kind.DAMAGED, () -> store.records(List.of(user("a"))))
          .hasMessageContaining("relation \"record\" does not exist");
    }
  }

  @Test
  void userWhoMayMakeNoTables_usesThoseThatAreThere() {
    String role = "reader_" + database;
    postgres.execute("postgres", "create role " + role + " login");
    String address = postgres.address(role, database, "60s");
    assertUnavailable(() -> ConfigStores.open(address))
        .hasMessageContaining("permission denied for database")
        .hasMessageContaining("(expected: a user who may use the schema");
    ConfigStores.open(postgres.address(database)).close();
    postgres.execute(
        database,
        "grant usage on schema weir to %1$s; grant select, insert, update, delete on all tables in schema weir to %1$s"
            .formatted(role));
    try (ConfigStore store = ConfigStores.open(address)) {
      assertThat(write(store, "a")).isEqualTo(1);
    }
  }

  @Test
  void defaultsOfTheDatabase_doNotWeakenTheStore() {
    postgres.execute(
        "postgres",
        ("alter database %1$s set synchronous_commit = off;"
                + "alter database %1$s set default_transaction_read_only = on;"
                + "alter database %1$s set default_transaction_isolation = 'repeatable read';"
                + "alter database %1$s set statement_timeout = '1s'")
            .formatted(database));
    PostgresSettings settings =
        PostgresSettings.of(StoreAddress.parse(postgres.address(database), ""));
    try (Connections connections = new Connections(settings, Ticker.system())) {
      Map.of(
              "synchronous_commit", "on",
              "transaction_isolation", "read committed",
              "transaction_read_only", "off",
              "statement_timeout", "1min",
              "idle_in_transaction_session_timeout", "1min")
          .forEach(
              (name, expected) -> assertThat(show(connections, name)).as(name).isEqualTo(expected));
    }
    try (ConfigStore store = ConfigStores.open(postgres.address(database))) {
      assertThat(write(store, "a")).isEqualTo(1);
    }
  }

  private static String show(Connections connections, String setting) {
    return connections.transaction(
        connection -> {
          try (Statement statement = connection.createStatement();
              ResultSet shown = statement.executeQuery("show " + setting)) {
            return shown.next() ? String.valueOf(shown.getString(1)) : "";
          }
        });
  }

  @Test
  void severalHosts_thePrimaryIsUsed() throws Exception {
    int free = Ports.free();
    String address =
        "postgresql://postgres@127.0.0.1:%d,localhost:%d/%s?sslmode=disable&timeout=60s"
            .formatted(free, postgres.port(), database);
    try (ConfigStore store = ConfigStores.open(address)) {
      assertThat(write(store, "a")).isEqualTo(1);
    }
    postgres.execute(
        "postgres", "alter database " + database + " set default_transaction_read_only = on");
    try (ConfigStore store = ConfigStores.open(address)) {
      assertThat(write(store, "b")).isEqualTo(2);
    }
  }

  @Test
  void badAddresses_areRefusedWithoutWhatMayBeAPassword() {
    for (String address :
        List.of(
            "postgresql:",
            "postgresql://host/db",
            "postgresql://user:secret@host/db",
            "postgresql://user@host",
            "postgresql://user@host,/db",
            "postgresql://user@host/db?schema=Robert;drop",
            "postgresql://user@host/db?schema=pg_catalog",
            "postgresql://user@host/db?sslmode=no",
            "postgresql://user@host/db?timeout=0s",
            "postgresql://user@host/db?timeout=61s",
            "postgresql://user@host/db?timeout=5",
            "postgresql://user@host/db?x=1")) {
      assertThatIllegalArgumentException()
          .as(address)
          .isThrownBy(() -> ConfigStores.open(address))
          .withMessageContaining("(expected: ")
          .satisfies(e -> assertThat(e).hasMessageNotContaining("secret"));
    }
    PostgresSettings settings =
        PostgresSettings.of(
            StoreAddress.parse(
                "postgresql://u@[::1]:5433,b/db?sslmode=verify-full&sslrootcert=/a/ca.pem",
                "secret"));
    assertThat(settings.url()).isEqualTo("jdbc:postgresql://[::1]:5433,b/db");
    assertThat(settings.schema()).isEqualTo("weir");
    assertThat(settings.timeoutSeconds()).isEqualTo(5);
    assertThat(settings.toString()).isEqualTo("postgresql://[::1]:5433,b/db");
    assertThat(settings.properties())
        .containsEntry("password", "secret")
        .containsEntry("sslmode", "verify-full")
        .containsEntry("sslrootcert", "/a/ca.pem");
  }
}
