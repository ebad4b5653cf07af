package dev.weir.server.internal.grpc;

import io.grpc.netty.shaded.io.netty.buffer.ByteBuf;
import io.grpc.netty.shaded.io.netty.channel.ChannelFuture;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandlerContext;
import io.grpc.netty.shaded.io.netty.channel.ChannelPromise;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Exception;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2FrameListenerDecorator;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Headers;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2RemoteFlowController;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Settings;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Stream;
import io.grpc.netty.shaded.io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The quick path for the usual calls of {@code ShouldRateLimit} of one connection, ahead of
 * grpc-java's own frame listener. It answers the calls whose header fields and message arrive in
 * one read, and that {@link QuickRls} decides. All others are passed on, as if they had just
 * arrived. Confined to the connection's event loop.
 */
final class QuickCalls extends Http2FrameListenerDecorator {
  /*
   * How is QuickCalls designed, and why? grpc-java makes some thirty objects for a call: metadata,
   * contexts, streams, listeners, deframers, messages, commands. An empty service spends more time
   * on them than on frames, header compression and flow control. Those stay with the library: it
   * reads frames, keeps streams and windows, answers settings and pings, bounds streams and resets,
   * and shuts down. Only the part behind its frame listener is left out.
   *
   * Until a call's message is read it is not known whether the call is a usual one. So its header
   * fields are held, but only until the read is processed: then everything unfinished is passed on.
   * So between reads this class holds nothing, and every guard on unfinished requests works as
   * without it. If a frame of a held stream arrives that is not its last DATA, the stream is passed
   * on first.
   *
   * An answer is three frames: HEADERS, DATA and trailers. It is written when the flow controller
   * allows its DATA, into one buffer for all answers of a read. The fields of its HEADERS are
   * literals that neither use nor change the connection's table [RFC 7541, 6.2.2], so the bytes are
   * always the same. In two cases they go through the library's writer instead: after SETTINGS,
   * because the next block of fields must begin with the new size of the table [RFC 7541, 4.2]; and
   * after PING, because grpc-java tolerates a client's pings when it sees frames written. A call
   * that fails while it is being decided is answered here as well, with INTERNAL: grpc-java would
   * decide, and charge, it again.
   */

  /** The most held calls of a read; further ones are passed on. */
  private static final int MAX_HELD = 256;

  private static final AsciiString PATH =
      AsciiString.cached("/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit");

  private static final AsciiString POST = AsciiString.cached("POST");
  private static final AsciiString CONTENT_TYPE = AsciiString.cached("content-type");
  private static final AsciiString GRPC = AsciiString.cached("application/grpc");
  private static final AsciiString TE = AsciiString.cached("te");
  private static final AsciiString TRAILERS = AsciiString.cached("trailers");
  private static final AsciiString CONNECTION = AsciiString.cached("connection");
  private static final AsciiString ENCODING = AsciiString.cached("grpc-encoding");
  private static final AsciiString IDENTITY = AsciiString.cached("identity");
  private static final AsciiString ACCEPTED = AsciiString.cached("grpc-accept-encoding");
  private static final AsciiString STATUS = AsciiString.cached("grpc-status");
  private static final AsciiString MESSAGE = AsciiString.cached("grpc-message");
  private static final AsciiString TIMEOUT = AsciiString.cached("grpc-timeout");

  /** The most digits of a timeout in gRPC over HTTP/2. */
  private static final int MAX_TIMEOUT_DIGITS = 8;

  private static final int DATA = 0;
  private static final int HEADERS = 1;
  private static final int END_STREAM = 1;
  private static final int END_HEADERS = 4;
  private static final int FRAME_HEAD_BYTES = 9;

  /** An index into the static table. [RFC 7541, A] */
  private static final int STATUS_200 = 0x80 | 8;

  private static final byte[] FIELDS = fields();

  private static final byte[] STATUS_OK = literal("grpc-status", "0");

