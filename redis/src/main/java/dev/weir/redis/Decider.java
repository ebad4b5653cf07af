package dev.weir.redis;

import dev.weir.Batch;
import dev.weir.Charges;
import dev.weir.Decision;
import dev.weir.FailureAnswer;
import dev.weir.Limit;
import dev.weir.Reason;
import dev.weir.Ticker;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/**
 * Decides requests and gives permits back: out of what this process holds, else by asking Redis,
 * and as policies say where Redis does not answer. All limits are the store's. Safe for use by many
 * threads.
 */
final class Decider {
  private final Link link;
  private final Counters counters;
  private final Fallback fallback;
  private final boolean callersClock;

  /**
   * @param callersClock whether Redis is told the time
   */
  Decider(Link link, Counters counters, Fallback fallback, boolean callersClock) {
    this.link = link;
    this.counters = counters;
    this.fallback = fallback;
    this.callersClock = callersClock;
  }

  void decide(Charges charges, long nowNanos, Consumer<? super Charges> done) {
    if (charges.size() == 0) {
      charges.allowed(true);
      done.accept(charges);
    } else if (charges.size() == 1
        && !charges.queued()
        && !charges.peeking()
        && charges.permits(0) >= 0) {
      one(
          charges.limit(0),
          charges.fingerprint(0),
          charges.permits(0),
          nowNanos,
          (reason, remaining, retry, reset, at) -> {
            charges.result(0, reason, remaining, retry, reset, at);
            boolean optional = charges.role(0) == Charges.Role.OPTIONAL;
            charges.allowed(charges.fits(0) || charges.forgiven(0) || optional);
            done.accept(charges);
          });
    } else if (link.oneSlot() || CrossSlots.inOne(charges, link)) {
      inOneStep(charges, nowNanos, done);
    } else {
      CrossSlots.decide(charges, nowNanos, this, done);
    }
  }

  /** Decides charges whose keys are in one slot. */
  void inOneStep(Charges charges, long nowNanos, Consumer<? super Charges> done) {
    Consumer<Failure> failed =
        failure -> {
          fallback.decide(charges, failure, nowNanos);
          done.accept(charges);
        };
    ask(new Ask(charges, () -> done.accept(charges), failed), nowNanos);
  }

  void decide(Batch batch, long nowNanos, Consumer<? super Batch> done) {
    AtomicInteger missing = new AtomicInteger(batch.size() + 1);
    for (int i = 0; i < batch.size(); i++) {
      int index = i;
      Limit limit = batch.limit(i);
      one(
          limit,
          batch.fingerprint(i),
          batch.permits(i),
          nowNanos,
          (reason, remaining, retry, reset, at) -> {
            batch.result(index, reason, remaining, retry, reset, at);
            boolean forgiven =
                reason != Reason.WITHIN_LIMIT
                    && reason != Reason.OVER_LIMIT
                    && limit.policy().onFailure() == FailureAnswer.ALLOW;
            if (forgiven) {
              batch.decision(index, 0);
            }
            if (missing.decrementAndGet() == 0) {
              done.accept(batch);
            }
          });
    }
    if (missing.decrementAndGet() == 0) {
      done.accept(batch);
    }
  }

  /** Decides one charge for itself. */
  private void one(Limit limit, long fingerprint, long permits, long nowNanos, Receiver receiver) {
    RedisLimit own = (RedisLimit) limit;
    Single.Asker asker =
        new Single.Asker() {
          @Override
          public void decided(long times, Result result, long remaining) {
            receiver.decided(
                result.reason(),
                result.remaining(),
                result.retryAfterNanos(),
                result.resetAfterNanos(),
                result.atNanos());
          }

          @Override
          public void failed(Failure failure) {
            fallback.decide(own, fingerprint, permits, failure, nowNanos, receiver);
          }
        };
    long wanted = Math.min(permits, Message.MOST_PERMITS);
    if (own.holdings == null) {
      ask(new Single(own, fingerprint, wanted, 1, asker), nowNanos);
    } else {
      own.holdings.decide(own, fingerprint, wanted, asker);
    }
  }

  /** Asks whoever the question's key belongs to. */
  void ask(Question question, long nowNanos) {
    if (callersClock) {
      long now = Math.max(-Ticker.HORIZON_NANOS, Math.min(Ticker.HORIZON_NANOS, nowNanos));
      question.nowMicros = Math.floorDiv(now, Result.NANOS_PER_MICRO);
    }
    Caller caller = link.caller(question.key());
    if (caller == null) {
      counters.failed(Failure.MOVED, question.charges());
      question.fail(Failure.MOVED);
    } else {
      caller.ask(question);
    }
  }

  /** Gives permits back where they were charged: in this process, or in Redis. */
  void refund(
      RedisLimit limit,
      long fingerprint,
      long permits,
      Decision charged,
      long nowNanos,
      LongConsumer done) {
    boolean samePrice =
        !limit.policy().algorithm().bucket() || charged.limit() == limit.policy().burst();
    if (charged.reason() != Reason.WITHIN_LIMIT || !samePrice) {
      done.accept(0);
      return;
    }
    if (Fallback.decided(charged)) {
      fallback.refund(limit, fingerprint, permits, charged, nowNanos, done);
      return;
    }
    long at = charged.atNanos();
    Holdings holdings = limit.holdings;
    long here = holdings == null ? Holdings.NOT_HERE : holdings.refund(fingerprint, permits, at);
    if (here != Holdings.NOT_HERE) {
      done.accept(here);
      return;
    }
    long most = Math.min(permits, Message.MOST_PERMITS);
    long reset = at + charged.resetAfterNanos();
    ask(new Refund(limit, fingerprint, most, at, reset, done), nowNanos);
  }
}
