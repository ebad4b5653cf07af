package dev.weir.redis;

import dev.weir.Batch;
import dev.weir.Charges;
import dev.weir.Consistency;
import dev.weir.Decision;
import dev.weir.FailureAnswer;
import dev.weir.Fingerprint;
import dev.weir.Limit;
import dev.weir.Policy;
import dev.weir.Reason;
import dev.weir.Store;
import dev.weir.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A store in Redis 6.2 or newer, or Valkey, shared by many processes. Safe for use by many threads.
 *
 * <p>Each decision is one atomic step of a script in Redis, by Redis's own clock, in microseconds;
 * how often a process asks, {@link Consistency} says. Windows and granules are counted in whole
 * microseconds, rounded up. A key's state expires in Redis when it says no more than none.
 *
 * <p>Without failover, no window holds more than the quota. Redis replicates asynchronously: a
 * replica that is promoted may lack the latest decisions, and admit as much again. {@link
 * Builder#replicas} narrows that.
 *
 * <p>Answers come on a thread of the client's, which must not be blocked, or on the caller's if
 * nobody has to be asked. A decision that Redis does not give within the {@linkplain
 * Builder#timeout timeout} is answered as its policy's {@link FailureAnswer} says; so is every
 * decision while Redis cannot be asked, at once. Nothing is ever asked twice: what was charged for
 * an answer that came too late is given back.
 */
public final class RedisStore implements Store {
  private final String prefix;
  private final Ticker ticker;
  private final Clocks clocks;
  private final Link link;
  private final Counters counters = new Counters();
  private final Fallback fallback = new Fallback(counters);
  private final Decider decider;
  private final Map<String, RedisLimit> limits = new ConcurrentHashMap<>();
  private final ScheduledExecutorService housekeeping;

  private RedisStore(Builder builder) {
    prefix = builder.prefix;
    ticker = builder.ticker;
    clocks = new Clocks(ticker, builder.wall);
    LinkSettings settings =
        new LinkSettings(
            prefix,
            builder.timeoutNanos,
            builder.replicas,
            ticker,
            builder.log,
            builder.warnings == null ? builder.log : builder.warnings);
    link = builder.address.open(settings, counters);
    decider = new Decider(link, counters, fallback, builder.callersClock);
    housekeeping =
        Executors.newSingleThreadScheduledExecutor(
            task -> {
              Thread thread = new Thread(task, "weir-redis");
              thread.setDaemon(true);
              return thread;
            });
    long tick = LinkSettings.tickNanos(builder.timeoutNanos);
    Object unused =
        housekeeping.scheduleWithFixedDelay(() -> tick(builder.log), 0, tick, TimeUnit.NANOSECONDS);
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

  private void tick(Consumer<? super String> log) {
    try {
      link.tick();
      for (RedisLimit limit : limits.values()) {
        Holdings holdings = limit.holdings;
        if (holdings != null) {
          holdings.tick(limit);
        }
      }
    } catch (RuntimeException e) {
      log.accept("the store's housekeeping failed: " + e);
    }
  }

  /** Returns the fingerprints that are the same in every process. */
  @Override
  public Fingerprint fingerprint() {
    return Fingerprint.shared();
  }

  /**
   * {@inheritDoc}
   *
   * <p>This holds for all processes that ask for the name's keys, whatever policies each of them
   * has in force. A key that was asked for under more than 16 combinations of algorithm and window,
   * all within their windows, is {@link Reason#UNCERTAIN}.
   */
  @Override
  public Limit limit(String name, Policy policy, long nowNanos) {
    List<RedisLimit> replaced = new ArrayList<>();
    RedisLimit inForce =
        limits.compute(
            name,
            (same, known) -> {
              boolean keeps = known != null && RedisLimit.sameHoldings(known.policy(), policy);
              if (known != null && !keeps) {
                replaced.add(known);
              }
              return new RedisLimit(
                  this,
                  prefix,
                  name,
                  policy,
                  fallback.limit(name, policy, nowNanos),
                  keeps ? Objects.requireNonNull(known).holdings : holdings(policy));
            });
    replaced.forEach(RedisStore::giveBack);
    return inForce;
  }

  private static void giveBack(RedisLimit limit) {
    if (limit.holdings != null) {
      limit.holdings.close(limit);
    }
  }

  private @Nullable Holdings holdings(Policy policy) {
    return switch (policy.consistency()) {
      case STRICT -> null;
      case LEASED -> new Allotments(policy, clocks, counters, this::ask);
      case APPROXIMATE -> new LocalCounts(policy, clocks, counters, this::ask);
    };
  }

  private void ask(Question question) {
    decider.ask(question, ticker.nanos());
  }

  @Override
  public void retire(String name, long nowNanos) {
    RedisLimit gone = limits.remove(name);
    if (gone != null) {
      giveBack(gone);
    }
    fallback.retire(name, nowNanos);
  }

  @Override
  public void decide(Charges charges, long nowNanos, Consumer<? super Charges> done) {
    for (int i = 0; i < charges.size(); i++) {
      own(charges.limit(i));
    }
    decider.decide(charges, nowNanos, done);
  }

  @Override
  public void decide(Batch batch, long nowNanos, Consumer<? super Batch> done) {
    for (int i = 0; i < batch.size(); i++) {
      own(batch.limit(i));
    }
    decider.decide(batch, nowNanos, done);
  }

  @Override
  public void refund(
      Limit limit,
      long fingerprint,
      long permits,
      Decision charged,
      long nowNanos,
      LongConsumer done) {
    RedisLimit own = own(limit);
    if (permits < 0) {
      throw new IllegalArgumentException("permits: " + permits + " (expected: at least 0)");
    }
    decider.refund(own, fingerprint, permits, charged, nowNanos, done);
  }

  private RedisLimit own(Limit limit) {
    if (limit instanceof RedisLimit redis && redis.store() == this) {
      return redis;
    }
    throw new IllegalArgumentException("limit: " + limit + " (expected: one of this store)");
  }

  /** Forgets in this process; in Redis everything expires by itself. */
  @Override
  public void expire(long nowNanos) {
    fallback.expire(nowNanos);
  }

  /** Returns 0: Redis does not tell. */
  @Override
  public long keys() {
    return 0;
  }

  /** Returns {@link Long#MAX_VALUE}: Redis's {@code maxmemory} is the bound. */
  @Override
  public long maxKeys() {
    return Long.MAX_VALUE;
  }

  /** Returns 0: the state is not in this process. */
  @Override
  public long bytes() {
    return 0;
  }

  @Override
  public long maxBytes() {
    return Long.MAX_VALUE;
  }

  /** Returns what the store has counted since it began; a snapshot. */
  public RedisMetrics metrics() {
    return counters.metrics(available(), link.queued());
  }

  /** Returns whether Redis can be asked now: connected, and not given up on for the moment. */
  public boolean available() {
    return link.available();
  }

  /**
   * Returns why Redis cannot be asked now, in words for people: what it answered last, or what the
   * connection fails for. Empty if it can be asked, or if nobody knows yet.
   */
  public String problem() {
    return link.problem();
  }

  /**
   * Gives back what this process holds, waits for the answers that are due, at most as long as a
   * decision may take, and closes the connections.
   */
  @Override
  public void close() {
    for (String name : limits.keySet()) {
      retire(name, ticker.nanos());
    }
    link.close();
    housekeeping.shutdownNow();
    fallback.close();
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
     * Sets what deadlines and allotments are measured by, alone. Default: {@link Ticker#system()},
     * and {@link Ticker#wall()} for what may be acted on no longer, whichever says so first: the
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

    /** Sets who is told, in one line each, of what an operator should know. Default: nobody. */
    public Builder log(Consumer<? super String> log) {
      this.log = Objects.requireNonNull(log, "log");
      return this;
    }

    /**
     * Sets who is told, in one line each, of what breaks promises as long as it lasts: settings of
     * Redis that make it forget, and a clock that goes back. Settings are looked at when the
     * connection is made and every minute; what is wrong is told when it changes. Default: whoever
     * is told by {@link #log}.
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
      return new RedisStore(this);
    }
  }
}
