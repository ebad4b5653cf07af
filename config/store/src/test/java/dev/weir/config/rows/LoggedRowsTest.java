package dev.weir.config.rows;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Ticker;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import dev.weir.config.Disturbed;
import dev.weir.config.Disturbed.Death;
import dev.weir.config.Disturbed.How;
import dev.weir.config.SharedItems;
import dev.weir.config.Switched;
import dev.weir.config.Threads;
import dev.weir.config.internal.follow.UpdateLog;
import dev.weir.config.internal.rows.Keys;
import dev.weir.config.internal.rows.WriteSet;
import dev.weir.config.rows.Rows.Table;
import dev.weir.testkit.FakeTicker;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Processes that die, fail, or stop and go on later, at each of their steps. An update adds 1 to a
 * count, writes the count to three other rows, creates or deletes a fourth, and adds its name to a
 * log; so everything that a reader sees shows which updates it has seen.
 */
class LoggedRowsTest {
  private static final byte[] COUNT = Keys.text("count");
  private static final List<byte[]> COPIES =
      List.of(Keys.text("a"), Keys.text("b"), Keys.text("c"), Keys.text("d"));

  /** More steps than any update of this test has. */
  private static final int MANY = 200;

  private final FakeTicker ticker = new FakeTicker(1_800_000_000_000_000_000L);
  private final ExecutorService threads = Executors.newCachedThreadPool();

  @AfterEach
  void stop() {
    threads.shutdownNow();
  }

  static List<Items.Limits> limits() {
    return SharedItems.ALL_LIMITS;
  }

  private SharedItems items(Items.Limits limits) {
    SharedItems items = new SharedItems(limits, ticker);
    update(sound(items), "first");
    return items;
  }

  private LoggedRows sound(SharedItems items) {
    return rows(items, SharedItems.UNDISTURBED);
  }

  private LoggedRows rows(SharedItems items, SharedItems.Steps steps) {
    return new LoggedRows(items.process(steps), ticker);
  }

  private static long number(byte[] value) {
    return value == null ? 0 : Keys.number(value);
  }

  /** Adds 1; fails if the rows that it reads are not of one moment. */
  private static void update(Rows rows, String name) {
    String unused =
        rows.update(
            (reader, batch, wall) -> {
              long count = number(reader.get(Table.META, List.of(COUNT)).get(0));
              requireCopies(reader.get(Table.RECORD, COPIES), count);
              byte[] next = Keys.number(count + 1);
              batch.put(Table.META, COUNT, next);
              for (byte[] copy : COPIES.subList(0, 3)) {
                batch.put(Table.RECORD, copy, next);
              }
              if (count % 2 == 0) {
                batch.put(Table.RECORD, COPIES.get(3), next);
              } else {
                batch.delete(Table.RECORD, COPIES.get(3));
              }
              batch.put(Table.CHANGE, Keys.number(count), Keys.text(name));
              return "";
            });
  }

  private static void requireCopies(List<byte[]> copies, long count) {
    for (byte[] copy : copies.subList(0, 3)) {
      assertThat(number(copy)).isEqualTo(count);
    }
    assertThat(number(copies.get(3))).isEqualTo(count % 2 == 0 ? 0 : count);
  }

  /** Reads all rows; returns the names of the updates, in their order. */
  private static List<String> read(Rows rows) {
    long before = number(rows.get(Table.META, List.of(COUNT)).get(0));
    List<byte[]> copies = rows.get(Table.RECORD, COPIES);
    long count = number(copies.get(0));
    assertThat(count).isGreaterThanOrEqualTo(before);
    requireCopies(copies, count);
    List<Rows.Row> scanned = rows.scan(Table.RECORD, new byte[0], null, 3);
    assertThat(number(scanned.get(0).value())).isGreaterThanOrEqualTo(count);
    assertThat(scanned).allMatch(row -> number(row.value()) == number(scanned.get(0).value()));
    List<String> names = new ArrayList<>();
    for (Rows.Row row : rows.scan(Table.CHANGE, new byte[0], null, 1_000)) {
      assertThat(Keys.number(row.key())).isEqualTo(names.size());
      names.add(new String(row.value(), UTF_8));
    }
    assertThat((long) names.size()).isGreaterThanOrEqualTo(count);
    assertThat(names).doesNotHaveDuplicates();
    return names;
  }