  private final Http2ConnectionHandler codec;
  private final ChannelHandlerContext context;
  private final QuickRls rls;
  private final InFlight inFlight;
  private final BooleanSupplier off;
  private final List<HeldFields> held = new ArrayList<>();
  private int first;
  private boolean answered;
  private boolean byLibrary = true;

  /** The size of the table by the client's settings when the library last wrote fields. */
  private long tableBytes;

  private boolean awaitsWrites;
  private @Nullable ByteBuf out;
  private @Nullable ChannelPromise outPromise;
  private @Nullable ChannelPromise last;

  /** Header fields of a call whose message has not been read. */
  private record HeldFields(
      Http2Stream stream,
      Http2Headers headers,
      int dependency,
      short weight,
      boolean exclusive,
      int padding) {}

  /**
   * @param context the context of {@code codec}
   * @param off returns true while every call is passed on
   */
  QuickCalls(
      Http2ConnectionHandler codec,
      ChannelHandlerContext context,
      QuickRls rls,
      InFlight inFlight,
      BooleanSupplier off) {
    super(codec.decoder().frameListener());
    this.codec = codec;
    this.context = context;
    this.rls = rls;
    this.inFlight = inFlight;
    this.off = off;
  }

  private static byte[] fields() {
    byte[][] each = {
      {(byte) STATUS_200},
      literal("content-type", "application/grpc"),
      literal("grpc-encoding", "identity"),
      literal("grpc-accept-encoding", "gzip")
    };
    int length = 0;
    for (byte[] field : each) {
      length += field.length;
    }
    byte[] all = new byte[length];
    int at = 0;
    for (byte[] field : each) {
      System.arraycopy(field, 0, all, at, field.length);
      at += field.length;
    }
    return all;
  }

  /** Returns a field that no table keeps, with its name as a literal. */
  private static byte[] literal(String name, String value) {
    byte[] field = new byte[3 + name.length() + value.length()];
    field[1] = (byte) name.length();
    System.arraycopy(name.getBytes(StandardCharsets.US_ASCII), 0, field, 2, name.length());
    field[2 + name.length()] = (byte) value.length();
    System.arraycopy(
        value.getBytes(StandardCharsets.US_ASCII), 0, field, 3 + name.length(), value.length());
    return field;
  }

  @Override
  public void onHeadersRead(
      ChannelHandlerContext ctx,
      int streamId,
      Http2Headers headers,
      int dependency,
      short weight,
      boolean exclusive,
      int padding,
      boolean endOfStream)
      throws Http2Exception {
    Http2Stream stream = codec.connection().stream(streamId);
    if (endOfStream || stream == null || held.size() >= MAX_HELD || !usual(headers)) {
      pass(streamId);
      super.onHeadersRead(
          ctx, streamId, headers, dependency, weight, exclusive, padding, endOfStream);
    } else {
      held.add(new HeldFields(stream, headers, dependency, weight, exclusive, padding));
    }
  }

  private boolean usual(Http2Headers headers) {
    CharSequence encoding = headers.get(ENCODING);
    CharSequence timeout = headers.get(TIMEOUT);
    return PATH.contentEquals(headers.path())
        && POST.contentEquals(headers.method())
        && GRPC.contentEquals(headers.get(CONTENT_TYPE))
        && TRAILERS.contentEquals(headers.get(TE))
        && headers.authority() != null
        && (encoding == null || IDENTITY.contentEquals(encoding))
        && (timeout == null || lasts(timeout))
        && !headers.contains(CONNECTION)
        && !off.getAsBoolean();
  }

  /** Returns whether a deadline is well-formed and long enough for the call to be decided. */
  static boolean lasts(CharSequence timeout) {
    int digits = timeout.length() - 1;
    if (digits < 1 || digits > MAX_TIMEOUT_DIGITS) {
      return false;
    }
    int number = 0;
    for (int i = 0; i < digits; i++) {
      char c = timeout.charAt(i);
      if (c < '0' || c > '9') {
        return false;
      }
      number = 10 * number + c - '0';
    }
    return switch (timeout.charAt(digits)) {
      case 'H', 'M', 'S', 'm' -> number > 0;
      case 'u' -> number >= 1_000;
      case 'n' -> number >= 1_000_000;
      default -> false;
    };
  }

