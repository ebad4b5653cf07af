package dev.weir;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A builder of a {@link RateLimiter} with its options. Not safe for use by several threads.
 *
 * @see RateLimiter#builder(Quota, Quota...)
 */
public final class LimiterBuilder {
  private final List<Policy> policies;
  private Ticker ticker = Ticker.system();
  private LoadSignal load = LoadSignal.UNKNOWN;
  private long maxKeys = MemoryStore.DEFAULT_MAX_KEYS;
  private long maxBytes = MemoryStore.defaultMaxBytes();
  private final List<LimiterListener> listeners = new ArrayList<>();
  private @Nullable String name;
  private @Nullable Store store;

  LimiterBuilder(List<Policy> policies) {
    this.policies = policies;
  }

  /**
   * Sets the limiter's name, under which its policies are counted and shown if they have no names
   * of their own: the first by this name, the second by this and {@code #2}, and so on. Required
   * together with {@link #store} if policies have no names.
   */
  public LimiterBuilder name(String name) {
    this.name = Check.notNull("name", name);
    return this;
  }

  /** Sets the time that decides. Default: {@link Ticker#system()}. */
  public LimiterBuilder ticker(Ticker ticker) {
    this.ticker = Check.notNull("ticker", ticker);
    return this;
  }

  /**
   * Sets the load signal of an elastic policy. Default: {@link LoadSignal#UNKNOWN}, under which it
   * behaves like a hard one.
   */
  public LimiterBuilder load(LoadSignal load) {
    this.load = Check.notNull("load", load);
    return this;
  }

  /** Adds a listener that receives every decision. Default: none. */
  public LimiterBuilder listener(LimiterListener listener) {
    listeners.add(Check.notNull("listener", listener));
    return this;
  }

  /**
   * Sets how many keys may have state at once, at least 1; each policy counts its own. {@link
   * Policy#whenFull()} determines the treatment of one more. Default: {@value
   * MemoryStore#DEFAULT_MAX_KEYS}.
   */
  public LimiterBuilder maxKeys(long maxKeys) {
    this.maxKeys = maxKeys;
    return this;
  }

  /**
   * Sets how many bytes the state may take, at least 1. Default: {@link
   * MemoryStore#defaultMaxBytes()}.
   */
  public LimiterBuilder maxBytes(long maxBytes) {
    this.maxBytes = maxBytes;
    return this;
  }

  /**
   * Sets the store of the state, under the policies' names, which therefore must be given: by the
   * policies or by {@link #name}. All limiters of one name on one store share one limit. The
   * limiter does not close the store. Default: a table in this process, for this limiter alone, for
   * which the bounds above are meant.
   */
  public LimiterBuilder store(Store store) {
    this.store = Check.notNull("store", store);
    return this;
  }

  /**
   * Returns the limiter.
   *
   * @throws IllegalArgumentException if two policies have one name; or if a store is set and a
   *     policy has no name: it would share its counts with others unnoticed
   * @throws IllegalStateException if {@link Store#bind} throws it
   */
  public RateLimiter build() {
    boolean own = store == null;
    Store used = store == null ? new MemoryStore(maxKeys, maxBytes) : store;
    PolicyNames names = new PolicyNames(name, own);
    Requests requests = new Requests(used, names, policies, ticker, load, ticker.nanos());
    listeners.forEach(requests::listen);
    if (used instanceof LocalStore local) {
      MemorySweep.start(local, ticker);
    }
    return new RateLimiter(requests);
  }

  /** Returns a limiter without keys. */
  public SingleLimiter buildSingle() {
    return build().forKey("");
  }

  static List<Policy> policies(Quota quota, Quota... more) {
    List<Policy> policies = new ArrayList<>();
    policies.add(Policy.of(quota));
    for (Quota each : Check.notNull("more", more)) {
      policies.add(Policy.of(each));
    }
    return policies;
  }

  static List<Policy> policies(Policy policy, Policy... more) {
    List<Policy> policies = new ArrayList<>();
    policies.add(Check.notNull("policy", policy));
    for (Policy each : Check.notNull("more", more)) {
      policies.add(Check.notNull("policy", each));
    }
    return policies;
  }
}
