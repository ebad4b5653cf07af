package dev.weir.load;

import dev.weir.internal.Choice;
import io.grpc.Status;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.DefaultHttp2HeadersEncoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersDecoder;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * The header fields of one connection's calls and answers, as blocks of bytes. Answers must not use
 * the connection's table, so equal blocks have the same meaning.
 */
final class FieldBlocks implements Http2HeadersDecoder {
  private static final AsciiString PATH =
      AsciiString.cached("/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit");

  private static final AsciiString STATUS = AsciiString.cached("grpc-status");
  private static final AsciiString OK = AsciiString.cached("0");
  private static final AsciiString HTTP_OK = AsciiString.cached("200");

  /**
   * The number of remembered blocks: those of a server's answers differ only in the first of them.
   */
  private static final int KNOWN = 4;

  private final DefaultHttp2HeadersEncoder encoder = new DefaultHttp2HeadersEncoder();
  private final DefaultHttp2HeadersDecoder decoder = new DefaultHttp2HeadersDecoder();
  private final Http2Headers call;
  private final ByteBuf block = Unpooled.buffer();

  /**
   * The number of encoded calls: the first puts its fields into the connection's table, the second
   * only refers to them.
   */
  private int encodings;

  private final @Nullable KnownBlock[] known = new KnownBlock[KNOWN];
  private int oldest;

  private record KnownBlock(ByteBuf block, Http2Headers fields) {}

  FieldBlocks(LoadPlan plan, LoadPlan.Target target) {
    String token = plan.access().token();
    this.call =
        new DefaultHttp2Headers()
            .method("POST")
            .scheme(plan.access().tlsCa() == null ? "http" : "https")
            .path(PATH)
            .authority(target.authority())
            .add("content-type", "application/grpc")
            .add("te", "trailers");
    if (token != null) {
      call.add("authorization", "Bearer " + token);
    }
  }

  /** Bounds the table that calls use, on request of the server. */
  void bound(long bytes) throws Http2Exception {
    encoder.configuration().maxHeaderTableSize(bytes);
    encodings = 0;
  }

  /** Returns the block of the next call; its bytes are to be copied. */
  ByteBuf next() {
    if (encodings < 2) {
      encodings++;
      block.clear();
      try {
        encoder.encodeHeaders(1, call, block);
      } catch (Http2Exception e) {
        throw new IllegalStateException(e);
      }
    }
    return block;
  }

  @Override
  public Http2Headers decodeHeaders(int stream, ByteBuf answer) throws Http2Exception {
    for (KnownBlock each : known) {
      if (each != null && ByteBufUtil.equals(each.block, answer)) {
        answer.skipBytes(answer.readableBytes());
        return each.fields;
      }
    }
    ByteBuf copy = Unpooled.copiedBuffer(answer);
    Http2Headers fields = decoder.decodeHeaders(stream, answer);
    known[oldest] = new KnownBlock(copy, fields);
    oldest = (oldest + 1) % KNOWN;
    return fields;
  }

  @Override
  public Configuration configuration() {
    return decoder.configuration();
  }

  /**
   * Returns the kind of error in the fields of an answer, or null if there is none.
   *
   * @param last true if these are the last fields of the answer, which have the call's result
   */
  static @Nullable String problem(Http2Headers fields, boolean last) {
    CharSequence code = fields.get(STATUS);
    CharSequence http = fields.status();
    if (last && code != null) {
      return OK.contentEquals(code) ? null : "grpc " + name(code);
    }
    if (http != null && !HTTP_OK.contentEquals(http)) {
      return "http " + http;
    }
    return last ? "grpc answer without a status" : null;
  }

  private static String name(CharSequence code) {
    int value;
    try {
      value = Integer.parseInt(code, 0, code.length(), 10);
    } catch (NumberFormatException e) {
      return "status " + code;
    }
    return Choice.name(Status.fromCodeValue(value).getCode());
  }
}
