package dev.weir.engine;

import dev.weir.Algorithm;
import dev.weir.Batch;
import dev.weir.Binding;
import dev.weir.Fingerprint;
import dev.weir.LocalStore;
import dev.weir.PackedDecision;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Store;
import dev.weir.engine.internal.callers.CallerWindows;
import dev.weir.engine.internal.callers.RecentBindings;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Token buckets and windows that belong to no rule: every request describes its own, as in {@code
 * CL.THROTTLE} and {@code INCREX}. Safe for use by many threads.
 *
 * <p>The state of a key's bucket is the instant at which its bucket is full again, whatever the
 * numbers that come with a request. As long as requests for a key come with the same numbers, it
 * keeps to them like any token bucket.
 *
 * <p>A key's windows are counted apart from its bucket, and each length of a window by itself.
 *
 * <p>All buckets are counted under one name in a store. Processes whose buckets are in one shared
 * store count together. Deciding allocates nothing if the store is in this process and the bucket
 * is one of the last that were requested.
 */
public final class CallerBuckets {
  /**
   * The name under which all keys are counted. The names of rules, and of limits that requests
   * bring, begin with other words; a policy of a library hardly has this name.
   */
  static final String NAME = "buckets of callers";

  /** The beginning of the names under which windows are counted. */
  private static final String WINDOWS = "windows of callers";

  private static final long SECOND = 1_000_000_000L;
  private static final long MAX_PERIOD_SECONDS = Quota.MAX_WINDOW_NANOS / SECOND;

  private final Store store;
  private final @Nullable LocalStore local;
  private final Fingerprint fingerprint;
  private final Binding any;
  private final RecentBindings bindings;
  private final CallerWindows windows;
  private final LongAdder requests = new LongAdder();
  private final LongAdder denied = new LongAdder();
  private final LongAdder keySpaceFull = new LongAdder();
  private final LongAdder uncertain = new LongAdder();
  private final LongAdder overloaded = new LongAdder();

  /**
   * Creates buckets in a store, which still belongs to the caller, who calls {@link Store#expire}
   * and closes it.
   *
   * @throws UnsupportedOperationException if the store has no variants of a binding
   */
  public CallerBuckets(Store store, long nowNanos) {
    this.store = store;
    local = store instanceof LocalStore here ? here : null;
    fingerprint = store.fingerprint();
    any = store.bind(NAME, policy(1, 1, 1), nowNanos);
    bindings =
        new RecentBindings(
            (burst, count, periodSeconds, unused) ->
                store.variant(any, policy(burst, count, periodSeconds)));
    windows = new CallerWindows(store, WINDOWS);
    Binding unused = store.variant(any, policy(2, 1, 1)); // Fails now if it would fail later.
  }

  /** Returns the fingerprint of the key of the bytes from {@code from} on, before {@code to}. */
  public long key(byte[] bytes, int from, int to) {
    return fingerprint.of(bytes, from, to);
  }

  /**
   * Returns the bucket with those numbers, to which keys are charged.
   *
   * @param burst how many permits a key that was never used has at once, 0 to 4294967295
   * @param count permits that come back in each period, 0 to 4294967295
   * @param periodSeconds 1 to the longest window of a {@link Quota}
   * @throws IllegalArgumentException if the numbers make no bucket; the message has the reason
   */
  public Binding bucket(long burst, long count, long periodSeconds) {
    return bindings.of(burst, count, periodSeconds, 0);
  }

  /**
   * Returns the sliding window with those numbers, to which keys are charged. No window of that
   * length admits more than the largest limit of its requests.
   *
   * @param limit 0 to 4294967295
   * @param windowNanos 1 to the longest window of a {@link Quota}
   * @throws IllegalArgumentException if the numbers make no window, or if callers already have as
   *     many lengths of windows as there may be; the message has the reason
   */
  public Binding window(long limit, long windowNanos, long nowNanos) {
    return windows.window(limit, windowNanos, nowNanos);
  }

  private static Policy policy(long burst, long count, long periodSeconds) {
    if (periodSeconds < 1 || periodSeconds > MAX_PERIOD_SECONDS) {
      throw new IllegalArgumentException(
          "period: " + periodSeconds + " (expected: 1.." + MAX_PERIOD_SECONDS + ")");
    }
    return Policy.builder(new Quota(count, periodSeconds * SECOND))
        .name(NAME)
        .algorithm(Algorithm.TOKEN_BUCKET)
        .burst(burst)
        .build();
  }

  /**
   * Decides every request of a batch, each for itself and in their order, and passes it to {@code
   * done}: before this returns if {@link #decidesHere}, else on a thread of the store.
   *
   * @param batch with bindings from {@link #bucket} or {@link #window}, and fingerprints from
   *     {@link #key}
   */
  public void decide(Batch batch, long nowNanos, Consumer<? super Batch> done) {
    if (local == null) {
      store.decide(
          batch,
          nowNanos,
          decided -> {
            count(decided);
            done.accept(decided);
          });
    } else {
      local.decide(batch, nowNanos);
      count(batch);
      done.accept(batch);
    }
  }

  /** Returns whether the store answers on the caller's thread, before a call returns. */
  public boolean decidesHere() {
    return local != null;
  }

  private void count(Batch batch) {
    int size = batch.size();
    int refused = 0;
    for (int i = 0; i < size; i++) {
      if (!batch.allowed(i)) {
        refused++;
        switch (PackedDecision.reason(batch.decision(i))) {
          case KEY_SPACE_FULL -> keySpaceFull.increment();
          case UNCERTAIN -> uncertain.increment();
          default -> {} // The store counts those that it was too busy to decide.
        }
      }
    }
    requests.add(size);
    denied.add(refused);
  }

  /** Counts a request that was answered without being decided, for want of time. */
  public void overloaded() {
    overloaded.increment();
  }

  /**
   * Returns the number of counts that {@link #reset} looks at for one key: of its bucket, and of
   * each length of a window that callers have.
   */
  public int countsOfAKey() {
    return 1 + windows.all().size();
  }

  /**
   * Forgets what a key has used, whatever its bucket and its windows. Passes to {@code done}
   * whether there was anything: before this returns if {@link #decidesHere}, else on a thread of
   * the store. Windows of lengths that no caller has had since the start of this process are not
   * looked at.
   *
   * @throws UnsupportedOperationException if the store still reads its counts
   */
  public void reset(long key, long nowNanos, Consumer<? super Boolean> done) {
    List<Binding> all = windows.all();
    all.add(any);
    AtomicInteger missing = new AtomicInteger(all.size());
    AtomicBoolean found = new AtomicBoolean();
    for (Binding each : all) {
      store.reset(
          each,
          key,
          nowNanos,
          known -> {
            if (known) {
              found.set(true);
            }
            if (missing.decrementAndGet() == 0) {
              done.accept(found.get());
            }
          });
    }
  }

  /** Returns the counts. */
  public CallerBucketsMetrics metrics() {
    return new CallerBucketsMetrics(
        requests.sum(), denied.sum(), keySpaceFull.sum(), uncertain.sum(), overloaded.sum());
  }

  /** Returns the store that counts. */
  public Store store() {
    return store;
  }
}
