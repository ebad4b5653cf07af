package dev.weir.server.internal.resp;

import dev.weir.server.internal.guard.LingeringClose;
import dev.weir.server.internal.guard.PendingBytes;
import dev.weir.server.internal.guard.UnreadAnswers;
import dev.weir.server.internal.log.Logs;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.ssl.SslHandler;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.logging.Level;
import org.jspecify.annotations.Nullable;

/**
 * One RESP connection, which splits bytes into commands and sends the replies, in order. All
 * commands of one read are decided together and answered by one write. Confined to one event loop.
 *
 * <p>While a client does not read its replies, nothing is read from it. So the bytes that wait for
 * it are bounded by one read and the replies to the commands that fill {@link #MAX_UNSENT}.
 */
final class RespConnection extends ChannelInboundHandlerAdapter {
  /** The most arguments of an unauthenticated client's command, as in Redis; it needs no more. */
  private static final int STRANGERS_ARGUMENTS = 10;

  private static final int STRANGERS_BYTES = 16 << 10;

  /** The most arguments of one command: the entries of the largest descriptor fit. */
  private static final int MAX_ARGUMENTS = 2_100;

  /** The bytes of replies after which they are sent before further commands are run. */
  private static final int MAX_UNSENT = 64 << 10;

  /**
   * The event that closes the connection as soon as all commands that have been read are answered.
   */
  static final Object DRAIN = new Object();

  private static final byte[] NONE = {};

  private final RespLoop loop;
  private final RespSession session;
  private final int maxCommandBytes;
  private final Consumer<Runnable> later = this::answered;
  private final RespParser parser;
  private final RespArguments arguments;

  // The bytes that have been read and wait: for more, for an answer, or for the client to read.
  private byte[] pending = NONE;
  private int pendingFrom;
  private int pendingTo;

  /** The bytes of commands whose answer is awaited. */
  private int undecided;

  private @Nullable ChannelHandlerContext context;
  private PendingBytes.@Nullable Account account;
  private boolean working;
  private boolean answered;
  private boolean waiting;
  private boolean paused;
  private boolean incomplete;
  private boolean draining;
  private boolean closing;
  private boolean toldWhenRead;

  /**
   * The requests for decisions that are not answered yet, and the time at which the first of them
   * was read.
   */
  private int asked;

  private long askedNanos;

  RespConnection(RespLoop loop, RespSession session, int maxCommandBytes) {
    this.loop = loop;
    this.session = session;
    this.maxCommandBytes = maxCommandBytes;
    this.parser = new RespParser(STRANGERS_ARGUMENTS, STRANGERS_BYTES, STRANGERS_BYTES);
    this.arguments = new RespArguments(parser);
    limits();
  }

  private void limits() {
    if (session.authenticated) {
      parser.limits(MAX_ARGUMENTS, maxCommandBytes, maxCommandBytes);
    } else {
      parser.limits(STRANGERS_ARGUMENTS, STRANGERS_BYTES, STRANGERS_BYTES);
    }
  }