  /** Runs a task that may end its process; returns whether it was acknowledged. */
  private static boolean survives(Runnable task) {
    try {
      task.run();
      return true;
    } catch (Death e) {
      return false;
    } catch (ConfigException e) {
      assertThat(e.kind()).isEqualTo(Kind.UNAVAILABLE);
      return false;
    }
  }

  private static void requireIn(List<String> names, String name, boolean acknowledged) {
    if (acknowledged) {
      assertThat(names).contains(name);
    }
  }

  /**
   * Checks that the first update of a process removes all leftovers of updates that ended early.
   */
  private static void requireNoBatch(SharedItems items) {
    assertThat(items.size(UpdateLog.TABLE)).isZero();
    assertThat(items.state().isSettled()).isTrue();
  }

  @ParameterizedTest
  @MethodSource("limits")
  void processThatDiesOrFailsAtAnyStep_isSeenWholeOrNotAtAll(Items.Limits limits) {
    for (How how : EnumSet.complementOf(EnumSet.of(How.STOPS))) {
      for (int step = 1; step < MANY; step++) {
        SharedItems items = items(limits);
        Disturbed steps = new Disturbed(how, step);
        LoggedRows disturbed = rows(items, steps);
        boolean acknowledged = survives(() -> update(disturbed, "disturbed"));
        if (how == How.IS_IN_THE_WAY_OF) {
          assertThat(acknowledged).isTrue();
          assertThat(read(disturbed)).containsExactly("first", "disturbed");
        }
        List<String> seen = read(sound(items));
        assertThat(seen).startsWith("first").hasSizeBetween(1, 2);
        requireIn(seen, "disturbed", acknowledged);
        boolean lives = how != How.DIES_BEFORE && how != How.DIES_AFTER;
        if (lives && steps.happened()) {
          update(disturbed, "again");
          assertThat(read(disturbed)).startsWith(seen.toArray(new String[0])).endsWith("again");
          seen = read(disturbed);
        }
        LoggedRows other = sound(items);
        update(other, "other");
        assertThat(read(other)).startsWith(seen.toArray(new String[0])).endsWith("other");
        requireNoBatch(items);
        if (!steps.happened()) {
          assertThat(step).as("steps of an update").isGreaterThan(5);
          break;
        }
      }
    }
  }

  @ParameterizedTest
  @MethodSource("limits")
  void processThatDiesWhileItFinishesAnother_leavesItToTheNext(Items.Limits limits) {
    for (int first = 1; first < MANY; first++) {
      boolean firstDied = true;
      for (int second = 1; second < MANY; second++) {
        SharedItems items = items(limits);
        Disturbed steps = new Disturbed(How.DIES_AFTER, first);
        boolean acknowledged = survives(() -> update(rows(items, steps), "a"));
        firstDied = steps.happened();
        Disturbed others = new Disturbed(How.DIES_BEFORE, second);
        LoggedRows helper = rows(items, others);
        boolean read = survives(() -> read(helper));
        boolean updated = read && survives(() -> update(helper, "b"));
        LoggedRows last = sound(items);
        List<String> seen = read(last);
        requireIn(seen, "a", acknowledged);
        requireIn(seen, "b", updated);
        update(last, "c");
        assertThat(read(last)).startsWith(seen.toArray(new String[0])).endsWith("c");
        requireNoBatch(items);
        if (!others.happened()) {
          break;
        }
      }
      if (!firstDied) {
        break;
      }
    }
  }

