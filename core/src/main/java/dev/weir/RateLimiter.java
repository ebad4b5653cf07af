package dev.weir;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/**
 * A rate limiter that holds each key to one or more quotas, in this process or together with other
 * processes through a {@link Store}. Safe for use by many threads.
 *
 * <pre>{@code
 * RateLimiter limiter = RateLimiter.of(Quota.perSecond(10), Quota.perMinute(100));
 * Decision decision = limiter.tryAcquire(user);
 * if (!decision.allowed()) {
 *   refuse(decision.retryAfterSeconds());
 * }
 * }</pre>
 *
 * <p>{@code try...} and {@link #peek} answer at once, {@link #acquire} waits on the caller's
 * thread, {@link #acquireAsync} on none, and {@link #reserve} returns how long to wait. A request
 * is charged by all of the limiter's policies or by none.
 *
 * <p>A key is any text, also an empty one. Keys of other kinds: {@link #forKey}; no key at all:
 * {@link SingleLimiter}; decisions that allocate nothing: {@link #packed}.
 *
 * <p>A request for 0 permits charges nothing; one for more than can ever fit is refused and never
 * fits. A negative number is an {@link IllegalArgumentException}, a null argument a {@link
 * NullPointerException} that names it. For each key, time never goes back: a request with an older
 * time than that of an admitted one is decided at the later time.
 *
 * <p>A limiter has memory of its own, which it gives back by itself as keys are no longer needed,
 * or a store of the caller's choice. If that store is elsewhere, methods wait for its answer; those
 * that end in {@code Async} do not. If the store cannot answer, the policy's {@link Sharing}
 * determines the answer.
 */
public final class RateLimiter {
  private static final long NANOS_PER_MILLI = 1_000_000L;
  private static final long MAX_MILLIS = Ticker.HORIZON_NANOS / NANOS_PER_MILLI;

  /** The ticker of a limiter that is created from two numbers, whose callers pass the time. */
  private static final Ticker NO_TICKER =
      () -> {
        throw new IllegalStateException(
            "ticker: none (expected: allow with a timestamp, or a limiter by of or builder)");
      };

  private final Requests requests;

  RateLimiter(Requests requests) {
    this.requests = requests;
  }

  /** Returns a limiter with those quotas by exact sliding windows, for each key in this process. */
  public static RateLimiter of(Quota quota, Quota... more) {
    return builder(quota, more).build();
  }

  /** Returns a limiter with those policies, for each key in this process. */
  public static RateLimiter of(Policy policy, Policy... more) {
    return builder(policy, more).build();
  }

  /** Returns a builder of a limiter with those quotas. */
  public static LimiterBuilder builder(Quota quota, Quota... more) {
    return new LimiterBuilder(LimiterBuilder.policies(quota, more));
  }

  /** Returns a builder of a limiter with those policies: all of them must admit a request. */
  public static LimiterBuilder builder(Policy policy, Policy... more) {
    return new LimiterBuilder(LimiterBuilder.policies(policy, more));
  }

  /** Requests one permit now. */
  public Decision tryAcquire(String key) {
    return tryAcquire(key, 1);
  }

  /** Requests permits now: all of them or none. */
  public Decision tryAcquire(String key, long permits) {
    return requests.decide(of(key), permits);
  }

  /**
   * Takes as many permits as there are, up to a number.
   *
   * @return how many were admitted and charged, 0 to {@code permits}; at most as many as fit. It
   *     may be fewer if others request permits for the same key meanwhile
   */
  public long tryAcquireUpTo(String key, long permits) {
    return requests.decideUpTo(of(key), permits);
  }

  /** Requests one permit now, without waiting for the store. See {@link #tryAcquire(String)}. */
  public CompletableFuture<Decision> tryAcquireAsync(String key) {
    return tryAcquireAsync(key, 1);
  }

  /**
   * Requests permits now, without waiting for the store. See {@link #tryAcquire(String, long)}. The
   * decision comes on a thread of the store, which must not be blocked; on the caller's thread if
   * the store is in this process. The future never fails.
   */
  public CompletableFuture<Decision> tryAcquireAsync(String key, long permits) {
    return requests.decideAsync(of(key), permits);
  }

