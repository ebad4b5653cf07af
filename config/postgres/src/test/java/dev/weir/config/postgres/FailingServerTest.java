package dev.weir.config.postgres;

import static dev.weir.config.postgres.Writing.assertUnavailable;
import static dev.weir.config.postgres.Writing.user;
import static dev.weir.config.postgres.Writing.write;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.config.ChangeLog;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigStore;
import dev.weir.config.ConfigStores;
import dev.weir.config.StoreAddress;
import dev.weir.config.rows.Rows.Table;
import dev.weir.testkit.FakeTicker;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A database that dies, freezes or cuts its connections, and a store that goes on afterwards. */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class FailingServerTest {
  private final Postgres postgres = Postgres.server();
  private final String database = postgres.newDatabase();

  @Test
  void killedServer_hasWhatItAcknowledgedAndTheStoreGoesOn() throws Exception {
    ExecutorService thread = Executors.newSingleThreadExecutor();
    try (ConfigStore store = ConfigStores.open(postgres.address(database))) {
      AtomicInteger acknowledged = new AtomicInteger();
      Future<?> writing =
          thread.submit(
              () -> {
                while (true) {
                  write(store, "u" + acknowledged.get());
                  acknowledged.incrementAndGet();
                }
              });
      Deadline.await("50 writes", () -> acknowledged.get() >= 50 || writing.isDone());
      assertThat(acknowledged.get()).isGreaterThanOrEqualTo(50);
      postgres.kill();
      try {
        assertUnavailable(
            () -> {
              try {
                writing.get(120, TimeUnit.SECONDS);
              } catch (ExecutionException e) {
                throw e.getCause();
              }
            });
        assertUnavailable(store::head).hasMessageContaining("connection refused");
      } finally {
        postgres.start();
      }
      int count = acknowledged.get();
      // One more may have been written, the answer to which was lost.
      assertThat(store.head().position()).isBetween((long) count, count + 1L);
      for (int i = 0; i < count; i++) {
        assertThat(store.records(List.of(user("u" + i))).found()).hasSize(1);
      }
      assertThat(ChangeLog.verify(store).problem()).isEmpty();
      assertThat(write(store, "after")).isGreaterThan(count);
    } finally {
      thread.shutdownNow();
    }
  }

  @Test
  void frozenServer_failsEveryCallInItsTime() throws Exception {
    ExecutorService threads = Executors.newCachedThreadPool();
    String address = postgres.address("postgres", database, "1s");
    try (ConfigStore patient = ConfigStores.open(postgres.address(database))) {
      write(patient, "before");
    }
    // If the test's machine stops for a second, the server is late before it freezes.
    try (ConfigStore store = Deadline.retry(() -> ConfigStores.open(address))) {
      Deadline.await("an answer", () -> answers(store));
      postgres.signal("STOP");
      try {
        List<Future<?>> calls = new ArrayList<>();
        for (int i = 0; i < Connections.MAX + 1; i++) {
          int call = i;
          calls.add(
              threads.submit(
                  () ->
                      assertUnavailable(
                              () -> {
                                if (call % 2 == 0) {
                                  store.head();
                                } else {
                                  write(store, "during" + call);
                                }
                              })
                          .hasMessageContaining("within 1 s")));
        }
        for (Future<?> call : calls) {
          call.get(60, TimeUnit.SECONDS);
        }
        assertUnavailable(() -> ConfigStores.open(address)).hasMessageContaining("within 1 s");
      } finally {
        postgres.signal("CONT");
      }
      Deadline.await("an answer", () -> answers(store));
    } finally {
      threads.shutdownNow();
    }
    try (ConfigStore store = ConfigStores.open(postgres.address(database))) {
      assertThat(ChangeLog.verify(store).problem()).isEmpty();
      long position = store.head().position();
      assertThat(write(store, "after")).isEqualTo(position + 1);
    }
  }

  private static boolean answers(ConfigStore store) {
    try {
      return store.head().position() >= 1;
    } catch (ConfigException e) {
      return false;
    }
  }

  @Test
  void idleConnectionsThatWereCut_costNoCall() {
    try (ConfigStore store = ConfigStores.open(postgres.address(database))) {
      write(store, "a");
      cut();
      assertThat(store.head().position()).isEqualTo(1);
      cut();
      assertThat(write(store, "b")).isEqualTo(2);
    }
  }

  private void cut() {
    String cut =
        postgres.query(
            "postgres",
            "select count(pg_terminate_backend(pid, 60000)) from pg_stat_activity"
                + " where application_name = 'weir' and datname = '"
                + database
                + "'");
    assertThat(cut).isEqualTo("1");
  }

  private String connections() {
    return postgres.query(
        "postgres",
        "select string_agg(pid::text, ',') from pg_stat_activity"
            + " where application_name = 'weir' and datname = '"
            + database
            + "'");
  }

  @Test
  void connectionThatWasIdleForLong_isMadeAnew() {
    FakeTicker ticker = new FakeTicker(1);
    StoreAddress address = StoreAddress.parse(postgres.address(database), "");
    try (PostgresRows rows = PostgresRows.open(PostgresSettings.of(address), ticker)) {
      String first = connections();
      ticker.advance(Connections.MAX_IDLE_NANOS);
      rows.scan(Table.META, new byte[0], null, 1);
      assertThat(connections()).isEqualTo(first).doesNotContain(",");
      ticker.advance(Connections.MAX_IDLE_NANOS + 1);
      rows.scan(Table.META, new byte[0], null, 1);
      Deadline.await("another connection", () -> !connections().contains(first));
      assertThat(connections()).matches("[0-9]+");
    }
  }

  @Test
  void manyThreads_shareFourConnections() throws Exception {
    int count = 16;
    ExecutorService threads = Executors.newFixedThreadPool(count);
    try (ConfigStore store = ConfigStores.open(postgres.address(database))) {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        running.add(
            threads.submit(
                () -> {
                  for (int call = 0; call < 50; call++) {
                    store.head();
                  }
                }));
      }
      for (Future<?> each : running) {
        each.get(120, TimeUnit.SECONDS);
      }
      assertThat(connections().split(",")).hasSizeBetween(1, Connections.MAX);
    } finally {
      threads.shutdownNow();
    }
  }
}
