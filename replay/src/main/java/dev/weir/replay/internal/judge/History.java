package dev.weir.replay.internal.judge;

import dev.weir.Algorithm;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.replay.internal.pages.CloseUp;
import dev.weir.replay.internal.suggest.OtherLimits;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Rule;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a report beyond the summary: everything over time, and how keys use their windows.
 */
public final class History {
  /** The intervals of a chart: two minutes each for a day. */
  private static final int INTERVALS = 720;

  private static final int SMALL_INTERVALS = 120;

  /**
   * The number of most refused keys; any key with a larger share of refusals than one in so many is
   * among them.
   */
  private static final int REFUSED_KEYS = 1024;

  private static final double MILLION = 1_000_000;

  /** The largest load that a chart shows. */
  private static final double MOST_LOAD = 1_000;

  private final Timeline requests = new Timeline(INTERVALS);

  /** The sum of the requests' loads, in millionths; over the same times as the requests. */
  private final Timeline loads = new Timeline(INTERVALS);

  private final CloseUp closeUp = new CloseUp();
  private final Map<Rule, Timeline> rules = new HashMap<>();
  private final FrequentKeys refused = new FrequentKeys(REFUSED_KEYS);
  private final Map<RuleKey, Timeline> refusedKeys = new HashMap<>();
  private final WindowUse use;
  private final @Nullable RuleTraces traces;

  public History() {
    this(new WindowUse(), new RuleTraces());
  }

  /**
   * @param use the keys' use of their windows
   * @param traces the requests that reached each rule, or null
   */
  public History(WindowUse use, @Nullable RuleTraces traces) {
    this.use = use;
    this.traces = traces;
  }

  /**
   * Adds a request's answer.
   *
   * @param tolerated true if it passed beyond a limit
   * @param load the load at the time; an unknown load counts as full, as it did for the decision
   */
  public void add(long nowNanos, boolean allowed, boolean tolerated, double load) {
    requests.add(nowNanos, 1, !allowed, tolerated);
    double known = Double.isNaN(load) ? 1 : Math.min(load, MOST_LOAD);
    loads.add(nowNanos, Math.round(known * MILLION), false);
    closeUp.add(nowNanos, !allowed, tolerated);
  }

  /** Adds a request's charge to a rule that lets it wait, at the time at which the request came. */
  public void offer(RuleKey key, @Nullable Policy policy, Descriptor descriptor, long nowNanos) {
    long permits = permits(descriptor);
    if (policy != null && permits > 0 && hasWindow(policy)) {
      use.offer(key, policy.enforced().quota(), nowNanos, permits);
      trace(key, nowNanos, permits);
    }
  }

  /**
   * Adds a request for permits of a limit at the same time, at the time at which it came.
   *
   * @param durationNanos the time that it took, at least 0
   */
  void came(RuleKey key, long nowNanos, long permits, long durationNanos) {
    if (traces != null) {
      traces.add(key, nowNanos, permits, durationNanos);
    }
  }

  /** Returns whether permits count within a window: those of seats count until they are back. */
  private static boolean hasWindow(Policy policy) {
    return policy.algorithm() != Algorithm.CONCURRENCY;
  }

  private void trace(RuleKey key, long nowNanos, long permits) {
    if (traces != null) {
      traces.add(key, nowNanos, permits);
    }
  }

  private static long permits(Descriptor descriptor) {
    return Math.min(KeyUse.MAX_PERMITS, Objects.requireNonNullElse(descriptor.permits(), 1L));
  }

