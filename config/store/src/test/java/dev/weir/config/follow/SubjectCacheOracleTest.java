package dev.weir.config.follow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Ticker;
import dev.weir.config.ConfigStore;
import dev.weir.config.ConfigStores;
import dev.weir.config.Head;
import dev.weir.config.OwnLimit;
import dev.weir.config.RecordWrite;
import dev.weir.config.RecordsUnderTest;
import dev.weir.config.SubjectRecord;
import dev.weir.config.Threads;
import dev.weir.config.WrappedConfigStore;
import dev.weir.engine.SubjectLimits;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.Trials;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The answers of the cache, compared with everything that was ever written, which is kept here. */
@Tag("model")
@Tag("sample")
@Timeout(180)
class SubjectCacheOracleTest {
  private static final long START = 1_800_000_000_000_000_000L;
  private static final long SECOND = 1_000_000_000L;

  /** The value that a record had from an event on; 0 for none. */
  private record Written(long event, long value) {}

  /**
   * A world of writes, polls, late or lost answers and look-ups, in one thread and random order.
   */
  private static final class World {
    final SplittableRandom random;
    final FakeTicker ticker = new FakeTicker(START);
    final RecordsUnderTest store = new RecordsUnderTest(ticker);
    final List<String> names = new ArrayList<>();
    final Map<String, List<Written>> history = new HashMap<>();
    final String as;
    final ConfigClient client;
    long heardNanos = START - 10 * SECOND;
    long heardEvent;
    long events;
    long values;
    int depth;
    int found;
    boolean healing;

    World(long seed) {
      random = new SplittableRandom(seed);
      as = "seed " + seed;
      for (int i = 0; i < 1 + random.nextInt(30); i++) {
        names.add("s" + i);
        history.put("s" + i, new ArrayList<>(List.of(new Written(0, 0))));
      }
      ConfigClient.Builder builder =
          ConfigClient.builder(watched(), "n1").ticker(ticker).wall(ticker);
      client =
          new ConfigClient(
              builder, bound -> random.nextLong(bound + 1), Runnable::run, store.tasks::add);
      store.afterRead = this::meanwhile;
    }

    /** Returns the store with a head that notes when it was read and answered. */
    private ConfigStore watched() {
      return new WrappedConfigStore(store) {
        @Override
        public Head head() {
          long asked = ++events;
          Head head = super.head();
          heardEvent = asked;
          heardNanos = ticker.nanos();
          if (!healing && random.nextInt(4) == 0) {
            World.this.write(); // After the head is read, and before the log is.
          }
          return head;
        }
      };
    }

    String name() {
      return names.get(random.nextInt(names.size()));
    }

    void write() {
      String name = name();
      List<Written> before = history.get(name);
      if (random.nextInt(4) == 0) {
        store.delete(RecordsUnderTest.subject(name));
        Objects.requireNonNull(before).add(new Written(++events, 0));
      } else {
        // No two writes have the same number, so it identifies its subject and its time.
        long value = ++values;
        store.put(SubjectRecord.ofLimits(RecordsUnderTest.subject(name), OwnLimit.of("r", value)));
        Objects.requireNonNull(before).add(new Written(++events, value));
      }
    }

    /** Takes some steps while an answer is in flight. */
    void meanwhile() {
      if (depth++ < 2) {
        for (int i = random.nextInt(4); i > 0; i--) {
          step();
        }
      }
      depth--;
    }

    void step() {
      switch (random.nextInt(12)) {
        case 0, 1 -> write();
        case 2 -> client.feed().hint();
        case 3 -> ticker.advance(random.nextLong(SECOND));
        case 4 -> {
          if (random.nextInt(10) == 0) {
            ticker.advance(random.nextLong(40 * SECOND));
          }
        }
        case 5 -> {
          store.feedAway = random.nextInt(3) == 0;
          store.away = random.nextInt(3) == 0;
        }
        case 6, 7 -> {
          Runnable task = store.tasks.poll();
          if (task != null) {
            task.run();
          }
        }
        default -> check();
      }
      assertThat(store.most).as(as).isLessThanOrEqualTo(2);
      assertThat(store.tasks).as(as).hasSizeLessThanOrEqualTo(2);
    }

    void check() {
      String name = name();
      long event = ticker.nanos() - heardNanos < 3 * SECOND ? heardEvent : 0;
      SubjectLimits limits = client.subjects().find("shop", "user", name);
      if (limits == null) {
        client.subjects().load("shop", "user", name, loaded -> check(name, loaded, event));
      } else {
        found++;
        check(name, limits, event);
      }
    }

