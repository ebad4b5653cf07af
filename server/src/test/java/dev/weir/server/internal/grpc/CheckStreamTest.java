package dev.weir.server.internal.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Ticker;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.internal.Histogram;
import dev.weir.protocol.http.CheckBatch;
import dev.weir.protocol.v1.WeirProto.Check;
import dev.weir.protocol.v1.WeirProto.CheckBatchRequest;
import dev.weir.protocol.v1.WeirProto.CheckBatchResponse;
import dev.weir.protocol.v1.WeirProto.Descriptor;
import dev.weir.protocol.v1.WeirProto.Entry;
import dev.weir.rules.Rules;
import dev.weir.server.RunningServer;
import dev.weir.server.internal.deciding.GuardedDecider;
import dev.weir.server.internal.deciding.RequestTimes;
import dev.weir.server.internal.deciding.Tracing;
import dev.weir.server.internal.guard.SystemLoad;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.testkit.LateStore;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests of the turns of a stream, with a slow client and a slow store. */
class CheckStreamTest {
  private final LateStore store = new LateStore();
  private final Engine engine = Engine.create(store, Ticker.system(), EngineSettings.DEFAULTS);
  private final Call call = new Call();
  private final GuardedDecider decider =
      new GuardedDecider(
          engine, SystemLoad.of(ServerSettings.defaults(), Ticker.system()), Ticker.system());
  private final StreamObserver<CheckBatchRequest> stream =
      new WeirService(
              decider, new RequestTimes(Histogram.ofRequests(), Ticker.system()), Tracing.OFF)
          .checkStream(call);

  @BeforeEach
  void rules() {
    engine.apply(Objects.requireNonNull(Rules.parse("rules.yaml", RunningServer.RULES).ruleSet()));
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private static CheckBatchRequest request(int checks) {
    Descriptor descriptor =
        Descriptor.newBuilder().addEntries(Entry.newBuilder().setKey("user").setValue("u")).build();
    CheckBatchRequest.Builder request = CheckBatchRequest.newBuilder();
    for (int i = 0; i < checks; i++) {
      request.addChecks(Check.newBuilder().setDomain("test").addDescriptors(descriptor));
    }
    return request.build();
  }

  @Test
  void nextRequest_isAskedForWhenTheAnswerIsGiven() {
    call.ready(true);
    assertThat(call.asked).isOne();
    stream.onNext(request(2));
    assertThat(call.asked).isOne();
    assertThat(call.responses).isEmpty();
    store.answer();
    assertThat(call.responses).hasSize(1);
    assertThat(call.asked).isEqualTo(2);
  }

  @Test
  void clientWithoutRoom_isAskedForNothing() {
    assertThat(call.asked).isZero();
    call.ready(true);
    stream.onNext(request(1));
    call.ready(false);
    store.answer();
    assertThat(call.responses).hasSize(1);
    assertThat(call.asked).isOne();
    call.ready(true);
    assertThat(call.asked).isEqualTo(2);
    call.ready(true);
    assertThat(call.asked).as("never two at once").isEqualTo(2);
  }

  @Test
  void clientThatHasSentAll_getsTheLastAnswerFirst() {
    call.ready(true);
    stream.onNext(request(1));
    stream.onCompleted();
    assertThat(call.completed).isFalse();
    store.answer();
    assertThat(call.responses).hasSize(1);
    assertThat(call.completed).isTrue();
    assertThat(call.asked).isOne();
  }

  @Test
  void clientThatSendsNothing_getsNothing() {
    call.ready(true);
    stream.onCompleted();
    assertThat(call.completed).isTrue();
    assertThat(call.responses).isEmpty();
  }

  @Test
  void clientThatIsGone_getsNothing() {
    call.ready(true);
    stream.onNext(request(1));
    call.cancelled.run();
    store.answer();
    assertThat(call.responses).isEmpty();
    assertThat(call.asked).isOne();
  }

  @Test
  void requestThatMakesNoSense_endsTheStream() {
    call.ready(true);
    stream.onNext(request(CheckBatch.MAX_CHECKS + 1));
    assertThat(call.error)
        .hasMessage("INVALID_ARGUMENT: checks: more than 1000 (expected: at most 1000)");
    call.ready(true);
    assertThat(call.asked).isOne();
    assertThat(store.due()).isZero();
  }

  /** A call whose client has room at the test's command. */
  private static final class Call extends ServerCallStreamObserver<CheckBatchResponse> {
    private final List<CheckBatchResponse> responses = new ArrayList<>();
    private int asked;
    private boolean ready;
    private boolean completed;
    private @Nullable Throwable error;
    private Runnable readyHandler = () -> {};
    private Runnable cancelled = () -> {};

    void ready(boolean now) {
      ready = now;
      if (now) {
        readyHandler.run();
      }
    }

    @Override
    public boolean isReady() {
      return ready;
    }

    @Override
    public void setOnReadyHandler(Runnable handler) {
      readyHandler = handler;
    }

    @Override
    public void setOnCancelHandler(Runnable handler) {
      cancelled = handler;
    }

    @Override
    public void request(int count) {
      asked += count;
    }

    @Override
    public void onNext(CheckBatchResponse response) {
      responses.add(response);
    }

    @Override
    public void onError(Throwable thrown) {
      error = thrown;
    }

    @Override
    public void onCompleted() {
      completed = true;
    }

    @Override
    public boolean isCancelled() {
      return false;
    }

    @Override
    public void disableAutoInboundFlowControl() {}

    @Override
    public void disableAutoRequest() {}

    @Override
    public void setMessageCompression(boolean enable) {}

    @Override
    public void setCompression(String compression) {}
  }
}
