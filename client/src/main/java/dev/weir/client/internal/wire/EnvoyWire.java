package dev.weir.client.internal.wire;

import com.google.protobuf.UInt64Value;
import dev.weir.protocol.envoy.RateLimitDescriptor;
import dev.weir.protocol.envoy.RateLimitRequest;
import dev.weir.protocol.envoy.RateLimitResponse;
import dev.weir.protocol.envoy.RateLimitServiceGrpc;
import dev.weir.protocol.envoy.RateLimitUnit;
import dev.weir.protocol.v1.WeirProto.Check;
import dev.weir.protocol.v1.WeirProto.CheckResult;
import dev.weir.protocol.v1.WeirProto.Code;
import dev.weir.protocol.v1.WeirProto.Descriptor;
import dev.weir.protocol.v1.WeirProto.DescriptorLease;
import dev.weir.protocol.v1.WeirProto.DescriptorStatus;
import dev.weir.protocol.v1.WeirProto.Entry;
import dev.weir.protocol.v1.WeirProto.Grant;
import dev.weir.protocol.v1.WeirProto.LeaseAsk;
import dev.weir.protocol.v1.WeirProto.LeaseRequest;
import dev.weir.protocol.v1.WeirProto.LeaseResponse;
import dev.weir.protocol.v1.WeirProto.Reason;
import dev.weir.protocol.v1.WeirProto.Unit;
import io.grpc.CallOptions;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Envoy's protocol: each lease request is a call, nothing is lent, and returns are dropped. A
 * refusal holds for the whole seconds that certainly remain of the service's time. Safe for use by
 * many threads.
 */
public final class EnvoyWire implements Wire {
  private static final long CLOSE_MILLIS = 500;

  /** The time after which an unanswered call is dropped. */
  private static final long CALL_SECONDS = 5;

  /** The longest that a refusal holds: a raised limit takes effect within this time. */
  private static final long MOST_REFUSED_SECONDS = 30;

  private final ManagedChannel channel;

  public EnvoyWire(ManagedChannel channel) {
    this.channel = channel;
  }

  @Override
  public void send(LeaseRequest message, Reply reply) {
    if (message.getAsksCount() == 0) {
      check(reply);
      return;
    }
    Calls calls = new Calls(message, reply);
    for (int i = 0; i < message.getAsksCount(); i++) {
      calls.make(i);
    }
  }

  /**
   * Checks whether the service is there. The protocol has no message without a request: a
   * connection counts as an answer.
   */
  private void check(Reply reply) {
    ConnectivityState state = channel.getState(true);
    switch (state) {
      case READY -> reply.answered(LeaseResponse.getDefaultInstance());
      case TRANSIENT_FAILURE, SHUTDOWN -> {
        channel.resetConnectBackoff(); // The next check connects at once.
        reply.failed("no connection", true);
      }
      default -> channel.notifyWhenStateChanged(state, () -> check(reply));
    }
  }

  @Override
  public void reset() {
    channel.resetConnectBackoff();
  }

  @Override
  public void close() {
    channel.shutdown();
    try {
      if (!channel.awaitTermination(CLOSE_MILLIS, TimeUnit.MILLISECONDS)) {
        channel.shutdownNow();
      }
    } catch (InterruptedException e) {
      channel.shutdownNow();
      Thread.currentThread().interrupt();
    }
  }

  /** The calls of one message. */
  private final class Calls {
    private final LeaseRequest message;
    private final Reply reply;
    private final Grant[] grants;
    private final AtomicInteger missing;
    private volatile @Nullable String failed;

    Calls(LeaseRequest message, Reply reply) {
      this.message = message;
      this.reply = reply;
      grants = new Grant[message.getAsksCount()];
      missing = new AtomicInteger(grants.length);
    }

    void make(int i) {
      LeaseAsk ask = message.getAsks(i);
      ClientCalls.asyncUnaryCall(
          channel.newCall(
              RateLimitServiceGrpc.getShouldRateLimitMethod(),
              CallOptions.DEFAULT.withDeadlineAfter(CALL_SECONDS, TimeUnit.SECONDS)),
          request(ask.getCheck()),
          new StreamObserver<RateLimitResponse>() {
            @Override
            public void onNext(RateLimitResponse response) {
              grants[i] = grant(ask, response);
            }

            @Override
            public void onError(Throwable error) {
              failed = GrpcWire.why(error);
              ended();
            }

            @Override
            public void onCompleted() {
              ended();
            }
          });
    }

    private void ended() {
      if (missing.decrementAndGet() > 0) {
        return;
      }
      String why = failed;
      if (why != null) {
        reply.failed(why, true); // The charges for the other calls are lost.
        return;
      }
      LeaseResponse.Builder response = LeaseResponse.newBuilder();
      for (Grant grant : grants) {
        response.addGrants(grant);
      }
      reply.answered(response.build());
    }
  }

