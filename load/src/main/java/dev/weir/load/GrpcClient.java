package dev.weir.load;

import dev.weir.protocol.envoy.RateLimitDescriptor;
import dev.weir.protocol.envoy.RateLimitRequest;
import dev.weir.protocol.envoy.RateLimitResponse;
import dev.weir.protocol.envoy.RateLimitServiceGrpc;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptors;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import java.util.Locale;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Sends requests to the gRPC port, a stream for each request in flight. */
final class GrpcClient implements DoorClient {
  private static final long DIGITS = 1_000_000_000L;

  private final Lane lane;
  private final Channel channel;
  private final BooleanSupplier onLoop;
  private final String domain;
  private final String descriptor;
  private final @Nullable ClientCall<?, ?>[] calls;

  /**
   * @param onLoop tells whether the current thread is the lane's
   */
  GrpcClient(LoadPlan plan, Lane lane, Channel channel, BooleanSupplier onLoop) {
    this.lane = lane;
    this.channel = authorized(channel, plan.token());
    this.onLoop = onLoop;
    this.domain = plan.domain();
    this.descriptor = plan.descriptor();
    this.calls = new ClientCall<?, ?>[lane.slots()];
  }

  private static Channel authorized(Channel channel, @Nullable String token) {
    if (token == null) {
      return channel;
    }
    Metadata metadata = new Metadata();
    metadata.put(
        Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER), "Bearer " + token);
    return ClientInterceptors.intercept(
        channel, MetadataUtils.newAttachHeadersInterceptor(metadata));
  }

  @Override
  public void send(int slot, long key) {
    ClientCall<RateLimitRequest, RateLimitResponse> call =
        channel.newCall(RateLimitServiceGrpc.getShouldRateLimitMethod(), CallOptions.DEFAULT);
    calls[slot] = call;
    ClientCalls.asyncUnaryCall(call, request(key), new Answer(slot));
  }

  private RateLimitRequest request(long key) {
    return RateLimitRequest.newBuilder()
        .setDomain(domain)
        .addDescriptors(
            RateLimitDescriptor.newBuilder()
                .addEntries(
                    RateLimitDescriptor.Entry.newBuilder()
                        .setKey(descriptor)
                        .setValue(Long.toString(DIGITS + key).substring(1))))
        .build();
  }

  /** Nothing to do: every call is sent at once. */
  @Override
  public void flush() {}

  @Override
  public void expire(int slot) {
    ClientCall<?, ?> call = calls[slot];
    if (call != null) {
      call.cancel(Lane.TIMEOUT, null);
    }
  }

  @Override
  public void close() {}

  private final class Answer implements StreamObserver<RateLimitResponse> {
    private final int slot;
    private RateLimitResponse.@Nullable Code code;

    Answer(int slot) {
      this.slot = slot;
    }

    @Override
    public void onNext(RateLimitResponse response) {
      code = response.getOverallCode();
    }

    @Override
    public void onCompleted() {
      onLoop(this::tell);
    }

    @Override
    public void onError(Throwable cause) {
      onLoop(() -> tell(Status.fromThrowable(cause)));
    }

    private void tell() {
      calls[slot] = null;
      if (code == RateLimitResponse.Code.OK || code == RateLimitResponse.Code.OVER_LIMIT) {
        lane.answered(slot, code == RateLimitResponse.Code.OK);
      } else {
        lane.failed(slot, "grpc answer without a decision");
      }
    }

    /**
     * A status that gRPC itself may give, without the server, may come at once; so its slot pauses.
     */
    private void tell(Status status) {
      calls[slot] = null;
      String kind =
          status.getCode() == Status.Code.CANCELLED && lane.overdue(slot)
              ? Lane.TIMEOUT
              : "grpc " + status.getCode().name().toLowerCase(Locale.ROOT);
      switch (status.getCode()) {
        case UNAVAILABLE, CANCELLED, INTERNAL -> lane.lost(slot, kind);
        default -> lane.failed(slot, kind);
      }
    }

    private void onLoop(Runnable task) {
      if (onLoop.getAsBoolean()) {
        task.run();
      } else {
        lane.loop().execute(task);
      }
    }
  }
}