  @ParameterizedTest
  @MethodSource("limits")
  void processThatStopsAtAnyStepAndGoesOnLater_changesNothingThatIsNewer(Items.Limits limits)
      throws Exception {
    for (int updates = 1; updates <= 2; updates++) {
      for (int step = 1; step < MANY; step++) {
        SharedItems items = items(limits);
        Disturbed steps = new Disturbed(How.STOPS, step);
        LoggedRows stopped = rows(items, steps);
        Future<?> running = steps.start(threads, () -> update(stopped, "stopped"));
        LoggedRows other = sound(items);
        if (steps.happened()) {
          // Another thread of the same process sees no more than other processes.
          List<String> own = read(stopped);
          assertThat(read(other)).startsWith(own.toArray(new String[0]));
        }
        List<String> seen = read(other);
        for (int i = 0; i < updates; i++) {
          update(other, "other-" + i);
        }
        steps.resume();
        running.get(120, TimeUnit.SECONDS);
        List<String> all = read(other);
        assertThat(all).startsWith(seen.toArray(new String[0])).hasSize(2 + updates);
        assertThat(all).contains("stopped");
        assertThat(read(stopped)).isEqualTo(all);
        update(sound(items), "last");
        requireNoBatch(items);
        if (!steps.happened()) {
          break;
        }
      }
    }
  }

  /** The order in which three processes go on, two of which were stopped. */
  private enum Order {
    THREE_ONE_TWO,
    THREE_TWO_ONE,
    ONE_THREE_TWO
  }

  @ParameterizedTest
  @MethodSource("limits")
  void twoProcessesThatStopAtAnySteps_goOnInAnyOrder(Items.Limits limits) throws Exception {
    for (int first = 1; first < MANY; first++) {
      boolean firstStopped = true;
      for (int second = 1; second < MANY; second++) {
        boolean secondStopped = true;
        for (Order order : Order.values()) {
          SharedItems items = items(limits);
          Disturbed one = new Disturbed(How.STOPS, first);
          Disturbed two = new Disturbed(How.STOPS, second);
          LoggedRows rowsOfTwo = rows(items, two);
          Future<?> updating = one.start(threads, () -> update(rows(items, one), "one"));
          Future<?> helping =
              two.start(
                  threads,
                  () -> {
                    update(rowsOfTwo, "two");
                    List<String> unused = read(rowsOfTwo);
                  });
          firstStopped = one.happened();
          secondStopped = two.happened();
          LoggedRows three = sound(items);
          if (order != Order.ONE_THREE_TWO) {
            update(three, "three");
          }
          boolean oneGoesOn = order != Order.THREE_TWO_ONE;
          (oneGoesOn ? one : two).resume();
          (oneGoesOn ? updating : helping).get(120, TimeUnit.SECONDS);
          if (order == Order.ONE_THREE_TWO) {
            update(three, "three");
          }
          List<String> seen = read(three);
          update(three, "four");
          (oneGoesOn ? two : one).resume();
          (oneGoesOn ? helping : updating).get(120, TimeUnit.SECONDS);
          List<String> all = read(three);
          assertThat(all)
              .startsWith(seen.toArray(new String[0]))
              .containsExactlyInAnyOrder("first", "one", "two", "three", "four");
        }
        if (!secondStopped) {
          break;
        }
      }
      if (!firstStopped) {
        break;
      }
    }
  }

  @ParameterizedTest
  @MethodSource("limits")
  void readerThatStopsAtAnyStepOfAnUpdate_seesOneMoment(Items.Limits limits) throws Exception {
    for (int atReader = 1; atReader < MANY; atReader++) {
      boolean readerStopped = true;
      for (int atWriter = 1; atWriter < MANY; atWriter++) {
        SharedItems items = items(limits);
        LoggedRows rows = sound(items);
        Disturbed reader = new Disturbed(How.STOPS, atReader);
        LoggedRows read = rows(items, reader);
        Disturbed writer = new Disturbed(How.DIES_AFTER, atWriter);
        // The reader has the version of earlier rows, so it does not read the state at first.
        Future<?> reading =
            reader.start(
                threads,
                () -> {
                  List<String> first = read(read);
                  assertThat(read(read)).startsWith(first.toArray(new String[0]));
                });
        boolean acknowledged = survives(() -> update(rows(items, writer), "second"));
        if (acknowledged) {
          update(rows, "third");
        }
        readerStopped = reader.happened();
        reader.resume();
        reading.get(120, TimeUnit.SECONDS);
        requireIn(read(read), "second", acknowledged);
        if (!writer.happened()) {
          break;
        }
      }
      if (!readerStopped) {
        break;
      }
    }
  }

