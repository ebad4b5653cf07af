package dev.weir.server.internal.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.testkit.FakeTicker;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandlerContext;
import io.grpc.netty.shaded.io.netty.channel.ChannelInboundHandlerAdapter;
import io.grpc.netty.shaded.io.netty.channel.embedded.EmbeddedChannel;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.DefaultHttp2Connection;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.DefaultHttp2RemoteFlowController;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Connection;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Exception;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2RemoteFlowController.FlowControlled;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Stream;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests of answers on one stream, whose client always leaves some of them waiting. */
class UnsentTest {
  private static final int BYTES = 10;
  private static final int ANSWERS = 1_000;
  private static final long MEMORY = SendQueue.FRAME_BYTES + BYTES;
  private static final int COLLECTIONS = 20;

  private final EmbeddedChannel channel = new EmbeddedChannel(new ChannelInboundHandlerAdapter());
  private final Http2Connection connection = new DefaultHttp2Connection(true);
  private final List<WeakReference<Answer>> merged = new ArrayList<>();
  private SendQueue unsent;
  private Http2Stream stream;

  /**
   * An answer that takes over the bytes of the frames merged into it, and keeps nothing else of
   * them.
   */
  private static final class Answer implements FlowControlled {
    private int bytes = BYTES;

    @Override
    public int size() {
      return bytes;
    }

    @Override
    public void write(ChannelHandlerContext ctx, int allowedBytes) {
      bytes -= Math.min(bytes, allowedBytes);
    }

    @Override
    public boolean merge(ChannelHandlerContext ctx, FlowControlled next) {
      bytes += next.size();
      return true;
    }

    @Override
    public void writeComplete() {}

    @Override
    public void error(ChannelHandlerContext ctx, Throwable cause) {}
  }

  @BeforeEach
  void open() throws Exception {
    connection.remote().flowController(new DefaultHttp2RemoteFlowController(connection));
    unsent = SendQueue.follow(connection, () -> {});
    unsent.channelHandlerContext(channel.pipeline().firstContext());
    unsent.initialWindowSize(0);
    stream = connection.remote().createStream(1, false);
  }

  @AfterEach
  void close() {
    channel.finishAndReleaseAll();
  }

  private WeakReference<Answer> add() {
    Answer answer = new Answer();
    unsent.addFlowControlled(stream, answer);
    return new WeakReference<>(answer);
  }

  private void allow(int bytes) throws Http2Exception {
    unsent.incrementWindowSize(connection.connectionStream(), bytes);
    unsent.incrementWindowSize(stream, bytes);
    unsent.writePendingBytes();
  }

  /** Leaves the first answer in the controller's queue, with two and a half answers to send. */
  private void answerWhileSomeWait() throws Http2Exception {
    WeakReference<Answer> unused = add();
    merged.add(add());
    merged.add(add());
    allow(BYTES / 2);
    for (int i = 0; i < ANSWERS; i++) {
      merged.add(add());
      allow(BYTES);
      assertThat(unsent.held()).isEqualTo(3 * MEMORY);
    }
  }

  @Test
  void whatIsMerged_isGarbageWhileOthersWait() throws Exception {
    answerWhileSomeWait();
    for (int i = 0; i < COLLECTIONS && !merged.isEmpty(); i++) {
      System.gc();
      merged.removeIf(answer -> answer.get() == null);
    }
    assertThat(merged.size()).as("merged answers still in memory").isZero();
    assertThat(unsent.held()).isEqualTo(3 * MEMORY);
  }

  @Test
  void whatWaits_countsUntilItIsSent() throws Exception {
    answerWhileSomeWait();
    allow(BYTES / 2);
    assertThat(unsent.held()).isEqualTo(2 * MEMORY);
    allow(2 * BYTES);
    assertThat(unsent.held()).isZero();
    WeakReference<Answer> unused = add();
    assertThat(unsent.held()).isEqualTo(MEMORY);
  }

  @Test
  void clientThatTakesNothing_isStuck_andOneThatTakesSomeIsNot() throws Exception {
    FakeTicker ticker = new FakeTicker();
    long second = 1_000_000_000L;
    assertThat(unsent.update(ticker)).isFalse();
    WeakReference<Answer> unused = add();
    assertThat(unsent.update(ticker)).isTrue();
    for (int i = 0; i < BYTES - 1; i++) {
      ticker.advance(second);
      assertThat(unsent.isStuck(ticker.nanos(), second)).isFalse();
      assertThat(unsent.isStuck(ticker.nanos(), second - 1)).isTrue();
      allow(1);
      assertThat(unsent.update(ticker)).isTrue();
      assertThat(unsent.isStuck(ticker.nanos(), 0)).isFalse();
    }
    ticker.advance(second);
    unused = add();
    assertThat(unsent.update(ticker)).as("one more is not taken either").isTrue();
    assertThat(unsent.isStuck(ticker.nanos(), second - 1)).isTrue();
    allow(2 * BYTES);
    assertThat(unsent.update(ticker)).isFalse();
    ticker.advance(second);
    assertThat(unsent.isStuck(ticker.nanos(), 0)).isFalse();
    unused = add();
    assertThat(unsent.update(ticker)).isTrue();
    assertThat(unsent.isStuck(ticker.nanos(), 0)).as("it has just begun to wait").isFalse();
  }

  @Test
  void whatWaits_countsUntilItsStreamEnds() throws Exception {
    answerWhileSomeWait();
    stream.close();
    assertThat(unsent.held()).isZero();
  }
}
