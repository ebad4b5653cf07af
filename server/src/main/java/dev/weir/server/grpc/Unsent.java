package dev.weir.server.grpc;

import io.grpc.netty.shaded.io.netty.channel.ChannelHandlerContext;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Connection;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Exception;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2RemoteFlowController;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Stream;
import org.jspecify.annotations.Nullable;

/**
 * The memory of one connection for answers that wait because their client has no room for them.
 * Sees what goes to and leaves the flow controller of grpc-java. Confined to the connection's event
 * loop.
 */
final class Unsent implements Http2RemoteFlowController {
  /*
   * How is Unsent designed, and why? Every answer passes the flow controller, those of grpc-java's
   * calls and those of QuickCalls. A stream may leave 32 KiB there before its next message is read,
   * and there may be many streams. So each frame that is added is wrapped, and counts until it is
   * written, or until its stream ends.
   *
   * The controller merges a frame with the one before it on the same stream, and from then on knows
   * only the first. Each was a buffer of its own, with objects that take more memory than a small
   * answer. So the first keeps the sizes of all, and as its bytes leave, the oldest count no more.
   */

  /** Approximate size of the objects of a frame. */
  static final long FRAME_BYTES = 512;

  private final Http2RemoteFlowController controller;
  private final Runnable changed;
  private long held;
  private boolean writing;

  private Unsent(Http2RemoteFlowController controller, Runnable changed) {
    this.controller = controller;
    this.changed = changed;
  }

  /**
   * Follows a connection on which nothing has been sent yet.
   *
   * @param changed is run when the bytes may have changed
   */
  static Unsent follow(Http2Connection connection, Runnable changed) {
    Unsent unsent = new Unsent(connection.remote().flowController(), changed);
    connection.remote().flowController(unsent);
    return unsent;
  }

  /** Returns the bytes of memory, approximately. */
  long held() {
    return held;
  }

  @Override
  public void addFlowControlled(Http2Stream stream, FlowControlled frame) {
    Waiting waiting = new Waiting(frame);
    held += waiting.memory();
    controller.addFlowControlled(stream, waiting);
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

  /** A frame that waits, with those merged into it. */
  private final class Waiting implements FlowControlled {
    private final FlowControlled frame;
    private final int bytes;

    /** The bytes of all that count, the oldest of which is {@link #oldest}. */
    private long allBytes;

    private @Nullable Waiting oldest = this;
    private Waiting newest = this;

    /** What was merged after this. */
    private @Nullable Waiting next;

    Waiting(FlowControlled frame) {
      this.frame = frame;
      bytes = frame.size();
      allBytes = bytes;
    }

    long memory() {
      return FRAME_BYTES + bytes;
    }

    @Override
    public int size() {
      return frame.size();
    }

    @Override
    public void write(ChannelHandlerContext ctx, int allowedBytes) {
      frame.write(ctx, allowedBytes);
      left(frame.size());
    }

    /** So many bytes are left. */
    private void left(int left) {
      Waiting first = oldest;
      while (first != null && allBytes - first.bytes >= left) {
        allBytes -= first.bytes;
        held -= first.memory();
        first = first.next;
      }
      oldest = first;
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
      Waiting last = (Waiting) added;
      if (!frame.merge(ctx, last.frame)) {
        return false;
      }
      newest.next = last;
      newest = last;
      if (oldest == null) {
        oldest = last;
      }
      allBytes += last.bytes;
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
