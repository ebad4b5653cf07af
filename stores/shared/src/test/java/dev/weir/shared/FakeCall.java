package dev.weir.shared;

import dev.weir.Charges.Role;
import dev.weir.shared.internal.Operation;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/** A call that records its operations. */
public final class FakeCall implements Call {
  /** One operation of one key; the keys of a call are numbered from 1. */
  public record Request(String kind, long key, long permits, long count, long atMicros) {}

  private final Function<List<Request>, CompletionStage<? extends Reply>> sender;
  private final List<Long> keys = new ArrayList<>();
  final List<Request> requests = new ArrayList<>();

  FakeCall(Function<List<Request>, CompletionStage<? extends Reply>> sender) {
    this.sender = sender;
  }

  /** Returns the requests that an operation writes. */
  public static List<Request> requests(Operation operation) {
    FakeCall call = new FakeCall(requests -> CompletableFuture.failedStage(new AssertionError()));
    operation.write(call);
    return call.requests;
  }

  private long key(long fingerprint) {
    if (!keys.contains(fingerprint)) {
      keys.add(fingerprint);
    }
    return keys.indexOf(fingerprint) + 1L;
  }

  @Override
  public void decideMany(int charges, boolean peeking, boolean queued, long maxWaitNanos) {
    requests.add(new Request("many", 0, charges, 0, 0));
  }

  @Override
  public void charge(SharedBinding binding, long fingerprint, long permits, Role role) {
    requests.add(new Request("charge", key(fingerprint), permits, 0, 0));
  }

  @Override
  public void decideOne(SharedBinding binding, long fingerprint, long permits, long count) {
    requests.add(new Request("some", key(fingerprint), permits, count, 0));
  }

  @Override
  public void record(SharedBinding binding, long fingerprint, long permits) {
    requests.add(new Request("record", key(fingerprint), permits, 0, 0));
  }

  @Override
  public void refund(
      SharedBinding binding, long fingerprint, long permits, long atNanos, long resetNanos) {
    requests.add(
        new Request(
            "refund",
            key(fingerprint),
            permits,
            0,
            Math.floorDiv(atNanos, Result.NANOS_PER_MICRO)));
  }

  @Override
  public void reset(SharedBinding binding, long fingerprint) {
    requests.add(new Request("reset", key(fingerprint), 0, 0, 0));
  }

  @Override
  public void renew(SharedBinding binding, long fingerprint, long atNanos) {
    requests.add(
        new Request(
            "renew", key(fingerprint), 0, 0, Math.floorDiv(atNanos, Result.NANOS_PER_MICRO)));
  }

  @Override
  public CompletionStage<? extends Reply> send(long nowNanos) {
    return sender.apply(requests);
  }
}
