package dev.weir.load;

import io.netty.channel.ChannelHandlerContext;
import java.util.concurrent.CompletableFuture;

/** A connection on which answers come in the order of the requests. */
abstract class OrderedClient extends SocketClient {
  private final RequestBytes request;
  private final RequestBytes exhausting;
  private final long keys;

  /** The slots of the requests in flight: a ring, oldest at {@code head}. */
  private final int[] ring;

  private int head;
  private int inFlight;

  OrderedClient(LoadPlan plan, LoadPlan.Target target, Lane lane, CompletableFuture<Void> ready) {
    super(lane, ready);
    this.request = RequestBytes.of(plan, target, false);
    this.exhausting = RequestBytes.of(plan, target, true);
    this.keys = plan.requests().keys().count();
    this.ring = new int[lane.slots()];
  }

  @Override
  public final void send(int slot, long key) {
    (key < keys ? request : exhausting).writeTo(pending(), key);
    int tail = head + inFlight;
    ring[tail < ring.length ? tail : tail - ring.length] = slot;
    inFlight++;
  }

  @Override
  public final void channelRead(ChannelHandlerContext from, Object message) {
    arrived();
    read(message);
  }

  abstract void read(Object message);

  /** Returns whether the next answer belongs to a request. */
  final boolean expecting() {
    return inFlight > 0;
  }

  /** Counts the oldest request as decided. */
  final void answered(boolean allowed) {
    decided(oldest(), allowed);
  }

  /** Counts the oldest request as answered without a decision. */
  final void refused(String kind) {
    lane.failed(oldest(), kind);
  }

  private int oldest() {
    int slot = ring[head];
    head = head + 1 < ring.length ? head + 1 : 0;
    inFlight--;
    return slot;
  }

  /** Reports a request and all requests behind it as lost: they will not be answered either. */
  @Override
  public final void expire(int slot) {
    close();
  }

  @Override
  final void abandon() {
    while (inFlight > 0) {
      lost(oldest());
    }
  }
}
