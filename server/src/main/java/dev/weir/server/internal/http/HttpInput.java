package dev.weir.server.internal.http;

import dev.weir.Ticker;
import dev.weir.server.internal.deciding.ByteText;
import dev.weir.server.internal.guard.ConnectionGuard;
import dev.weir.server.internal.guard.DoorCounters;
import dev.weir.server.internal.guard.UnreadAnswers;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.channel.VoidChannelPromise;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.impl.HttpServerConnection;
import org.jspecify.annotations.Nullable;

/**
 * The first handler of an HTTP/1 connection: it passes heads to the codec when they are complete,
 * refuses ambiguous framing, and counts kept bytes in the budget. Confined to one event loop.
 */
final class HttpInput extends ChannelDuplexHandler {
  private final HttpServerConnection connection;
  private final ConnectionGuard<HttpConnection> guard;
  private final Ticker ticker;
  private final HttpFraming framing;
  private final HttpPeer peer;
  private final @Nullable Quick quick;

  /**
   * The promise of answers of {@link #quick}: if one cannot be written, the connection is closed
   * anyway.
   */
  private final ChannelPromise ignored;

  private @Nullable ChannelHandlerContext context;

  /** An incomplete head. */
  private @Nullable ByteBuf head;

  /** Bytes counted in the budget for the head, and for unread answers. */
  private long headBytes;

  private long unreadBytes;

  /** The number of complete heads in a read. */
  private int heads;

  private boolean toldWhenRead;

  /** True if answers were written that are flushed at the end of the read. */
  private boolean answered;

  /** True if a head was incomplete after the last read. */
  private boolean wasHead;

  /** True if all further input is dropped. */
  private boolean over;

  private HttpInput(
      HttpServerConnection connection,
      ConnectionGuard<HttpConnection> guard,
      DoorCounters counters,
      HttpLimits limits,
      @Nullable Quick quick,
      Ticker ticker) {
    this.connection = connection;
    this.quick = quick;
    this.guard = guard;
    this.ticker = ticker;
    framing = new HttpFraming(limits);
    peer = HttpPeer.open(connection, counters, this::refuseHead);
    ignored = new VoidChannelPromise(connection.channelHandlerContext().channel(), false);
  }

  /** Installs the handler in front of a new connection's codec. */
  static HttpPeer open(
      HttpServerConnection connection,
      ConnectionGuard<HttpConnection> guard,
      DoorCounters counters,
      HttpLimits limits,
      @Nullable Quick quick,
      Ticker ticker) {
    Quick plain = connection.isSsl() ? null : quick; // Behind TLS the codec counts idle time.
    HttpInput input = new HttpInput(connection, guard, counters, limits, plain, ticker);
    ChannelPipeline pipeline = connection.channelHandlerContext().pipeline();
    String codec = pipeline.context(HttpRequestDecoder.class).name();
    pipeline.addBefore(codec, "weir-input", input);
    return input.peer;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext ctx) {
    context = ctx;
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext ctx) {
    drop();
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    drop();
    ctx.fireChannelInactive();
  }

  private void drop() {
    over = true;
    if (head != null) {
      head.release();
      head = null;
    }
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    ByteBuf read = (ByteBuf) message;
    if (over) {
      read.release();
      return;
    }
    ByteBuf in = read;
    if (head != null) {
      in = head.writeBytes(read);
      read.release();
      head = null;
    }
    int from = quickly(ctx, in, in.readerIndex(), in.writerIndex());
    if (from == in.writerIndex()) {
      in.release();
      return;
    }
    in.readerIndex(from);
    int at = from;
    heads = 0;
    try {
      at = whole(in, at, in.writerIndex());
    } catch (InputException refused) {
      over = true;
      pass(ctx, in, from, refused.at);
      refuse(ctx, refused.problem, refused.inHead);
      return;
    }
    int end = in.writerIndex();
    ByteBuf rest = at == end ? null : Unpooled.buffer(end - at + 128).writeBytes(in, at, end - at);
    if (heads > 0) {
      peer.queued(heads);
    }
    pass(ctx, in, from, at);
    keep(rest);
  }

  /** Answers the requests that need no codec; returns the beginning of the rest. */
  private int quickly(ChannelHandlerContext ctx, ByteBuf in, int from, int to) {
    if (quick == null
        || wasHead
        || !framing.inHead()
        || !peer.isIdle()
        || peer.isEnding() // Then the answer says that the connection closes.
        || !UnreadAnswers.none(ctx.channel())) {
      return from; // Answers keep their order, and a client that does not read has to wait.
    }
    int rest = quick.answer(in, from, to);
    ByteText answers = quick.answers();
    if (rest > from) {
      answered = true;
      ByteBuf out = ctx.alloc().directBuffer(answers.size());
      ChannelFuture unused = ctx.write(out.writeBytes(answers.bytes(), 0, answers.size()), ignored);
    }
    return rest;
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext ctx) {
    if (answered) {
      answered = false;
      flush(ctx);
      guard.requestEnded(connection, this, ticker.nanos());
    }
    ctx.fireChannelReadComplete();
  }

