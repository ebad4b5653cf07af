package dev.weir.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.protocol.envoy.RateLimitRequest;
import dev.weir.protocol.envoy.RateLimitResponse;
import dev.weir.testkit.FakeTicker;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http2.DefaultHttp2FrameReader;
import io.netty.handler.codec.http2.DefaultHttp2FrameWriter;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersEncoder;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2FrameAdapter;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Settings;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** A test of calls over HTTP/2, with a server that the test plays frame by frame. */
class GrpcClientHandlerTest {
  private static final LoadPlan.Target TARGET =
      new LoadPlan.Target("localhost", InetSocketAddress.createUnresolved("localhost", 8081));

  private final FakeTicker ticker = new FakeTicker();
  private final HandLoop loop = new HandLoop();
  private final Schedule schedule = new ClosedSchedule(0, TimeUnit.HOURS.toNanos(1));
  private final LoopTally tally = new LoopTally(schedule, new AdmissionGap());
  private final CompletableFuture<Void> ready = new CompletableFuture<>();

  /** The client's connection, and both sides of its traffic. */
  private final class Wire {
    final Lane lane;
    final EmbeddedChannel channel;
    final List<String> frames = new ArrayList<>();
    final List<Http2Headers> fields = new ArrayList<>();
    private final EmbeddedChannel server = new EmbeddedChannel(new ChannelInboundHandlerAdapter());
    private final ChannelHandlerContext context = server.pipeline().firstContext();
    private final DefaultHttp2FrameReader reader = new DefaultHttp2FrameReader();
    private final DefaultHttp2FrameWriter writer;

    Wire(int slots) throws Exception {
      schedule.begin(ticker.nanos());
      KeyDraw keys = new KeyDraw(KeyDraw.Kind.IN_TURN, 1_000, 0, 0, new AtomicLong());
      lane = new Lane(loop, schedule, tally, keys, ticker, slots);
      GrpcClientHandler client = new GrpcClientHandler(plan(), TARGET, lane, ready);
      channel = new EmbeddedChannel(client.reader(), client);
      // The client requires this.
      DefaultHttp2HeadersEncoder encoder = new DefaultHttp2HeadersEncoder();
      encoder.configuration().maxHeaderTableSize(0);
      writer = new DefaultHttp2FrameWriter(encoder);
      ByteBuf sent = sent();
      byte[] preface = ByteBufUtil.getBytes(Http2CodecUtil.connectionPrefaceBuf());
      assertThat(ByteBufUtil.getBytes(sent.readSlice(preface.length))).isEqualTo(preface);
      read(sent);
    }

    private ByteBuf sent() {
      ByteBuf all = Unpooled.buffer();
      for (ByteBuf next = channel.readOutbound(); next != null; next = channel.readOutbound()) {
        all.writeBytes(next);
        next.release();
      }
      return all;
    }

    private void read(ByteBuf sent) throws Exception {
      while (sent.isReadable()) {
        reader.readFrame(context, sent, new Sent());
      }
    }

    /**
     * Passes to the client what the server has written, in one piece, and reads what the client
     * sends.
     */
    void exchange() throws Exception {
      ByteBuf all = Unpooled.buffer();
      for (ByteBuf next = server.readOutbound(); next != null; next = server.readOutbound()) {
        all.writeBytes(next);
        next.release();
      }
      channel.writeInbound(all);
      read(sent());
    }

    void settings(Http2Settings settings) throws Exception {
      var unused = writer.writeSettings(context, settings, context.newPromise());
      context.flush();
      exchange();
    }

    void fields(int stream, boolean last, String... namesAndValues) {
      Http2Headers all = new DefaultHttp2Headers();
      for (int i = 0; i < namesAndValues.length; i += 2) {
        all.add(namesAndValues[i], namesAndValues[i + 1]);
      }
      var unused = writer.writeHeaders(context, stream, all, 0, last, context.newPromise());
      context.flush();
    }

    void data(int stream, ByteBuf data) {
      var unused = writer.writeData(context, stream, data, 0, false, context.newPromise());
      context.flush();
    }

