package dev.weir.server.internal.grpc;

import io.grpc.netty.shaded.io.netty.buffer.ByteBuf;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandlerContext;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Connection;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2ConnectionAdapter;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Exception;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2FrameWriter;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2LocalFlowController;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Stream;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * The memory of one connection for messages that have arrived and that the server has not requested
 * yet. It sees the bytes that go to and come back from the flow controller of grpc-java. Confined
 * to the connection's event loop.
 */
final class ReceiveQueue implements Http2LocalFlowController {
  /*
   * How is ReceiveQueue designed, and why? Only the flow controller has these bytes: grpc-java gives
   * bytes back to it when calls request messages. For the connection as a whole it gives them back
   * at once, so that a call that is not read does not hold up others. So a client may leave a
   * window of bytes on each stream, and each stream is followed.
   *
   * Most streams leave nothing behind: their bytes are given back while the frame is processed. For
   * these nothing is kept, because a frame is examined when it is done: before the next one, or
   * after the read.
   *
   * A piece, however small, keeps the whole read that it came with in memory. So each read counts
   * as long as one of its pieces is there.
   */

  /** Approximate size of the objects of a piece of a message. */
  private static final long PIECE_BYTES = 256;

  private final Http2LocalFlowController controller;
  private final Http2Connection.PropertyKey key;
  private final Runnable changed;
  private long held;
  private boolean reading;
  private int readBytes;
  private @Nullable Read read;

  /** The stream of the frame that is being processed. */
  private @Nullable Http2Stream current;

  private int received;
  private int returned;

  /** A read of which pieces are kept. */
  private static final class Read {
    private final int bytes;
    private int pieces;

    Read(int bytes) {
      this.bytes = bytes;
    }
  }

  /** The rest of a frame. */
  private static final class Piece {
    private final Read read;
    private int bytes;

    Piece(Read read, int bytes) {
      this.read = read;
      this.bytes = bytes;
    }
  }

  private ReceiveQueue(
      Http2Connection connection, Http2LocalFlowController controller, Runnable changed) {
    this.controller = controller;
    this.changed = changed;
    key = connection.newKey();
  }

  /**
   * Follows a connection that has not received a frame yet.
   *
   * @param changed is run when the bytes change between two reads
   */
  static ReceiveQueue follow(Http2Connection connection, Runnable changed) {
    ReceiveQueue unasked =
        new ReceiveQueue(connection, connection.local().flowController(), changed);
    connection.local().flowController(unasked);
    connection.addListener(
        new Http2ConnectionAdapter() {
          @Override
          public void onStreamClosed(Http2Stream stream) {
            unasked.closed(stream);
          }
        });
    return unasked;
  }

  /** Starts a read. */
  void begin(int bytes) {
    settle();
    reading = true;
    readBytes = bytes;
    read = null;
  }

  /** Ends the reads since the last call: they are processed. */
  void end() {
    settle();
    reading = false;
    read = null;
  }

  /** Returns the approximate bytes of memory. */
  long held() {
    return held;
  }

  @Override
  public void receiveFlowControlledFrame(
      Http2Stream stream, ByteBuf data, int padding, boolean endOfStream) throws Http2Exception {
    settle();
    controller.receiveFlowControlledFrame(stream, data, padding, endOfStream);
    current = stream;
    received = data.readableBytes() + padding;
    returned = 0;
  }

  @Override
  public boolean consumeBytes(Http2Stream stream, int bytes) throws Http2Exception {
    if (stream == current) {
      returned += bytes;
    } else if (stream != null) {
      ArrayDeque<Piece> pieces = stream.getProperty(key);
      if (pieces != null) {
        int more = take(stream, pieces, bytes);
        assert more == 0 : more;
        updateBudget();
      }
    }
    return controller.consumeBytes(stream, bytes);
  }

  /** Counts the rest of the frame that has been processed. */
  private void settle() {
    Http2Stream stream = current;
    if (stream == null) {
      return;
    }
    current = null;
    ArrayDeque<Piece> pieces = stream.getProperty(key);
    int left = received - (pieces == null ? returned : take(stream, pieces, returned));
    if (left > 0 && stream.state() != Http2Stream.State.CLOSED) {
      add(stream, left);
    }
  }

  private void add(Http2Stream stream, int bytes) {
    ArrayDeque<Piece> pieces = stream.getProperty(key);
    if (pieces == null) {
      pieces = new ArrayDeque<>(2);
      stream.setProperty(key, pieces);
    }
    Read from = read;
    if (from == null) {
      from = new Read(readBytes);
      read = from;
    }
    if (from.pieces++ == 0) {
      held += from.bytes;
    }
    pieces.add(new Piece(from, bytes));
    held += PIECE_BYTES + bytes;
  }

  /** Removes that many bytes, the oldest first; returns the number of bytes that were not there. */
  private int take(Http2Stream stream, ArrayDeque<Piece> pieces, int bytes) {
    int left = bytes;
    while (left > 0 && !pieces.isEmpty()) {
      Piece first = pieces.element();
      int taken = Math.min(left, first.bytes);
      left -= taken;
      first.bytes -= taken;
      held -= taken;
      if (first.bytes == 0) {
        pieces.remove();
        removed(first);
      }
    }
    if (pieces.isEmpty()) {
      Object unused = stream.removeProperty(key);
    }
    return left;
  }

  private void removed(Piece piece) {
    held -= PIECE_BYTES + piece.bytes;
    if (--piece.read.pieces == 0) {
      held -= piece.read.bytes;
    }
  }

  private void closed(Http2Stream stream) {
    if (stream == current) {
      current = null;
    }
    ArrayDeque<Piece> pieces = stream.removeProperty(key);
    if (pieces != null) {
      pieces.forEach(this::removed);
      updateBudget();
    }
  }

  private void updateBudget() {
    if (!reading) {
      changed.run();
    }
  }

  @Override
  public int unconsumedBytes(Http2Stream stream) {
    return controller.unconsumedBytes(stream);
  }

  @Override
  public Http2LocalFlowController frameWriter(Http2FrameWriter writer) {
    Http2LocalFlowController unused = controller.frameWriter(writer);
    return this;
  }

  @Override
  public int initialWindowSize(Http2Stream stream) {
    return controller.initialWindowSize(stream);
  }

  @Override
  public void channelHandlerContext(ChannelHandlerContext context) throws Http2Exception {
    controller.channelHandlerContext(context);
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
