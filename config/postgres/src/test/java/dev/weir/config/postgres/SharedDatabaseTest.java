package dev.weir.config.postgres;

import static dev.weir.config.postgres.Writing.assertUnavailable;
import static dev.weir.config.postgres.Writing.user;
import static dev.weir.config.postgres.Writing.write;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Ticker;
import dev.weir.config.Cause;
import dev.weir.config.Change;
import dev.weir.config.ChangeLog;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import dev.weir.config.ConfigStore;
import dev.weir.config.ConfigStores;
import dev.weir.config.RecordWrite;
import dev.weir.config.StoreAddress;
import dev.weir.config.SubjectRecord;
import dev.weir.config.rows.RowConfigStore;
import dev.weir.config.rows.Rows;
import dev.weir.config.rows.Tree;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Several Weir servers on one database. */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class SharedDatabaseTest {
  private static final Cause CAUSE = Cause.of("test", "a test");

  private final Postgres postgres = Postgres.server();
  private final String database = postgres.newDatabase();
  private final ExecutorService threads = Executors.newCachedThreadPool();

  @AfterEach
  void stop() {
    threads.shutdownNow();
  }

  private ConfigStore open() {
    return ConfigStores.open(postgres.address(database));
  }

  private static void get(Future<?> future) throws Exception {
    future.get(120, TimeUnit.SECONDS);
  }

  @Test
  void writesOfSeveralServers_areOneLogWithoutGaps() throws Exception {
    int servers = 4;
    int each = 50;
    List<Future<?>> running = new ArrayList<>();
    for (int server = 0; server < servers; server++) {
      String name = "s" + server + "-";
      running.add(
          threads.submit(
              () -> {
                // All of them find no tables, and create them at the same time.
                try (ConfigStore store = open()) {
                  for (int i = 0; i < each; i++) {
                    write(store, name + i);
                  }
                }
              }));
    }
    try (ConfigStore store = open()) {
      List<Change> heard = new ArrayList<>();
      while (heard.size() < servers * each) {
        heard.addAll(store.changes(heard.size(), 7));
        for (Future<?> server : running) {
          if (server.isDone()) {
            get(server);
          }
        }
      }
      assertThat(ChangeLog.verify(store).position()).isEqualTo((long) servers * each);
      assertThat(ChangeLog.verify(store).problem()).isEmpty();
    }
    for (Future<?> server : running) {
      get(server);
    }
    assertThat(postgres.query(database, "select count(*) from weir.migration")).isEqualTo("1");
  }

  @Test
  void sameRevisionAndVersionOnTwoServers_haveOneWinner() throws Exception {
    int rounds = 20;
    try (ConfigStore one = open();
        ConfigStore two = open()) {
      AtomicInteger commits = new AtomicInteger();
      AtomicInteger writes = new AtomicInteger();
      for (int round = 0; round < rounds; round++) {
        long revision = round;
        SubjectRecord before = one.records(List.of(user("a"))).found().get(user("a"));
        long version = before == null ? RecordWrite.ABSENT : before.version();
        List<Future<?>> racing = new ArrayList<>();
        for (ConfigStore store : List.of(one, two)) {
          Map<String, String> files = Map.of("a.yaml", "domain: a" + store.hashCode() + "\n");
          racing.add(
              threads.submit(
                  () ->
                      wins(
                          commits,
                          () -> store.commit(revision, Tree.of(files), files.values(), CAUSE))));
          racing.add(
              threads.submit(
                  () ->
                      wins(
                          writes,
                          () ->
                              store.write(
                                  List.of(
                                      RecordWrite.put(
                                          SubjectRecord.ofPlan(user("a"), "p"), version)),
                                  CAUSE))));
        }
        for (Future<?> each : racing) {
          get(each);
        }
        assertThat(commits).hasValue(round + 1);
        assertThat(writes).hasValue(round + 1);
        assertThat(one.head()).isEqualTo(two.head());
      }
      assertThat(one.head().position()).isEqualTo(2L * rounds);
      assertThat(ChangeLog.verify(two).ok()).isTrue();
    }
  }

  private static void wins(AtomicInteger winners, Runnable write) {
    try {
      write.run();
      winners.incrementAndGet();
    } catch (ConfigException e) {
      assertThat(e.kind()).as(e.getMessage()).isEqualTo(Kind.CONFLICT);
    }
  }

  /** Rows whose next update waits before it is committed. */
  private PostgresRows rows(String timeout) {
    StoreAddress address = StoreAddress.parse(postgres.address("postgres", database, timeout), "");
    return PostgresRows.open(PostgresSettings.of(address), Ticker.system());
  }

  private static final class Late implements Rows {
    private final Rows rows;
    final CountDownLatch written = new CountDownLatch(1);
    final CountDownLatch go = new CountDownLatch(1);

    Late(Rows rows) {
      this.rows = rows;
    }

    @Override
    public <T> T update(Update<T> update) {
      return rows.update(
          (reader, batch, wallNanos) -> {
            T result = update.run(reader, batch, wallNanos);
            written.countDown();
            try {
              assertThat(go.await(120, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException e) {
              throw new IllegalStateException(e);
            }
            return result;
          });
    }

    @Override
    public List<byte @Nullable []> get(Table table, List<byte[]> keys) {
      return rows.get(table, keys);
    }

    @Override
    public List<Row> scan(Table table, byte[] from, byte @Nullable [] to, int limit) {
      return rows.scan(table, from, to, limit);
    }

    @Override
    public void put(Table table, byte[] key, byte @Nullable [] value) {
      rows.put(table, key, value);
    }

    @Override
    public long wallNanos() {
      return rows.wallNanos();
    }

    @Override
    public void close() {
      rows.close();
    }
  }

  @Test
  void writerThatCommitsLate_isNotSkippedByAFollower() throws Exception {
    try (ConfigStore follower = open();
        Late late = new Late(rows("60s"));
        ConfigStore slow = RowConfigStore.open(late);
        ConfigStore quick = open()) {
      Future<Long> first = threads.submit(() -> write(slow, "slow"));
      assertThat(late.written.await(120, TimeUnit.SECONDS)).isTrue();
      Future<Long> second = threads.submit(() -> write(quick, "quick"));
      Deadline.await("a writer that waits for the lock", () -> waiting() == 1);
      // Neither has a number yet that a follower could see, so a follower misses neither.
      assertThat(follower.head().position()).isZero();
      assertThat(follower.changes(0, 10)).isEmpty();
      assertThat(second.isDone()).isFalse();
      late.go.countDown();
      assertThat(first.get(120, TimeUnit.SECONDS)).isEqualTo(1);
      assertThat(second.get(120, TimeUnit.SECONDS)).isEqualTo(2);
      assertThat(follower.changes(0, 10))
          .extracting(each -> each.details().subject().orElseThrow().value())
          .containsExactly("slow", "quick");
    }
  }

  private int waiting() {
    return Integer.parseInt(
        postgres.query(
            database,
            "select count(*) from pg_locks where locktype = 'advisory' and not granted"
                + " and database = (select oid from pg_database where datname = current_database())"));
  }

  @Test
  void writerThatFreezes_losesTheLockAndWritesNothing() throws Exception {
    // If the test's machine stops for a second, a call is late that does not freeze.
    try (ConfigStore other = open();
        Late late = new Late(Deadline.retry(() -> rows("1s")))) {
      ConfigStore freezing = Deadline.retry(() -> RowConfigStore.open(late));
      Future<Long> first = threads.submit(() -> write(freezing, "frozen"));
      assertThat(late.written.await(120, TimeUnit.SECONDS)).isTrue();
      assertThat(write(other, "other")).isEqualTo(1); // Returns after the server has ended that.
      late.go.countDown();
      assertUnavailable(
          () -> {
            try {
              get(first);
            } catch (ExecutionException e) {
              throw Objects.requireNonNull(e.getCause());
            }
          });
      assertThat(other.head().position()).isEqualTo(1);
      assertThat(ChangeLog.verify(other).ok()).isTrue();
      AtomicInteger tried = new AtomicInteger();
      long again = Deadline.retry(() -> write(freezing, "again" + tried.incrementAndGet()));
      assertThat(again).isBetween(2L, 1L + tried.get());
    }
  }
}
