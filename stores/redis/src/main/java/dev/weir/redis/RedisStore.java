package dev.weir.redis;

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
 * {@link Consistency} says how often a process asks. Windows and granules are counted in whole
 * microseconds, rounded up. A key's state expires in Redis when it no longer affects a decision.
 *
 * <p>Without failover, no window holds more than the quota. Redis replicates asynchronously: a
 * replica that is promoted may lack the latest decisions, and admit as much again. {@link
 * Builder#replicas} narrows that.
 *
 * <p>Answers come on a thread of the client's, which must not be blocked, or on the caller's if
 * Redis need not be asked. A decision that Redis does not give within the {@linkplain
 * Builder#timeout timeout} is answered as its policy's {@link FailureMode} says; so is every
 * decision while Redis cannot be asked, at once. Nothing is ever asked twice: what was charged for
 * an answer that came too late is given back.
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
   * @throws IllegalArgumentException if it is none of these
   */
  public static Builder builder(String uri) {
    return new Builder(Address.of(uri));
  }

  /** Collects a store's options. Not safe for use by several threads. */
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

    private Builder(Address address) {
      this.address = address;
    }

    /**
     * Sets the password, in place of one in the URI: of the user that the URI names, as in {@code
     * redis://user@host}, or of the default user if it names none.
     */
    public Builder password(CharSequence password) {
      address.password(password);
      return this;
    }

    /** Sets what the names of all keys begin with, 1 to 64 characters. Default: {@code weir}. */
    public Builder prefix(String prefix) {
      if (prefix.isEmpty() || prefix.length() > MOST_PREFIX_LENGTH) {
        throw new IllegalArgumentException(
            "prefix: " + prefix.length() + " characters (expected: 1.." + MOST_PREFIX_LENGTH + ")");
      }
      this.prefix = prefix;
      return this;
    }

    /**
     * Sets how long a decision may take, 1 ms to 60 s; then it is answered as its policy says.
     * Default: 100 ms.
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
     * Sets how many replicas must have a decision before it is answered; those that do not in time
     * make it uncertain. 0 to 16, not for a cluster; default: 0.
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

    /** Sets what receives messages for the operator, one line each. Default: nothing. */
    public Builder log(Consumer<? super String> log) {
      this.log = Objects.requireNonNull(log, "log");
      return this;
    }

    /**
     * Sets what receives warnings of problems that break guarantees while they last, one line each:
     * settings of Redis that make it forget, and a clock that goes back. Settings are checked when
     * the connection is made and every minute; a change of what is wrong is reported. Default: what
     * {@link #log} sets.
     */
    public Builder warnings(Consumer<? super String> warnings) {
      this.warnings = Objects.requireNonNull(warnings, "warnings");
      return this;
    }

    /** Has callers bring the time along, and nothing expire: for tests. */
    Builder callersClock() {
      callersClock = true;
      return this;
    }

    /**
     * Returns the store. It connects by itself, now or whenever Redis is there, and again after
     * every loss.
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
      return new RedisStore(new LinkSettings(prefix, replicas, settings), address);
    }
  }
}
