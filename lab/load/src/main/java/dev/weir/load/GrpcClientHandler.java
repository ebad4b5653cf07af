package dev.weir.load;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.weir.internal.Choice;
import dev.weir.protocol.envoy.RateLimitResponse;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.DefaultHttp2FrameWriter;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameAdapter;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.ssl.SslHandler;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A connection to the gRPC port. Each call of {@code ShouldRateLimit} is a stream. */
final class GrpcClientHandler extends SocketClient {
  /*
   * How is GrpcClientHandler designed, and why? A call by grpc-java takes more time and memory than
   * Weir's answer to it, so such a generator would measure itself. Here a call is two frames: the
   * fields that are the same each time, and a message of which only the key's digits change. Frames
   * are read by Netty, and all but these two are written by it; streams and windows are kept here.
   *
   * The server is requested not to use a table for the fields of its answers [RFC 7541, 4.2]. So a
   * block of fields always has the same meaning, and a block that has been read before is
   * recognized by its bytes (FieldBlocks).
   *
   * A stream has a place in a ring, by its number. The ring is larger than there can be calls in
   * flight; a number whose place is taken, by a call that waits for long, is left out. If the
   * server has no room for a call, by its bound on streams or by the window of the connection, the
   * call waits here.
   */

  private static final int FREE = -1;
  private static final byte DATA = 0;
  private static final byte HEADERS = 1;
  private static final byte END_STREAM = 1;
  private static final byte END_HEADERS = 4;

  /** The bytes that the server may send; the window is opened again when half of it is used. */
  private static final int WINDOW = 1 << 30;

  private static final int MESSAGE_HEAD_BYTES = 5;
  private static final int MAX_MESSAGE_BYTES = 64 << 10;

  /** The tag of {@code overall_code} in an answer. */
  private static final byte CODE_TAG = RateLimitResponse.OVERALL_CODE_FIELD_NUMBER << 3;

  private final RequestBytes message;
  private final FieldBlocks fields;
  private final DefaultHttp2FrameWriter writer = new DefaultHttp2FrameWriter();

  /** The slot of the call at each place in the ring, or FREE. */
  private final int[] slots;

  /** The number of the answer's code at each place, or 0 if there is none yet. */
  private final byte[] codes;

  /** The bytes received so far at each place, for an answer that comes in parts. */
  private final @Nullable ByteBuf[] parts;

  /** The stream of each slot's call; 0 if the call waits. */
  private final int[] streams;

  private final long[] waitingKeys;

  /** The slots of the calls that wait for room: a ring, first at {@code firstWaiting}. */
  private final int[] waiting;

  private int firstWaiting;
  private int waitingCalls;
  private int next = 1;
  private int calls;
  private long mostCalls = Integer.MAX_VALUE;
  private long window = Http2CodecUtil.DEFAULT_WINDOW_SIZE;
  private int read;
  private boolean settled;
  private boolean leaving;

  GrpcClientHandler(
      LoadPlan plan, LoadPlan.Target target, Lane lane, CompletableFuture<Void> ready) {
    super(lane, ready);
    this.message = RequestBytes.of(plan, target, false);
    this.fields = new FieldBlocks(plan, target);
    int places = Integer.highestOneBit(lane.slots()) << 2;
    this.slots = new int[places];
    Arrays.fill(slots, FREE);
    this.codes = new byte[places];
    this.parts = new ByteBuf[places];
    this.streams = new int[lane.slots()];
    this.waitingKeys = new long[lane.slots()];
    this.waiting = new int[lane.slots()];
  }

  /** Returns the reader of the connection, which belongs in front of this handler. */
  Http2Reader reader() {
    return new Http2Reader(fields, new Frames());
  }

  @Override
  void connected(ChannelHandlerContext context) {
    SslHandler tls = context.pipeline().get(SslHandler.class);
    if (tls != null && !"h2".equals(tls.applicationProtocol())) {
      fail("tls: the server has no HTTP/2");
      return;
    }
    Http2Settings own = new Http2Settings().headerTableSize(0).pushEnabled(false);
    ChannelFuture unused = context.write(Http2CodecUtil.connectionPrefaceBuf());
    unused = writer.writeSettings(context, own, context.newPromise());
    unused = writer.writeWindowUpdate(context, 0, WINDOW, context.newPromise());
    context.flush();
  }

