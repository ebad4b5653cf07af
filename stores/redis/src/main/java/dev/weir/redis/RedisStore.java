package dev.weir.redis;

import dev.weir.AfterCrash;
import dev.weir.Consistency;
import dev.weir.FailureMode;
import dev.weir.Ticker;
import dev.weir.shared.Clocks;
import dev.weir.shared.Counters;
import dev.weir.shared.SharedStore;
import dev.weir.shared.StoreSettings;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A store in Redis 6.2 or newer, or Valkey, shared by many processes. Safe for use by many threads.
 *
 * <p>Each decision is one atomic step of a script in Redis, by Redis's own clock, in microseconds;
 * {@link Consistency} determines how often a process calls Redis. Windows and granules are counted
 * in whole microseconds, rounded up. A key's state expires in Redis when it no longer affects a
 * decision.
 *
 * <p>Without failover, no window holds more than the quota. Redis replicates asynchronously: a
 * replica that is promoted may lack the latest decisions, and admit the same permits again. {@link
 * Builder#replicas} narrows that. A Redis that has lost all counts, or those of more than 3 s, is
 * noticed: see {@link Builder#afterCrash}.
 *
 * <p>Answers come on a thread of the client's, which must not be blocked, or on the caller's if no
 * call to Redis is needed. If Redis does not decide a request within the {@linkplain
 * Builder#timeout timeout}, the policy's {@link FailureMode} determines the answer. While Redis
 * cannot be reached, this answer is given at once. No operation that may have been decided is sent
 * again: permits that were charged for an answer that came too late are given back.
 */
public final class RedisStore extends SharedStore {
  private RedisStore(LinkSettings settings, Address address) {
    super(settings.store(), address.open(settings));
  }

  /**
   * Returns a builder of a store.
   *
   * @param uri {@code redis://[user:password@]host[:port][/database]}, {@code rediss://} for TLS,
   *     {@code redis-sentinel://host[:port][,host...][/database]#master}, {@code
   *     redis-cluster://host[:port][,host...]}, {@code rediss-cluster://}
   * @throws IllegalArgumentException if the URI has none of these forms
   */
  public static Builder builder(String uri) {
    return new Builder(Address.of(uri));
  }

  /** A builder of a store. Not safe for use by several threads. */
  public static final class Builder {
    private static final long MOST_TIMEOUT_SECONDS = 60;
    private static final int MOST_REPLICAS = 16;
    private static final int MOST_PREFIX_LENGTH = 64;

    private final Address address;
    private String prefix = "weir";
    private long timeoutNanos = 100_000_000L;
    private int replicas;
    private Ticker ticker = Ticker.system();
    private Ticker wall = Ticker.wall();
    private Consumer<? super String> log = line -> {};
    private @Nullable Consumer<? super String> warnings;
    private boolean callersClock;
    private AfterCrash afterCrash = AfterCrash.DENY;
    private boolean marked = true;

    private Builder(Address address) {
      this.address = address;
    }

    /**
     * Sets the password, instead of one in the URI: that of the user that the URI names, as in
     * {@code redis://user@host}, or of the default user if it names none.
     */
    public Builder password(CharSequence password) {
      address.password(password);
      return this;
    }

    /**
     * Sets the text with which the names of all keys begin, 1 to 64 characters. Default: {@code
     * weir}.
     */
    public Builder prefix(String prefix) {
      if (prefix.isEmpty() || prefix.length() > MOST_PREFIX_LENGTH) {
        throw new IllegalArgumentException(
            "prefix: " + prefix.length() + " characters (expected: 1.." + MOST_PREFIX_LENGTH + ")");
      }
      this.prefix = prefix;
      return this;
    }

    /**
     * Sets the longest time that a decision may take, 1 ms to 60 s; then its policy's {@link
     * FailureMode} determines the answer. Default: 100 ms.
     */
    public Builder timeout(Duration timeout) {
      boolean fits =
          timeout.compareTo(Duration.ofMillis(1)) >= 0
              && timeout.compareTo(Duration.ofSeconds(MOST_TIMEOUT_SECONDS)) <= 0;
      if (!fits) {
        throw new IllegalArgumentException("timeout: " + timeout + " (expected: 1 ms to 60 s)");
      }
      this.timeoutNanos = timeout.toNanos();
      return this;
    }

    /**
     * Sets how many replicas must have a decision before it is answered; if fewer have it in time,
     * the decision is uncertain. 0 to 16, not for a cluster; default: 0.
     */
    public Builder replicas(int replicas) {
      if (replicas < 0 || replicas > MOST_REPLICAS || (replicas > 0 && address.isCluster())) {
        throw new IllegalArgumentException(
            "replicas: " + replicas + " (expected: 0.." + MOST_REPLICAS + ", 0 for a cluster)");
      }
      this.replicas = replicas;
      return this;
    }

    /**
     * Sets the treatment of keys after Redis has lost counts: it was restarted without its data, an
     * empty replica took its place, it was flushed, or it was put back from a copy that is more
     * than 3 s old. {@link AfterCrash#DENY} refuses each key until its window has passed since the
     * loss was noticed; a bucket refills from empty. {@link AfterCrash#AMNESTY} counts from zero.
     * The instant of the loss is kept in Redis, so that all processes agree on it. A process
     * notices a loss with its first decision after it, if it has made decisions before. Default:
     * {@link AfterCrash#DENY}.
     */
    public Builder afterCrash(AfterCrash afterCrash) {
      this.afterCrash = Objects.requireNonNull(afterCrash, "afterCrash");
      marked = true;
      return this;
    }

    /**
     * Sets the only clock for deadlines and allotments. Default: {@link Ticker#system()}, and for
     * the ends of allotments and views also {@link Ticker#wall()}, whichever comes first: the
     * monotonic clock stands still while a machine is suspended, and Redis's goes on.
     */
    public Builder ticker(Ticker ticker) {
      return clocks(ticker, ticker);
    }

    /** Sets both clocks. */
    Builder clocks(Ticker ticker, Ticker wall) {
      this.ticker = Objects.requireNonNull(ticker, "ticker");
      this.wall = Objects.requireNonNull(wall, "wall");
      return this;
    }

    /** Sets the receiver of messages for the operator, one line each. Default: none. */
    public Builder log(Consumer<? super String> log) {
      this.log = Objects.requireNonNull(log, "log");
      return this;
    }

    /**
     * Sets the receiver of warnings of problems that break guarantees while they last, one line
     * each: settings that make Redis lose data, and a clock that goes back. Settings are checked
     * when the connection is made and every minute; a change of the problems is reported. Default:
     * the receiver that {@link #log} sets.
     */
    public Builder warnings(Consumer<? super String> warnings) {
      this.warnings = Objects.requireNonNull(warnings, "warnings");
      return this;
    }

    /**
     * Makes callers send their own time, and nothing expire: for tests. Losses are noticed only if
     * {@link #afterCrash} is called afterwards, since tests have times of their own in one Redis.
     */
    Builder callersClock() {
      callersClock = true;
      marked = false;
      return this;
    }

    /**
     * Returns the store. It connects by itself, now or as soon as Redis can be reached, and again
     * after every loss.
     */
    public RedisStore build() {
      StoreSettings settings =
          new StoreSettings(
              "redis",
              timeoutNanos,
              new Clocks(ticker, wall),
              callersClock,
              log,
              warnings == null ? log : warnings,
              new Counters());
      return new RedisStore(
          new LinkSettings(prefix, replicas, afterCrash, marked, settings), address);
    }
  }
}
