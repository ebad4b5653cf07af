package dev.weir.server.internal.grpc;

import dev.weir.Ticker;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandlerContext;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Connection;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Exception;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2RemoteFlowController;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Stream;
import org.jspecify.annotations.Nullable;

/**
 * The memory of one connection for answers that wait because their client has no room for them. It
 * sees the frames that go to and leave the flow controller of grpc-java. Confined to the
 * connection's event loop.
 */
final class SendQueue implements Http2RemoteFlowController {
  /*
   * How is SendQueue designed, and why? Every answer passes the flow controller: those of grpc-java's
   * calls and those of QuickCalls. A stream may leave 32 KiB there before its next message is read,
   * and there may be many streams. So each frame that is added is wrapped, and counts until it is
   * written, or until its stream ends.
   *
   * The controller merges a frame with the one before it on the same stream, and from then on has
   * only the first. Each was a buffer of its own, with objects that take more memory than a small
   * answer. So the first keeps the sizes of all. As its bytes leave, the oldest sizes no longer
   * count.
   *
   * A client that always leaves something waiting keeps the first frame of a stream there for as
   * long as the stream lasts. So sizes are objects of their own, which hold no frame and are freed
   * as the bytes leave.
   */

  /** Approximate size of the objects of a frame; one that is merged keeps half of them. */
  static final long FRAME_BYTES = 512;

  private final Http2RemoteFlowController controller;
  private final Runnable changed;
  private long held;
  private boolean writing;

  // True if answers wait, true if some bytes have left since the last check, and its time.
  private boolean waits;
  private boolean moved;
  private long sinceNanos;

  private SendQueue(Http2RemoteFlowController controller, Runnable changed) {
    this.controller = controller;
    this.changed = changed;
  }

  /**
   * Follows a connection on which nothing has been sent yet.
   *
   * @param changed is run when the bytes may have changed
   */
  static SendQueue follow(Http2Connection connection, Runnable changed) {
    SendQueue unsent = new SendQueue(connection.remote().flowController(), changed);
    connection.remote().flowController(unsent);
    return unsent;
  }

  /** Returns the approximate bytes of memory. */
  long held() {
    return held;
  }

  /**
   * Records the time if the client has taken bytes, or answers have begun to wait; returns whether
   * answers wait.
   */
  boolean update(Ticker ticker) {
    if (held > 0 && (moved || !waits)) {
      sinceNanos = ticker.nanos();
    }
    waits = held > 0;
    moved = false;
    return waits;
  }

  /** Returns whether answers wait and the client has taken nothing for longer than that. */
  boolean isStuck(long nowNanos, long mostNanos) {
    return waits && nowNanos - sinceNanos > mostNanos;
  }

  @Override
  public void addFlowControlled(Http2Stream stream, FlowControlled frame) {
    Size size = new Size(frame.size());
    held += size.memory();
    controller.addFlowControlled(stream, new WaitingFrame(frame, size));
  }

  @Override
  public void writePendingBytes() throws Http2Exception {
    writing = true;
    try {
      controller.writePendingBytes();
    } finally {
      writing = false;
      changed.run();
    }
  }

  /** The size of a frame, and of the one that was merged after it. */
  private static final class Size {
    private final int bytes;
    private @Nullable Size next;

    Size(int bytes) {
      this.bytes = bytes;
    }

    long memory() {
      return FRAME_BYTES + bytes;
    }
  }

  /** A frame that waits, with those merged into it. */
  private final class WaitingFrame implements FlowControlled {
    private final FlowControlled frame;

    /** The bytes of all counted sizes, from {@link #oldest} to {@link #newest}. */
    private long allBytes;

    private @Nullable Size oldest;
    private Size newest;

    WaitingFrame(FlowControlled frame, Size size) {
      this.frame = frame;
      oldest = size;
      newest = size;
      allBytes = size.bytes;
    }

    @Override
    public int size() {
      return frame.size();
    }

    @Override
    public void write(ChannelHandlerContext ctx, int allowedBytes) {
      int before = frame.size();
      frame.write(ctx, allowedBytes);
      moved |= frame.size() < before;
      left(frame.size());
    }

    /**
     * Removes the sizes of bytes that have left.
     *
     * @param left the bytes that are left
     */
    private void left(int left) {
      while (oldest != null && allBytes - oldest.bytes >= left) {
        Size gone = oldest;
        allBytes -= gone.bytes;
        held -= gone.memory();
        oldest = gone.next;
        gone.next = null; // Otherwise a young collection would keep the objects after it.
      }
    }

    @Override
    public void writeComplete() {
      left(0);
      frame.writeComplete();
    }

    @Override
    public void error(ChannelHandlerContext ctx, Throwable cause) {
      left(0);
      frame.error(ctx, cause);
      if (!writing) {
        changed.run();
      }
    }

    @Override
    public boolean merge(ChannelHandlerContext ctx, FlowControlled added) {
      WaitingFrame last = (WaitingFrame) added;
      if (!frame.merge(ctx, last.frame)) {
        return false;
      }
      Size size = last.newest; // It has only one size: the added frame has merged nothing yet.
      if (oldest == null) {
        oldest = size;
      } else {
        newest.next = size;
      }
      newest = size;
      allBytes += size.bytes;
      return true;
    }
  }

  @Override
  public boolean hasFlowControlled(Http2Stream stream) {
    return controller.hasFlowControlled(stream);
  }

  @Override
  public void listener(Listener listener) {
    controller.listener(listener);
  }

  @Override
  public boolean isWritable(Http2Stream stream) {
    return controller.isWritable(stream);
  }

  @Override
  public void channelWritabilityChanged() throws Http2Exception {
    controller.channelWritabilityChanged();
  }

  @Override
  public void updateDependencyTree(
      int childStreamId, int parentStreamId, short weight, boolean exclusive) {
    controller.updateDependencyTree(childStreamId, parentStreamId, weight, exclusive);
  }

  @Override
  public void channelHandlerContext(ChannelHandlerContext context) throws Http2Exception {
    controller.channelHandlerContext(context);
  }

  @Override
  public ChannelHandlerContext channelHandlerContext() {
    return controller.channelHandlerContext();
  }

  @Override
  public void initialWindowSize(int bytes) throws Http2Exception {
    controller.initialWindowSize(bytes);
  }

  @Override
  public int initialWindowSize() {
    return controller.initialWindowSize();
  }

  @Override
  public int windowSize(Http2Stream stream) {
    return controller.windowSize(stream);
  }

  @Override
  public void incrementWindowSize(Http2Stream stream, int bytes) throws Http2Exception {
    controller.incrementWindowSize(stream, bytes);
  }
}
