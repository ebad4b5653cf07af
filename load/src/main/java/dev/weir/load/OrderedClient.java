package dev.weir.load;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * A connection on which answers come in the order of the requests. Requests sent while answers are
 * being read go out in one write.
 */
abstract class OrderedClient extends ChannelInboundHandlerAdapter implements DoorClient {
  private final Lane lane;
  private final CompletableFuture<Void> ready;
  private final RequestBytes request;
  private final RequestBytes exhausting;
  private final long keys;

  /** The slots of the requests in flight: a ring, oldest at {@code head}. */
  private final int[] ring;

  private int head;
  private int inFlight;

  private boolean reading;
  private boolean isUp;
  private String trouble = "connection closed";
  private @Nullable ByteBuf pending;
  private @Nullable ChannelHandlerContext context;

  /**
   * @param ready to be completed when the connection can be used
   */
  OrderedClient(LoadPlan plan, Lane lane, CompletableFuture<Void> ready) {
    this.lane = lane;
    this.ready = ready;
    this.request = RequestBytes.of(plan, false);
    this.exhausting = RequestBytes.of(plan, true);
    this.keys = plan.keys();
    this.ring = new int[lane.slots()];
  }

  @Override
  public final void handlerAdded(ChannelHandlerContext added) {
    context = added;
  }

  @Override
  public final void channelActive(ChannelHandlerContext active) {
    if (active.pipeline().get(SslHandler.class) == null) {
      connected(active);
    }
  }

  @Override
  public final void userEventTriggered(ChannelHandlerContext from, Object event) {
    if (event instanceof SslHandshakeCompletionEvent handshake) {
      if (handshake.isSuccess()) {
        connected(from);
      } else {
        fail("tls: " + handshake.cause().getMessage());
      }
    }
  }

  /** The connection is open, with TLS if the plan has it. */
  abstract void connected(ChannelHandlerContext context);

  /** Reports that requests can be sent now. */
  final void up() {
    isUp = true;
    ready.complete(null);
    lane.up(this);
  }

  /** Ends the connection; its lost requests are counted under the reason. */
  final void fail(String why) {
    trouble = why;
    ready.completeExceptionally(new IOException(why));
    close();
  }

  @Override
  public final void send(int slot, long key) {
    if (context == null) {
      throw new IllegalStateException("not connected");
    }
    if (pending == null) {
      pending = context.alloc().buffer(1 << 10);
    }
    (key < keys ? request : exhausting).writeTo(pending, key);
    int tail = head + inFlight;
    ring[tail < ring.length ? tail : tail - ring.length] = slot;
    inFlight++;
  }

  @Override
  public final void flush() {
    if (!reading && pending != null && context != null) {
      ByteBuf out = pending;
      pending = null;
      var unused = context.writeAndFlush(out);
    }
  }

  /** Returns whether the next answer belongs to a request. */
  final boolean expecting() {
    return inFlight > 0;
  }

  /** The oldest request was decided. */
  final void answered(boolean allowed) {
    lane.answered(oldest(), allowed);
  }

  /** The oldest request was answered without a decision. */
  final void refused(String kind) {
    lane.failed(oldest(), kind);
  }

  private int oldest() {
    int slot = ring[head];
    head = head + 1 < ring.length ? head + 1 : 0;
    inFlight--;
    return slot;
  }

  /** Requests behind an unanswered one will not be answered either: all of them are lost. */
  @Override
  public final void expire(int slot) {
    close();
  }

  @Override
  public final void close() {
    if (context != null) {
      var unused = context.close();
    }
  }

  @Override
  public final void channelRead(ChannelHandlerContext from, Object message) {
    reading = true;
    read(message);
  }

  abstract void read(Object message);

  @Override
  public final void channelReadComplete(ChannelHandlerContext from) {
    reading = false;
    flush();
  }

  @Override
  public final void channelInactive(ChannelHandlerContext from) {
    if (pending != null) {
      pending.release();
      pending = null;
    }
    ready.completeExceptionally(new IOException(trouble));
    if (isUp) {
      isUp = false;
      lane.down();
    }
    while (inFlight > 0) {
      int slot = oldest();
      lane.lost(slot, lane.overdue(slot) ? Lane.TIMEOUT : trouble);
    }
  }

  @Override
  public final void exceptionCaught(ChannelHandlerContext from, Throwable cause) {
    if (!from.channel().isActive() || cause instanceof IOException) {
      close();
    } else {
      fail(
          cause.getCause() instanceof SSLException
              ? "tls: " + cause.getCause().getMessage()
              : "unreadable answer");
    }
  }
}
