package dev.weir.config.follow;

import dev.weir.Ticker;
import dev.weir.config.ChangeDetails;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import dev.weir.config.ConfigStore;
import dev.weir.config.Head;
import dev.weir.config.Rollout;
import dev.weir.config.internal.follow.Heart;
import dev.weir.config.internal.follow.LastRules;
import dev.weir.config.internal.follow.RolloutWatch;
import dev.weir.config.internal.follow.RuleTexts;
import dev.weir.config.internal.follow.StoreClock;
import dev.weir.rules.Position;
import dev.weir.rules.Problem;
import dev.weir.rules.RuleDefaults;
import dev.weir.rules.RuleSet;
import dev.weir.rules.RuleSource;
import dev.weir.rules.Rules;
import dev.weir.rules.Severity;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Rules from a configuration store: read at the start, and again whenever the store has another
 * revision. Safe for use by many threads.
 *
 * <p>Rules that cannot be put in force change nothing here; the store's list of servers shows the
 * reason. While the store does not answer, the rules stay as they are, and {@link #status} returns
 * for how long. Closing it leaves the store open.
 */
public final class RuleFollower implements RuleSource {
  /*
   * How is RuleFollower designed, and why? A feed reads the store's head at an interval: its own
   * feed, or one that it shares with the cache of records. It compares the head's revision, rather
   * than waiting for a change of the rules, so it cannot miss one; and reads only texts that it
   * lacks.
   *
   * A revision is handed on once, whether it is sound or not. It is handed on again only after an
   * Error, such as a lack of memory; rule files are treated the same way.
   */
  private static final System.Logger LOG = System.getLogger("dev.weir.config");
  private final ConfigStore store;
  private final Ticker ticker;
  private final long intervalNanos;
  private final long patienceNanos;
  private final RuleDefaults defaults;
  private final @Nullable LastRules lastKnown;
  private final boolean emptyAtFirst;
  private final boolean withoutRules;
  private final Heart heart;
  private final RolloutWatch rollouts;
  private final LongUnaryOperator jitter;
  private final Feed feed;
  private final boolean ownFeed;
  private final Listener listener = new Listener();

  /** Held by every reader of the store. */
  private final ReentrantLock turn = new ReentrantLock();

  /** The last revision that was read, even if it is not in force. */
  private RuleTexts read = RuleTexts.NONE;

  /** The rules that {@link #load} returned, until {@link #follow} is called. */
  private @Nullable RuleSet loaded;

  /** Rules in force that are not in the last-known file yet. */
  private @Nullable RuleTexts unsaved;

  /** The error reported last, so that an error that persists is reported once. */
  private String reported = "";

  private @Nullable Taker taker;
  private volatile FollowerStatus status = new FollowerStatus(0, 0, 0, List.of());
  private volatile long heardAtNanos;
  private volatile boolean closed;

  /** A taker of the rules read for being put in force; see {@link #rulesTo}. */
  private Consumer<? super RuleSet> rulesTo = rules -> {};

  public RuleFollower(Builder builder, LongUnaryOperator jitter, Executor executor) {
    this(
        builder,
        jitter,
        new Feed(builder.store, builder.ticker, builder.interval, jitter, executor),
        true,
        null);
  }

  /**
   * Creates a follower.
   *
   * @param feed of the settings' store
   * @param ownFeed true if the feed starts and ends with this
   * @param clock is measured with the beats of this server, if there is one
   */
  RuleFollower(
      FollowSettings<?> settings,
      LongUnaryOperator jitter,
      Feed feed,
      boolean ownFeed,
      @Nullable StoreClock clock) {
    store = settings.store;
    ticker = settings.ticker;
    intervalNanos = settings.interval.toNanos();
    patienceNanos = settings.patience.toNanos();
    defaults = settings.defaults;
    lastKnown = settings.lastKnown == null ? null : new LastRules(settings.lastKnown);
    emptyAtFirst = settings.emptyAtFirst;
    withoutRules = settings.withoutRules;
    heart = new Heart(store, ticker, settings.shown(), clock);
    rollouts = new RolloutWatch(store, settings.node);
    this.jitter = jitter;
    this.feed = feed;
    this.ownFeed = ownFeed;
    heardAtNanos = ticker.nanos();
    feed.listen(Rollout.KIND, rollouts); // Before the listener, whose target it determines.
    feed.listen(ChangeDetails.RULES, listener);
  }

  /**
   * Sets a taker of the rules that are read for being put in force; it gets them before the engine.
   */
  void rulesTo(Consumer<? super RuleSet> to) {
    rulesTo = to;
  }

  /**
   * Returns a builder of a follower.
   *
   * @param node distinguishes this server from all others, 1 to 200 bytes in UTF-8
   */
  public static Builder builder(ConfigStore store, String node) {
    return new Builder(store, node);
  }

  /** Builds a {@link RuleFollower}. Not safe for use by several threads. */
  public static final class Builder extends FollowSettings<Builder> {
    private Builder(ConfigStore store, String node) {
      super(store, node);
    }

    @Override
    Builder self() {
      return this;
    }

    /**
     * Builds the follower; it makes no call before {@link RuleFollower#load}.
     *
     * @throws IllegalArgumentException if the server's id, address or version is out of range
     */
    public RuleFollower build() {
      return new RuleFollower(this, Feed::random, Feed.of(store, ticker, interval), true, null);
    }
  }

  /**
   * Reads the rules from the store. If it does not answer, or has rules that cannot be read here,
   * returns those of the last-known file. If there are none, tries the store again until the
   * patience is over. Never returns an empty rule set instead, except with {@link
   * Builder#emptyAtFirst}.
   */
  @Override
  public Rules.LoadResult load() {
    long startedNanos = ticker.nanos();
    while (true) {
      turn.lock();
      try {
        Rules.LoadResult found = loadOnce();
        boolean over = ticker.nanos() - startedNanos >= patienceNanos;
        if (found.ruleSet() != null || over || closed) {
          if (found.ruleSet() != null) {
            rulesTo.accept(found.ruleSet());
          }
          loaded = taker == null ? found.ruleSet() : null;
          return found;
        }
      } finally {
        turn.unlock();
      }
      try {
        ticker.sleep(jitter.applyAsLong(2 * intervalNanos));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return problem("waiting for rules was interrupted");
      }
    }
  }

  private Rules.LoadResult loadOnce() {
    Rules.LoadResult found;
    try {
      Head head = store.head();
      if (head.revision() == 0) {
        found = problem("no rules yet (expected: at least one revision)");
        if (emptyAtFirst && (lastKnown == null || !lastKnown.exists())) {
          heardAtNanos = ticker.nanos();
          begin(RuleTexts.none(head), 0);
          return new Rules.LoadResult(RuleSet.empty(defaults), List.of());
        }
      } else {
        rollouts.forget(); // The feed has not reported this head yet.
        RuleTexts texts = read.read(store, rollouts.target(head));
        found = Rules.parse(texts.texts(), defaults);
        if (found.ruleSet() != null) {
          heardAtNanos = ticker.nanos();
          begin(texts, head.revision());
          return found;
        }
      }
    } catch (ConfigException e) {
      found = problem(String.valueOf(e.getMessage()));
    }
    return lastKnown == null ? found : loadLastKnown(lastKnown, found);
  }

  /**
   * Notes the rules that will be in force. Once {@link #follow} was called, only rules that are
   * handed on count.
   */
  private void begin(RuleTexts texts, long headRevision) {
    if (taker != null) {
      return;
    }
    read = texts;
    unsaved = texts.revision() == 0 ? null : texts;
    heart.applied(texts.revision());
    status = new FollowerStatus(texts.revision(), headRevision, 0, List.of());
  }

  private Rules.LoadResult loadLastKnown(LastRules file, Rules.LoadResult instead) {
    List<Problem> problems = new ArrayList<>(instead.problems());
    try {
      RuleTexts texts = file.read();
      if (texts != null) {
        Rules.LoadResult found = Rules.parse(texts.texts(), defaults);
        if (found.ruleSet() != null) {
          begin(texts, 0);
          LOG.log(
              System.Logger.Level.WARNING,
              "{0}; started with the rules last known, revision {1}",
              problems.isEmpty() ? "no rules" : problems.get(0),
              Long.toString(texts.revision()));
          return found;
        }
        problems.addAll(found.problems());
      }
    } catch (IOException e) {
      problems.addAll(problem(String.valueOf(e.getMessage())).problems());
    }
    return new Rules.LoadResult(null, problems);
  }

  private static Rules.LoadResult problem(String message) {
    Position position = new Position("configuration store", 0, 0);
    return new Rules.LoadResult(null, List.of(new Problem(Severity.ERROR, position, message)));
  }

  @Override
  public void follow(RuleSet current, Taker newTaker) {
    turn.lock();
    try {
      if (current != loaded) { // The rules in force are not from here: the store's are news.
        read = RuleTexts.NONE;
      }
      loaded = null; // Freed, since the rules may be large.
      taker = newTaker;
    } finally {
      turn.unlock();
    }
    feed.start();
  }

  /** The follower's listener on the feed, once {@link #follow} was called. */
  private final class Listener implements FeedListener {
    @Override
    public void caughtUp(Head head, long asOfNanos) throws IOException {
      turn.lock();
      try {
        Taker to = taker;
        if (!closed && to != null) {
          follow(head, to);
        }
      } finally {
        turn.unlock();
      }
    }

    @Override
    public void failed(Throwable error) {
      turn.lock();
      try {
        Taker to = taker;
        String message = String.valueOf(error.getMessage());
        if (!closed && to != null && (!message.equals(reported) || error instanceof Error)) {
          reported = message;
          to.failed(error);
        }
      } finally {
        turn.unlock();
      }
    }
  }

  private void follow(Head head, Taker to) throws IOException {
    Head target = rollouts.target(head);
    if (!withoutRules && !read.is(target)) {
      take(target, to);
    }
    heardAtNanos = ticker.nanos();
    status = new FollowerStatus(heart.revision(), head.revision(), 0, heart.problems());
    try {
      if (heart.beat(head)) {
        rollouts.judge();
      }
    } finally {
      save();
    }
    reported = "";
  }

  private void take(Head head, Taker to) {
    if (head.revision() == 0) {
      if (emptyAtFirst && heart.revision() == 0 && read.revision() == 0) {
        read = RuleTexts.none(head);
        return; // Another store without rules, instead of the one before.
      }
      throw new ConfigException(
          Kind.DAMAGED,
          "rules: none (expected: at least one revision; those before stay in force)");
    }
    RuleTexts before = read;
    RuleTexts next = before.read(store, head);
    Rules.LoadResult changed = Rules.parse(next.texts(), defaults);
    read = next;
    List<Problem> problems;
    try {
      RuleSet rules = changed.ruleSet();
      if (rules != null) {
        rulesTo.accept(rules);
      }
      problems = to.changed(changed);
    } catch (RuntimeException e) {
      heart.refused(List.of("not put in force, " + e));
      throw e;
    } catch (Error e) {
      read = before; // A lack of memory passes, and this revision must come into force then.
      throw e;
    }
    if (problems.isEmpty()) {
      heart.applied(next.revision());
      unsaved = next;
    } else {
      heart.refused(Heart.lines(problems));
    }
  }

  private void save() throws IOException {
    RuleTexts texts = unsaved;
    if (texts != null) {
      if (lastKnown != null) {
        lastKnown.write(texts);
      }
      unsaved = null;
    }
  }

  /** Returns the progress of this server. Never blocks. */
  public FollowerStatus status() {
    FollowerStatus last = status;
    return new FollowerStatus(
        last.appliedRevision(),
        last.headRevision(),
        Math.max(0, ticker.nanos() - heardAtNanos),
        last.problems());
  }

  /**
   * Stops following the store. After it returns, nothing is handed on any more, unless a call takes
   * longer than a second.
   */
  @Override
  public void close() {
    closed = true;
    feed.unlisten(listener);
    feed.unlisten(rollouts);
    Feed.awaitTurn(turn);
    if (ownFeed) {
      feed.close();
    }
  }
}