  /**
   * Adds a rule's decision about one of a request's descriptors.
   *
   * @param policy the policy that decided: the rule's, or one with the number of a subject; null
   *     for none
   * @param offered true if the request waited, so that {@link #offer} has counted it
   * @param fits true if there was room
   * @param allowed true if the request as a whole may pass
   * @param tolerated true if it was let pass beyond the limit
   * @param refusing true if the request may not pass because of this descriptor
   */
  public void add(
      RuleKey key,
      @Nullable Policy policy,
      Descriptor descriptor,
      long nowNanos,
      boolean offered,
      boolean fits,
      boolean allowed,
      boolean tolerated,
      boolean refusing) {
    long permits = permits(descriptor);
    if (policy == null || permits == 0) {
      return;
    }
    Timeline timeline = rules.get(key.rule());
    if (timeline == null) {
      timeline = new Timeline(INTERVALS);
      if (requests.size() > 0) {
        timeline.add(requests.startNanos(0), 0, false); // Charts in one column begin together.
      }
      rules.put(key.rule(), timeline);
    }
    timeline.add(nowNanos, permits, !fits, tolerated && allowed);
    boolean uncharged = tolerated && policy.throttle().isElastic();
    boolean charged = fits && allowed && !uncharged;
    Quota bound = policy.enforced().quota();
    if (!hasWindow(policy)) {
      refused(key, nowNanos, permits, refusing);
      return;
    }
    if (offered) {
      use.judge(key, bound, nowNanos, permits, fits, charged, uncharged && allowed);
    } else {
      use.add(key, bound, nowNanos, permits, fits, charged, uncharged && allowed);
      trace(key, nowNanos, permits);
    }
    refused(key, nowNanos, permits, refusing);
  }

  private void refused(RuleKey key, long nowNanos, long permits, boolean denied) {
    if (denied) {
      RuleKey forgotten = refused.add(key);
      if (forgotten != null) {
        refusedKeys.remove(forgotten);
      }
      refusedKeys.computeIfAbsent(key, k -> new Timeline(SMALL_INTERVALS));
    }
    Timeline timeline = refusedKeys.isEmpty() ? null : refusedKeys.get(key);
    if (timeline != null) {
      timeline.add(nowNanos, permits, denied);
    }
  }

  /** Returns all requests over time. */
  public Timeline requests() {
    return requests;
  }

  /** Returns the mean load of the requests in an interval of {@link #requests}. */
  public double load(int i) {
    return requests.offered(i) == 0 ? 0 : loads.offered(i) / MILLION / requests.offered(i);
  }

  /** Returns the close-up of the worst minute. */
  public CloseUp closeUp() {
    return closeUp;
  }

  /** Returns the permits requested from a rule over time, or null if there were none. */
  @Nullable
  public Timeline rule(String path) {
    for (Map.Entry<Rule, Timeline> each : rules.entrySet()) {
      if (each.getKey().path().equals(path)) {
        Timeline timeline = each.getValue();
        // Charts in one column end at the same time.
        timeline.add(requests.startNanos(requests.size()) - 1, 0, false);
        return timeline;
      }
    }
    return null;
  }

  /**
   * Returns the effect that other limits of a rule would have had on the requests that reached it;
   * empty if unknown.
   */
  public List<OtherLimits.Candidate> otherLimits(String path) {
    Map.Entry<Rule, Trace> of = traces == null ? null : traces.of(path);
    return of == null ? List.of() : OtherLimits.of(of.getKey(), of.getValue());
  }

  /** Returns the key with the most refusals under a candidate; empty if nothing is refused. */
  public String worstKey(String path, OtherLimits.Candidate candidate) {
    Map.Entry<Rule, Trace> of = traces == null ? null : traces.of(path);
    int worst = candidate.tried().worst();
    return of == null || worst < 0 ? "" : of.getValue().key(worst);
  }

  /**
   * Returns the requests of a refused key over time, from its first refusal on, or null if they are
   * not known.
   */
  @Nullable
  public Timeline refusedKey(String policy, String key) {
    for (Map.Entry<RuleKey, Timeline> each : refusedKeys.entrySet()) {
      Policy of = each.getKey().rule().policy();
      if (each.getKey().key().equals(key) && of != null && of.name().equals(policy)) {
        return each.getValue();
      }
    }
    return null;
  }

  public Map<String, WindowUse.RuleUse> use() {
    return use.byRule();
  }
}