  /** Returns the decision that {@link #tryAcquire(String)} would make, and charges nothing. */
  public Decision peek(String key) {
    return peek(key, 1);
  }

  /**
   * Returns the decision that {@link #tryAcquire(String, long)} would make, and charges nothing.
   */
  public Decision peek(String key, long permits) {
    return requests.peek(of(key), permits);
  }

  /**
   * Holds the most that a request may cost, to be settled by what it did cost. As long as no cost
   * is above its hold, no window holds more than the bound of the {@link Algorithm} of what is held
   * and of what settled requests did cost.
   *
   * @param most permits, at least 0; if they do not fit, the hold is refused and nothing is charged
   */
  public Hold hold(String key, long most) {
    return requests.hold(of(key), most);
  }

  /**
   * Takes a seat for the key: one permit that is out until it is given back. See {@link
   * #seat(String, long)}.
   */
  public Seat seat(String key) {
    return seat(key, 1);
  }

  /**
   * Takes permits that are out until they are given back, all or none. At least one policy must be
   * of {@link Algorithm#CONCURRENCY}: the permits of its seats come back, those of the limiter's
   * other policies are charged as always.
   *
   * @throws IllegalStateException if no policy is of {@link Algorithm#CONCURRENCY}
   */
  public Seat seat(String key, long permits) {
    return requests.seats.take(of(key), permits);
  }

