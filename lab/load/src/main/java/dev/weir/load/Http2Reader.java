package dev.weir.load;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.codec.http2.DefaultHttp2FrameReader;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameListener;
import io.netty.handler.codec.http2.Http2HeadersDecoder;
import java.util.List;

/** A decoder that passes each frame of HTTP/2 to a listener. */
final class Http2Reader extends ByteToMessageDecoder {
  private final DefaultHttp2FrameReader frames;
  private final Http2FrameListener to;

  Http2Reader(Http2HeadersDecoder fields, Http2FrameListener to) {
    this.frames = new DefaultHttp2FrameReader(fields);
    this.to = to;
  }

  @Override
  protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out)
      throws Http2Exception {
    frames.readFrame(context, in, to);
  }

  @Override
  protected void handlerRemoved0(ChannelHandlerContext context) {
    frames.close();
  }
}
