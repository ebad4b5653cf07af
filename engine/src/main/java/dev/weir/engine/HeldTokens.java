package dev.weir.engine;

import dev.weir.Consistency;
import dev.weir.Decision;
import dev.weir.FailureMode;
import dev.weir.Fingerprint;
import dev.weir.Reason;
import dev.weir.Sharing;
import dev.weir.engine.internal.holds.HeldCharge;
import dev.weir.engine.internal.holds.HoldToken;
import dev.weir.engine.internal.matching.BoundRule;
import dev.weir.engine.internal.matching.PendingRequest;
import dev.weir.rules.CostMode;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.Request;
import java.nio.charset.CharsetEncoder;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The texts that clients keep of permits they hold. Safe for use by many threads. */
final class HeldTokens {
  private static final int ID_BYTES = 16;
  private static final String ORIGIN = "origin of holds and seats";

  private final DecisionPath path;
  private final SecureRandom random = new SecureRandom();

  /** The number of this engine, where its store has no keys of its own. */
  private final long process = random.nextLong();

  HeldTokens(DecisionPath path) {
    this.path = path;
  }

  /**
   * Returns the problem of a request whose permits cannot be kept by its client; null if there is
   * none.
   *
   * @param kind the word for what it requests, for the message
   */
  @Nullable String problem(Request request, String kind) {
    if (request.charge()) {
      return "charge: true (expected: false, since a " + kind + " is charged if it fits)";
    }
    CharsetEncoder utf8 = StandardCharsets.UTF_8.newEncoder();
    for (Descriptor descriptor : request.descriptors()) {
      if (descriptor.refund() > 0) {
        return "descriptor refund: " + descriptor.refund() + " (expected: none, in a " + kind + ")";
      }
      for (Entry entry : descriptor.entries()) {
        if (!utf8.canEncode(entry.key()) || !utf8.canEncode(entry.value())) {
          return "descriptor entries: half of a surrogate pair (expected: Unicode text)";
        }
      }
    }
    PendingRequest matched = path.matched(request);
    for (int i = 0; matched.problem() == null && i < matched.size(); i++) {
      BoundRule bound = matched.bound(i);
      if (bound != null && matched.limit(i) != null && bound.rule.costs() == CostMode.REPORTED) {
        return bound.rule.path()
            + ": costs: reported (expected: before or held, for a "
            + kind
            + "; this rule takes reports)";
      }
    }
    return null;
  }

  /** Returns what a client has to keep of a request that was admitted. */
  HoldToken of(HoldToken.Kind kind, Request request, Answer answer, long lifeNanos) {
    PendingRequest matched = path.matched(request, answer);
    List<Descriptor> descriptors = new ArrayList<>();
    List<Boolean> own = new ArrayList<>();
    List<@Nullable HeldCharge> charges = new ArrayList<>();
    for (int i = 0; i < request.descriptors().size(); i++) {
      Descriptor each = request.descriptors().get(i);
      Long permits = each.permits();
      own.add(permits != null);
      long held = permits == null ? Math.max(1, request.permits()) : permits;
      descriptors.add(new Descriptor(each.entries(), each.limitOverride(), held));
      charges.add(charge(matched, answer, i));
    }
    byte[] id = new byte[ID_BYTES];
    random.nextBytes(id);
    return new HoldToken(
        kind,
        HexFormat.of().formatHex(id),
        origin(),
        path.ticker.nanos(),
        lifeNanos,
        new Request(request.domain(), descriptors, 1),
        own,
        charges);
  }

  /** Returns the charge of descriptor {@code i}; null if there is none that could be given back. */
  @Nullable HeldCharge charge(PendingRequest matched, Answer answer, int i) {
    if (answer.shadowed() || matched.problem() != null || matched.limit(i) == null) {
      return null;
    }
    Status status = answer.statuses().get(i);
    CurrentLimit limit = status.currentLimit();
    Decision decision = status.decision();
    if (limit == null || decision == null || !decision.allowed()) {
      return null;
    }
    int charge = matched.charge(i);
    boolean counted =
        limit.policy().unthrottled(decision).reason() == Reason.WITHIN_LIMIT
            && matched.charges().permits(charge) > 0;
    if (!counted) {
      return null;
    }
    boolean shared = !path.store.isUnshared(matched.charges().binding(charge));
    return HeldCharge.of(decision, limit.policy(), shared);
  }

  /** Returns the status by which descriptor {@code i} was charged, as far as it still counts. */
  Status held(HoldToken token, PendingRequest matched, int i) {
    HeldCharge charge = token.charges().get(i);
    CurrentLimit limit = matched.limit(i);
    BoundRule bound = matched.bound(i);
    if (charge == null
        || limit == null
        || HeldCharge.identity(limit.policy()) != charge.policy()
        || path.store.isUnshared(matched.charges().binding(matched.charge(i))) == charge.shared()) {
      return Status.UNMATCHED;
    }
    boolean anywhere = charge.shared() && countsInTheStoreAlone(limit.policy().sharing());
    if (!anywhere && token.origin() != origin()) {
      return Status.UNMATCHED;
    }
    return new Status(
        true, bound == null ? null : bound.rule, charge.decision(limit.policy()), limit, 0, 0);
  }

  /**
   * Returns the number by which an engine recognizes what was charged in its own store. It is that
   * of the store's seed, which is kept with the counts, so that it stays after a restart; or a
   * random one, if the store has the seed that all processes share.
   */
  private long origin() {
    long own = path.store.ofLocal().of(ORIGIN);
    return own == Fingerprint.shared().of(ORIGIN) ? process : own;
  }

  /**
   * Returns whether every decision by a policy is charged in the store at once. Otherwise a server
   * may have taken the permits from an allotment of its own, or from its share of the limit while
   * the store was away, and they are given back there.
   */
  private static boolean countsInTheStoreAlone(Sharing sharing) {
    return sharing.consistency() == Consistency.STRICT && sharing.onFailure() != FailureMode.LOCAL;
  }
}