  /**
   * Takes permits like {@link #seat(String, long)}, and waits for them at most {@code timeout}.
   * Requests that wait in this process have their turn in the order in which they came; a request
   * that does not wait may come before them. Where other processes give seats back as well, a
   * request is tried again 20 times a second.
   *
   * @param timeout zero to 36 years
   * @throws InterruptedException if the thread is interrupted; nothing is taken then
   */
  public Seat seat(String key, long permits, Duration timeout) throws InterruptedException {
    CompletableFuture<Seat> seat = seatAsync(key, permits, timeout);
    try {
      return seat.get();
    } catch (InterruptedException e) {
      if (!seat.cancel(false)) { // It came in this moment.
        CompletableFuture<Boolean> unused = seat.thenCompose(Seat::releaseAsync);
      }
      throw e;
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Takes permits like {@link #seat(String, long, Duration)}, without a thread that waits. A seat
   * that is refused comes at the timeout. Cancelling the future gives the permits back. The seat
   * comes on a thread of the {@link Ticker}, of the store, or of the one who gives a seat back,
   * which must not be blocked.
   */
  public CompletableFuture<Seat> seatAsync(String key, long permits, Duration timeout) {
    return requests.seats.await(of(key), permits, Sleeps.nanos("timeout", timeout));
  }

  /**
   * Counts a cost that is known only now, such as the tokens or bytes of a response: permits are
   * counted whatever is left. What is beyond a limit is a debt, and requests for the key are
   * refused until it has passed or refilled. Of a key whose costs are only reported, at most N - 1
   * permits and those of requests that were under way at that time are counted in a window of N,
   * times the bound of the {@link Algorithm}.
   *
   * <p>With 0 permits this is a question: whether there is no debt and at least one permit left. It
   * charges nothing.
   *
   * @param permits at least 0
   * @return the key's state after that. It is allowed if nothing is owed; otherwise {@link
   *     Decision#remaining} is negative, the debt, and {@link Decision#retryAfterNanos} is the time
   *     until the next permit fits. Every permit is counted in both cases, unless the store has no
   *     room for the key or cannot answer, as {@link Decision#reason} says
   */
  public Decision charge(String key, long permits) {
    return requests.charge(of(key), permits);
  }

  /**
   * Counts a cost like {@link #charge}, without waiting for the store. The decision comes as for
   * {@link #tryAcquireAsync(String, long)}.
   */
  public CompletableFuture<Decision> chargeAsync(String key, long permits) {
    return requests.chargeAsync(of(key), permits);
  }

  /**
   * Waits for one permit, however long that takes. The request is refused only if no permit can
   * ever fit, or if the store cannot decide.
   *
   * @see #acquire(String, long, Duration)
   */
  public Decision acquire(String key) throws InterruptedException {
    return requests.acquire(of(key), 1, Sleeps.LONGEST_NANOS);
  }

  /**
   * Waits for one permit, at most {@code timeout}.
   *
   * @see #acquire(String, long, Duration)
   */
  public Decision acquire(String key, Duration timeout) throws InterruptedException {
    return acquire(key, 1, timeout);
  }

  /**
   * Requests permits and waits for them. Refuses at once if the wait would exceed the timeout. With
   * one policy, requests that wait are served in the order they came, and none overtakes them; but
   * under an elastic policy nothing waits while there is spare capacity. With several policies, a
   * request is repeated whenever its permits may fit: others can come first, until the timeout.
   *
   * @param timeout zero to 36 years
   * @throws InterruptedException if the thread is interrupted; the permits are then given back
   */
  public Decision acquire(String key, long permits, Duration timeout) throws InterruptedException {
    return requests.acquire(of(key), permits, Sleeps.nanos("timeout", timeout));
  }

  /**
   * Requests one permit that may be used later, without a thread that waits. See {@link
   * #acquire(String)}.
   */
  public CompletableFuture<Decision> acquireAsync(String key) {
    return DelayedDecision.of(requests, of(key), 1, Sleeps.LONGEST_NANOS);
  }

  /**
   * Requests one permit that may be used within a timeout, without a thread that waits. See {@link
   * #acquire(String, Duration)}.
   */
  public CompletableFuture<Decision> acquireAsync(String key, Duration timeout) {
    return acquireAsync(key, 1, timeout);
  }

  /**
   * Requests permits that may be used within a timeout, without a thread that waits. See {@link
   * #acquire(String, long, Duration)}. The decision comes when the permits may be used, or at once
   * if it is a refusal. Cancelling the future, or completing it in another way, gives the permits
   * back. The decision comes on a thread of the {@link Ticker} or of the store, which must not be
   * blocked, or on the caller's.
   */
  public CompletableFuture<Decision> acquireAsync(String key, long permits, Duration timeout) {
    return DelayedDecision.of(requests, of(key), permits, Sleeps.nanos("timeout", timeout));
  }

  /**
   * Charges permits for the instant at which they fit, if that is at most {@code maxWait} away.
   * Does not wait. With a leaky bucket, permits leave one emission interval apart.
   *
   * @param maxWait zero to 36 years
   * @throws IllegalStateException if the limiter has several policies: their instants differ
   */
  public Reservation reserve(String key, long permits, Duration maxWait) {
    return requests.reserve(of(key), permits, Sleeps.nanos("maxWait", maxWait));
  }

  /**
   * Gives back permits that were not needed after all: those that still count, and only as many as
   * cannot admit too much. Give a decision back only once.
   *
   * @param charged the decision that admitted them
   * @return how many permits were given back, 0 to {@code permits}; with several policies the least
   *     of theirs
   */
  public long refund(String key, long permits, Decision charged) {
    return requests.refund(of(key), permits, charged);
  }

  /** Forgets what a key has used. Returns whether it had used anything. */
  public boolean reset(String key) {
    return requests.reset(of(key));
  }

  /** Returns this limiter for one key. */
  public SingleLimiter forKey(String key) {
    return new SingleLimiter(requests, of(key));
  }

  /**
   * Returns this limiter for a key that is a number. It is another key than the text of its digits.
   */
  public SingleLimiter forKey(long key) {
    return new SingleLimiter(requests, requests.fingerprint.of(key));
  }

  /**
   * Returns this limiter for a key of bytes. It is the same key as the text of which they are the
   * UTF-8.
   */
  public SingleLimiter forKey(byte[] key) {
    Check.notNull("key", key);
    return new SingleLimiter(requests, requests.fingerprint.of(key, 0, key.length));
  }

  /**
   * Returns this limiter for a key of several parts, for example a tenant and a user. {@code ("ab",
   * "c")} and {@code ("a", "bc")} are two keys.
   */
  public SingleLimiter forKey(String first, String second, String... more) {
    long key = requests.fingerprint.add(0, Check.notNull("key", first));
    key = requests.fingerprint.add(key, Check.notNull("key", second));
    for (String part : Check.notNull("more", more)) {
      key = requests.fingerprint.add(key, Check.notNull("key", part));
    }
    return new SingleLimiter(requests, key);
  }

  /** Returns a view of this limiter whose decisions allocate nothing. */
  public PackedLimiter packed() {
    return new PackedLimiter(requests);
  }

  /**
   * Puts other quotas in force by exact sliding windows. See {@link #replace(Policy, Policy...)}.
   */
  public void replace(Quota quota, Quota... more) {
    requests.replace(LimiterBuilder.policies(quota, more));
  }

  /**
   * Puts other policies in force. Admitted permits still count: no sequence of changes admits more
   * than the largest quota that was in force ({@link Store#bind}). A policy continues the counts of
   * the earlier one of its name. One without a name continues the earlier one, without a name, of
   * its window; if there is none, one of another window that has no successor, the nearest. A
   * policy without a predecessor starts fresh, and one that is left out for a while does not count
   * what is admitted meanwhile. Requests in progress are decided as before.
   *
   * @throws IllegalArgumentException if two policies have one name; or if others may use the store,
   *     and a policy without a name is at another place than its predecessor
   * @throws IllegalStateException if algorithms or windows have changed too often within the
   *     windows; nothing has changed then
   */
  public void replace(Policy policy, Policy... more) {
    requests.replace(LimiterBuilder.policies(policy, more));
  }

  /** Adds a listener: it is called for every decision from now on, after the earlier listeners. */
  public void listen(LimiterListener listener) {
    requests.listen(Check.notNull("listener", listener));
  }

  /** Returns the policies in force, under the names that decisions have. */
  public List<Policy> policies() {
    return requests.set().policies();
  }

  /** Returns the first policy in force, or the only one. */
  public Policy policy() {
    return requests.set().policy(0);
  }

  /** Returns the store, for its numbers of keys and bytes and their bounds. */
  public Store store() {
    return requests.store;
  }

  /** Returns how many keys have state. */
  public long keys() {
    return requests.store.keys();
  }

  /**
   * Gives back the memory of keys that have reset, a part of it at each call. A limiter does this
   * by itself now and then, if its store is in this process.
   */
  public void expire() {
    requests.store.expire(requests.ticker.nanos());
  }

  private long of(String key) {
    return requests.fingerprint.of(Check.notNull("key", key));
  }

  /**
   * Creates a limiter by one exact sliding window and by the caller's own timestamps: a request at
   * t counts the admitted ones with a timestamp greater than t - {@code windowMillis}. {@link
   * #allow} is its only method that decides, since it has no ticker.
   *
   * @param maxRequests how many requests each key has per window, at least 0
   * @param windowMillis 1 to 31,622,400,000 (366 days)
   * @throws IllegalArgumentException if a value is out of its range
   */
  public RateLimiter(int maxRequests, long windowMillis) {
    Check.range("maxRequests", maxRequests, 0, Integer.MAX_VALUE);
    Check.range("windowMillis", windowMillis, 1, Quota.MAX_WINDOW_NANOS / NANOS_PER_MILLI);
    Policy exact =
        Policy.builder(new Quota(maxRequests, windowMillis * NANOS_PER_MILLI))
            .algorithm(Algorithm.SLIDING_WINDOW_LOG)
            .build();
    List<Policy> only = List.of(exact);
    Store store = new MemoryStore();
    PolicyNames names = new PolicyNames(null, true);
    requests = new Requests(store, names, only, NO_TICKER, LoadSignal.UNKNOWN, 0);
  }

  /**
   * Requests one permit at the caller's own time. Only for a limiter that was created with {@link
   * #RateLimiter(int, long)}: a limiter has only one source of time.
   *
   * @param timestampMillis any origin, for example the Unix epoch; ±3,458,764,513,820 (109 years)
   * @throws IllegalArgumentException if the timestamp is out of its range
   * @throws IllegalStateException if the limiter has a ticker
   */
  public boolean allow(String userId, long timestampMillis) {
    if (requests.ticker != NO_TICKER) {
      throw new IllegalStateException(
          "limiter: with a ticker (expected: new RateLimiter(maxRequests, windowMillis))");
    }
    Check.range("timestampMillis", timestampMillis, -MAX_MILLIS, MAX_MILLIS);
    long key = requests.fingerprint.of(Check.notNull("userId", userId));
    return requests.packed(key, 1, timestampMillis * NANOS_PER_MILLI) >= 0;
  }
}
