package dev.weir;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Limits each key to a quota, in this process or together with others through a {@link Store}. Safe
 * for use by many threads.
 *
 * <pre>{@code
 * RateLimiter limiter = new RateLimiter(100, 60_000);
 * if (!limiter.allow(user, System.currentTimeMillis())) {
 *   refuse();
 * }
 * }</pre>
 *
 * <p>Everything else by a {@link #builder}: other algorithms, a ticker, a bound on keys, a store.
 * Callers use either their own timestamps ({@link #allow(String, long)}) or the ticker (all other
 * methods), not both on one limiter.
 *
 * <p>For each key, time never goes back: a request with an older time than an admitted one's is
 * decided at that one's. Permits range from 0, which looks without charging, over what can ever
 * fit, to any greater number, which is refused with {@link Decision#NEVER}; a negative number is an
 * {@link IllegalArgumentException}. A key is any text, also an empty one; null is a {@link
 * NullPointerException} that names the argument.
 *
 * <p>With a store of its own choice the limiter waits for the store's answers, as long as that
 * takes to give one; {@link #tryAcquireAsync} does not. What such a store cannot know, it answers
 * as the policy says; see {@link FailureAnswer}.
 */
public final class RateLimiter {
  /** Keys whose states are fetched at once: more would not make it faster. */
  private static final int BATCH_SIZE = 64;

  private static final ThreadLocal<Batch> BATCH =
      ThreadLocal.withInitial(() -> new Batch(BATCH_SIZE));

  private static final ThreadLocal<Charges> REQUEST = ThreadLocal.withInitial(Charges::new);

  private final Policy policy;
  private final Ticker ticker;
  private final LoadSignal load;
  private final Fingerprint fingerprint;
  private final Store store;

  /** The store, if it is in this process: then nothing stands between it and the caller. */
  private final @Nullable MemoryStore memory;

  private final Limit limit;

  /** Whether the store's answers are to be told as {@link Policy#told} says. */
  private final boolean throttled;

  /** Permits that the store has beyond the quota: what a soft policy tolerates. */
  private final long tolerated;

  /**
   * Creates a limiter by an exact rolling window: a request at t counts the admitted ones with a
   * timestamp greater than t - {@code windowMillis}.
   *
   * @param maxRequests how many requests each key has per window, at least 0
   * @param windowMillis 1 to 31,622,400,000 (366 days)
   * @throws IllegalArgumentException if a value is out of its range
   */
  public RateLimiter(int maxRequests, long windowMillis) {
    this(builder(exact(maxRequests, windowMillis)));
  }

  private static Policy exact(int maxRequests, long windowMillis) {
    Check.range("maxRequests", maxRequests, 0, Integer.MAX_VALUE);
    Check.range("windowMillis", windowMillis, 1, Quota.MAX_WINDOW_NANOS / NANOS_PER_MILLI);
    return Policy.builder(new Quota(maxRequests, windowMillis * NANOS_PER_MILLI))
        .algorithm(Algorithm.SLIDING_WINDOW_LOG)
        .build();
  }

  private RateLimiter(Builder builder) {
    policy = builder.policy;
    ticker = builder.ticker;
    load = builder.load;
    throttled = policy.enforced() != policy;
    tolerated = policy.enforced().burst() - policy.burst();
    Store other = builder.store;
    memory = other == null ? new MemoryStore(builder.maxKeys, builder.maxBytes) : null;
    store = other == null ? Objects.requireNonNull(memory) : other;
    if (other != null && policy.name().equals(Policy.DEFAULT_NAME)) {
      throw new IllegalArgumentException(
          "policy: without a name (expected: a name, under which the store keeps its counts)");
    }
    fingerprint = store.fingerprint();
    limit = store.limit(policy.name(), policy.enforced(), ticker.nanos());
  }

  /** Returns a builder of a limiter by that policy. */
  public static Builder builder(Policy policy) {
    return new Builder(policy);
  }

  public Policy policy() {
    return policy;
  }

  /** Returns how many keys have state. */
  public long keys() {
    return store.keys();
  }

  /**
   * Asks for one permit at the caller's own time.
   *
   * @param timestampMillis any origin, for example the Unix epoch; ±3,458,764,513,820 (109 years)
   * @throws IllegalArgumentException if the timestamp is out of its range
   */
  public boolean allow(String userId, long timestampMillis) {
    Check.range("timestampMillis", timestampMillis, -MAX_MILLIS, MAX_MILLIS);
    return packed(key(Check.notNull("userId", userId)), 1, timestampMillis * NANOS_PER_MILLI) >= 0;
  }

  /** Asks for one permit now. */
  public Decision tryAcquire(String key) {
    return tryAcquire(key, 1);
  }

  /** Asks for permits now: all of them or none. */
  public Decision tryAcquire(String key, long permits) {
    return decide(request().add(limit, key(key), checked(permits)));
  }

  /** As {@link #tryAcquire(String)}, without waiting for the store. */
  public CompletionStage<Decision> tryAcquireAsync(String key) {
    return tryAcquireAsync(key, 1);
  }

  /**
   * As {@link #tryAcquire(String, long)}, without waiting for the store. The decision comes on a
   * thread of the store's, which must not be blocked; on the caller's if the store is in this
   * process. It never fails.
   */
  public CompletionStage<Decision> tryAcquireAsync(String key, long permits) {
    CompletableFuture<Decision> decision = new CompletableFuture<>();
    store.decide(
        new Charges().add(limit, key(key), checked(permits)),
        ticker.nanos(),
        decided -> decision.complete(told(decided.decision(0))));
    return decision;
  }

  /**
   * As {@link #tryAcquire(String, long)}, allocating nothing if the store is in this process.
   *
   * @return the decision, to be read by {@link PackedDecision}
   */
  public long decide(String key, long permits) {
    return packed(key(key), permits, ticker.nanos());
  }

  private long packed(long fingerprint, long permits, long now) {
    if (memory != null) {
      return told(memory.decide(limit, fingerprint, permits, now));
    }
    Batch batch = new Batch(1).add(limit, fingerprint, permits);
    Wait<Batch> answer = new Wait<>();
    store.decide(batch, now, answer);
    return told(answer.join().decision(0));
  }

  private boolean spare() {
    return policy.throttle().isElastic() && policy.throttle().spare(load());
  }

  /** Returns the load; a signal that fails does not know it. */
  private double load() {
    try {
      return load.load();
    } catch (RuntimeException e) {
      return Double.NaN;
    }
  }

  private Decision told(Decision decided) {
    return told(decided, throttled && spare());
  }

  private Decision told(Decision decided, boolean spare) {
    return throttled ? policy.told(decided, spare) : decided;
  }

  private long told(long packed) {
    if (!throttled) {
      return packed;
    }
    return packed >= 0 ? Math.max(0, packed - tolerated) : spare() ? 0 : packed;
  }

  /**
   * Decides for many keys in one call, each for itself and in their order, faster than one by one:
   * the memory where their states are is waited for once. Allocates nothing.
   *
   * @param keys numbers, as for {@link #decide(long, long)}
   * @param permits how many permits each asks for
   * @param decisions receives as many decisions as there are keys, to be read by {@link
   *     PackedDecision}
   * @throws IllegalArgumentException if {@code decisions} is shorter than {@code keys}
   */
  public void decide(long[] keys, long permits, long[] decisions) {
    Check.notNull("keys", keys);
    Check.notNull("decisions", decisions);
    Check.range("decisions.length", decisions.length, keys.length, Integer.MAX_VALUE);
    Batch batch = BATCH.get();
    for (int from = 0; from < keys.length; from += BATCH_SIZE) {
      int to = Math.min(keys.length, from + BATCH_SIZE);
      batch.clear();
      for (int i = from; i < to; i++) {
        batch.add(limit, fingerprint.of(keys[i]), permits);
      }
      decide(batch);
      for (int i = from; i < to; i++) {
        decisions[i] = told(batch.decision(i - from));
      }
      batch.clear();
    }
  }

  private void decide(Batch batch) {
    if (memory != null) {
      memory.decide(batch, ticker.nanos(), RateLimiter::decided);
    } else {
      Wait<Batch> answer = new Wait<>();
      store.decide(batch, ticker.nanos(), answer);
      answer.join();
    }
  }

  /** Does nothing: this store has decided before it returns. */
  private static void decided(Batch batch) {}

  /** What a store will answer; it always does. */
  private static final class Wait<T> extends CompletableFuture<T> implements Consumer<T> {
    @Override
    public void accept(T answer) {
      complete(answer);
    }
  }

  /**
   * As {@link #decide(String, long)}, for a key that is a number. It has nothing to do with the
   * text of the same digits.
   */
  public long decide(long key, long permits) {
    return packed(fingerprint.of(key), permits, ticker.nanos());
  }

  /** Tells what {@link #tryAcquire(String)} would, and charges nothing. */
  public Decision peek(String key) {
    return peek(key, 1);
  }

  /** Tells what {@link #tryAcquire(String, long)} would, and charges nothing. */
  public Decision peek(String key, long permits) {
    return decide(request().add(limit, key(key), checked(permits)).peek());
  }

  /**
   * Gives back permits that were not needed after all, as far as they still count and giving them
   * back cannot admit too much. Give a decision back once.
   *
   * @param charged the decision that admitted them
   * @return how many permits were given back, 0 to {@code permits}
   */
  public long refund(String key, long permits, Decision charged) {
    Check.notNull("key", key);
    Check.notNull("charged", charged);
    boolean uncharged = policy.throttle().isElastic() && charged.reason() == Reason.TOLERATED;
    if (!charged.allowed() || uncharged) {
      return 0;
    }
    Wait<Long> given = new Wait<>();
    store.refund(
        limit, key(key), checked(permits), ofStore(charged), ticker.nanos(), given::accept);
    return given.join();
  }

  /** Returns a decision as the store has made it: what a permit cost depends on the limit. */
  private Decision ofStore(Decision told) {
    boolean own = told.limit() == policy.burst();
    return !throttled
        ? told
        : new Decision(
            told.outcome(),
            told.reason() == Reason.TOLERATED ? Reason.WITHIN_LIMIT : told.reason(),
            told.policy(),
            own ? policy.enforced().burst() : told.limit(),
            told.remaining(),
            told.retryAfterNanos(),
            told.resetAfterNanos(),
            told.atNanos());
  }

  /**
   * Asks for one permit and waits for it, at most {@code timeout}.
   *
   * @see #acquire(String, long, Duration)
   */
  public Decision acquire(String key, Duration timeout) throws InterruptedException {
    return acquire(key, 1, timeout);
  }

  /**
   * Asks for permits and waits for them. Refuses at once if the wait would exceed the timeout.
   * Those who wait are served in the order they came, and nobody overtakes them; save under an
   * elastic policy, where nobody waits while there is spare capacity.
   *
   * @param timeout zero to 36 years
   * @throws InterruptedException if the thread is interrupted; the permits are then given back
   */
  public Decision acquire(String key, long permits, Duration timeout) throws InterruptedException {
    Check.notNull("timeout", timeout);
    Reservation reservation = reserve(key, permits, timeout);
    if (reservation.granted()) {
      reservation.await();
    }
    return reservation.decision();
  }

  /**
   * Asks for permits and charges them for the instant at which they fit, if that is at most {@code
   * maxWait} away. Does not wait. By a leaky bucket, permits leave one emission interval apart.
   *
   * @param maxWait zero to 36 years
   */
  public Reservation reserve(String key, long permits, Duration maxWait) {
    long nanos = Check.nanos("maxWait", maxWait);
    boolean spare = spare();
    Charges charges = request().add(limit, key(key), checked(permits)).maxWait(spare ? 0 : nanos);
    long now = ticker.nanos();
    ask(charges, now);
    boolean waits = charges.allowed() && charges.retryAfterNanos(0) > 0;
    long dueNanos = !waits ? now : memory != null ? charges.atNanos(0) : later(charges);
    Decision decision = told(charges.decision(0), spare);
    charges.clear();
    return new Reservation(this, key, permits, decision, dueNanos);
  }

  /** Returns when a wait is over that a store with a clock of its own has told. */
  private long later(Charges charges) {
    return ticker.nanos() + charges.retryAfterNanos(0);
  }

  Ticker ticker() {
    return ticker;
  }

  /** Returns an empty request, this thread's own, to be used before the next is asked for. */
  private static Charges request() {
    return REQUEST.get().clear();
  }

  private Decision decide(Charges charges) {
    ask(charges, ticker.nanos());
    Decision decision = told(charges.decision(0));
    charges.clear(); // Or this thread would keep the limiter from being collected.
    return decision;
  }

  private void ask(Charges charges, long now) {
    if (memory != null) {
      memory.decide(charges, now);
    } else {
      Wait<Charges> answer = new Wait<>();
      store.decide(charges, now, answer);
      answer.join();
    }
  }

  private long key(String key) {
    return fingerprint.of(key);
  }

  private static long checked(long permits) {
    return Check.range("permits", permits, 0, Long.MAX_VALUE);
  }

  private static final long NANOS_PER_MILLI = 1_000_000L;
  private static final long MAX_MILLIS = Meter.HORIZON_NANOS / NANOS_PER_MILLI;

  /** Collects a limiter's options. Not safe for use by several threads. */
  public static final class Builder {
    private final Policy policy;
    private Ticker ticker = Ticker.system();
    private LoadSignal load = LoadSignal.UNKNOWN;
    private long maxKeys = MemoryStore.DEFAULT_MAX_KEYS;
    private long maxBytes = MemoryStore.defaultMaxBytes();
    private @Nullable Store store;

    private Builder(Policy policy) {
      this.policy = Check.notNull("policy", policy);
    }

    /** Sets the time that decides. Default: {@link Ticker#system()}. */
    public Builder ticker(Ticker ticker) {
      this.ticker = Check.notNull("ticker", ticker);
      return this;
    }

    /**
     * Sets what an elastic policy listens to. Default: {@link LoadSignal#UNKNOWN}, under which it
     * is as a hard one.
     */
    public Builder load(LoadSignal load) {
      this.load = Check.notNull("load", load);
      return this;
    }

    /**
     * Sets how many keys may have state at once, at least 1. What becomes of one more, the policy
     * says: {@link Policy#whenFull()}. Default: {@value MemoryStore#DEFAULT_MAX_KEYS}.
     */
    public Builder maxKeys(long maxKeys) {
      this.maxKeys = maxKeys;
      return this;
    }

    /**
     * Sets how many bytes the state may take, at least 1. Default: {@link
     * MemoryStore#defaultMaxBytes()}.
     */
    public Builder maxBytes(long maxBytes) {
      this.maxBytes = maxBytes;
      return this;
    }

    /**
     * Sets where the state lives, under the policy's name, which therefore must be given one: all
     * limiters of one name on one store are one limit. To change a limit, build another limiter of
     * the same name on the same store; what was admitted still counts ({@link Store#limit}), and
     * the limiter before, as long as it is used, goes on with its own quota. The limiter does not
     * close the store. Default: a table in this process, for this limiter alone, for which the
     * bounds above are meant.
     */
    public Builder store(Store store) {
      this.store = Check.notNull("store", store);
      return this;
    }

    /**
     * Returns the limiter.
     *
     * @throws IllegalArgumentException if a store is set and the policy has no name: two such
     *     policies would share their counts without anybody having said so
     * @throws IllegalStateException as {@link Store#limit}
     */
    public RateLimiter build() {
      return new RateLimiter(this);
    }
  }
}
