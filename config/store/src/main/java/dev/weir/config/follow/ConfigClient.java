package dev.weir.config.follow;

import dev.weir.Ticker;
import dev.weir.config.ChangeDetails;
import dev.weir.config.ConfigStore;
import dev.weir.config.Head;
import dev.weir.config.OwnLimit;
import dev.weir.config.internal.bytes.Check;
import dev.weir.config.internal.follow.SubjectLoads;
import dev.weir.engine.KeyPolicies;
import dev.weir.internal.DaemonThreads;
import dev.weir.rules.RuleSet;
import dev.weir.rules.RuleSource;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A client of a configuration store for one process: the rules and the limits of subjects, over one
 * feed. Safe for use by many threads. Closing it leaves the store open.
 *
 * <pre>{@code
 * ConfigClient client = ConfigClient.builder(store, "node-1").open();
 * RunningEngine engine =
 *     RunningEngine.builder().rules(client.rules()).subjects(client.subjects()).start();
 * }</pre>
 *
 * <p>The engine must be closed before the client.
 */
public final class ConfigClient implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger("dev.weir.config");
  private static final long CLOSE_SECONDS = 1;

  private final Feed feed;
  private final RuleFollower rules;
  private final SubjectCache subjects;
  private final Executor loaders;
  private final AtomicBoolean saving = new AtomicBoolean();
  private final AtomicBoolean closed = new AtomicBoolean();
  private String reported = "";

  ConfigClient(Builder builder, LongUnaryOperator jitter, Executor feeder, Executor loaders) {
    this.loaders = loaders;
    feed = new Feed(builder.store, builder.ticker, builder.interval, jitter, feeder);
    subjects =
        new SubjectCache(
            builder.store, builder.ticker, builder.wall, builder.settings(), loaders, jitter);
    // The subjects' listener is the first: its data is right as of the call to the store, however
    // long the other listeners take.
    feed.listen(ChangeDetails.RECORD, subjects.new Listener());
    rules = new RuleFollower(builder, jitter, feed, false, subjects.clock());
    rules.rulesTo(subjects::rules);
    feed.listen(ChangeDetails.RECORD, new Saver());
    boolean unused = feed.poll();
    feed.start();
  }

  /**
   * Returns a builder of a client.
   *
   * @param node distinguishes this server from all others, 1 to 200 bytes in UTF-8
   */
  public static Builder builder(ConfigStore store, String node) {
    return new Builder(store, node);
  }

  /** Builds a {@link ConfigClient}. Not safe for use by several threads. */
  public static final class Builder extends FollowSettings<Builder> {
    private static final long MAX_SLOTS = 1L << 28;

    /** Different limits take some hundred bytes each, so fewer of them than subjects are kept. */
    private static final int SLOTS_PER_LIMIT = 16;

    private Duration timeToLive = Duration.ofSeconds(30);
    private @Nullable Duration maxStale;
    private long cacheBytes = 64L << 20;
    private Ticker wall = Ticker.wall();

    private Builder(ConfigStore store, String node) {
      super(store, node);
    }

    @Override
    Builder self() {
      return this;
    }

    /** Sets the interval at which the store is polled for changes, 1 ms to 1 s; default 1 s. */
    @Override
    public Builder interval(Duration newInterval) {
      Check.range("interval in ms", newInterval.toMillis(), 1, 1_000);
      return super.interval(newInterval);
    }

    /**
     * Sets a file for the rules last in force, and one beside it, with {@code .subjects} at the end
     * of its name, for the last known limits of subjects. They are used if the store does not
     * answer at the start.
     */
    @Override
    public Builder lastKnown(Path file) {
      return super.lastKnown(file);
    }

    /** {@inheritDoc} The rules in force are then set by {@link ConfigClient#inForce}. */
    @Override
    public Builder withoutRules() {
      return super.withoutRules();
    }

    /**
     * Sets the most memory that the table of subjects may take, in bytes, 64 KiB to 4 GiB; default
     * 64 MiB, for 4 million subjects. It begins with 64 KiB and doubles when needed. Different
     * limits of subjects are kept outside the table, at most one for each 16 subjects.
     */
    public Builder cacheBytes(long bytes) {
      cacheBytes =
          Check.range(
              "cache in bytes",
              bytes,
              (long) SubjectTable.MIN_SLOTS * SubjectTable.SLOT_BYTES,
              MAX_SLOTS * SubjectTable.SLOT_BYTES);
      return this;
    }

    /**
     * Sets the age at which limits are loaded again while the changes of the store are not known, 1
     * s to 366 days; default 30 s.
     */
    public Builder timeToLive(Duration duration) {
      Check.range("time to live in ms", duration.toMillis(), 1_000, OwnLimit.MAX_WINDOW_MILLIS);
      timeToLive = duration;
      return this;
    }

    /**
     * Sets the age up to which limits are used while the changes of the store are not known, 3 s to
     * 366 days; afterwards they are unknown. Default: for ever.
     */
    public Builder maxStale(Duration duration) {
      Check.range(
          "longest staleness in ms", duration.toMillis(), 3_000, OwnLimit.MAX_WINDOW_MILLIS);
      maxStale = duration;
      return this;
    }

    /** Sets this machine's clock, with which the store's is compared. */
    Builder wall(Ticker newWall) {
      wall = newWall;
      return this;
    }

    private SubjectCache.Settings settings() {
      int slots = (int) Long.highestOneBit(cacheBytes / SubjectTable.SLOT_BYTES);
      return new SubjectCache.Settings(
          slots,
          slots / SLOTS_PER_LIMIT,
          timeToLive.toNanos(),
          maxStale == null ? Long.MAX_VALUE : maxStale.toNanos(),
          lastKnown == null ? null : Path.of(lastKnown + ".subjects"));
    }

    /**
     * Builds the client and calls the store once. If that does not answer, the client goes on with
     * the content of the file.
     *
     * @throws IllegalArgumentException if the server's id, address or version is out of range
     */
    public ConfigClient open() {
      return new ConfigClient(
          this,
          Feed::random,
          Executors.newFixedThreadPool(1, DaemonThreads.named("weir-config-feed")),
          Executors.newFixedThreadPool(
              SubjectLoads.MAX_UNDER_WAY, DaemonThreads.numbered("weir-config-loader")));
    }
  }

  /** A listener that saves the known limits of subjects, on a thread that may wait. */
  private final class Saver implements FeedListener {
    @Override
    public void caughtUp(Head head, long asOfNanos) {
      if (subjects.saveDue() && saving.compareAndSet(false, true)) {
        try {
          loaders.execute(ConfigClient.this::save);
        } catch (RejectedExecutionException e) {
          saving.set(false); // It is being closed, which also saves.
        }
      }
    }
  }

  private void save() {
    try {
      subjects.save();
      reported = "";
    } catch (IOException | RuntimeException e) {
      String message = e.toString();
      if (!message.equals(reported)) {
        reported = message;
        LOG.log(System.Logger.Level.WARNING, "last known subjects: not saved, {0}", message);
      }
    } finally {
      saving.set(false);
    }
  }

  /**
   * Returns the source of rules; it is closed by the engine that follows it, which leaves the rest
   * of the client running.
   */
  public RuleSource rules() {
    return rules;
  }

  /** Sets the rules that will be in force next, if they are not from this store. */
  public void inForce(RuleSet ruleSet) {
    subjects.rules(ruleSet);
  }

  /** Returns how far the rules have been followed. */
  public FollowerStatus ruleStatus() {
    return rules.status();
  }

  /** Returns the limits of subjects. */
  public KeyPolicies subjects() {
    return subjects;
  }

  /** Returns the status of the cache of subjects. */
  public SubjectCacheStatus subjectStatus() {
    return subjects.status();
  }

  /** Returns the feed, for other parts that depend on changes. It is closed with this client. */
  public Feed feed() {
    return feed;
  }

  /**
   * Saves the known limits of subjects, stops following the store, and ends the threads. The save
   * is first: it waits for no store, and the rest may wait seconds for one that hangs.
   */
  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    saveUnlessSaving();
    rules.close();
    feed.close();
    subjects.close();
    if (loaders instanceof ExecutorService threads) {
      threads.shutdown();
      try {
        boolean unused = threads.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    saveUnlessSaving(); // The limits that came meanwhile, or during a save that was under way.
  }

  private void saveUnlessSaving() {
    if (saving.compareAndSet(false, true)) {
      save();
    }
  }
}