  private static RateLimitRequest request(Check check) {
    RateLimitRequest.Builder request = RateLimitRequest.newBuilder().setDomain(check.getDomain());
    for (Descriptor descriptor : check.getDescriptorsList()) {
      RateLimitDescriptor.Builder message =
          RateLimitDescriptor.newBuilder()
              .setHitsAddend(UInt64Value.of(Integer.toUnsignedLong(descriptor.getPermits())));
      for (Entry entry : descriptor.getEntriesList()) {
        message.addEntries(
            RateLimitDescriptor.Entry.newBuilder()
                .setKey(entry.getKey())
                .setValue(entry.getValue()));
      }
      if (descriptor.hasLimit()) {
        message.setLimit(
            RateLimitDescriptor.RateLimitOverride.newBuilder()
                .setRequestsPerUnit(descriptor.getLimit().getRequestsPerUnit())
                .setUnit(unit(descriptor.getLimit().getUnit())));
      }
      request.addDescriptors(message);
    }
    return request.build();
  }

  private static RateLimitUnit unit(Unit unit) {
    return switch (unit) {
      case UNIT_SECOND -> RateLimitUnit.SECOND;
      case UNIT_MINUTE -> RateLimitUnit.MINUTE;
      case UNIT_HOUR -> RateLimitUnit.HOUR;
      case UNIT_DAY -> RateLimitUnit.DAY;
      case UNIT_MONTH -> RateLimitUnit.MONTH;
      case UNIT_YEAR -> RateLimitUnit.YEAR;
      // Envoy's descriptors have no weeks: the service decides how to read this.
      case UNIT_WEEK, UNIT_UNSPECIFIED, UNRECOGNIZED -> RateLimitUnit.UNKNOWN;
    };
  }

  private static Grant grant(LeaseAsk ask, RateLimitResponse response) {
    boolean allowed = response.getOverallCode() == RateLimitResponse.Code.OK;
    CheckResult.Builder result = CheckResult.newBuilder().setAllowed(allowed);
    Grant.Builder grant = Grant.newBuilder().setId(ask.getId());
    for (int i = 0; i < response.getStatusesCount(); i++) {
      RateLimitResponse.DescriptorStatus status = response.getStatuses(i);
      result.addStatuses(status(status));
      boolean over = !allowed && status.getCode() == RateLimitResponse.Code.OVER_LIMIT;
      long permits = Integer.toUnsignedLong(ask.getCheck().getDescriptors(i).getPermits());
      // The service rounds up to seconds, so one of them may not be whole.
      long seconds =
          Math.min(MOST_REFUSED_SECONDS, status.getDurationUntilReset().getSeconds() - 1);
      DescriptorLease.Builder lease = DescriptorLease.newBuilder();
      if (over && permits > 0 && seconds > 0) {
        lease.setRefuseForMs(TimeUnit.SECONDS.toMillis(seconds)).setRefusePermits(permits);
      }
      grant.addLeases(lease);
    }
    return grant.setResult(result).build();
  }

  private static DescriptorStatus status(RateLimitResponse.DescriptorStatus said) {
    boolean allowed = said.getCode() != RateLimitResponse.Code.OVER_LIMIT;
    DescriptorStatus.Builder status =
        DescriptorStatus.newBuilder().setCode(allowed ? Code.CODE_OK : Code.CODE_OVER_LIMIT);
    if (!said.hasCurrentLimit()) {
      return status.setReason(allowed ? Reason.REASON_NO_LIMIT : Reason.REASON_OVER_LIMIT).build();
    }
    RateLimitResponse.RateLimit limit = said.getCurrentLimit();
    long millis = TimeUnit.SECONDS.toMillis(said.getDurationUntilReset().getSeconds());
    return status
        .setPolicy(limit.getName().isEmpty() ? "limit" : limit.getName())
        .setLimit(Integer.toUnsignedLong(limit.getRequestsPerUnit()))
        .setWindowMs(windowMillis(limit.getUnit()))
        .setAlgorithm("fixed-window")
        .setRemaining(Integer.toUnsignedLong(said.getLimitRemaining()))
        .setReason(allowed ? Reason.REASON_WITHIN_LIMIT : Reason.REASON_OVER_LIMIT)
        .setRetryAfterMs(allowed ? 0 : millis)
        .setResetAfterMs(millis)
        .build();
  }

  private static long windowMillis(RateLimitResponse.RateLimit.Unit unit) {
    dev.weir.rules.RateLimitUnit same = dev.weir.rules.RateLimitUnit.of(unit.name());
    return same == null ? 1_000 : TimeUnit.SECONDS.toMillis(same.seconds());
  }
}