  /** The problem that ends reading, with its position. */
  private static final class InputException extends Exception {
    private static final long serialVersionUID = 1;
    private final int at;
    private final boolean inHead;
    private final transient HttpProblem problem;

    InputException(int at, boolean inHead, HttpProblem problem) {
      super(problem.getMessage(), null, false, false);
      this.at = at;
      this.inHead = inHead;
      this.problem = problem;
    }
  }

  /** Returns the end of the bytes that can be passed on: the start of an unfinished head. */
  private int whole(ByteBuf in, int from, int to) throws InputException {
    int at = from;
    boolean inHead = true;
    try {
      while (at < to) {
        at = framing.inHead() ? framing.afterEmptyLines(in, at, to) : at;
        inHead = framing.inHead();
        if (at == to) {
          return at;
        }
        if (inHead) {
          int end = framing.headEnd(in, at, to);
          if (end < 0) {
            return at;
          }
          framing.head(in, at, end);
          heads++;
          at = end;
        } else {
          at = framing.body(in, at, to);
        }
      }
      return at;
    } catch (HttpProblem problem) {
      throw new InputException(at, inHead, problem);
    }
  }

  private static void pass(ChannelHandlerContext ctx, ByteBuf in, int from, int to) {
    if (from == to) {
      in.release();
    } else {
      ctx.fireChannelRead(in.writerIndex(to)); // They were copied before, if there were more.
    }
  }

  /** Keeps an incomplete head, for a limited time. */
  private void keep(@Nullable ByteBuf rest) {
    long now = (rest == null ? 0 : rest.capacity()) + framing.openHeadBytes();
    boolean another = heads > 0;
    if (over) {
      if (rest != null) {
        rest.release(); // The connection was closed meanwhile.
      }
      return;
    }
    head = rest;
    boolean before = wasHead;
    if (before && (rest == null || another)) {
      guard.requestEnded(connection, this, ticker.nanos());
    }
    if (rest != null && (!before || another)) {
      guard.requestBegan(connection, this, ticker.nanos());
    }
    wasHead = rest != null;
    long change = now - headBytes;
    headBytes = now;
    boolean unused = peer.account().add(change);
  }

  /** Answers with the problem, after the answers to earlier requests. */
  private void refuse(ChannelHandlerContext ctx, HttpProblem problem, boolean inHead) {
    if (!inHead) {
      peer.broken(problem);
      return;
    }
    DefaultHttpRequest invalid = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, "/");
    invalid.setDecoderResult(DecoderResult.failure(problem));
    ChannelHandlerContext codec = ctx.pipeline().context(HttpRequestDecoder.class);
    if (codec != null) {
      codec.fireChannelRead(invalid);
      codec.fireChannelRead(LastHttpContent.EMPTY_LAST_CONTENT);
    }
  }

  /** Refuses an unfinished head, or closes the connection, because its memory is needed. */
  private void refuseHead() {
    ChannelHandlerContext ctx = context;
    if (ctx == null || ctx.isRemoved()) {
      return;
    }
    boolean unfinished = head != null;
    drop();
    if (unfinished && ctx.channel().isWritable()) {
      refuse(ctx, new HttpProblem(503, "Too much at once", peer.refusal()), true);
    } else {
      ChannelFuture unused = ctx.close(); // The client does not read its answers.
    }
  }

  @Override
  public void flush(ChannelHandlerContext ctx) {
    ctx.flush();
    unread(ctx.channel());
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext ctx) {
    unread(ctx.channel());
    ctx.fireChannelWritabilityChanged();
  }

  private void unread(Channel channel) {
    long now = UnreadAnswers.bytes(channel);
    if (now != unreadBytes) {
      long change = now - unreadBytes;
      unreadBytes = now;
      boolean unused = peer.account().add(change);
    }
    ChannelHandlerContext ctx = context;
    if (now > 0 && !toldWhenRead && ctx != null) {
      toldWhenRead = true;
      ChannelFuture unused =
          ctx.write(Unpooled.EMPTY_BUFFER)
              .addListener(
                  taken -> {
                    toldWhenRead = false;
                    unread(channel);
                  });
    }
  }
}