  @Override
  public void channelActive(ChannelHandlerContext ctx) {
    context = ctx;
    account = loop.counters.account(() -> evict(ctx));
    long now = loop.ticker.nanos();
    if (!loop.guard.opened(ctx.channel(), now)) {
      closing = true;
      if (ctx.pipeline().get(SslHandler.class) == null) {
        loop.out.clear();
        loop.out.error("ERR max number of clients reached");
        // It does not linger: many such clients would use up the file descriptors.
        ChannelFuture unused =
            ctx.writeAndFlush(replies(ctx)).addListener(ChannelFutureListener.CLOSE);
      } else {
        ChannelFuture unused = ctx.close(); // A reply would have to wait for the handshake.
      }
    } else if (session.authenticated) {
      loop.guard.requestEnded(
          ctx.channel(), ctx.channel(), now); // A pool may open connections for later.
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    closing = true;
    drop();
    session.transaction = null;
    if (account != null) {
      account.close();
    }
    loop.guard.closed(ctx.channel());
  }

  private void drop() {
    pending = NONE;
    pendingFrom = 0;
    pendingTo = 0;
  }

  /** Closes the connection, on its own event loop, because its memory is needed. */
  private void evict(ChannelHandlerContext ctx) {
    if (!ctx.executor().inEventLoop()) {
      ctx.executor().execute(() -> evict(ctx));
      return;
    }
    drop();
    session.transaction = null;
    if (account != null) {
      account.close();
    }
    if (closing) {
      return;
    }
    closing = true;
    if (ctx.channel().isWritable()) {
      String error = "-ERR " + loop.counters.pending().refusal() + "\r\n";
      ByteBuf bytes = Unpooled.copiedBuffer(error, StandardCharsets.US_ASCII);
      ChannelFuture unused = ctx.write(bytes);
      LingeringClose.begin(ctx);
    } else {
      ChannelFuture unused = ctx.close(); // It does not read earlier replies either.
    }
  }

  /** Counts in the budget the bytes of the connection: commands, and unread replies. */
  private void account(Channel channel) {
    if (account != null) {
      long unread = UnreadAnswers.bytes(channel);
      long queued = session.transaction == null ? 0 : session.transaction.held();
      boolean kept = account.add(pending.length + undecided + queued + unread - account.held());
      if (kept && unread > 0 && !toldWhenRead) {
        toldWhenRead = true;
        ChannelFuture unused =
            channel
                .write(Unpooled.EMPTY_BUFFER)
                .addListener(
                    taken -> {
                      toldWhenRead = false;
                      account(channel);
                    });
      }
    }
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    ByteBuf read = (ByteBuf) message;
    try {
      int size = read.readableBytes();
      if (closing) {
        return;
      }
      if (pendingFrom == pendingTo) {
        byte[] in = loop.in(size);
        read.readBytes(in, 0, size);
        work(ctx, in, 0, size);
      } else if (append(read, size)) {
        work(ctx, pending, pendingFrom, pendingTo);
      }
    } finally {
      read.release();
    }
  }

  /**
   * Adds the bytes of a read to those that wait. Room grows by the bytes that have arrived, not by
   * the announced number.
   *
   * @return whether there was memory for them; if not, the connection is closed
   */
  private boolean append(ByteBuf read, int size) {
    int kept = pendingTo - pendingFrom;
    if (pendingTo + size > pending.length) {
      byte[] before = pending;
      byte[] room = before;
      if (before.length < kept + size) {
        int wanted = kept + size + (kept + size) / 4;
        if (account != null && !account.add(wanted - before.length)) {
          return false;
        }
        room = new byte[wanted];
      }
      System.arraycopy(before, pendingFrom, room, 0, kept);
      pending = room;
      pendingFrom = 0;
      pendingTo = kept;
    }
    read.readBytes(pending, pendingTo, size);
    pendingTo += size;
    return true;
  }

  /** Runs the commands in those bytes, as far as possible, and keeps the rest. */
  private void work(ChannelHandlerContext ctx, byte[] read, int from, int readTo) {
    if (waiting || paused) {
      keep(read, from, readTo);
      return;
    }
    byte[] bytes = read;
    int to = readTo;
    boolean progress = false;
    long now = loop.ticker.nanos();
    if (asked == 0) {
      askedNanos = now;
    }
    working = true;
    loop.out.clear();
    int at = from;
    int ran = 0;
    try {
      while (at < to && !closing && !waiting && !paused) {
        int end = parser.parse(bytes, at, to);
        if (end == RespParser.MORE) {
          break;
        }
        if (parser.count() == 0 || run(arguments.of(parser, bytes, at, end), now)) {
          ran += end - at;
          at = end;
          progress = true;
        }
        RespTransaction transaction = session.toRun;
        if (transaction != null) {
          session.toRun = null;
          bytes = transaction.then(bytes, at, to);
          at = 0;
          to = bytes.length;
        }
        if (loop.out.size() >= MAX_UNSENT) {
          send(ctx);
          paused = !ctx.channel().isWritable();
        }
      }
      finish(now);
    } catch (RespError e) {
      finish(now);
      if (!waiting) { // Else it is found again when the earlier commands are answered.
        loop.out.error("ERR " + e.getMessage());
        closing = true;
      }
    } catch (RuntimeException | Error e) {
      loop.commands.forget();
      loop.out.clear();
      closing = true;
      throw e;
    } finally {
      working = false;
    }
    keep(bytes, at, to);
    undecided = waiting && bytes != pending ? ran : 0; // Else they are in the kept bytes.
    arguments.forget();
    send(ctx);
    measure();
    after(ctx, now, progress);
  }

  /** Counts the time of the requests that are answered now. */
  private void measure() {
    asked += loop.commands.decisions();
    if (asked > 0 && !waiting) {
      loop.times.ended(askedNanos, asked);
      asked = 0;
    }
  }

  /** Runs a command; returns false if it must be run again. */
  private boolean run(RespArguments command, long now) {
    answered = false;
    RespCommands.NextStep after = loop.commands.run(session, command, now, later);
    switch (after) {
      case GO_ON -> {}
      case WAIT, AGAIN -> waiting = !answered;
      case CLOSE -> closing = true;
    }
    limits();
    return after != RespCommands.NextStep.AGAIN;
  }

  /** Decides the calls that are left over; then the connection may be waiting for them. */
  private void finish(long now) {
    answered = false;
    if (!loop.commands.finish(now, later)) {
      waiting = !answered;
    }
  }

  /**
   * Writes the replies that commands wait for, or passes them to the event loop; may run on another
   * thread.
   */
  private void answered(Runnable reply) {
    ChannelHandlerContext ctx = context;
    if (ctx == null) {
      return;
    }
    if (ctx.executor().inEventLoop() && working) {
      reply.run();
      answered = true;
      return;
    }
    try {
      ctx.executor().execute(() -> resume(ctx, reply));
    } catch (RejectedExecutionException e) {
      Logs.LOG.log(Level.FINE, "resp: an answer came too late", e);
    }
  }

  /** Writes the awaited replies, and continues with the bytes that have been read meanwhile. */
  private void resume(ChannelHandlerContext ctx, Runnable reply) {
    if (!ctx.channel().isActive()) {
      return; // The client has gone.
    }
    try {
      loop.out.clear();
      reply.run();
      send(ctx);
      waiting = false;
      undecided = 0;
      work(ctx, pending, pendingFrom, pendingTo);
    } catch (RuntimeException e) {
      exceptionCaught(ctx, e);
    }
  }

  private void keep(byte[] bytes, int from, int to) {
    if (from == to || closing) {
      drop();
    } else if (bytes == pending) {
      pendingFrom = from;
    } else {
      pending = Arrays.copyOfRange(bytes, from, to);
      pendingFrom = 0;
      pendingTo = to - from;
    }
  }

  private void send(ChannelHandlerContext ctx) {
    if (loop.out.size() > 0) {
      ChannelFuture unused = ctx.writeAndFlush(replies(ctx), ctx.voidPromise());
      if (closing) {
        LingeringClose.begin(ctx);
      }
    }
  }

  private ByteBuf replies(ChannelHandlerContext ctx) {
    int size = loop.out.size();
    ByteBuf replies = ctx.alloc().directBuffer(size).writeBytes(loop.out.bytes(), 0, size);
    loop.out.clear();
    return replies;
  }

  /** Sets the side that the connection waits for now, and its deadline. */
  private void after(ChannelHandlerContext ctx, long now, boolean progress) {
    Channel channel = ctx.channel();
    account(channel);
    if (!channel.isWritable()) {
      paused = true;
    } else if (paused) {
      // The client has read again while this was not observed.
      ctx.executor().execute(() -> goOn(ctx));
    }
    if (draining && !waiting && !paused) {
      closeAfterReplies(ctx);
    }
    boolean reading = !waiting && !paused;
    if (!closing && channel.config().isAutoRead() != reading) {
      channel.config().setAutoRead(reading);
    }
    boolean before = incomplete;
    incomplete = pendingFrom < pendingTo && reading;
    if (!session.authenticated) {
      return; // An unauthenticated client has only its first deadline.
    }
    if (!incomplete) {
      loop.guard.requestEnded(channel, channel, now);
    } else if (!before || progress) {
      loop.guard.requestBegan(channel, channel, now);
    }
  }

  /** Takes no more commands, and closes when the client has read the replies. */
  private void closeAfterReplies(ChannelHandlerContext ctx) {
    if (closing) {
      return;
    }
    closing = true;
    drop();
    SslHandler tls = ctx.pipeline().get(SslHandler.class);
    if (tls == null || tls.handshakeFuture().isDone()) {
      LingeringClose.begin(ctx);
    } else {
      ChannelFuture unused = ctx.close(); // A write would have to wait for the handshake.
    }
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
    if (event == DRAIN) {
      draining = true;
      if (!waiting && !paused) {
        closeAfterReplies(ctx);
      }
    } else {
      ctx.fireUserEventTriggered(event);
    }
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext ctx) {
    account(ctx.channel());
    goOn(ctx);
  }

  /** Runs the commands that were read, if the client reads their replies again. */
  private void goOn(ChannelHandlerContext ctx) {
    if (paused && !working && ctx.channel().isWritable()) {
      paused = false;
      work(ctx, pending, pendingFrom, pendingTo);
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    String line = "resp: " + ctx.channel().remoteAddress() + ": closed";
    if (cause instanceof IOException || cause instanceof DecoderException) {
      Logs.LOG.log(Level.FINE, line, cause); // Clients go away, or speak no TLS: that is usual.
    } else {
      loop.log.write(Level.WARNING, line, cause);
    }
    ChannelFuture unused = ctx.close();
  }
}
