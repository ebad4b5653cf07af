package dev.weir.server.internal.grpc;

import dev.weir.Ticker;
import dev.weir.protocol.envoy.RateLimitQuotaResponse;
import dev.weir.protocol.envoy.RateLimitQuotaServiceGrpc;
import dev.weir.protocol.envoy.RateLimitQuotaUsageReports;
import dev.weir.server.internal.deciding.GuardedDecider;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.server.internal.settings.Settings;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;

/** The service behind Envoy's filter {@code rate_limit_quota}: it assigns quotas to Envoys. */
public final class QuotaService extends RateLimitQuotaServiceGrpc.RateLimitQuotaServiceImplBase {
  private final GuardedDecider decider;
  private final Ticker ticker;
  private final QuotaBounds bounds;

  public QuotaService(ServerSettings settings, GuardedDecider decider, Ticker ticker) {
    this.decider = decider;
    this.ticker = ticker;
    bounds =
        new QuotaBounds(
            settings.value(Settings.MAX_QUOTA_BUCKETS),
            settings.value(Settings.MAX_KEY_LENGTH),
            ticker);
  }

  @Override
  public StreamObserver<RateLimitQuotaUsageReports> streamRateLimitQuotas(
      StreamObserver<RateLimitQuotaResponse> observer) {
    QuotaBuckets buckets = new QuotaBuckets(decider, ticker, bounds, GrpcStream.KEY.get());
    return CheckStream.begin(buckets, (ServerCallStreamObserver<RateLimitQuotaResponse>) observer);
  }
}
