package dev.weir.server.internal.grpc;

import dev.weir.Ticker;
import dev.weir.server.internal.guard.DoorCounters;
import dev.weir.server.internal.guard.PendingBytes;
import dev.weir.server.internal.log.Logs;
import io.grpc.Status;
import io.grpc.netty.shaded.io.netty.buffer.ByteBuf;
import io.grpc.netty.shaded.io.netty.buffer.Unpooled;
import io.grpc.netty.shaded.io.netty.channel.ChannelFuture;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandlerContext;
import io.grpc.netty.shaded.io.netty.channel.ChannelInboundHandlerAdapter;
import io.grpc.netty.shaded.io.netty.channel.socket.DuplexChannel;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Connection;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslHandler;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import org.jspecify.annotations.Nullable;

/**
 * One gRPC connection: its place within the connection limit, its share of the memory for
 * unfinished requests, and their deadlines. Confined to its event loop.
 */
final class GrpcConnection extends ChannelInboundHandlerAdapter {
  /**
   * The most small pieces of messages that may wait. More are an attack, since each takes far more
   * memory than its bytes.
   */
  private static final int MAX_SMALL_PIECES = 1_000;

  /** The number of small pieces that a whole message cancels. */
  private static final int SMALL_PIECES_FORGOTTEN = 10;

  /** Approximate size of the objects of a stream. */
  private static final long STREAM_BYTES = 4 << 10;

  /** The number of open and idle streams that are not counted; more are of no use to a client. */
  private static final int FREE_STREAMS = 10;

  private static final int ENHANCE_YOUR_CALM = 11;

  /** The time for a refused client to read the reason. */
  private static final int LINGER_SECONDS = 1;

  private final GrpcConnections all;
  private final Ticker ticker;
  private final long requestNanos;
  private final PendingBytes.Account account;
  private final Http2Frames frames = new Http2Frames();
  private final List<GrpcStream> touched = new ArrayList<>();
  private final Set<GrpcStream> receiving = new LinkedHashSet<>();
  private @Nullable ChannelHandlerContext context;
  private @Nullable Http2Connection http2;
  private @Nullable QuickCalls quick;
  private @Nullable ReceiveQueue unasked;
  private @Nullable SendQueue unsent;
  private boolean checking;
  private boolean cutting;
  private int calls;
  private int watches;
  private int reads;
  private int readBytes;
  private int framesBytes;

  /** The bytes of unfinished frames, and of streams without a call. */
  private long others;

  private long told;
  private long unreadTold;
  private long unreadSinceNanos;
  private long framesSinceNanos;
  private int framesEnded;

  GrpcConnection(GrpcConnections all, DoorCounters counters, long requestNanos, Ticker ticker) {
    this.all = all;
    this.ticker = ticker;
    this.requestNanos = requestNanos;
    account = counters.account(this::evict);
  }

