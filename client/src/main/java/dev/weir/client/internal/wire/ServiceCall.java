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

/** One lease request to the service, which is sent once and answered once. Thread-safe. */
public final class ServiceCall {
  /** The receiver of the answer. */
  public interface Reply {
    /**
     * Receives the service's grant, in time.
     *
     * @param sentAt an instant before the message was sent
     */
    void granted(Grant grant, Service by, long revision, Clocks.Instant sentAt);

    /** Receives the failure: the service has not answered in time, or cannot be reached. */
    void failed(Reason reason);
  }

  // The number and the length of a lease request in a message, and the most bytes of a number.
  private static final int AROUND_BYTES = 32;
  private static final int AHEAD_BYTES = 10;

  private final Check check;
  private final long[] ahead;
  private final boolean refundable;
  private final long deadlineNanos;
  private final Reply reply;
  private final AtomicBoolean settled = new AtomicBoolean();
  private volatile Ticker.@Nullable ScheduledTask timer;

  /**
   * @param ahead permits in advance, for each descriptor
   * @param deadlineNanos the time to wait for the answer, from now on
   */
  public ServiceCall(
      Check check, long[] ahead, boolean refundable, long deadlineNanos, Reply reply) {
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

  /** Returns the approximate number of bytes that it adds to a message. */
  int bytes() {
    return check.getSerializedSize() + AROUND_BYTES + AHEAD_BYTES * ahead.length;
  }

  /** Starts the timer after which the lease request fails. */
  void startTimer(Ticker ticker, Runnable expired) {
    Ticker.ScheduledTask scheduled = ticker.schedule(Math.max(0, deadlineNanos), expired);
    timer = scheduled;
    if (settled.get()) {
      scheduled.cancel();
    }
  }

  boolean isSettled() {
    return settled.get();
  }

  /** Passes the grant on; returns false if it is no longer waited for. */
  boolean granted(Grant grant, Service by, long revision, Clocks.Instant sentAt) {
    if (!settle()) {
      return false;
    }
    Callbacks.run(List.of(() -> reply.granted(grant, by, revision, sentAt)));
    return true;
  }

  /** Ends the wait for the answer; returns false if it had ended before. */
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
    Ticker.ScheduledTask running = timer;
    if (running != null) {
      running.cancel();
    }
    return true;
  }
}
