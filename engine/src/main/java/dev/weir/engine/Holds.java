package dev.weir.engine;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Reason;
import dev.weir.engine.holds.HoldAnswer;
import dev.weir.engine.holds.HoldMetrics;
import dev.weir.engine.holds.HoldSettings;
import dev.weir.engine.holds.Settlement;
import dev.weir.engine.holds.Settlement.Outcome;
import dev.weir.engine.internal.holds.HoldToken;
import dev.weir.engine.internal.matching.PendingRequest;
import dev.weir.engine.internal.matching.Refund;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Request;
import dev.weir.rules.StoreChoice;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/**
 * The part of an engine that holds the most that a request may cost, and replaces that by what it
 * did cost, at whichever server the settlement arrives. Safe for use by many threads.
 *
 * <p>A program that counts its own limits has {@link dev.weir.RateLimiter#hold} instead.
 */
public final class Holds {
  /*
   * How can a hold be settled once, at any server, and nobody remembers it? The client keeps it, as
   * a signed text (HoldToken). The servers share one thing only: which holds were settled. That is
   * a limit as any other: one settlement in twice the life of a hold, counted by the hold's name in
   * the store that counts what is held. It is all or nothing, survives restarts and failures as
   * limits do, and is forgotten by itself. Twice the life, because servers compare the age of a
   * hold with their own clocks, which may differ by up to one life.
   *
   * Why can this admit no more than the limit? What is held is charged as any request. A settlement
   * gives permits back by the rules of Store.refund, only after the store has certainly counted it
   * as the first one, and only while the rules are the ones that charged. A process that ends in
   * between has given nothing back: the permits stay charged until their window has passed. The
   * same holds for a hold that nobody settles.
   *
   * Counts of one server (local rules, its allotments, its share while the store is away) have no
   * meaning at another, so only the engine that granted a hold gives back what may be charged
   * there. After its end it stays charged.
   */
  private static final String NAME = "settled holds, ";
  private final DecisionPath path;
  private final HoldSettings settings;
  private final HeldTokens tokens;
  private final Policy once;
  private final ConcurrentHashMap<StoreChoice, Binding> settledIn = new ConcurrentHashMap<>();
  private final LongAdder granted = new LongAdder();
  private final LongAdder refused = new LongAdder();
  private final LongAdder settled = new LongAdder();
  private final LongAdder settledBefore = new LongAdder();
  private final LongAdder late = new LongAdder();
  private final LongAdder uncertain = new LongAdder();
  private final LongAdder returned = new LongAdder();
  private final LongAdder charged = new LongAdder();

  Holds(DecisionPath path, HeldTokens tokens, HoldSettings settings) {
    this.path = path;
    this.tokens = tokens;
    this.settings = settings;
    this.once =
        Policy.builder(new Quota(1, 2 * settings.life().toNanos()))
            .name("settled holds")
            .algorithm(Algorithm.TOKEN_BUCKET)
            .build();
  }

  /**
   * Decides a request whose permits are the most that it may cost, and holds them if it is
   * admitted. Calls {@code done} exactly once, as {@link Engine#decide(Request, Consumer)} does.
   */
  public void hold(Request request, Consumer<? super HoldAnswer> done) {
    String problem = tokens.problem(request, "hold");
    if (problem == null) {
      path.decide(request, answer -> done.accept(answered(request, answer)));
    } else {
      path.counters.errors.increment();
      done.accept(answered(request, Answer.error(problem, path.revision.number)));
    }
  }

  private HoldAnswer answered(Request request, Answer answer) {
    if (!answer.allowed()) {
      refused.increment();
      return new HoldAnswer(answer, "");
    }
    granted.increment();
    HoldToken token = tokens.of(HoldToken.Kind.HOLD, request, answer, settings.life().toNanos());
    return new HoldAnswer(answer, token.text(settings.key()));
  }

