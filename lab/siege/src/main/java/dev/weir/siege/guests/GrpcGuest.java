package dev.weir.siege.guests;

import dev.weir.protocol.envoy.RateLimitDescriptor;
import dev.weir.protocol.envoy.RateLimitRequest;
import dev.weir.protocol.envoy.RateLimitResponse;
import dev.weir.protocol.envoy.RateLimitServiceGrpc;
import dev.weir.siege.Target;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.MetadataUtils;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A client that sends requests by {@code ShouldRateLimit}. */
final class GrpcGuest implements Guest {
  /** The time to wait in a refusal without a decision; decided refusals have more here. */
  private static final long UNDECIDED_SECONDS = 1;

  private final ManagedChannel channel;
  private final RateLimitServiceGrpc.RateLimitServiceBlockingStub stub;

  GrpcGuest(Target target) {
    channel =
        Grpc.newChannelBuilderForAddress(
                target.host(), target.grpc(), InsecureChannelCredentials.create())
            .directExecutor()
            .build();
    Metadata metadata = new Metadata();
    if (target.token() != null) {
      metadata.put(
          Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER),
          "Bearer " + target.token());
    }
    stub =
        RateLimitServiceGrpc.newBlockingStub(channel)
            .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(metadata));
  }

  @Override
  public Answer request(String rule, String key, int permits) throws IOException {
    return request(List.of(rule), key, permits);
  }

  @Override
  public Answer request(List<String> rules, String key, int permits) throws IOException {
    RateLimitRequest.Builder request =
        RateLimitRequest.newBuilder().setDomain(DOMAIN).setHitsAddend(permits);
    for (String each : rules) {
      request.addDescriptors(
          RateLimitDescriptor.newBuilder()
              .addEntries(RateLimitDescriptor.Entry.newBuilder().setKey(each).setValue(key)));
    }
    RateLimitResponse response;
    try {
      response =
          stub.withDeadlineAfter(PATIENCE.toNanos(), TimeUnit.NANOSECONDS)
              .shouldRateLimit(request.build());
    } catch (StatusRuntimeException e) {
      throw new IOException(e.getMessage(), e);
    }
    if (response.getOverallCode() == RateLimitResponse.Code.OK) {
      return new Answer(true, Answer.WITHIN_LIMIT);
    }
    long wait = 0; // Of several rules, some may be unused.
    for (RateLimitResponse.DescriptorStatus each : response.getStatusesList()) {
      wait = Math.max(wait, each.getDurationUntilReset().getSeconds());
    }
    return new Answer(false, wait > UNDECIDED_SECONDS ? Answer.OVER_LIMIT : Answer.REFUSED);
  }

  @Override
  public void close() {
    channel.shutdownNow();
  }
}
