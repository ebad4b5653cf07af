package dev.weir.server.grpc;

import dev.weir.Ticker;
import dev.weir.http.BadRequest;
import dev.weir.protocol.envoy.BucketId;
import dev.weir.protocol.envoy.RateLimitQuotaResponse;
import dev.weir.protocol.envoy.RateLimitQuotaResponse.BucketAction;
import dev.weir.protocol.envoy.RateLimitQuotaUsageReports;
import dev.weir.protocol.envoy.RateLimitQuotaUsageReports.BucketQuotaUsage;
import dev.weir.server.door.FewLines;
import dev.weir.server.door.GuardedDecider;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import java.util.logging.Level;
import org.jspecify.annotations.Nullable;

/**
 * The buckets of one Envoy, as long as its stream lasts. One report at a time, as {@link
 * CheckStream} hands them on; the stores may answer on other threads.
 */
final class QuotaBuckets {
  /** Envoy reports all of its buckets in one message. */
  static final int MAX_BUCKETS = 10_000;

  private final GuardedDecider decider;
  private final Ticker ticker;
  private final FewLines log;
  private final Map<BucketId, QuotaBucket> buckets = new HashMap<>();
  private String domain = "";

  QuotaBuckets(GuardedDecider decider, Ticker ticker, FewLines log) {
    this.decider = decider;
    this.ticker = ticker;
    this.log = log;
  }

  /**
   * Takes a report, and says what the Envoy may do next.
   *
   * @throws BadRequest if there are too many buckets, or there is no domain
   */
  void report(RateLimitQuotaUsageReports report, Consumer<@Nullable RateLimitQuotaResponse> done)
      throws BadRequest {
    if (!report.getDomain().isEmpty()) {
      domain = report.getDomain();
    }
    if (domain.isEmpty()) {
      throw new BadRequest("domain: missing (expected: in the first report of a stream)");
    }
    int size = report.getBucketQuotaUsagesCount();
    if (size > MAX_BUCKETS) {
      throw new BadRequest(
          "bucket_quota_usages: " + size + " (expected: at most " + MAX_BUCKETS + ")");
    }
    AtomicReferenceArray<BucketAction> actions = new AtomicReferenceArray<>(size);
    AtomicInteger missing = new AtomicInteger(size + 1);
    Runnable oneLess =
        () -> {
          if (missing.decrementAndGet() == 0) {
            done.accept(response(actions));
          }
        };
    for (int i = 0; i < size; i++) {
      int index = i;
      BucketQuotaUsage usage = report.getBucketQuotaUsages(i);
      Consumer<@Nullable BucketAction> then =
          action -> {
            if (action != null) {
              actions.set(index, action);
            }
            oneLess.run();
          };
      QuotaBucket bucket = bucket(usage.getBucketId());
      if (bucket == null) {
        then.accept(QuotaBucket.abandon(usage.getBucketId()));
      } else {
        bucket.report(usage, then);
      }
    }
    oneLess.run();
  }

  private @Nullable QuotaBucket bucket(BucketId id) {
    QuotaBucket known = buckets.get(id);
    if (known == null && buckets.size() < MAX_BUCKETS) {
      known = new QuotaBucket(decider, ticker, this::warn, domain, id);
      buckets.put(id, known);
    } else if (known == null) {
      buckets.values().removeIf(QuotaBucket::isOver);
      warn("more than " + MAX_BUCKETS + " buckets of one Envoy: the rest has no assignment");
    }
    return known;
  }

  private void warn(String line) {
    boolean unused = log.write(Level.WARNING, "rate_limit_quota: " + line);
  }

  private static @Nullable RateLimitQuotaResponse response(
      AtomicReferenceArray<BucketAction> actions) {
    RateLimitQuotaResponse.Builder response = RateLimitQuotaResponse.newBuilder();
    for (int i = 0; i < actions.length(); i++) {
      BucketAction action = actions.get(i);
      if (action != null) {
        response.addBucketAction(action);
      }
    }
    return response.getBucketActionCount() == 0 ? null : response.build();
  }
}