    void answer(int stream, RateLimitResponse.Code code) throws Exception {
      fields(stream, false, ":status", "200", "content-type", "application/grpc");
      data(stream, message(code));
      fields(stream, true, "grpc-status", "0");
      exchange();
    }

    private final class Sent extends Http2FrameAdapter {
      @Override
      public void onSettingsRead(ChannelHandlerContext from, Http2Settings settings) {
        frames.add("settings " + settings.headerTableSize() + " " + settings.pushEnabled());
      }

      @Override
      public void onHeadersRead(
          ChannelHandlerContext from, int stream, Http2Headers headers, int padding, boolean last) {
        frames.add("fields " + stream);
        fields.add(headers);
      }

      @Override
      public int onDataRead(
          ChannelHandlerContext from, int stream, ByteBuf data, int padding, boolean last) {
        frames.add("data " + stream + (last ? " last" : "") + " " + value(data));
        return data.readableBytes();
      }

      @Override
      public void onRstStreamRead(ChannelHandlerContext from, int stream, long code) {
        frames.add("reset " + stream + " " + Http2Error.valueOf(code));
      }

      @Override
      public void onPingAckRead(ChannelHandlerContext from, long data) {
        frames.add("pong " + data);
      }

      @Override
      public void onWindowUpdateRead(ChannelHandlerContext from, int stream, int more) {
        frames.add("window " + stream + " " + more);
      }
    }
  }

  private static LoadPlan plan() {
    return new LoadPlan(
        Door.GRPC,
        List.of(TARGET),
        new LoadPlan.Connections(1, 1, LoadPlan.Loops.polling(0)),
        LoadPlan.Timing.bySecond(0, 0, 1),
        new LoadPlan.Requests(
            "shop",
            "user",
            new LoadPlan.Throttle(1, 1, 1),
            new LoadPlan.Keys(1_000, KeyDraw.Kind.IN_TURN, 0)),
        new LoadPlan.Access("s3cret", null));
  }

  private static ByteBuf message(RateLimitResponse.Code code) {
    byte[] answer = RateLimitResponse.newBuilder().setOverallCode(code).build().toByteArray();
    return Unpooled.buffer().writeByte(0).writeInt(answer.length).writeBytes(answer);
  }

