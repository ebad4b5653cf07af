package dev.weir.server.internal.grpc;

import dev.weir.protocol.http.BadRequest;
import dev.weir.protocol.http.CheckBatch;
import dev.weir.protocol.v1.WeirGrpc;
import dev.weir.protocol.v1.WeirProto.AcquireRequest;
import dev.weir.protocol.v1.WeirProto.AcquireResponse;
import dev.weir.protocol.v1.WeirProto.CheckBatchRequest;
import dev.weir.protocol.v1.WeirProto.CheckBatchResponse;
import dev.weir.protocol.v1.WeirProto.HoldRequest;
import dev.weir.protocol.v1.WeirProto.HoldResponse;
import dev.weir.protocol.v1.WeirProto.LeaseRequest;
import dev.weir.protocol.v1.WeirProto.LeaseResponse;
import dev.weir.protocol.v1.WeirProto.SeatRequest;
import dev.weir.protocol.v1.WeirProto.SeatResponse;
import dev.weir.protocol.v1.WeirProto.SettleRequest;
import dev.weir.protocol.v1.WeirProto.SettleResponse;
import dev.weir.rules.Request;
import dev.weir.server.internal.deciding.GuardedDecider;
import dev.weir.server.internal.deciding.RequestTimes;
import dev.weir.server.internal.deciding.SeatCall;
import dev.weir.server.internal.deciding.Tracing;
import dev.weir.server.internal.guard.UndecidedBytes;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.opentelemetry.api.trace.Span;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Weir's own service for gateways. It answers on the thread on which the engine answers. */
public final class WeirService extends WeirGrpc.WeirImplBase {
  private static final String SPAN = WeirGrpc.getCheckBatchMethod().getFullMethodName();

  private final GuardedDecider decider;
  private final RequestTimes times;
  private final Tracing tracing;

  public WeirService(GuardedDecider decider, RequestTimes times, Tracing tracing) {
    this.decider = decider;
    this.times = times;
    this.tracing = tracing;
  }

  @Override
  public void checkBatch(CheckBatchRequest message, StreamObserver<CheckBatchResponse> observer) {
    once(this::traced, message, observer);
  }

  @Override
  public StreamObserver<CheckBatchRequest> checkStream(
      StreamObserver<CheckBatchResponse> observer) {
    return CheckStream.begin(this::check, (ServerCallStreamObserver<CheckBatchResponse>) observer);
  }

  @Override
  public void lease(LeaseRequest message, StreamObserver<LeaseResponse> observer) {
    once(this::lease, message, observer);
  }

  @Override
  public StreamObserver<LeaseRequest> leaseStream(StreamObserver<LeaseResponse> observer) {
    return CheckStream.begin(this::lease, (ServerCallStreamObserver<LeaseResponse>) observer);
  }

  @Override
  public void hold(HoldRequest message, StreamObserver<HoldResponse> observer) {
    once(this::hold, message, observer);
  }

  @Override
  public void settle(SettleRequest message, StreamObserver<SettleResponse> observer) {
    once(this::settle, message, observer);
  }

  private void hold(HoldRequest message, Consumer<@Nullable HoldResponse> done) throws BadRequest {
    long begunNanos = times.begin();
    Request request = WeirMessages.request(message.getCheck(), "check");
    decider.hold(
        request,
        () -> UndecidedBytes.CALL_BYTES,
        held -> {
          times.ended(begunNanos, 1);
          done.accept(HoldMessages.response(request, held));
        });
  }

  private void settle(SettleRequest message, Consumer<@Nullable SettleResponse> done)
      throws BadRequest {
    try {
      decider.settle(
          message.getHold(),
          HoldMessages.costs(message),
          () -> UndecidedBytes.CALL_BYTES,
          settlement -> done.accept(HoldMessages.response(settlement)));
    } catch (IllegalArgumentException e) {
      throw new BadRequest(String.valueOf(e.getMessage()));
    }
  }

  @Override
  public void acquire(AcquireRequest message, StreamObserver<AcquireResponse> observer) {
    once(this::acquire, message, observer);
  }

  @Override
  public void renew(SeatRequest message, StreamObserver<SeatResponse> observer) {
    once((seats, done) -> call(SeatCall.RENEW, seats, done), message, observer);
  }

  @Override
  public void release(SeatRequest message, StreamObserver<SeatResponse> observer) {
    once((seats, done) -> call(SeatCall.RELEASE, seats, done), message, observer);
  }

  @Override
  public void seat(AcquireRequest message, StreamObserver<AcquireResponse> observer) {
    GrpcStream stream = Objects.requireNonNull(GrpcStream.KEY.get());
    new SeatStream(decider, (ServerCallStreamObserver<AcquireResponse>) observer, stream)
        .begin(message);
  }

  private void acquire(AcquireRequest message, Consumer<@Nullable AcquireResponse> done)
      throws BadRequest {
    long begunNanos = times.begin();
    Request request = WeirMessages.request(message.getCheck(), "check");
    decider.acquire(
        request,
        () -> UndecidedBytes.CALL_BYTES,
        taken -> {
          times.ended(begunNanos, 1);
          done.accept(SeatMessages.response(request, taken));
        });
  }

  private void call(SeatCall call, SeatRequest message, Consumer<@Nullable SeatResponse> done)
      throws BadRequest {
    try {
      decider.seats(
          call,
          SeatMessages.seats(message),
          () -> UndecidedBytes.CALL_BYTES,
          outcomes -> done.accept(SeatMessages.response(outcomes)));
    } catch (IllegalArgumentException e) {
      throw new BadRequest(String.valueOf(e.getMessage()));
    }
  }

  private void traced(CheckBatchRequest message, Consumer<@Nullable CheckBatchResponse> done)
      throws BadRequest {
    Span span = tracing.begin(SPAN, TraceContexts.parent());
    try {
      check(message, results -> Tracing.end(span, results), done);
    } catch (BadRequest e) {
      Tracing.failed(span, e.getMessage());
      throw e;
    }
  }

  private void check(CheckBatchRequest message, Consumer<@Nullable CheckBatchResponse> done)
      throws BadRequest {
    check(message, results -> {}, done);
  }

  private void check(
      CheckBatchRequest message,
      Consumer<CheckBatch.Results> decided,
      Consumer<@Nullable CheckBatchResponse> done)
      throws BadRequest {
    long begunNanos = times.begin();
    decider.decideAll(
        WeirMessages.batch(message),
        () -> UndecidedBytes.CALL_BYTES,
        results -> {
          times.ended(begunNanos, results.results().size());
          decided.accept(results);
          done.accept(WeirMessages.response(results));
        });
  }

  private void lease(LeaseRequest message, Consumer<@Nullable LeaseResponse> done)
      throws BadRequest {
    long begunNanos = times.begin();
    decider.lend(
        LeaseMessages.call(message),
        () -> UndecidedBytes.CALL_BYTES,
        results -> {
          times.ended(begunNanos, message.getAsksCount());
          done.accept(LeaseMessages.response(results));
        });
  }

  private static <Q, A> void once(
      CheckStream.Answers<Q, A> answers, Q message, StreamObserver<A> observer) {
    try {
      answers.answer(
          message,
          GrpcReply.to(
              observer,
              answer -> {
                observer.onNext(answer);
                observer.onCompleted();
              }));
    } catch (BadRequest e) {
      observer.onError(refusal(e));
    }
  }

  static StatusRuntimeException refusal(BadRequest e) {
    return Status.INVALID_ARGUMENT.withDescription(e.getMessage()).asRuntimeException();
  }
}