  /**
   * Settles a hold by what its request did cost: gives back what is less, and counts what is more,
   * whatever is left. The first settlement counts.
   *
   * @param hold of {@link HoldAnswer#hold}
   * @param costs what each descriptor did cost, in their order, at least 0; or one number, for all
   *     descriptors that had the permits of the request, or the only one
   * @param done is called exactly once, as for {@link Engine#decide(Request, Consumer)}
   * @throws IllegalArgumentException if the hold is none that this engine can settle, or the costs
   *     are not as many as they should be, or negative
   */
  public void settle(String hold, List<Long> costs, Consumer<? super Settlement> done) {
    HoldToken token = HoldToken.read(HoldToken.Kind.HOLD, hold, settings.key());
    if (token.lifeNanos() > settings.life().toNanos()) {
      throw new IllegalArgumentException(
          "hold: its life is longer than holds have here (expected: one life for all servers)");
    }
    long[] cost = costs(token, costs);
    long nowNanos = path.ticker.nanos();
    long ageNanos = nowNanos - token.issuedNanos();
    if (ageNanos >= 2 * token.lifeNanos()) { // It may have been settled, and been forgotten.
      counted(new Settlement(Outcome.LATE, 0, 0), done);
      return;
    }
    if (path.revision.number == 0) { // What was charged cannot be found without rules.
      counted(new Settlement(Outcome.UNCERTAIN, 0, 0), done);
      return;
    }
    boolean alive = ageNanos < token.lifeNanos();
    Binding binding = settledIn(token.anyShared(), nowNanos);
    long key = path.store.fingerprint().of(token.id());
    path.store.decide(
        new Charges().add(binding, key, 1),
        nowNanos,
        decided -> {
          Reason reason = decided.reason(0);
          if (decided.allowed() && reason == Reason.WITHIN_LIMIT) {
            giveBack(
                token,
                cost,
                alive,
                back ->
                    chargeMore(
                        token,
                        cost,
                        more ->
                            counted(
                                new Settlement(alive ? Outcome.SETTLED : Outcome.LATE, back, more),
                                done)));
          } else {
            boolean before = reason == Reason.OVER_LIMIT;
            Outcome outcome = before ? Outcome.SETTLED_BEFORE : Outcome.UNCERTAIN;
            counted(new Settlement(outcome, 0, 0), done);
          }
        });
  }

  private static long[] costs(HoldToken token, List<Long> costs) {
    int size = token.request().descriptors().size();
    boolean one = costs.size() == 1 && size > 1;
    if (!one && costs.size() != size) {
      throw new IllegalArgumentException(
          "permits: "
              + costs.size()
              + " numbers (expected: 1, or one of each descriptor, "
              + size
              + ")");
    }
    long[] each = new long[size];
    for (int i = 0; i < size; i++) {
      long cost = one ? costs.get(0) : costs.get(i);
      if (cost < 0) {
        throw new IllegalArgumentException("permits: " + cost + " (expected: at least 0)");
      }
      each[i] = one && token.own().get(i) ? token.held(i) : cost;
    }
    return each;
  }

  /** Returns the binding that counts settlements, in the store that counts what is held. */
  private Binding settledIn(boolean shared, long nowNanos) {
    StoreChoice choice =
        shared && path.store.has(StoreChoice.SHARED) ? StoreChoice.SHARED : StoreChoice.LOCAL;
    return settledIn.computeIfAbsent(
        choice, each -> path.store.bind(NAME + each.text(), once, each, nowNanos));
  }

  /** Gives back what is less, of charges whose policy is still the one that charged. */
  private void giveBack(HoldToken token, long[] cost, boolean alive, LongConsumer done) {
    Request less = token.with(i -> Math.max(0, token.held(i) - cost[i]));
    if (!alive || permits(less) == 0) {
      done.accept(0);
      return;
    }
    PendingRequest matched = path.matched(less);
    List<Status> statuses = new ArrayList<>();
    for (int i = 0; matched.problem() == null && i < matched.size(); i++) {
      statuses.add(tokens.held(token, matched, i));
    }
    Answer answer = Answer.of(true, statuses, null, path.revision.number);
    new Refund(matched, answer, path.store, done).give();
  }

  private static long permits(Request request) {
    long all = 0;
    for (Descriptor each : request.descriptors()) {
      Long permits = each.permits();
      all += permits == null ? 0 : permits;
    }
    return all;
  }

  /** Counts what is more, whatever is left. */
  private void chargeMore(HoldToken token, long[] cost, LongConsumer done) {
    Request more = token.with(i -> Math.max(0, cost[i] - token.held(i)));
    if (permits(more) == 0) {
      done.accept(0);
      return;
    }
    path.decide(
        more.charging(),
        answer -> {
          long counted = 0;
          for (int i = 0; i < answer.statuses().size(); i++) {
            Reason reason = answer.statuses().get(i).reason();
            Long permits = more.descriptors().get(i).permits();
            boolean certain = reason == Reason.WITHIN_LIMIT || reason == Reason.OVER_LIMIT;
            counted += certain && permits != null ? permits : 0;
          }
          done.accept(counted);
        });
  }

  private void counted(Settlement settlement, Consumer<? super Settlement> done) {
    LongAdder adder =
        switch (settlement.outcome()) {
          case SETTLED -> settled;
          case SETTLED_BEFORE -> settledBefore;
          case LATE -> late;
          case UNCERTAIN -> uncertain;
        };
    adder.increment();
    returned.add(settlement.returned());
    charged.add(settlement.charged());
    done.accept(settlement);
  }

  /** Returns the counts. */
  public HoldMetrics metrics() {
    return new HoldMetrics(
        granted.sum(),
        refused.sum(),
        settled.sum(),
        settledBefore.sum(),
        late.sum(),
        uncertain.sum(),
        returned.sum(),
        charged.sum());
  }
}