  @Override
  public void send(int slot, long key) {
    if (waitingCalls == 0 && room()) {
      call(slot, key);
    } else {
      streams[slot] = 0;
      waitingKeys[slot] = key;
      waiting[(firstWaiting + waitingCalls++) % waiting.length] = slot;
    }
  }

  private boolean room() {
    return calls < mostCalls && window >= message.length();
  }

  private void call(int slot, long key) {
    while (slots[place(next)] != FREE) {
      next += 2;
    }
    ByteBuf block = fields.next();
    ByteBuf out = pending();
    head(out, block.readableBytes(), HEADERS, END_HEADERS);
    out.writeBytes(block, block.readerIndex(), block.readableBytes());
    head(out, message.length(), DATA, END_STREAM);
    message.writeTo(out, key);
    window -= message.length();
    int place = place(next);
    slots[place] = slot;
    codes[place] = 0;
    streams[slot] = next;
    calls++;
    next += 2;
  }

  private void head(ByteBuf out, int length, byte type, byte flags) {
    out.writeMedium(length).writeByte(type).writeByte(flags).writeInt(next);
  }

  private int place(int stream) {
    return stream >> 1 & slots.length - 1;
  }

  /** Returns the place of a stream whose call is unanswered, or FREE. */
  private int open(int stream) {
    int place = place(stream);
    return slots[place] != FREE && streams[slots[place]] == stream ? place : FREE;
  }

  /** Removes a call from the ring; returns its slot. */
  private int release(int place) {
    int slot = slots[place];
    slots[place] = FREE;
    ByteBuf part = parts[place];
    if (part != null) {
      part.release();
      parts[place] = null;
    }
    calls--;
    return slot;
  }

  /** Sends waiting calls if there is room, and closes a connection that has had its last call. */
  private void proceed() {
    while (waitingCalls > 0 && room() && !leaving) {
      int slot = waiting[firstWaiting];
      firstWaiting = (firstWaiting + 1) % waiting.length;
      waitingCalls--;
      call(slot, waitingKeys[slot]);
    }
    if (next < 0 || next > Integer.MAX_VALUE - 4 * slots.length) {
      leave();
    }
    if (leaving && calls == 0) {
      close();
    }
  }

  /** Stops making calls, so that the connection is closed and replaced. */
  private void leave() {
    leaving = true;
    down();
  }

  @Override
  public void expire(int slot) {
    if (streams[slot] == 0) {
      close();
      return;
    }
    int stream = streams[slot];
    release(place(stream));
    reset(stream);
    lane.lost(slot, Lane.TIMEOUT);
  }

  private void reset(int stream) {
    ChannelHandlerContext to = context();
    ChannelFuture unused =
        writer.writeRstStream(to, stream, Http2Error.CANCEL.code(), to.newPromise());
    to.flush();
  }

  @Override
  void abandon() {
    for (int place = 0; place < slots.length; place++) {
      if (slots[place] != FREE) {
        lost(release(place));
      }
    }
    for (; waitingCalls > 0; waitingCalls--) {
      lost(waiting[firstWaiting]);
      firstWaiting = (firstWaiting + 1) % waiting.length;
    }
  }

  private void data(int place, ByteBuf data) {
    ByteBuf part = parts[place];
    int from = data.readerIndex();
    int length = data.readableBytes();
    if (part == null
        && length >= MESSAGE_HEAD_BYTES + 2
        && data.getInt(from + 1) == length - MESSAGE_HEAD_BYTES
        && data.getByte(from + MESSAGE_HEAD_BYTES) == CODE_TAG) {
      codes[place] = data.getByte(from + MESSAGE_HEAD_BYTES + 1);
    } else if (part == null) {
      parts[place] = Unpooled.buffer().writeBytes(data);
    } else if (part.readableBytes() + length <= MAX_MESSAGE_BYTES) {
      part.writeBytes(data);
    }
  }