  private static String value(ByteBuf message) {
    try {
      RateLimitRequest request =
          RateLimitRequest.parseFrom(
              ByteBufUtil.getBytes(
                  message, message.readerIndex() + 5, message.readableBytes() - 5));
      return request.getDomain() + " " + request.getDescriptors(0).getEntries(0).getValue();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void call_isItsFieldsAndOneMessage_onceTheServerHasSentItsSettings() throws Exception {
    Wire wire = new Wire(2);
    assertThat(wire.frames).containsExactly("settings 0 false", "window 0 1073741824");
    assertThat(ready).isNotDone();
    wire.frames.clear();

    wire.settings(new Http2Settings());
    assertThat(ready).isCompleted();
    assertThat(wire.frames)
        .containsExactly(
            "fields 1", "data 1 last shop 000000000", "fields 3", "data 3 last shop 000000001");
    assertThat(wire.fields.get(1)).isEqualTo(wire.fields.get(0));
    assertThat(wire.fields.get(0).path())
        .hasToString("/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit");
    assertThat(wire.fields.get(0).authority()).hasToString("localhost:8081");
    assertThat(wire.fields.get(0).get("authorization")).hasToString("Bearer s3cret");
    assertThat(wire.fields.get(0).get("te")).hasToString("trailers");
  }

  @Test
  void answers_inAnyOrder_areCountedAndFollowedByCalls() throws Exception {
    Wire wire = new Wire(2);
    wire.settings(new Http2Settings());
    wire.frames.clear();

    wire.answer(3, RateLimitResponse.Code.OK);
    wire.answer(1, RateLimitResponse.Code.OVER_LIMIT);

    assertThat(tally.counts().allowed()).isEqualTo(1);
    assertThat(tally.counts().denied()).isEqualTo(1);
    assertThat(wire.frames)
        .containsExactly(
            "fields 5", "data 5 last shop 000000002", "fields 7", "data 7 last shop 000000003");
  }

  @Test
  void answersReadTogether_areFollowedInOneWrite() throws Exception {
    Wire wire = new Wire(2);
    wire.settings(new Http2Settings());
    for (int stream : new int[] {1, 3}) {
      wire.fields(stream, false, ":status", "200", "content-type", "application/grpc");
      wire.data(stream, message(RateLimitResponse.Code.OK));
      wire.fields(stream, true, "grpc-status", "0");
    }
    ByteBuf all = Unpooled.buffer();
    for (ByteBuf next = wire.server.readOutbound();
        next != null;
        next = wire.server.readOutbound()) {
      all.writeBytes(next);
    }

    wire.channel.writeInbound(all);

    assertThat(tally.counts().allowed()).isEqualTo(2);
    assertThat(wire.channel.outboundMessages()).hasSize(1);
  }

  @Test
  void answerInPartsAndBytes_isRead() throws Exception {
    Wire wire = new Wire(1);
    wire.settings(new Http2Settings());
    ByteBuf message = message(RateLimitResponse.Code.OVER_LIMIT);
    wire.fields(1, false, ":status", "200");
    wire.data(1, message.readRetainedSlice(3));
    wire.data(1, message);
    wire.fields(1, true, "grpc-status", "0");
    ByteBuf all = wire.server.readOutbound();
    for (ByteBuf next = wire.server.readOutbound();
        next != null;
        next = wire.server.readOutbound()) {
      all = Unpooled.wrappedBuffer(all, next);
    }

    while (all.isReadable()) {
      wire.channel.writeInbound(Unpooled.buffer().writeByte(all.readByte()));
    }

    assertThat(tally.counts().denied()).isEqualTo(1);
    assertThat(tally.counts().failed()).isZero();
  }

  @Test
  void boundOnStreams_isKept() throws Exception {
    Wire wire = new Wire(3);
    wire.settings(new Http2Settings().maxConcurrentStreams(1));
    assertThat(wire.frames).contains("fields 1").doesNotContain("fields 3");

    wire.answer(1, RateLimitResponse.Code.OK);
    assertThat(wire.frames).contains("fields 3").doesNotContain("fields 5");
    assertThat(wire.frames.get(wire.frames.size() - 1)).isEqualTo("data 3 last shop 000000001");
  }

  @Test
  void windowOfTheConnection_isKept() throws Exception {
    int length = RequestBytes.of(plan(), TARGET, false).length();
    int fit = Http2CodecUtil.DEFAULT_WINDOW_SIZE / length;
    Wire wire = new Wire(fit + 2);
    wire.settings(new Http2Settings());
    assertThat(wire.fields).hasSize(fit);

    var unused = wire.writer.writeWindowUpdate(wire.context, 0, length, wire.context.newPromise());
    wire.context.flush();
    wire.exchange();
    assertThat(wire.fields).hasSize(fit + 1);
  }

  @Test
  void callThatWaitsLong_keepsItsPlaceAndItsAnswer() throws Exception {
    Wire wire = new Wire(2);
    wire.settings(new Http2Settings());
    for (int i = 0; i < 50; i++) {
      int stream =
          Integer.parseInt(wire.frames.get(wire.frames.size() - 2).substring("fields ".length()));
      wire.answer(stream, RateLimitResponse.Code.OK);
    }
    assertThat(tally.counts().allowed()).isEqualTo(50);

    wire.answer(1, RateLimitResponse.Code.OVER_LIMIT);
    assertThat(tally.counts().denied()).isEqualTo(1);
    assertThat(tally.counts().failed()).isZero();
  }

  @Test
  void tableOfNoBytes_isNotUsedByCalls() throws Exception {
    Wire wire = new Wire(3);
    wire.reader.configuration().headersConfiguration().maxHeaderTableSize(0);
    wire.settings(new Http2Settings().headerTableSize(0));

    assertThat(wire.fields).hasSize(3).allMatch(each -> each.equals(wire.fields.get(0)));
  }

  @Test
  void answersWithoutADecision_areErrorsByKind() throws Exception {
    Wire wire = new Wire(1);
    wire.settings(new Http2Settings());

    wire.fields(1, true, ":status", "200", "grpc-status", "2", "grpc-message", "no");
    wire.exchange();
    wire.fields(3, false, ":status", "503");
    wire.exchange();
    wire.fields(5, false, ":status", "200");
    wire.fields(5, true, "grpc-status", "0");
    wire.exchange();
    wire.answer(7, RateLimitResponse.Code.UNKNOWN);

    assertThat(tally.counts().errors())
        .isEqualTo(
            Map.of("grpc unknown", 1L, "http 503", 1L, "grpc answer without a decision", 2L));
    assertThat(wire.frames).contains("reset 3 CANCEL", "fields 9");
  }

  @Test
  void resetStream_isLost_andItsSlotPauses() throws Exception {
    Wire wire = new Wire(1);
    wire.settings(new Http2Settings());

    var unused =
        wire.writer.writeRstStream(
            wire.context, 1, Http2Error.REFUSED_STREAM.code(), wire.context.newPromise());
    wire.context.flush();
    wire.exchange();
    assertThat(tally.counts().errors()).isEqualTo(Map.of("http2 refused_stream", 1L));
    assertThat(wire.frames).doesNotContain("fields 3");

    loop.later.remove().run();
    wire.exchange();
    assertThat(wire.frames).contains("fields 3");
  }

  @Test
  void goAway_losesWhatTheServerHasNotSeen_andEndsAfterTheRest() throws Exception {
    Wire wire = new Wire(2);
    wire.settings(new Http2Settings());

    var unused =
        wire.writer.writeGoAway(
            wire.context, 1, 0, Unpooled.EMPTY_BUFFER, wire.context.newPromise());
    wire.context.flush();
    wire.exchange();
    assertThat(tally.counts().errors()).isEqualTo(Map.of("grpc unavailable", 1L));
    assertThat(wire.channel.isOpen()).isTrue();

    wire.answer(1, RateLimitResponse.Code.OK);
    assertThat(tally.counts().allowed()).isEqualTo(1);
    assertThat(wire.channel.isOpen()).isFalse();
    assertThat(wire.frames).doesNotContain("fields 5");
  }

  @Test
  void unansweredCall_isCancelled() throws Exception {
    Wire wire = new Wire(2);
    wire.settings(new Http2Settings());
    ticker.advance(1);
    wire.answer(1, RateLimitResponse.Code.OK);

    ticker.advance(Lane.TIMEOUT_NANOS - 1);
    wire.lane.sweep();
    wire.exchange();
    assertThat(wire.frames).contains("reset 3 CANCEL").doesNotContain("reset 5 CANCEL");
    assertThat(tally.counts().errors()).isEqualTo(Map.of("timeout", 1L));

    wire.answer(3, RateLimitResponse.Code.OK);
    assertThat(tally.counts().allowed()).as("its late answer counts no more").isEqualTo(1);
  }

  @Test
  void ping_isAnswered() throws Exception {
    Wire wire = new Wire(1);
    wire.settings(new Http2Settings());
    var unused = wire.writer.writePing(wire.context, false, 7, wire.context.newPromise());
    wire.context.flush();
    wire.exchange();

    assertThat(wire.frames).contains("pong 7");
  }

  @Test
  void serverWithoutHttp2_isAClearError() throws Exception {
    Wire wire = new Wire(1);

    wire.channel.writeInbound(
        Unpooled.copiedBuffer("HTTP/1.1 400 Bad Request\r\n\r\n", StandardCharsets.US_ASCII));

    assertThatThrownBy(ready::get).hasMessageContaining("unreadable answer");
    assertThat(wire.channel.isOpen()).isFalse();
  }
}
