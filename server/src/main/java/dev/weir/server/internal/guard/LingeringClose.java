package dev.weir.server.internal.guard;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import java.util.concurrent.TimeUnit;

/**
 * The close of a connection whose client may still be sending: all replies are written, then the
 * output ends, and what the client sends is read and dropped until it closes, at most for a second.
 */
public final class LingeringClose extends ChannelInboundHandlerAdapter {
  /*
   * Why not close at once? Bytes that arrive at a closed socket, or wait in it unread, reset the
   * connection. The reset makes the client's system discard replies that the client has not read
   * yet, although their requests are charged. [RFC 9112, 9.6] gRPC's copy of Netty has types of its
   * own, so GrpcConnection does the same in its own code.
   */
  private static final long SECONDS = 1;

  private LingeringClose() {}

  /** Begins the close, on the connection's event loop, after the replies written so far. */
  public static void begin(ChannelHandlerContext ctx) {
    Channel channel = ctx.channel();
    // In front of TLS: after the end of its output it would take further bytes for errors.
    channel.pipeline().addFirst(new LingeringClose());
    channel.config().setAutoRead(true);
    SslHandler tls = channel.pipeline().get(SslHandler.class);
    ChannelFuture unused =
        ctx.writeAndFlush(Unpooled.EMPTY_BUFFER)
            .addListener(
                written -> {
                  if (tls == null) {
                    endOutput(channel);
                  } else {
                    Object unusedEnd = tls.closeOutbound().addListener(end -> endOutput(channel));
                  }
                });
  }

  private static void endOutput(Channel channel) {
    if (!(channel instanceof DuplexChannel socket) || !channel.isActive()) {
      ChannelFuture unused = channel.close();
      return;
    }
    ChannelFuture unused = socket.shutdownOutput();
    Runnable close =
        () -> {
          ChannelFuture unusedClose = channel.close();
        };
    Object unusedTimer = channel.eventLoop().schedule(close, SECONDS, TimeUnit.SECONDS);
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    ReferenceCountUtil.release(message);
  }
}
