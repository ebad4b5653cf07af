package dev.weir.client.internal.wire;

import dev.weir.Reason;
import dev.weir.Ticker;
import dev.weir.protocol.v1.WeirProto.Check;
import dev.weir.protocol.v1.WeirProto.Grant;
import dev.weir.protocol.v1.WeirProto.LeaseAsk;
import dev.weir.shared.Clocks;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** One question to the service, which is asked once and answered once. Thread-safe. */
public final class Ask {
  /** Hears the answer. */
  public interface Reply {
    /**
     * The service has answered, in time.
     *
     * @param sentAt an instant before the message was sent
     */
    void granted(Grant grant, Service by, long revision, Clocks.Instant sentAt);

    /** The service has not answered in time, or cannot be asked. */
    void failed(Reason reason);
  }

  // The number and the length of an ask in a message, and the most that a number takes.
  private static final int AROUND_BYTES = 32;
  private static final int AHEAD_BYTES = 10;

  private final Check check;
  private final long[] ahead;
  private final boolean refundable;
  private final long deadlineNanos;
  private final Reply reply;
  private final AtomicBoolean settled = new AtomicBoolean();
  private volatile Ticker.@Nullable Scheduled timer;

  /**
   * @param ahead for each descriptor
   * @param deadlineNanos for how long the answer is waited for, from now on
   */
  public Ask(Check check, long[] ahead, boolean refundable, long deadlineNanos, Reply reply) {
    this.check = check;
    this.ahead = ahead.clone();
    this.refundable = refundable;
    this.deadlineNanos = deadlineNanos;
    this.reply = reply;
  }

  LeaseAsk message(long id) {
    LeaseAsk.Builder message =
        LeaseAsk.newBuilder().setCheck(check).setRefundable(refundable).setId(id);
    for (long each : ahead) {
      message.addAhead(each);
    }
    return message.build();
  }

  int descriptors() {
    return check.getDescriptorsCount();
  }

  /** Returns about how many bytes it adds to a message. */
  int bytes() {
    return check.getSerializedSize() + AROUND_BYTES + AHEAD_BYTES * ahead.length;
  }

  /** Has the ask fail when its time is over. */
  void startTimer(Ticker ticker, Runnable expired) {
    Ticker.Scheduled scheduled = ticker.schedule(Math.max(0, deadlineNanos), expired);
    timer = scheduled;
    if (settled.get()) {
      scheduled.cancel();
    }
  }

  boolean isSettled() {
    return settled.get();
  }

  /** Hands the grant over; returns false if nobody waits for it any more. */
  boolean granted(Grant grant, Service by, long revision, Clocks.Instant sentAt) {
    if (!settle()) {
      return false;
    }
    Callbacks.run(List.of(() -> reply.granted(grant, by, revision, sentAt)));
    return true;
  }

  /** Returns whether it was still waited for. */
  boolean fail(Reason reason) {
    if (!settle()) {
      return false;
    }
    Callbacks.run(List.of(() -> reply.failed(reason)));
    return true;
  }

  private boolean settle() {
    if (!settled.compareAndSet(false, true)) {
      return false;
    }
    Ticker.Scheduled running = timer;
    if (running != null) {
      running.cancel();
    }
    return true;
  }
}
