package dev.weir.shared;

import dev.weir.Algorithm;
import dev.weir.Batch;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Decision;
import dev.weir.Fingerprint;
import dev.weir.Policy;
import dev.weir.Reason;
import dev.weir.Renewal;
import dev.weir.Store;
import dev.weir.Ticker;
import dev.weir.shared.internal.FailureDecisions;
import dev.weir.shared.internal.HeldKeys;
import dev.weir.shared.internal.LocalAuthority;
import dev.weir.shared.internal.Operation;
import dev.weir.shared.internal.Pace;
import dev.weir.shared.internal.Variants;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A store that several processes share. Safe for use by many threads.
 *
 * <p>{@link dev.weir.Consistency} determines how often a process calls the store. If the store does
 * not decide a request within the timeout, the policy's {@link dev.weir.FailureMode} determines the
 * answer. While the store cannot be called, this answer is given at once. No operation that may
 * have been decided is sent again: permits that were charged for an answer that came too late are
 * given back. An operation that the store has certainly not decided, because its key is elsewhere,
 * is sent to where the key is.
 */
public abstract class SharedStore implements Store {
  private final StoreSettings settings;
  private final Ticker ticker;
  private final Link link;
  private final Counters counters;
  private final HeldKeys held = HeldKeys.ofHeap();
  private final FailureDecisions failureDecisions;
  private final SharedDecider decider;
  private final Map<String, SharedBinding> bindings = new ConcurrentHashMap<>();
  private final Housekeeping housekeeping;
  private final Pace pace;

  /**
   * Creates a store with housekeeping on a thread of its own.
   *
   * @param link the transport; closed with the store
   */
  public SharedStore(StoreSettings settings, Link link) {
    this(settings, link, Housekeeping.thread("weir-" + settings.kind()));
  }

  /**
   * Creates a store.
   *
   * @param link the transport; closed with the store
   * @param housekeeping runs the periodic work; closed with the store
   */
  public SharedStore(StoreSettings settings, Link link, Housekeeping housekeeping) {
    this.settings = settings;
    this.link = link;
    ticker = settings.clocks().monotonic();
    counters = settings.counters();
    failureDecisions = new FailureDecisions(counters);
    decider = new SharedDecider(link, settings, failureDecisions);
    this.housekeeping = housekeeping;
    pace = new Pace(StoreSettings.tickNanos(settings.timeoutNanos()));
    housekeeping.repeat(() -> pace.next(tick()));
  }

  /** Does the due work; returns whether there will be none until the next request. */
  private boolean tick() {
    try {
      link.tick();
      decider.tick();
      boolean idle = link.idle() && decider.idle();
      for (SharedBinding binding : bindings.values()) {
        LocalAuthority authority = binding.authority();
        if (authority != null) {
          authority.tick(binding);
          idle &= authority.idle();
        }
        binding.variants.tick();
        idle &= binding.variants.idle();
      }
      return idle;
    } catch (RuntimeException e) {
      settings.log().accept("the store's housekeeping failed: " + e);
      return false;
    }
  }

  /** Ends a rest of the housekeeping; to be called before any operation. */
  private void wake() {
    pace.wake(
        () -> {
          try {
            link.tick(); // The link's clocks begin here: this process was not late, it had no work.
          } catch (RuntimeException e) {
            settings.log().accept("the store's housekeeping failed: " + e);
          }
          housekeeping.wake();
        });
  }

  /** Returns the fingerprints that are the same in every process. */
  @Override
  public Fingerprint fingerprint() {
    return Fingerprint.shared();
  }

  /**
   * {@inheritDoc}
   *
   * <p>This holds for all processes that request the name's keys, whatever policies each of them
   * has in force. A key that was requested under more combinations of algorithm and window than the
   * store keeps, all within their windows, is {@link Reason#UNCERTAIN}.
   */
  @Override
  public Binding bind(String name, Policy policy, long nowNanos) {
    List<SharedBinding> replaced = new ArrayList<>();
    SharedBinding inForce =
        bindings.compute(
            name,
            (same, known) -> {
              if (known != null) {
                replaced.add(known);
              }
              boolean keeps = known != null && SharedBinding.sameAuthority(known.policy(), policy);
              LocalAuthority authority =
                  keeps ? Objects.requireNonNull(known).authority() : authority(policy);
              return new SharedBinding(
                  this,
                  new CodedPolicy(name, policy, link.code(name, policy)),
                  failureDecisions.bind(name, policy, nowNanos),
                  authority,
                  keeps
                      ? Objects.requireNonNull(known).variants
                      : new Variants(policy, authority, settings.clocks(), this::authority));
            });
    for (SharedBinding before : replaced) {
      if (before.variants != inForce.variants) {
        giveBack(before);
      }
    }
    return inForce;
  }

  private void giveBack(SharedBinding binding) {
    wake();
    LocalAuthority authority = binding.authority();
    binding.variants.close(); // First: from then on no variant is made.
    if (authority != null) {
      authority.close(binding);
    }
  }

  private @Nullable LocalAuthority authority(Policy policy) {
    return LocalAuthority.of(policy, settings, held, this::send);
  }

  private void send(Operation operation) {
    decider.send(operation, ticker.nanos());
  }

