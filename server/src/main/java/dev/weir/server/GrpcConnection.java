package dev.weir.server;

import dev.weir.Ticker;
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
 * One gRPC connection: whether there is room for it, what it holds of the memory for unfinished
 * requests, and how long its client may take for them. Confined to its event loop.
 */
final class GrpcConnection extends ChannelInboundHandlerAdapter {
  /**
   * Pieces of messages that are smaller than a message can be, while others wait: so many are an
   * attack, since each takes far more memory than its bytes.
   */
  private static final int MAX_SMALL_PIECES = 1_000;

  /** A whole message makes up for so many small pieces. */
  private static final int SMALL_PIECES_FORGOTTEN = 10;

  /** What a byte takes that the server has not asked for yet: it comes in pieces of some size. */
  private static final int UNASKED_FACTOR = 4;

  /** What a stream takes in objects, about. */
  private static final long STREAM_BYTES = 4 << 10;

  /** A client has no use for more streams that are open and idle. */
  private static final int FREE_STREAMS = 10;

  private static final int ENHANCE_YOUR_CALM = 11;

  /** What a client gets to read why it is not served. */
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
  private boolean checking;
  private boolean cutting;
  private int calls;
  private int watches;
  private int reads;
  private int readBytes;
  private int framesBytes;
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

  /** Says in HTTP/2 why nobody is served here, and closes. Over TLS there is no time for that. */
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
    // Closed at once, the client would lose what it was told for what it has sent meanwhile. Closed
    // from here in any case: grpc-java's own way would wait for the client.
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

  /** Looks at what goes to the HTTP/2 codec, over TLS at what its handler has deciphered. */
  private final class Frames extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
      ByteBuf in = (ByteBuf) message;
      reads++;
      readBytes = in.readableBytes() + framesBytes;
      for (ByteBuffer each : in.nioBuffers()) {
        frames.read(each);
      }
      ctx.fireChannelRead(message);
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
      ctx.fireChannelReadComplete();
      look(ctx);
    }
  }

  /** Tells the budget what stays after a read, and when it is to be complete. */
  private void look(ChannelHandlerContext ctx) {
    for (int i = 0; i < touched.size(); i++) {
      GrpcStream stream = touched.get(i);
      if (stream.stay()) {
        receiving.add(stream);
      }
    }
    touched.clear();
    long unasked = unasked(ctx);
    long streams = http2 == null ? 0 : Math.max(0, idleStreams(http2) - FREE_STREAMS);
    if (unasked == 0 && receiving.isEmpty()) {
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
    tell(unfinished + UNASKED_FACTOR * unasked + STREAM_BYTES * streams);
    if (unfinished > 0 || !receiving.isEmpty()) {
      checkLater(ctx);
    }
  }

  /** Tells the budget what the connection holds, but for its calls, which tell it themselves. */
  private void tell(long now) {
    long change = now - told;
    told = now;
    boolean unused = account.add(change);
  }

  /**
   * Returns how many streams stay without a call that is being decided: idle ones, and those that
   * were answered before their clients had sent all.
   */
  private long idleStreams(Http2Connection connection) {
    return Math.max(0, connection.numActiveStreams() - calls);
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext ctx) {
    boolean reads = ctx.channel().isWritable();
    long now = reads ? 0 : ctx.channel().bytesBeforeWritable();
    if (ctx.channel().isActive()) {
      ctx.channel().config().setAutoRead(reads); // Whoever does not take answers asks no more.
      if (now > 0 && unreadTold == 0) {
        unreadSinceNanos = ticker.nanos();
        checkLater(ctx);
      }
      long change = now - unreadTold;
      unreadTold = now;
      boolean unused = account.add(change);
    }
    ctx.fireChannelWritabilityChanged();
  }

  /** Returns the bytes that have come of messages that the server has not asked for. */
  private long unasked(ChannelHandlerContext ctx) {
    if (http2 == null) {
      Http2ConnectionHandler codec = ctx.pipeline().get(Http2ConnectionHandler.class);
      if (codec == null) {
        return 0;
      }
      http2 = codec.connection();
    }
    return http2.local().flowController().unconsumedBytes(http2.connectionStream());
  }

  private void checkLater(ChannelHandlerContext ctx) {
    if (!checking) {
      checking = true;
      Object unused =
          ctx.executor()
              .schedule(() -> check(ctx), Math.max(1, requestNanos / 4), TimeUnit.NANOSECONDS);
    }
  }

  /** Ends what has been on its way for too long. */
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
                "request: not whole in time (expected: within --request-timeout)"));
      }
    }
    if (frames.unfinished() > 0 && now - framesSinceNanos > requestNanos) {
      all.timedOut();
      cut(ctx, "a frame: not whole in time");
    } else if (unreadTold > 0 && now - unreadSinceNanos > requestNanos) {
      all.timedOut();
      cut(ctx, "answers: not read in time");
    } else if (frames.unfinished() > 0 || unreadTold > 0 || !receiving.isEmpty()) {
      checkLater(ctx);
    }
  }

  /**
   * Closes the connection at once for what its client does. The HTTP/2 codec says GOAWAY, but is
   * not asked to close: it would wait for the client.
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

  /** Refuses what is not whole: others need the memory. Calls that are whole go on, if they can. */
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

  /** Returns the number of the read that is being dealt with. */
  int reads() {
    return reads;
  }

  /** Returns the bytes of that read, and those that were kept for it. */
  int readBytes() {
    return readBytes;
  }

  /** Something has come for that call. */
  void touched(GrpcStream stream) {
    if (touched.isEmpty() || touched.get(touched.size() - 1) != stream) {
      touched.add(stream);
    }
  }

  /** All is here that was missing of that call. */
  void received(GrpcStream stream) {
    receiving.remove(stream);
  }

  /** A whole message is here. */
  void whole() {
    frames.forget(SMALL_PIECES_FORGOTTEN);
  }

  /** Counts the calls that are being decided. */
  void calls(int change) {
    calls += change;
  }

  /** Takes a call that watches health; returns whether there is room for it on the connection. */
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