  @Override
  public void channelActive(ChannelHandlerContext ctx) {
    context = ctx;
    if (all.opened(this, ctx.channel())) {
      ChannelHandlerContext tls = ctx.pipeline().context(SslHandler.class);
      ctx.pipeline().addAfter((tls == null ? ctx : tls).name(), "weir-frames", new Frames());
      ctx.fireChannelActive();
    } else {
      cutting = true;
      goAway(ctx, all.tooMany());
    }
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    if (cutting) {
      ((ByteBuf) message).release();
    } else {
      ctx.fireChannelRead(message);
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    account.close();
    receiving.clear();
    all.closed(this, ctx.channel());
    ctx.fireChannelInactive();
  }

  /**
   * Sends the reason of the refusal as GOAWAY, and closes. Over TLS it only closes, since the
   * reason would need a handshake first.
   */
  private void goAway(ChannelHandlerContext ctx, String why) {
    if (all.tls()) {
      ChannelFuture unused = ctx.close();
      return;
    }
    byte[] text = why.getBytes(StandardCharsets.US_ASCII);
    ByteBuf out = Unpooled.buffer(64 + text.length);
    out.writeMedium(0).writeByte(4).writeByte(0).writeInt(0); // SETTINGS [RFC 9113, 6.5]
    out.writeMedium(8 + text.length).writeByte(7).writeByte(0).writeInt(0); // GOAWAY [6.8]
    out.writeInt(0).writeInt(ENHANCE_YOUR_CALM).writeBytes(text);
    // If the connection were closed at once, the reset for bytes that the client still sends would
    // discard the reason. The close is forced here: grpc-java would wait for the client.
    ChannelFuture unused = ctx.writeAndFlush(out).addListener(written -> endOutput(ctx));
    Object unusedTimer =
        ctx.executor().schedule(() -> close(ctx), LINGER_SECONDS, TimeUnit.SECONDS);
  }

  private static void endOutput(ChannelHandlerContext ctx) {
    ChannelFuture unused = ((DuplexChannel) ctx.channel()).shutdownOutput();
  }

  private static void close(ChannelHandlerContext ctx) {
    ChannelFuture unused = ctx.close();
  }

  /** Finds the HTTP/2 codec. Over TLS it exists only after the handshake. */
  private void find(ChannelHandlerContext ctx) {
    if (http2 == null) {
      ChannelHandlerContext codec = ctx.pipeline().context(Http2ConnectionHandler.class);
      if (codec != null) {
        Http2Connection connection = ((Http2ConnectionHandler) codec.handler()).connection();
        http2 = connection;
        unasked = ReceiveQueue.follow(connection, this::updateBudget);
        unsent = SendQueue.follow(connection, this::updateBudget);
        quick = all.quick(codec);
      }
    }
  }

  /** The observer of the bytes that go to the HTTP/2 codec; over TLS, of the decrypted ones. */
  private final class Frames extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
      ByteBuf in = (ByteBuf) message;
      find(ctx);
      reads++;
      readBytes = in.readableBytes() + framesBytes;
      if (unasked != null) {
        unasked.begin(in.capacity() + framesBytes);
      }
      for (ByteBuffer each : in.nioBuffers()) {
        frames.read(each);
      }
      ctx.fireChannelRead(message);
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
      QuickCalls calls = quick;
      if (calls != null) {
        calls.readComplete();
      }
      ctx.fireChannelReadComplete();
      if (unasked != null) {
        unasked.end();
      }
      inspect(ctx);
    }
  }

  /** Counts in the budget the bytes that a read leaves unfinished, and sets their deadline. */
  private void inspect(ChannelHandlerContext ctx) {
    for (int i = 0; i < touched.size(); i++) {
      GrpcStream stream = touched.get(i);
      if (stream.stay()) {
        receiving.add(stream);
      }
    }
    touched.clear();
    find(ctx);
    long streams = http2 == null ? 0 : Math.max(0, idleStreams(http2) - FREE_STREAMS);
    if (unasked() == 0 && receiving.isEmpty()) {
      frames.forget(Integer.MAX_VALUE);
    } else if (frames.small() > MAX_SMALL_PIECES) {
      cut(ctx, "small pieces of messages: too many");
      return;
    }
    long unfinished = frames.unfinished();
    boolean another = frames.ended() != framesEnded && !frames.inHeaders();
    if (unfinished > 0 && (framesBytes == 0 || another)) {
      framesSinceNanos = ticker.nanos();
    }
    framesEnded = frames.ended();
    framesBytes = (int) unfinished;
    others = unfinished + STREAM_BYTES * streams;
    updateBudget();
    if (unfinished > 0 || !receiving.isEmpty()) {
      checkLater(ctx);
    }
    if (streams > 0 && quick != null) {
      quick.afterWrites(() -> checkAgain(ctx)); // They end then, perhaps without another read.
    }
  }

  private void checkAgain(ChannelHandlerContext ctx) {
    if (ctx.channel().isActive()) {
      inspect(ctx);
    }
  }

  /**
   * Counts the bytes of the connection in the budget, except those of requests, which their calls
   * count.
   */
  private void updateBudget() {
    long now = others + unasked() + (unsent == null ? 0 : unsent.held());
    long change = now - told;
    told = now;
    boolean unused = account.add(change);
    if (unsent != null && unsent.update(ticker) && context != null) {
      checkLater(context);
    }
  }

  /**
   * Returns the number of streams without a call that is being decided: idle ones, and those
   * answered before their clients had sent everything.
   */
  private long idleStreams(Http2Connection connection) {
    return Math.max(0, connection.numActiveStreams() - calls);
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext ctx) {
    boolean reads = ctx.channel().isWritable();
    long now = reads ? 0 : ctx.channel().bytesBeforeWritable();
    if (ctx.channel().isActive()) {
      ctx.channel()
          .config()
          .setAutoRead(reads); // A client that does not read answers is not read from.
      if (now > 0 && unreadTold == 0) {
        unreadSinceNanos = ticker.nanos();
        checkLater(ctx);
      }
      long change = now - unreadTold;
      unreadTold = now;
      boolean unused = account.add(change);
    }
    ctx.fireChannelWritabilityChanged();
    if (reads && quick != null) {
      checkAgain(ctx); // Answers that waited have been written.
    }
  }

  /** Returns the bytes of memory for messages that the server has not requested yet. */
  private long unasked() {
    return unasked == null ? 0 : unasked.held();
  }

  private void checkLater(ChannelHandlerContext ctx) {
    if (!checking) {
      checking = true;
      Object unused =
          ctx.executor()
              .schedule(() -> check(ctx), Math.max(1, requestNanos / 4), TimeUnit.NANOSECONDS);
    }
  }

  /** Ends requests and frames that are past their deadline. */
  private void check(ChannelHandlerContext ctx) {
    checking = false;
    if (!ctx.channel().isActive()) {
      return;
    }
    long now = ticker.nanos();
    for (GrpcStream stream : List.copyOf(receiving)) {
      if (now - stream.sinceNanos() > requestNanos) {
        stream.refuse(
            Status.DEADLINE_EXCEEDED.withDescription(
                "request: not complete in time (expected: within --request-timeout)"));
      }
    }
    if (frames.unfinished() > 0 && now - framesSinceNanos > requestNanos) {
      all.timedOut();
      cut(ctx, "frame: not complete in time");
    } else if (isUnread(now)) {
      all.timedOut();
      cut(ctx, "answers: not read in time");
    } else if (frames.unfinished() > 0
        || unreadTold > 0
        || (unsent != null && unsent.held() > 0)
        || !receiving.isEmpty()) {
      checkLater(ctx);
    }
  }

  /**
   * Returns whether the client takes no answers, either from the socket or by the windows of
   * HTTP/2.
   */
  private boolean isUnread(long now) {
    return (unreadTold > 0 && now - unreadSinceNanos > requestNanos)
        || (unsent != null && unsent.isStuck(now, requestNanos));
  }

  /**
   * Closes the connection at once because of its client. The HTTP/2 codec sends GOAWAY but does not
   * close: it would wait for the client.
   */
  private void cut(ChannelHandlerContext ctx, String why) {
    cutting = true;
    Logs.LOG.log(Level.FINE, "grpc: " + ctx.channel().remoteAddress() + ": closed: " + why);
    ChannelHandlerContext codec = ctx.pipeline().context(Http2ConnectionHandler.class);
    if (codec != null) {
      ByteBuf text = Unpooled.copiedBuffer(why, StandardCharsets.US_ASCII);
      Object unused =
          ((Http2ConnectionHandler) codec.handler())
              .goAway(codec, Integer.MAX_VALUE, ENHANCE_YOUR_CALM, text, codec.newPromise());
      codec.flush();
    }
    ChannelHandlerContext first = context;
    if (first != null) {
      ChannelFuture unused = first.close();
    }
  }

  /**
   * Refuses unfinished calls, because their memory is needed. Complete calls continue, if they can.
   */
  private void evict() {
    ChannelHandlerContext ctx = context;
    if (ctx == null) {
      return;
    }
    ctx.executor()
        .execute(
            () -> {
              for (GrpcStream stream : List.copyOf(receiving)) {
                stream.refuse(Status.RESOURCE_EXHAUSTED.withDescription(all.refusal()));
              }
              if (account.held() > PendingBytes.SMALL_BYTES || !ctx.channel().isWritable()) {
                cut(ctx, "too many bytes of unfinished requests");
              } else {
                account.recovered();
              }
            });
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    if (cause instanceof IOException) {
      ctx.fireExceptionCaught(cause);
    } else {
      all.failed(ctx.channel().remoteAddress(), cause);
      ChannelFuture unused = ctx.close();
    }
  }

  PendingBytes.Account account() {
    return account;
  }

  /** Returns the number of the current read. */
  int reads() {
    return reads;
  }

  /** Returns the bytes of the current read, and those kept from earlier ones. */
  int readBytes() {
    return readBytes;
  }

  /** Records that a part of the call has arrived. */
  void touched(GrpcStream stream) {
    if (touched.isEmpty() || touched.get(touched.size() - 1) != stream) {
      touched.add(stream);
    }
  }

  /** Records that the call has fully arrived. */
  void received(GrpcStream stream) {
    receiving.remove(stream);
  }

  /** Records that a whole message has arrived. */
  void whole() {
    frames.forget(SMALL_PIECES_FORGOTTEN);
  }

  /** Changes the number of calls that are being decided. */
  void calls(int change) {
    calls += change;
  }

  /** Counts a call that watches health; returns whether there is room for it on the connection. */
  boolean watch(int most) {
    if (watches == most) {
      return false;
    }
    watches++;
    return true;
  }

  void watched() {
    watches--;
  }
}