  @ParameterizedTest
  @MethodSource("limits")
  void processesThatRaceAndFail_loseNothingAndWriteNothingTwice(Items.Limits limits)
      throws Exception {
    long seed = 20_261_122;
    SharedItems items = items(limits);
    Set<String> acknowledged = ConcurrentHashMap.newKeySet();
    Set<String> unknown = ConcurrentHashMap.newKeySet();
    Threads.race(
        6,
        thread -> {
          Failing steps = new Failing(new SplittableRandom(seed + thread));
          LoggedRows rows = new LoggedRows(items.process(steps), Ticker.system());
          for (int i = 0; i < 40; i++) {
            String name = thread + "-" + i;
            if (thread == 0) {
              boolean unused = survives(() -> read(rows));
            } else if (survives(() -> update(rows, name))) {
              acknowledged.add(name);
            } else {
              unknown.add(name);
            }
          }
        });
    List<String> all = read(sound(items));
    assertThat(all).as("seed %d", seed).containsAll(acknowledged);
    Set<String> others = new HashSet<>(all);
    others.removeAll(acknowledged);
    others.remove("first");
    assertThat(unknown).containsAll(others);
    assertThat(acknowledged).hasSizeGreaterThan(50);
    assertThat(unknown).isNotEmpty();
  }

  /** Steps of which one in a hundred fails, before or after it takes effect. */
  private static final class Failing implements SharedItems.Steps {
    private final SplittableRandom random;

    Failing(SplittableRandom random) {
      this.random = random;
    }

    private void fail() {
      if (random.nextInt(200) == 0) {
        throw new ConfigException(Kind.UNAVAILABLE, "failed");
      }
    }

    @Override
    public boolean isInTheWay() {
      return random.nextInt(50) == 0;
    }

    @Override
    public void before() {
      fail();
    }

    @Override
    public void after() {
      fail();
    }
  }

  @Test
  void updateOfAnAuthorWhoDied_isFinishedWithinAMinute() {
    SharedItems items = items(SharedItems.SINGLE_ITEMS);
    LoggedRows reader = sound(items);
    assertThat(read(reader)).containsExactly("first");
    for (int step = 1; items.state().isSettled(); step++) {
      Disturbed steps = new Disturbed(How.DIES_AFTER, step);
      boolean unused = survives(() -> update(rows(items, steps), "second"));
    }
    assertThat(number(reader.get(Table.META, List.of(COUNT)).get(0))).isEqualTo(1);
    ticker.advance(60_000_000_001L);
    assertThat(number(reader.get(Table.META, List.of(COUNT)).get(0))).isEqualTo(2);
    requireSettled(items);
  }

  private static void requireSettled(SharedItems items) {
    assertThat(items.state()).isEqualTo(new Items.State(2, ""));
  }

  @Test
  void marksOfDeletedRows_areSkippedByPages() {
    SharedItems items = items(SharedItems.SMALL_TRANSACTIONS);
    LoggedRows rows = sound(items);
    String unused =
        rows.update(
            (reader, batch, wall) -> {
              for (int i = 0; i < 1_000; i++) {
                batch.put(Table.NODE, Keys.number(i), Keys.number(i));
              }
              return "";
            });
    int deleted =
        rows.update(
            (reader, batch, wall) -> {
              for (int i = 0; i < 990; i++) {
                batch.delete(Table.NODE, Keys.number(i));
              }
              return 990;
            });
    for (int limit : List.of(1, 3, 10)) {
      assertThat(rows.scan(Table.NODE, new byte[0], null, limit))
          .extracting(row -> Keys.number(row.key()))
          .hasSize(limit)
          .startsWith((long) deleted);
    }
    assertThat(rows.scan(Table.NODE, new byte[0], null, 100)).hasSize(10);
    assertThat(rows.get(Table.NODE, List.of(Keys.number(1))).get(0)).isNull();
    items.removeMarks();
    assertThat(items.size("node")).isEqualTo(10);
    assertThat(rows.scan(Table.NODE, new byte[0], null, 100)).hasSize(10);
  }