  /**
   * {@inheritDoc}
   *
   * <p>The policy goes with every request, so processes need not agree on it. A variant of the same
   * shape has its policy's consistency; permits that this process holds of a key under one policy
   * are not granted under another. A bucket of another shape is decided by the store each time,
   * whatever the consistency of the binding.
   */
  @Override
  public Binding variant(Binding binding, Policy policy) {
    SharedBinding own = own(binding);
    Objects.requireNonNull(policy, "policy");
    boolean sameShape = own.policy().shape().equals(policy.shape());
    boolean buckets =
        own.policy().algorithm() == Algorithm.TOKEN_BUCKET
            && policy.algorithm() == Algorithm.TOKEN_BUCKET;
    if (!sameShape && !buckets) {
      throw new IllegalArgumentException(
          "policy: "
              + policy.algorithm()
              + " over "
              + policy.quota().window()
              + " (expected: the binding's shape, or two token buckets)");
    }
    SharedBinding variant =
        new SharedBinding(
            this,
            new CodedPolicy(own.name(), policy, link.variant(own.code(), policy)),
            failureDecisions.variant(own, policy),
            null,
            own.variants);
    return sameShape ? variant.with(own.variants.of(variant)) : variant;
  }

  @Override
  public String shownKey(Binding binding, long fingerprint) {
    return ((SharedBinding) binding).code().shownKey(fingerprint);
  }

  @Override
  public void retire(String name, long nowNanos) {
    SharedBinding gone = bindings.remove(name);
    if (gone != null) {
      giveBack(gone);
    }
    failureDecisions.retire(name, nowNanos);
  }

  /** Returns true: a permit of an allotment may be granted until the allotment's end. */
  @Override
  public boolean countsLent() {
    return true;
  }

  @Override
  public void decide(Charges charges, long nowNanos, Consumer<? super Charges> done) {
    for (int i = 0; i < charges.size(); i++) {
      own(charges.binding(i));
    }
    wake();
    decider.decide(charges, nowNanos, done);
  }

  /** {@inheritDoc} The timeout of a decision begins at that end. */
  @Override
  public void together(Runnable asks) {
    decider.together(
        () -> {
          asks.run();
          wake(); // The first operations may have waited for long.
        });
  }

  @Override
  public void decide(Batch batch, long nowNanos, Consumer<? super Batch> done) {
    for (int i = 0; i < batch.size(); i++) {
      own(batch.binding(i));
    }
    wake();
    decider.decide(batch, nowNanos, done);
  }

  @Override
  public void refund(
      Binding binding,
      long fingerprint,
      long permits,
      Decision charged,
      long nowNanos,
      LongConsumer done) {
    SharedBinding own = own(binding);
    if (permits < 0) {
      throw new IllegalArgumentException("permits: " + permits + " (expected: at least 0)");
    }
    wake();
    decider.refund(own, fingerprint, permits, charged, nowNanos, done);
  }

  /**
   * {@inheritDoc}
   *
   * <p>A renewal that the store does not answer within the timeout is {@link Renewal#UNANSWERED}.
   */
  @Override
  public void renew(
      Binding binding,
      long fingerprint,
      Decision charged,
      long nowNanos,
      Consumer<? super Renewal> done) {
    SharedBinding own = own(binding);
    wake();
    decider.renew(own, fingerprint, charged, nowNanos, done);
  }

  /**
   * {@inheritDoc}
   *
   * <p>The store removes the key's state in one step, and this process drops what it holds of the
   * key. Another process may use what it holds for a bounded time: under {@link
   * dev.weir.Consistency#LEASED} it may grant the permits of an allotment that it already has, and
   * under every consistency it may repeat a refusal, until its sync interval (100 ms if the
   * consistency is strict) is over. {@code done} receives false if the store cannot be called; the
   * key may or may not have been reset.
   */
  @Override
  public void reset(
      Binding binding, long fingerprint, long nowNanos, Consumer<? super Boolean> done) {
    SharedBinding own = own(binding);
    wake();
    decider.reset(own, fingerprint, nowNanos, done);
  }

  private SharedBinding own(Binding binding) {
    if (binding instanceof SharedBinding shared && shared.store() == this) {
      return shared;
    }
    throw new IllegalArgumentException("binding: " + binding + " (expected: one of this store)");
  }

  /** Expires states in this process; in the store everything expires by itself. */
  @Override
  public void expire(long nowNanos) {
    failureDecisions.expire(nowNanos);
  }

  /** Returns a snapshot of the store's counters since its start. */
  public SharedMetrics metrics() {
    return counters.metrics(settings.kind(), available(), link.queued());
  }

  /** Returns whether the store can be called now: it is connected, and no breaker is open. */
  public boolean available() {
    return link.available();
  }

  /**
   * Returns the reason why the store cannot be called, in words for people: its last error, or the
   * reason why the connection fails. Empty if it can be called, or if nothing is known yet.
   */
  public String problem() {
    return link.problem();
  }

  /**
   * Gives back the permits that this process holds, waits for the missing answers, at most as long
   * as a decision may take, and closes the connections.
   */
  @Override
  public void close() {
    for (String name : bindings.keySet()) {
      retire(name, ticker.nanos());
    }
    decider.close();
    link.close();
    housekeeping.close();
    failureDecisions.close();
  }
}