  @Override
  public int onDataRead(
      ChannelHandlerContext ctx, int streamId, ByteBuf data, int padding, boolean endOfStream)
      throws Http2Exception {
    HeldFields call = take(streamId);
    if (call != null) {
      byte[] answer = endOfStream ? rls.answer(data) : null;
      if (answer != null) {
        codec
            .encoder()
            .flowController()
            .addFlowControlled(call.stream, new Reply(call.stream, answer));
        answered = true;
        return data.readableBytes() + padding;
      }
      pass(call);
    }
    return super.onDataRead(ctx, streamId, data, padding, endOfStream);
  }

  /** Removes and returns the held call of a stream. */
  private @Nullable HeldFields take(int streamId) {
    for (int i = first; i < held.size(); i++) {
      HeldFields call = held.get(i);
      if (call.stream.id() == streamId) {
        if (i == first) { // Clients send messages in the order of their header fields.
          first++;
          if (first == held.size()) {
            held.clear();
            first = 0;
          }
        } else {
          held.remove(i);
        }
        return call;
      }
    }
    return null;
  }

  private void pass(int streamId) throws Http2Exception {
    HeldFields call = take(streamId);
    if (call != null) {
      pass(call);
    }
  }

  private void pass(HeldFields call) throws Http2Exception {
    super.onHeadersRead(
        context,
        call.stream.id(),
        call.headers,
        call.dependency,
        call.weight,
        call.exclusive,
        call.padding,
        false);
  }

  @Override
  public void onRstStreamRead(ChannelHandlerContext ctx, int streamId, long errorCode)
      throws Http2Exception {
    pass(streamId);
    super.onRstStreamRead(ctx, streamId, errorCode);
  }

  @Override
  public void onSettingsRead(ChannelHandlerContext ctx, Http2Settings settings)
      throws Http2Exception {
    byLibrary = true;
    super.onSettingsRead(ctx, settings);
  }

  @Override
  public void onPingRead(ChannelHandlerContext ctx, long data) throws Http2Exception {
    byLibrary = true;
    super.onPingRead(ctx, data);
  }

  /** Ends a read: passes on the unfinished calls, and writes answers. */
  void readComplete() {
    for (int i = first; i < held.size(); i++) {
      HeldFields call = held.get(i);
      if (codec.connection().stream(call.stream.id()) == call.stream) {
        try {
          pass(call);
        } catch (Http2Exception | RuntimeException e) {
          codec.onError(context, false, e);
        }
      }
    }
    held.clear();
    first = 0;
    if (answered) {
      answered = false;
      write();
    }
  }

  /**
   * Runs a task once the written answers have left, unless they have already, or another task waits
   * for that.
   */
  void afterWrites(Runnable then) {
    ChannelPromise written = last;
    if (!awaitsWrites && written != null && !written.isDone()) {
      awaitsWrites = true;
      ChannelFuture unused =
          written.addListener(
              done -> {
                awaitsWrites = false;
                then.run();
              });
    }
  }

  private void write() {
    out = context.alloc().ioBuffer();
    outPromise = context.newPromise();
    try {
      codec.encoder().flowController().writePendingBytes();
    } catch (Http2Exception e) {
      codec.onError(context, true, e);
    } finally {
      ByteBuf all = Objects.requireNonNull(out);
      ChannelPromise promise = Objects.requireNonNull(outPromise);
      out = null;
      outPromise = null;
      send(all, promise);
    }
  }

  private void send(ByteBuf bytes, ChannelPromise promise) {
    if (bytes.isReadable()) {
      last = promise;
      ChannelFuture unused = context.write(bytes, promise);
    } else {
      bytes.release();
    }
  }

  private long tableBytes() {
    return codec.encoder().configuration().headersConfiguration().maxHeaderTableSize();
  }