  @Test
  void olderCopyThatWasRestored_isNotWrittenTo() {
    SharedItems older = items(SharedItems.TRANSACTIONS);
    SharedItems newer = items(SharedItems.TRANSACTIONS);
    update(sound(newer), "second");
    Switched switched = new Switched(newer.process(SharedItems.UNDISTURBED));
    LoggedRows rows = new LoggedRows(switched, ticker);
    update(rows, "third");
    switched.to = older.process(SharedItems.UNDISTURBED);
    assertThatThrownBy(() -> update(rows, "fourth"))
        .isInstanceOfSatisfying(
            ConfigException.class, e -> assertThat(e.kind()).isEqualTo(Kind.UNAVAILABLE))
        .hasMessageContaining("version 1 (expected: at least 3;");
    assertThat(read(sound(older))).containsExactly("first");
  }

  @Test
  void batchWithAPartMissing_isDamagedAndLeftAlone() {
    SharedItems items = items(SharedItems.SINGLE_ITEMS);
    for (int step = 1; items.state().isSettled(); step++) {
      Disturbed steps = new Disturbed(How.DIES_AFTER, step);
      boolean unused = survives(() -> update(rows(items, steps), "second"));
    }
    Items process = items.process(SharedItems.UNDISTURBED);
    String batch = items.state().pending();
    for (Items.Item part : process.scan(UpdateLog.TABLE, new byte[0], null, MANY)) {
      if (batch.startsWith(HexFormat.of().formatHex(part.key(), 8, 24)) && part.key()[27] == 1) {
        process.delete(UpdateLog.TABLE, part.key());
      }
    }
    assertThatThrownBy(() -> update(sound(items), "third"))
        .isInstanceOfSatisfying(
            ConfigException.class, e -> assertThat(e.kind()).isEqualTo(Kind.DAMAGED))
        .hasMessage("memory: batch of update 2: a part is missing (expected: as written)");
  }

  @Test
  void othersWhoAreAlwaysFirst_areGivenUpOnInTime() {
    SharedItems items = items(SharedItems.TRANSACTIONS);
    LoggedRows other = sound(items);
    long begun = ticker.nanos();
    assertThatThrownBy(
            () ->
                sound(items)
                    .update(
                        (reader, batch, wall) -> {
                          update(other, "other-" + items.state().version());
                          batch.put(Table.META, COUNT, Keys.number(0));
                          return "";
                        }))
        .isInstanceOfSatisfying(
            ConfigException.class, e -> assertThat(e.kind()).isEqualTo(Kind.UNAVAILABLE))
        .hasMessageContaining("memory: no turn within 10 s (expected: ");
    assertThat(ticker.nanos() - begun).isBetween(10_000_000_000L, 11_000_000_000L);
    assertThat(read(sound(items)).size()).isGreaterThan(100);
  }

  @Test
  void batchOfANewerVersion_isRefused() {
    assertThatThrownBy(() -> WriteSet.read(new byte[] {2, 0, 0, 0, 0}))
        .isInstanceOf(ConfigException.class)
        .hasMessage("batch: format 2 (expected: 1; a newer version of Weir made it)");
    byte[] whole =
        WriteSet.toBytes(
            List.of(
                new Items.Write("meta", COUNT, new byte[0]), new Items.Write("meta", COUNT, null)));
    assertThat(WriteSet.read(whole)).hasSize(2);
    assertThat(WriteSet.read(whole).get(1).value()).isNull();
    for (int end = 1; end < whole.length; end++) {
      byte[] cut = Arrays.copyOf(whole, end);
      assertThatThrownBy(() -> WriteSet.read(cut))
          .isInstanceOfSatisfying(
              ConfigException.class, e -> assertThat(e.kind()).isEqualTo(Kind.DAMAGED));
    }
  }
}
