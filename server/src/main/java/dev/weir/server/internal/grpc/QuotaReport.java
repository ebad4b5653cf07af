package dev.weir.server.internal.grpc;

import com.google.protobuf.Duration;
import com.google.protobuf.UInt32Value;
import dev.weir.Consistency;
import dev.weir.Policy;
import dev.weir.Ticker;
import dev.weir.engine.Answer;
import dev.weir.engine.Grant;
import dev.weir.engine.Status;
import dev.weir.internal.Choice;
import dev.weir.protocol.envoy.RateLimitQuotaResponse.BucketAction;
import dev.weir.protocol.envoy.RateLimitQuotaUsageReports.BucketQuotaUsage;
import dev.weir.protocol.envoy.RateLimitStrategy;
import dev.weir.protocol.envoy.TokenBucket;
import dev.weir.protocol.http.BadRequest;
import dev.weir.protocol.http.LeaseCall;
import dev.weir.rules.CostMode;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.Request;
import dev.weir.rules.Rule;
import dev.weir.rules.RuleSet;
import dev.weir.server.internal.deciding.GuardedDecider;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One report of one bucket of an Envoy, with its requests and the assignment that it gets. It lasts
 * until it is answered.
 */
final class QuotaReport {
  /*
   * How can a filter that supports only rates hold a limit? An assignment is a token bucket of m
   * tokens that refills by r more in its lifetime, and m + r permits are charged when it is
   * assigned, at g. So its first state does not matter: the first bucket begins full; in Envoy 1.40
   * one that replaces another begins empty; one with the same numbers continues unchanged. The
   * permits count for W + L. The assignment's lifetime is three quarters of L, which leaves a
   * quarter of L for its transmission to the Envoy. Envoy counts the lifetime from the arrival of
   * the assignment, and no field could make it count from sending.
   *
   * An assignment replaces the last one. What was left of that one stays charged: the Envoy may
   * have spent it during the transmission of the new one, so it is not taken back. The size of an
   * assignment is the number of requests since the last report, allowed or not, and half as much
   * again; near the limit it is at most a quarter of what remains.
   */
  /** The part of the charged permits that can be spent at once. */
  private static final int PART_AT_ONCE = 4;

  /**
   * The number of lifetimes in which a bucket of a single permit refills: every bucket has to
   * refill.
   */
  private static final int SLOW = 10;

  private static final long MOST_TOKENS = 1 << 20;

  /** The time for which a bucket without a limit is not reported again. */
  private static final long UNLIMITED_NANOS = 60_000_000_000L;

  private static final int NANOS_PER_SECOND = 1_000_000_000;

  private final GuardedDecider decider;
  private final Ticker ticker;
  private final String domain;
  private final BucketQuotaUsage usage;
  private final Consumer<@Nullable BucketAction> done;
  private List<Entry> entries = List.of();

  /**
   * @param done receives the action for Envoy, or null if it does not change
   */
  QuotaReport(
      GuardedDecider decider,
      Ticker ticker,
      String domain,
      BucketQuotaUsage usage,
      Consumer<@Nullable BucketAction> done) {
    this.decider = decider;
    this.ticker = ticker;
    this.domain = domain;
    this.usage = usage;
    this.done = done;
  }

  /** Returns the number of requests since the last report, allowed or not. */
  long requests() {
    return Math.max(0, usage.getNumRequestsAllowed() + usage.getNumRequestsDenied());
  }

  void nothingNew() {
    done.accept(null);
  }

  /** Orders Envoy to abandon the bucket. */
  void abandon() {
    done.accept(
        BucketAction.newBuilder()
            .setBucketId(usage.getBucketId())
            .setAbandonAction(BucketAction.AbandonAction.getDefaultInstance())
            .build());
  }

  /** Passes all requests of the bucket. */
  void passAll() {
    done.accept(blanket(RateLimitStrategy.BlanketRule.ALLOW_ALL, UNLIMITED_NANOS));
  }

  /**
   * Assigns as many permits as were requested and half as many again, as far as the limit allows.
   *
   * @param policy the policy of the rule that was {@linkplain #find found}
   * @param first true if the bucket has had no assignment yet
   */
  void assign(Policy policy, boolean first) {
    // Requests that passed before there was an assignment are counted with the first one.
    long unassigned = first ? Math.max(0, usage.getNumRequestsAllowed()) : 0;
    long wanted = Math.min(MOST_TOKENS, requests() + requests() / 2 + 1);
    if (policy.sharing().consistency() == Consistency.LEASED) {
      lease(policy, 1 + Math.min(unassigned, MOST_TOKENS), wanted - 1, unassigned > 0);
    } else {
      charge(policy, wanted, true);
    }
  }

  /** Returns why a rule cannot be expressed by an assignment; null if it can. */
  static @Nullable String problem(Rule rule, Policy policy) {
    if (policy.sharing().consistency() == Consistency.STRICT) {
      return "consistency: strict (expected: leased or approximate, where Envoys take quotas)";
    }
    if (rule.queue() != null) {
      return "on_limit: queue (expected: drop, where Envoys take quotas)";
    }
    if (rule.costs() != CostMode.BEFORE) {
      return "costs: "
          + Choice.text(rule.costs())
          + " (expected: before, where Envoys take quotas)";
    }
    if (rule.shadowMode() || rule.quotaMode()) {
      String mode = rule.shadowMode() ? "shadow_mode" : "quota_mode";
      return mode + ": true (expected: false, where Envoys take quotas)";
    }
    return null;
  }

