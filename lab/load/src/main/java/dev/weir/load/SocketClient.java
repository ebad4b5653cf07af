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
 * A connection to a port. Requests that are sent while answers are being read go out in one write,
 * and all of these answers count as arrived when the first of them is read.
 */
abstract class SocketClient extends ChannelInboundHandlerAdapter implements DoorClient {
  final Lane lane;

  private final CompletableFuture<Void> ready;
  private boolean reading;
  private long readNanos;
  private boolean isUp;
  private String trouble = "connection closed";
  private @Nullable ByteBuf pending;
  private @Nullable ChannelHandlerContext context;

  /**
   * @param ready is completed when the connection can be used
   */
  SocketClient(Lane lane, CompletableFuture<Void> ready) {
    this.lane = lane;
    this.ready = ready;
  }

  @Override
  public final void handlerAdded(ChannelHandlerContext added) {
    context = added;
  }

  @Override
  public final void channelActive(ChannelHandlerContext active) throws Exception {
    if (active.pipeline().get(SslHandler.class) == null) {
      connected(active);
    }
  }

  @Override
  public final void userEventTriggered(ChannelHandlerContext from, Object event) throws Exception {
    if (event instanceof SslHandshakeCompletionEvent handshake) {
      if (handshake.isSuccess()) {
        connected(from);
      } else {
        fail("tls: " + handshake.cause().getMessage());
      }
    }
  }

  /** Begins to use the connection, which is open, with TLS if the plan requires it. */
  abstract void connected(ChannelHandlerContext context) throws Exception;

  /** Reports that requests can be sent now. */
  final void up() {
    isUp = true;
    ready.complete(null);
    lane.up(this);
  }

  /** Reports that no more requests can be sent. */
  final void down() {
    if (isUp) {
      isUp = false;
      lane.down();
    }
  }

  /** Ends the connection; its lost requests are counted under the reason. */
  final void fail(String why) {
    trouble = why;
    ready.completeExceptionally(new IOException(why));
    close();
  }

  final ChannelHandlerContext context() {
    if (context == null) {
      throw new IllegalStateException("not connected");
    }
    return context;
  }

  /** Returns the bytes to be written next, to which requests are appended. */
  final ByteBuf pending() {
    if (pending == null) {
      pending = context().alloc().buffer(1 << 10);
    }
    return pending;
  }

  @Override
  public final void flush() {
    if (!reading && pending != null && context != null) {
      ByteBuf out = pending;
      pending = null;
      var unused = context.writeAndFlush(out);
    }
  }

  @Override
  public final void close() {
    if (context != null) {
      var unused = context.close();
    }
  }

  /** Marks the arrival of answers; called for each of those that arrive together. */
  final void arrived() {
    if (!reading) {
      reading = true;
      readNanos = lane.nanos();
    }
  }

  /** Counts a request that the answer being read decides. */
  final void decided(int slot, boolean allowed) {
    lane.answered(slot, allowed, readNanos);
  }

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
    down();
    abandon();
  }

  /** Reports every unanswered request as lost. */
  abstract void abandon();

  /** Reports a request as lost because the connection has ended. */
  final void lost(int slot) {
    lane.lost(slot, lane.overdue(slot) ? Lane.TIMEOUT : trouble);
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
