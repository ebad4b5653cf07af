package dev.weir.server.internal.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.protocol.v1.WeirGrpc;
import dev.weir.protocol.v1.WeirProto.AcquireRequest;
import dev.weir.protocol.v1.WeirProto.AcquireResponse;
import dev.weir.protocol.v1.WeirProto.Check;
import dev.weir.protocol.v1.WeirProto.Descriptor;
import dev.weir.protocol.v1.WeirProto.Entry;
import dev.weir.server.LogCapture;
import dev.weir.server.RunningServer;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of the memory and the time that streams with seats take. */
class SeatStreamTest {
  private static final int STREAMS = 100;

  /** The bytes that every idle stream counts, of which a connection has ten for nothing. */
  private static final long IDLE_BYTES = 4096L * (STREAMS - 10);

  /** The length of a text of the client's, of which a seat has a copy. */
  private static final int TEXT = 3_000;

  private static final String TOKEN = "a-token-of-20-letters";
  private static final String OTHER = "one-more-token-of-25-chars";

  private static final String RULES =
      """
      domain: test
      descriptors:
        - key: short
          rate_limit: {concurrency: 1, hold: 1s}
        - key: free
          rate_limit: {concurrency: 1000, hold: 1h}
      """;

  @TempDir private Path folder;

  private static AcquireRequest request(String key, String value) {
    return AcquireRequest.newBuilder()
        .setCheck(
            Check.newBuilder()
                .setDomain("test")
                .addDescriptors(
                    Descriptor.newBuilder()
                        .addEntries(Entry.newBuilder().setKey(key).setValue(value))))
        .build();
  }

  /** Streams of one connection whose answers are read. */
  private static final class Streams implements StreamObserver<AcquireResponse>, AutoCloseable {
    final AtomicInteger granted = new AtomicInteger();
    private final ManagedChannel channel;

    Streams(int port) {
      channel = channel(port);
    }

    void open(int streams) {
      WeirGrpc.WeirStub stub = WeirGrpc.newStub(channel);
      for (int i = 0; i < streams; i++) {
        stub.seat(request("free", "x".repeat(TEXT)), this);
      }
    }

    @Override
    public void onNext(AcquireResponse answer) {
      assertThat(answer.getResult().getAllowed()).isTrue();
      granted.incrementAndGet();
    }

    @Override
    public void onError(Throwable error) {} // Its channel is closed.

    @Override
    public void onCompleted() {
      throw new AssertionError("ended by the server");
    }

    @Override
    public void close() {
      channel.shutdownNow();
    }
  }

  private static ManagedChannel channel(int port) {
    return Grpc.newChannelBuilderForAddress("127.0.0.1", port, InsecureChannelCredentials.create())
        .build();
  }

  private static void await(IntSupplier number, int expected) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (number.getAsInt() != expected && System.nanoTime() < deadline) {
      Thread.onSpinWait();
    }
    assertThat(number.getAsInt()).isEqualTo(expected);
  }

  private static void awaitPending(RunningServer running, long least, long most) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    long pending = running.metric("weir_pending_bytes");
    while ((pending < least || pending > most) && System.nanoTime() < deadline) {
      pending = running.metric("weir_pending_bytes");
    }
    assertThat(pending).isBetween(least, most);
  }

  @Test
  void openStreams_countInTheBudgetUntilTheyEnd() throws Exception {
    try (RunningServer running = RunningServer.start(Map.of("rules", rules()))) {
      try (Streams streams = new Streams(running.server.grpcPort())) {
        streams.open(STREAMS);
        await(streams.granted::get, STREAMS);
        awaitPending(running, IDLE_BYTES + (long) STREAMS * TEXT, IDLE_BYTES + 3L * STREAMS * TEXT);
      }
      awaitPending(running, 0, 0);
    }
  }

  @Test
  void tokenThatIsRemoved_endsTheStream() throws Exception {
    Path tokens = Files.writeString(folder.resolve("tokens"), TOKEN + "\n" + OTHER + "\n");
    try (RunningServer running =
        RunningServer.start(Map.of("rules", rules(), "token-file", tokens.toString()))) {
      ManagedChannel channel = channel(running.server.grpcPort());
      try {
        Iterator<AcquireResponse> stream = stub(channel, TOKEN).seat(request("short", "a"));
        assertThat(stream.next().getResult().getAllowed()).isTrue();
        try (LogCapture log = new LogCapture()) {
          Files.writeString(tokens, OTHER + "\n");
          log.await("--token-file: changed, in force");
        }
        assertThatThrownBy(stream::hasNext)
            .isInstanceOfSatisfying(
                StatusRuntimeException.class,
                e -> assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.UNAUTHENTICATED));
        assertThat(stub(channel, OTHER).acquire(request("short", "a")).getResult().getAllowed())
            .as("its seat is free again")
            .isTrue();
      } finally {
        channel.shutdownNow();
      }
    }
  }

  private String rules() throws IOException {
    return Files.writeString(folder.resolve("rules.yaml"), RULES).toString();
  }

  private static WeirGrpc.WeirBlockingStub stub(ManagedChannel channel, String token) {
    Metadata metadata = new Metadata();
    metadata.put(
        Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER), "Bearer " + token);
    return WeirGrpc.newBlockingStub(channel)
        .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(metadata))
        .withDeadlineAfter(60, TimeUnit.SECONDS);
  }
}
