package dev.weir.server;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.vertx.core.http.impl.HttpServerConnection;
import java.nio.ByteBuffer;

/**
 * The first to see what comes on an HTTP/2 connection of the HTTP port: tells the budget what is
 * kept of frames that are not complete. Confined to one event loop.
 */
final class Http2Input extends ChannelInboundHandlerAdapter {
  private final HttpPeer peer;
  private final Http2Frames frames = new Http2Frames();
  private long told;

  private Http2Input(HttpPeer peer) {
    this.peer = peer;
  }

  /** Puts one in front of a new connection's codec. */
  static HttpPeer open(HttpServerConnection connection, DoorCounters counters) {
    ChannelHandlerContext codec = connection.channelHandlerContext();
    HttpPeer peer = HttpPeer.open(connection, counters, () -> close(codec));
    ChannelPipeline pipeline = codec.pipeline();
    pipeline.addBefore(codec.name(), "weir-input", new Http2Input(peer));
    return peer;
  }

  private static void close(ChannelHandlerContext codec) {
    ChannelFuture unused = codec.close();
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    for (ByteBuffer each : ((ByteBuf) message).nioBuffers()) {
      frames.read(each);
    }
    ctx.fireChannelRead(message);
    long change = frames.unfinished() - told;
    told += change;
    boolean unused = peer.account().add(change);
  }
}
