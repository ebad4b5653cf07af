package dev.weir.server.grpc;

import dev.weir.Ticker;
import dev.weir.protocol.envoy.RateLimitQuotaResponse;
import dev.weir.protocol.envoy.RateLimitQuotaServiceGrpc;
import dev.weir.protocol.envoy.RateLimitQuotaUsageReports;
import dev.weir.server.door.FewLines;
import dev.weir.server.door.GuardedDecider;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;

/** The service behind Envoy's filter {@code rate_limit_quota}: it assigns quotas to Envoys. */
public final class QuotaService extends RateLimitQuotaServiceGrpc.RateLimitQuotaServiceImplBase {
  private final GuardedDecider decider;
  private final Ticker ticker;
  private final FewLines log;

  public QuotaService(GuardedDecider decider, Ticker ticker) {
    this.decider = decider;
    this.ticker = ticker;
    log = new FewLines(ticker);
  }

  @Override
  public StreamObserver<RateLimitQuotaUsageReports> streamRateLimitQuotas(
      StreamObserver<RateLimitQuotaResponse> observer) {
    QuotaBuckets buckets = new QuotaBuckets(decider, ticker, log);
    return CheckStream.begin(
        buckets::report, (ServerCallStreamObserver<RateLimitQuotaResponse>) observer);
  }
}