  /**
   * Finds the rule for the bucket, whose entries have no order; tries the order of each rule.
   *
   * @param known the bucket, which may have the rule already; null if there is none
   */
  @Nullable Rule find(@Nullable QuotaBucket known) {
    Rule last = known == null ? null : known.rule(decider.engine().revision());
    List<Entry> ordered = last == null ? null : ordered(last);
    if (ordered != null) {
      entries = ordered;
      return last;
    }
    RuleSet rules = decider.engine().rules();
    Rule tried = null;
    for (Rule each : rules.rules()) {
      if (each.domain().equals(domain)
          && each.levels() == usage.getBucketId().getBucketCount()
          && (tried == null || !inOneOrder(tried, each))) {
        tried = each;
        ordered = ordered(each);
        Rule found = ordered == null ? null : rules.match(domain, ordered);
        if (ordered != null && found != null) {
          entries = ordered;
          return found;
        }
      }
    }
    return null;
  }

  /** Returns whether two rules of as many levels have the same keys in the same order. */
  private static boolean inOneOrder(Rule one, Rule other) {
    for (int level = 0; level < one.levels(); level++) {
      if (!one.keyAt(level).equals(other.keyAt(level))) {
        return false;
      }
    }
    return true;
  }

  private @Nullable List<Entry> ordered(Rule like) {
    List<Entry> ordered = new ArrayList<>(like.levels());
    for (int level = 0; level < like.levels(); level++) {
      String value = usage.getBucketId().getBucketMap().get(like.keyAt(level));
      if (value == null) {
        return null;
      }
      ordered.add(new Entry(like.keyAt(level), value));
    }
    return ordered;
  }

  private Request request(long permits) {
    return new Request(domain, List.of(new Descriptor(entries, null, permits)), 1);
  }

  /** Charges one permit and some in advance, as for any client that takes leases. */
  private void lease(Policy policy, long permits, long ahead, boolean again) {
    LeaseCall call = new LeaseCall();
    try {
      call.add(0, request(permits), List.of(ahead), false);
    } catch (BadRequest e) {
      throw new IllegalStateException(e); // One request is within the bounds of a call.
    }
    decider.lend(
        call,
        () -> 0,
        results -> {
          Grant grant = results.results().get(0).grant();
          if (grant != null && grant.answer().allowed()) {
            done.accept(assignment(policy, 1 + grant.loans().get(0).permits(), grant.answer()));
          } else if (again) {
            lease(policy, 1, ahead, false); // No room for those that passed unassigned.
          } else {
            done.accept(deny(policy));
          }
        });
  }

  private void charge(Policy policy, long permits, boolean again) {
    decider.decide(
        request(permits),
        answer -> {
          if (answer.allowed()) {
            done.accept(assignment(policy, permits, answer));
            return;
          }
          Status status = answer.deciding();
          long remaining = status == null ? 0 : status.limitRemaining();
          if (again && permits > 1 && remaining > 0) {
            charge(policy, Math.max(1, Math.min(permits - 1, remaining / 4)), false);
          } else {
            done.accept(deny(policy));
          }
        });
  }

  private BucketAction assignment(Policy policy, long permits, Answer answer) {
    Status status = answer.deciding();
    if (status == null || status.decision() == null) {
      return blanket(RateLimitStrategy.BlanketRule.ALLOW_ALL, UNLIMITED_NANOS);
    }
    long life = life(policy, status.decision().atNanos());
    long atOnce = Math.max(1, permits / PART_AT_ONCE);
    long refill = permits - atOnce;
    long lifeSeconds = -Math.floorDiv(-life, NANOS_PER_SECOND);
    TokenBucket.Builder bucket =
        TokenBucket.newBuilder()
            .setMaxTokens((int) atOnce)
            .setTokensPerFill(UInt32Value.of((int) Math.max(1, refill)))
            .setFillInterval(
                Duration.newBuilder().setSeconds(refill > 0 ? lifeSeconds : SLOW * lifeSeconds));
    return action(RateLimitStrategy.newBuilder().setTokenBucket(bucket), life);
  }

  private BucketAction deny(Policy policy) {
    return blanket(RateLimitStrategy.BlanketRule.DENY_ALL, life(policy, ticker.nanos()));
  }

  /** Returns the lifetime of an assignment that was charged at an instant. */
  private static long life(Policy policy, long atNanos) {
    long leased = policy.lentNanos(atNanos);
    long life = leased > 0 ? leased : policy.sharing().syncIntervalNanos();
    return life - life / 4;
  }

  private BucketAction blanket(RateLimitStrategy.BlanketRule rule, long lifeNanos) {
    return action(RateLimitStrategy.newBuilder().setBlanketRule(rule), lifeNanos);
  }

  private BucketAction action(RateLimitStrategy.Builder strategy, long lifeNanos) {
    return BucketAction.newBuilder()
        .setBucketId(usage.getBucketId())
        .setQuotaAssignmentAction(
            BucketAction.QuotaAssignmentAction.newBuilder()
                .setAssignmentTimeToLive(
                    Duration.newBuilder()
                        .setSeconds(lifeNanos / NANOS_PER_SECOND)
                        .setNanos((int) (lifeNanos % NANOS_PER_SECOND)))
                .setRateLimitStrategy(strategy))
        .build();
  }
}
