package dev.weir.config.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.config.Cause;
import dev.weir.config.Change;
import dev.weir.config.ChangeLog;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import dev.weir.config.ConfigStore;
import dev.weir.config.ConfigStores;
import dev.weir.config.RecordWrite;
import dev.weir.config.StoreAddress;
import dev.weir.config.Subject;
import dev.weir.config.SubjectRecord;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Several servers on one database, and a database that fails. */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class SharedPostgresTest {
  private static final Cause CAUSE = Cause.of("test", "a test");

  private static void write(ConfigStore store, String value) {
    Subject subject = new Subject("shop", "user", value);
    List<Change> unused =
        store.write(
            List.of(RecordWrite.put(SubjectRecord.ofPlan(subject, "gold"), RecordWrite.ABSENT)),
            CAUSE);
  }

  @Test
  void writesOfSeveralServers_areOneLogWithoutGaps() throws Exception {
    String address = Postgres.newAddress();
    int servers = 4;
    int each = 50;
    ExecutorService threads = Executors.newFixedThreadPool(servers);
    try {
      List<Future<?>> running = new ArrayList<>();
      for (int server = 0; server < servers; server++) {
        String name = "s" + server + "-";
        running.add(
            threads.submit(
                () -> {
                  // They all find no tables, and make them at the same time.
                  try (ConfigStore store = ConfigStores.open(address)) {
                    for (int i = 0; i < each; i++) {
                      write(store, name + i);
                    }
                  }
                }));
      }
      try (ConfigStore store = ConfigStores.open(address)) {
        List<Change> heard = new ArrayList<>();
        while (heard.size() < servers * each) {
          heard.addAll(store.changes(heard.size(), 7));
          failFirst(running);
        }
        assertThat(heard).extracting(Change::number).isSorted().doesNotHaveDuplicates();
        assertThat(ChangeLog.verify(store).position()).isEqualTo((long) servers * each);
        assertThat(ChangeLog.verify(store).problem()).isEmpty();
      }
      for (Future<?> server : running) {
        server.get(120, TimeUnit.SECONDS);
      }
    } finally {
      threads.shutdownNow();
    }
  }

  private static void failFirst(List<Future<?>> running) throws Exception {
    for (Future<?> each : running) {
      if (each.isDone()) {
        each.get();
      }
    }
  }

  @Test
  void connectionsThatAreCut_costOneCall() {
    String address = Postgres.newAddress();
    try (ConfigStore store = ConfigStores.open(address)) {
      write(store, "a");
      Postgres.execute(
          "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'weir'");
      assertThatThrownBy(store::head)
          .isInstanceOfSatisfying(
              ConfigException.class, e -> assertThat(e.kind()).isEqualTo(Kind.UNAVAILABLE))
          .message()
          .hasLineCount(1);
      assertThat(store.head().position()).isEqualTo(1);
      write(store, "b");
      assertThat(store.head().position()).isEqualTo(2);
    }
    assertThatThrownBy(() -> ConfigStores.open(address.replace("postgres@", "nobody@")))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("nobody");
  }

  @Test
  void serverThatDoesNotAnswer_isUnavailableAfterSeconds() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      String address =
          "postgresql://weir@127.0.0.1:" + silent.getLocalPort() + "/weir?sslmode=disable";
      assertThatThrownBy(() -> ConfigStores.open(address, "secret"))
          .isInstanceOfSatisfying(
              ConfigException.class, e -> assertThat(e.kind()).isEqualTo(Kind.UNAVAILABLE))
          .hasMessageStartingWith("jdbc:postgresql://127.0.0.1:" + silent.getLocalPort())
          .hasMessageNotContaining("secret");
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
            "postgresql://user@host/db?schema=Robert;drop",
            "postgresql://user@host/db?sslmode=no",
            "postgresql://user@host/db?x=1")) {
      assertThatIllegalArgumentException()
          .as(address)
          .isThrownBy(() -> ConfigStores.open(address))
          .withMessageContaining("(expected: ")
          .satisfies(e -> assertThat(e).hasMessageNotContaining("secret"));
    }
    PostgresSettings settings =
        PostgresProvider.settings(
            StoreAddress.parse("postgresql://u@[::1]:5433/db?sslmode=verify-full", "secret"));
    assertThat(settings.url()).isEqualTo("jdbc:postgresql://[::1]:5433/db");
    assertThat(settings.schema()).isEqualTo("weir");
    assertThat(settings.toString()).doesNotContain("secret");
    assertThat(settings.properties())
        .containsEntry("password", "secret")
        .containsEntry("sslmode", "verify-full");
  }
}