  /** Counts a call that the server has completed without an error. */
  private void end(int place) {
    int code = codes[place] != 0 ? codes[place] : code(parts[place]);
    int slot = release(place);
    if (code == RateLimitResponse.Code.OK_VALUE
        || code == RateLimitResponse.Code.OVER_LIMIT_VALUE) {
      decided(slot, code == RateLimitResponse.Code.OK_VALUE);
    } else {
      lane.failed(slot, "grpc answer without a decision");
    }
  }

  private static int code(@Nullable ByteBuf message) {
    if (message == null || message.readableBytes() < MESSAGE_HEAD_BYTES) {
      return 0;
    }
    try {
      return RateLimitResponse.parseFrom(
              ByteBufUtil.getBytes(message.skipBytes(MESSAGE_HEAD_BYTES)))
          .getOverallCodeValue();
    } catch (InvalidProtocolBufferException e) {
      return 0;
    }
  }

  /** The listener for the server's frames. */
  private final class Frames extends Http2FrameAdapter {
    @Override
    public void onSettingsRead(ChannelHandlerContext from, Http2Settings settings)
        throws Http2Exception {
      Long most = settings.maxConcurrentStreams();
      Integer each = settings.initialWindowSize();
      Long table = settings.headerTableSize();
      mostCalls = most == null ? mostCalls : most;
      if (table != null) {
        fields.bound(table);
      }
      ChannelFuture unused = writer.writeSettingsAck(from, from.newPromise());
      from.flush();
      if (each != null && each < message.length()) {
        fail("http2 window of " + each + " bytes");
      } else if (!settled) {
        settled = true;
        up();
      }
      proceed();
    }

    @Override
    public void onPingRead(ChannelHandlerContext from, long data) {
      ChannelFuture unused = writer.writePing(from, true, data, from.newPromise());
      from.flush();
    }

    @Override
    public void onWindowUpdateRead(ChannelHandlerContext from, int stream, int more) {
      if (stream == 0) {
        window += more;
        proceed();
      }
    }

    @Override
    public int onDataRead(
        ChannelHandlerContext from, int stream, ByteBuf data, int padding, boolean last) {
      int bytes = data.readableBytes() + padding;
      read += bytes;
      if (read > WINDOW / 2) {
        ChannelFuture unused = writer.writeWindowUpdate(from, 0, read, from.newPromise());
        from.flush();
        read = 0;
      }
      int place = open(stream);
      if (place != FREE) {
        arrived();
        data(place, data);
        if (last) {
          lane.failed(release(place), "grpc answer without a status");
          proceed();
        }
      }
      return bytes;
    }

    @Override
    public void onHeadersRead(
        ChannelHandlerContext from,
        int stream,
        Http2Headers headers,
        int dependency,
        short weight,
        boolean exclusive,
        int padding,
        boolean last) {
      onHeadersRead(from, stream, headers, padding, last);
    }

    @Override
    public void onHeadersRead(
        ChannelHandlerContext from, int stream, Http2Headers headers, int padding, boolean last) {
      int place = open(stream);
      if (place == FREE) {
        return;
      }
      arrived();
      String problem = FieldBlocks.problem(headers, last);
      if (problem != null) {
        lane.failed(release(place), problem);
        if (!last) {
          reset(stream);
        }
      } else if (last) {
        end(place);
      } else {
        return;
      }
      proceed();
    }

    @Override
    public void onRstStreamRead(ChannelHandlerContext from, int stream, long code) {
      int place = open(stream);
      if (place != FREE) {
        Http2Error error = Http2Error.valueOf(code);
        lane.lost(
            release(place), "http2 " + (error == null ? "error " + code : Choice.name(error)));
        proceed();
      }
    }

    @Override
    public void onGoAwayRead(ChannelHandlerContext from, int lastStream, long code, ByteBuf why) {
      leave();
      for (int place = 0; place < slots.length; place++) {
        if (slots[place] != FREE && streams[slots[place]] > lastStream) {
          lane.lost(release(place), "grpc unavailable");
        }
      }
      proceed();
    }
  }
}
