package dev.weir.config.follow;

import dev.weir.Fingerprint;
import dev.weir.Ticker;
import dev.weir.config.ChangeDetails;
import dev.weir.config.ConfigStore;
import dev.weir.config.Head;
import dev.weir.config.Records;
import dev.weir.config.Subject;
import dev.weir.config.internal.follow.LastKnownSubjects;
import dev.weir.config.internal.follow.RecordLimits;
import dev.weir.config.internal.follow.StoreClock;
import dev.weir.config.internal.follow.SubjectLoads;
import dev.weir.engine.KeyPolicies;
import dev.weir.engine.SubjectLimits;
import dev.weir.rules.RuleSet;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A cache of the limits of subjects, loaded from a store's records when they are needed. Made by a
 * {@link ConfigClient}. Safe for use by many threads; {@link #find} takes no lock and allocates
 * nothing while the feed is heard.
 */
public final class SubjectCache implements KeyPolicies {
  /*
   * How is SubjectCache designed, and why? The feed reports which records change, so loaded limits
   * need no time to live while the feed is heard: the store answered less than three seconds ago,
   * and every change up to then was reported. In that case find returns the record as it was at
   * that time or later. A record that has changed is unknown until it is loaded again.
   *
   * While the feed is not heard, the last known limits are better than none: they stay, even if
   * they are known to be outdated, and are loaded again in the background when they are older than
   * a time to live. Their age is bounded only by a setting.
   *
   * The table has fingerprints of subjects. A load names the subject itself, so its result is right
   * whatever the fingerprints are; the essay in SubjectTable describes the effect of a chance
   * collision.
   *
   * All writers hold one lock: loads, the feed, saving.
   */

  /**
   * The longest time since the last answer of the store for which loaded limits are known to be
   * right.
   */
  static final long HEARD_NANOS = 3_000_000_000L;

  /** The time since the last answer if there was none: 73 years. */
  private static final long NEVER_NANOS = Long.MAX_VALUE / 4;

  static final long SECOND = 1_000_000_000L;
  static final long SAVE_NANOS = 60 * SECOND;

  private static final System.Logger LOG = System.getLogger("dev.weir.config");

  /**
   * The bounds on the number of entries and on their age.
   *
   * @param lastKnown the file of the limits last known; null if there is none
   */
  record Settings(
      int maxSlots, int maxLimits, long ttlNanos, long maxStaleNanos, @Nullable Path lastKnown) {}

  private final Ticker ticker;
  private final Ticker wall;
  private final Settings settings;
  private final Fingerprint fingerprint;
  private final long seed0;
  private final long seed1;
  private final long createdNanos;
  private final StoreClock clock;
  private final Object lock = new Object();
  private final SubjectTable table;
  private final RecordLimits recordLimits;
  private final SubjectLoads loads;
  private final @Nullable LastKnownSubjects file;
  private final LongAdder hits = new LongAdder();
  private final LongAdder misses = new LongAdder();
  private String store = "";
  private long noRoom;
  private volatile long savedAtNanos;
  private long savedLoads;
  private volatile long heardAtNanos;

  SubjectCache(
      ConfigStore store,
      Ticker ticker,
      Ticker wall,
      Settings settings,
      Executor executor,
      LongUnaryOperator jitter) {
    this.ticker = ticker;
    this.wall = wall;
    this.settings = settings;
    createdNanos = ticker.nanos();
    heardAtNanos = createdNanos - NEVER_NANOS;
    savedAtNanos = createdNanos;
    clock = new StoreClock(ticker, wall, this::outdateAll);
    table = new SubjectTable(settings.maxSlots(), settings.maxLimits());
    recordLimits = new RecordLimits(clock, ticker);
    loads = new SubjectLoads(store, ticker, executor, jitter, new Keeper(), lock);
    file = settings.lastKnown == null ? null : new LastKnownSubjects(settings.lastKnown);
    LastKnownSubjects.Content content = readFile();
    if (content == null) {
      SecureRandom random = new SecureRandom();
      seed0 = random.nextLong();
      seed1 = random.nextLong();
    } else {
      seed0 = content.seed0;
      seed1 = content.seed1;
    }
    fingerprint = Fingerprint.seeded(seed0, seed1);
    if (content != null) {
      restore(content);
    }
  }

  private long fingerprint(String domain, String key, String value) {
    return fingerprint.add(fingerprint.add(fingerprint.of(domain), key), value);
  }

  private long fingerprint(Subject subject) {
    return fingerprint(subject.domain(), subject.key(), subject.value());
  }

  private int seconds(long nanos) {
    return (int) Math.floorDiv(nanos - createdNanos, SECOND);
  }

  @Override
  public @Nullable SubjectLimits find(String domain, String key, String value) {
    long of = fingerprint(domain, key, value);
    long now = ticker.nanos();
    long heardAt = heardAtNanos;
    SubjectLimits found =
        now - heardAt < HEARD_NANOS
            ? table.current(of)
            : lastKnown(of, now, heardAt, domain, key, value);
    (found == null ? misses : hits).increment();
    return found;
  }

  private @Nullable SubjectLimits lastKnown(
      long of, long now, long heardAt, String domain, String key, String value) {
    long most = settings.maxStaleNanos();
    int staleSince = most == Long.MAX_VALUE ? Integer.MIN_VALUE : seconds(now - most);
    int currentSince = now - heardAt <= most ? Integer.MIN_VALUE : staleSince;
    SubjectLimits known = table.lastKnown(of, currentSince, staleSince);
    if (known != null
        && !loads.resting()
        && table.loaded(of, seconds(now - settings.ttlNanos())) == null) {
      Subject subject = subject(domain, key, value);
      if (subject != null) {
        loads.refresh(subject);
      }
    }
    return known;
  }

  private static @Nullable Subject subject(String domain, String key, String value) {
    try {
      return new Subject(domain, key, value);
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  /**
   * Loads a subject's limits. A value that no store accepts, for example one that is too long, has
   * no record.
   */
  @Override
  public void load(
      String domain, String key, String value, Consumer<? super @Nullable SubjectLimits> done) {
    Subject subject = subject(domain, key, value);
    if (subject == null) {
      done.accept(SubjectLimits.NONE);
    } else {
      loads.load(subject, done);
    }
  }

  private final class Keeper implements SubjectLoads.Keeper {
    @Override
    public @Nullable SubjectLimits known(Subject subject) {
      boolean heard = ticker.nanos() - heardAtNanos < HEARD_NANOS;
      return heard ? table.current(fingerprint(subject)) : null;
    }

    @Override
    public SubjectLimits keep(Subject subject, Records answer) {
      SubjectLimits limits = recordLimits.of(subject, answer);
      if (!table.put(fingerprint(subject), limits, seconds(ticker.nanos()), false)) {
        noRoom++;
      }
      return limits;
    }
  }

  /** The listener on changes of records. */
  final class Listener implements FeedListener {
    @Override
    public void changed(long number, ChangeDetails change) {
      if (change.subject().isEmpty()) {
        outdateAll();
        return;
      }
      Subject subject = change.subject().get();
      synchronized (lock) {
        loads.changed(subject);
        table.outdate(fingerprint(subject), seconds(ticker.nanos()));
      }
    }

    @Override
    public void missed(Head head) {
      synchronized (lock) {
        if (!store.isEmpty() && !store.equals(head.store())) {
          table.clear(); // Another store's subjects are other subjects.
        }
        store = head.store();
        outdateAll();
      }
    }

    @Override
    public void caughtUp(Head head, long asOfNanos) {
      heardAtNanos = asOfNanos;
    }
  }

  private void outdateAll() {
    synchronized (lock) {
      loads.allChanged();
      table.outdateAll(seconds(ticker.nanos()));
    }
  }

  /** Sets the rules in force. */
  void rules(RuleSet rules) {
    synchronized (lock) {
      recordLimits.rules(rules);
    }
  }

  /** Returns the store's clock, to be measured. */
  StoreClock clock() {
    return clock;
  }

  private LastKnownSubjects.@Nullable Content readFile() {
    if (file != null) {
      try {
        return file.read();
      } catch (IOException e) {
        LOG.log(System.Logger.Level.WARNING, String.valueOf(e.getMessage()));
      }
    }
    return null;
  }

  private void restore(LastKnownSubjects.Content content) {
    long ahead = wall.nanos() - ticker.nanos();
    int writtenAt = seconds(content.wallNanos - ahead);
    synchronized (lock) {
      store = content.store;
      content.forEach(
          (of, limits, age) -> {
            if (!table.put(of, LastKnownSubjects.shifted(limits, -ahead), writtenAt - age, true)) {
              noRoom++;
            }
          });
    }
  }

  /** Returns whether it is time to save: a minute after the last time. */
  boolean saveDue() {
    return file != null && ticker.nanos() - savedAtNanos >= SAVE_NANOS;
  }

  /**
   * Saves the limits, unless nothing was loaded since the last time. Called by one thread at a
   * time.
   */
  void save() throws IOException {
    if (file == null) {
      return;
    }
    LastKnownSubjects.Content content;
    synchronized (lock) {
      savedAtNanos = ticker.nanos();
      long loaded = loads.queried();
      if (loaded == savedLoads) {
        return;
      }
      savedLoads = loaded;
      long ahead = wall.nanos() - ticker.nanos();
      content = new LastKnownSubjects.Content(store, seed0, seed1, wall.nanos());
      table.forEach(
          LastKnownSubjects.MAX_SUBJECTS,
          (of, limits, current, seconds) ->
              content.add(of, LastKnownSubjects.shifted(limits, ahead), age(current, seconds)));
    }
    file.write(content);
  }

  /** Returns the number of seconds for which an entry may have been outdated. */
  private int age(boolean current, int seconds) {
    long heard = Math.floorDiv(heardAtNanos - createdNanos, SECOND);
    long since = current ? Math.max(heard, seconds) : seconds;
    return (int) Math.max(0, Math.min(Integer.MAX_VALUE / 2, seconds(savedAtNanos) - since));
  }

  /** Stops loading. */
  void close() {
    loads.close();
  }

  /** Returns a snapshot of the content and the counts. */
  public SubjectCacheStatus status() {
    synchronized (lock) {
      return new SubjectCacheStatus(
          table.known(),
          table.absent(),
          table.stale(),
          table.limits(),
          table.bytes(),
          hits.sum(),
          misses.sum(),
          loads.queries(),
          loads.queried(),
          loads.again(),
          loads.failed(),
          table.evicted(),
          noRoom,
          recordLimits.unreadable(),
          recordLimits.plansMissing(),
          Math.max(0, ticker.nanos() - Math.max(heardAtNanos, createdNanos)),
          recordLimits.problems());
    }
  }
}