  /**
   * Returns whether the library has to write the next fields: after settings, which may have come
   * into force without {@link #onSettingsRead} yet, and after a ping.
   */
  private boolean byLibrary() {
    return byLibrary || tableBytes != tableBytes();
  }

  private void byLibrary(Http2Stream stream, Http2Headers fields, boolean ends, ChannelPromise by) {
    byLibrary = false;
    tableBytes = tableBytes();
    ChannelFuture unused =
        codec.encoder().frameWriter().writeHeaders(context, stream.id(), fields, 0, ends, by);
  }

  /** An answer that waits for the flow controller, which counts the bytes of its message. */
  private final class Reply implements Http2RemoteFlowController.FlowControlled {
    private final Http2Stream stream;
    private final byte[] message;
    private int written;

    Reply(Http2Stream stream, byte[] message) {
      this.stream = stream;
      this.message = message;
      inFlight.begin();
    }

    @Override
    public int size() {
      return message.length - written;
    }

    @Override
    public void write(ChannelHandlerContext ctx, int allowedBytes) {
      if (message.length == 0) {
        failed(ctx);
        return;
      }
      ByteBuf shared = out;
      ByteBuf to = shared == null ? ctx.alloc().ioBuffer() : shared;
      ChannelPromise promise = outPromise == null ? ctx.newPromise() : outPromise;
      if (written == 0) {
        headers(to);
      }
      int length = Math.min(allowedBytes, size());
      frame(to, length, DATA, 0).writeBytes(message, written, length);
      written += length;
      boolean ends = size() == 0;
      boolean library = ends && byLibrary();
      if (ends && !library) {
        frame(to, STATUS_OK.length, HEADERS, END_HEADERS | END_STREAM).writeBytes(STATUS_OK);
        codec.closeStreamLocal(stream, promise);
      }
      if (shared == null || library) {
        send(to, promise);
      }
      if (library) {
        if (shared != null) {
          out = ctx.alloc().ioBuffer();
          outPromise = ctx.newPromise();
        }
        end(ctx, new DefaultHttp2Headers().set(STATUS, "0"));
      }
    }

    /** Answers a failed call with trailers alone. */
    private void failed(ChannelHandlerContext ctx) {
      stream.headersSent(false);
      end(
          ctx,
          new DefaultHttp2Headers()
              .status("200")
              .set(CONTENT_TYPE, GRPC)
              .set(STATUS, String.valueOf(GrpcReply.FAILED.getCode().value()))
              .set(MESSAGE, GrpcReply.FAILED.getDescription()));
    }

    private void end(ChannelHandlerContext ctx, Http2Headers fields) {
      ChannelPromise ended = ctx.newPromise();
      byLibrary(stream, fields, true, ended);
      last = ended;
      codec.closeStreamLocal(stream, ended);
    }

    private void headers(ByteBuf to) {
      stream.headersSent(false);
      if (byLibrary()) {
        Http2Headers fields =
            new DefaultHttp2Headers()
                .status("200")
                .set(CONTENT_TYPE, GRPC)
                .set(ENCODING, IDENTITY)
                .set(ACCEPTED, "gzip");
        byLibrary(stream, fields, false, context.newPromise());
      } else {
        frame(to, FIELDS.length, HEADERS, END_HEADERS).writeBytes(FIELDS);
      }
    }

    private ByteBuf frame(ByteBuf to, int length, int type, int flags) {
      to.ensureWritable(FRAME_HEAD_BYTES + length);
      return to.writeMedium(length).writeByte(type).writeByte(flags).writeInt(stream.id());
    }

    @Override
    public void error(ChannelHandlerContext ctx, Throwable cause) {
      inFlight.end();
      codec.onError(context, true, cause);
    }

    @Override
    public void writeComplete() {
      inFlight.end();
    }

    @Override
    public boolean merge(ChannelHandlerContext ctx, Http2RemoteFlowController.FlowControlled next) {
      return false;
    }
  }
}