    /** Checks that the value is the record's at this event or later. */
    private void check(String name, @Nullable SubjectLimits limits, long event) {
      if (limits == null) {
        return;
      }
      long value = limits.own().isEmpty() ? 0 : valueOf(limits);
      List<Written> all = Objects.requireNonNull(history.get(name));
      List<Long> right = new ArrayList<>();
      for (int i = 0; i < all.size(); i++) {
        boolean replacedBefore = i + 1 < all.size() && all.get(i + 1).event() < event;
        if (!replacedBefore) {
          right.add(all.get(i).value());
        }
      }
      assertThat(right).as("%s, %s at event %d", as, name, event).contains(value);
    }

    void heal() {
      healing = true;
      store.feedAway = false;
      store.away = false;
      store.afterRead = null;
      store.work();
      ticker.advance(2 * SECOND);
      ticker.advance(SECOND);
      for (String name : names) {
        List<Written> all = Objects.requireNonNull(history.get(name));
        long last = all.get(all.size() - 1).value();
        List<@Nullable SubjectLimits> answers = new ArrayList<>();
        client.subjects().load("shop", "user", name, answers::add);
        store.work();
        SubjectLimits limits = Objects.requireNonNull(answers.get(0), as);
        assertThat(limits.own().isEmpty() ? 0 : valueOf(limits)).as(as).isEqualTo(last);
        assertThat(client.subjects().find("shop", "user", name)).as(as).isEqualTo(limits);
      }
      client.close();
    }
  }

  private static long valueOf(SubjectLimits limits) {
    return Objects.requireNonNull(limits.own().get("r")).requestsPerUnit();
  }

  @Test
  void randomWritesAndFaults_whatIsFoundIsTheRecordAsOfTheLastPollOrLater() {
    int found = 0;
    int runs = Trials.unseeded("cached subjects", Trials.runs(40, 200));
    for (long seed = 1; seed <= runs; seed++) {
      World world = new World(seed);
      for (int i = 0; i < 400; i++) {
        world.step();
      }
      world.heal();
      found += world.found;
    }
    assertThat(found).isGreaterThan(runs * 20 / 3);
  }

  /** Values only grow, so an old one that comes back is noticed. */
  @Test
  void threadsWriteFollowAndLook_noOldValueComesBackAfterItsChangeWasTold() throws Exception {
    int subjects = 40;
    int writes = Trials.runs(1_500, 3_000);
    ConfigStore store = ConfigStores.inMemory(Ticker.wall());
    AtomicLongArray written = new AtomicLongArray(subjects);
    AtomicLongArray writing = new AtomicLongArray(subjects);
    AtomicLongArray told = new AtomicLongArray(subjects);
    AtomicBoolean ended = new AtomicBoolean();
    ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();
    long[] looked = new long[8];
    try (ConfigClient client =
        ConfigClient.builder(store, "n1").interval(Duration.ofMillis(1)).open()) {
      Threads.race(
          8,
          thread -> {
            SplittableRandom random = new SplittableRandom(77 + thread);
            if (thread == 0) {
              try {
                for (int i = 1; i <= writes; i++) {
                  int subject = random.nextInt(subjects);
                  writing.set(subject, i);
                  SubjectRecord record =
                      SubjectRecord.ofLimits(
                          RecordsUnderTest.subject("s" + subject), OwnLimit.of("r", i));
                  store.write(
                      List.of(RecordWrite.put(record, RecordWrite.ANY)), RecordsUnderTest.CAUSE);
                  written.set(subject, i);
                }
              } finally {
                ended.set(true);
              }
              return;
            }
            while (!ended.get()) {
              if (thread == 1) {
                long[] before = new long[subjects];
                for (int i = 0; i < subjects; i++) {
                  before[i] = written.get(i);
                }
                boolean unused = client.feed().poll();
                for (int i = 0; i < subjects; i++) {
                  told.set(i, before[i]);
                }
                continue;
              }
              int subject = random.nextInt(subjects);
              long least = told.get(subject);
              SubjectLimits limits = client.subjects().find("shop", "user", "s" + subject);
              if (limits == null) {
                client
                    .subjects()
                    .load(
                        "shop",
                        "user",
                        "s" + subject,
                        loaded -> note(wrong, loaded, subject, least, writing));
              } else {
                looked[thread]++;
                note(wrong, limits, subject, least, writing);
              }
            }
          });
      assertThat(wrong).isEmpty();
      assertThat(Arrays.stream(looked).sum()).isPositive();
      assertThat(client.subjectStatus().failures()).isZero();
    }
  }

  private static void note(
      ConcurrentLinkedQueue<String> wrong,
      @Nullable SubjectLimits limits,
      int subject,
      long least,
      AtomicLongArray writing) {
    if (limits == null) {
      wrong.add("subject " + subject + ": not known");
      return;
    }
    long value = limits.own().isEmpty() ? 0 : valueOf(limits);
    long most = writing.get(subject);
    if (value < least || value > most) {
      wrong.add("subject " + subject + ": " + value + ", expected: " + least + ".." + most);
    }
  }
}
