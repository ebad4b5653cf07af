package dev.weir.server.internal.grpc;

import dev.weir.Policy;
import dev.weir.Ticker;
import dev.weir.protocol.envoy.RateLimitQuotaResponse;
import dev.weir.protocol.envoy.RateLimitQuotaResponse.BucketAction;
import dev.weir.protocol.envoy.RateLimitQuotaUsageReports;
import dev.weir.protocol.envoy.RateLimitQuotaUsageReports.BucketQuotaUsage;
import dev.weir.protocol.http.BadRequest;
import dev.weir.rules.Rule;
import dev.weir.server.internal.deciding.GuardedDecider;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The buckets of one Envoy, as long as its stream lasts. {@link CheckStream} passes on one report
 * at a time; the stores may answer on other threads.
 */
final class QuotaBuckets
    implements CheckStream.Answers<RateLimitQuotaUsageReports, RateLimitQuotaResponse> {
  /*
   * What is kept, and for which buckets? A client chooses an Envoy's buckets, as many and as long
   * as messages allow, and their stream may last for ever. So only a bucket that has an assignment
   * is kept, by its fingerprint, in QuotaBucket.BYTES; each report contains the texts. A bucket
   * that is abandoned, or without a limit, leaves nothing behind (RecentBuckets). The kept bytes
   * count on the connection, in the budget of bytes, and the buckets among those of all streams.
   *
   * A bucket that finds no room has no assignment: its Envoy is ordered to abandon it, and reports
   * it again with its next request.
   */

  /** The most buckets of a report: Envoy reports all of its buckets in one message. */
  static final int MAX_BUCKETS = 10_000;

  /** The time without requests after which Envoy is ordered to abandon a bucket. */
  private static final long IDLE_NANOS = 60_000_000_000L;

  /** The time without a report after which a bucket is one that its Envoy has abandoned. */
  private static final long FORGOTTEN_NANOS = 10 * IDLE_NANOS;

  private final GuardedDecider decider;
  private final Ticker ticker;
  private final QuotaBounds bounds;
  private final @Nullable GrpcStream stream;
  private final long number;
  private final Map<Long, QuotaBucket> buckets = new HashMap<>();

  /** The number of this stream's places among the buckets of all streams. */
  private final AtomicInteger places = new AtomicInteger();

  private String domain = "";

  /** True once this report has searched for buckets that their Envoy has abandoned. */
  private boolean looked;

  /**
   * @param stream counts the kept bytes; null if nothing counts them
   */
  QuotaBuckets(
      GuardedDecider decider, Ticker ticker, QuotaBounds bounds, @Nullable GrpcStream stream) {
    this.decider = decider;
    this.ticker = ticker;
    this.bounds = bounds;
    this.stream = stream;
    number = bounds.stream();
  }

  /**
   * Takes a report, and returns the assignments for the Envoy.
   *
   * @throws BadRequest if there are too many buckets, or there is no domain
   */
  @Override
  public void answer(
      RateLimitQuotaUsageReports report, Consumer<@Nullable RateLimitQuotaResponse> done)
      throws BadRequest {
    domain(report.getDomain());
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
    looked = false;
    for (int i = 0; i < size; i++) {
      int index = i;
      report(
          report.getBucketQuotaUsages(i),
          action -> {
            if (action != null) {
              actions.set(index, action);
            }
            oneLess.run();
          });
    }
    oneLess.run();
  }

  private void domain(String reported) throws BadRequest {
    int most = bounds.maxDomain();
    if (reported.length() > most) {
      throw new BadRequest(
          "domain length: " + reported.length() + " (expected: at most " + most + ")");
    }
    if (!reported.isEmpty() && !reported.equals(domain)) {
      count(2L * (reported.length() - domain.length()));
      domain = reported;
    }
    if (domain.isEmpty()) {
      throw new BadRequest("domain: missing (expected: in the first report of a stream)");
    }
  }

  private void report(BucketQuotaUsage usage, Consumer<@Nullable BucketAction> done) {
    QuotaReport report = new QuotaReport(decider, ticker, domain, usage, done);
    long id = bounds.fingerprint(number, domain, usage.getBucketId());
    long now = ticker.nanos();
    QuotaBucket known = buckets.get(id);
    if (known != null && report.requests() == 0) {
      known.reportedAtNanos = now;
      if (now - known.usedAtNanos >= IDLE_NANOS) {
        forget(id);
        report.abandon();
      } else {
        report.nothingNew();
      }
      return;
    }
    Rule rule = report.find(known);
    Policy policy = rule == null ? null : rule.policy();
    if (rule == null || policy == null) {
      forget(id);
      withoutLimit(report, id);
      return;
    }
    String problem = QuotaReport.problem(rule, policy);
    if (problem != null) {
      forget(id);
      bounds.warn(rule, decider.engine().revision(), problem);
      report.abandon();
      return;
    }
    QuotaBucket bucket = known == null ? keep(id, now) : known;
    if (bucket == null) {
      report.abandon();
      return;
    }
    bucket.reportedAtNanos = now;
    bucket.usedAtNanos = now;
    bucket.rule(rule, decider.engine().revision());
    report.assign(policy, known == null);
  }

  /** Passes all requests of a bucket without a limit. */
  private void withoutLimit(QuotaReport report, long id) {
    if (report.requests() > 0) {
      bounds.recent().add(id);
      report.passAll();
    } else if (bounds.recent().has(id)) {
      report.nothingNew();
    } else {
      report.abandon();
    }
  }

  /** Returns a new bucket, or null if there is no room for it. */
  private @Nullable QuotaBucket keep(long id, long now) {
    if (buckets.size() >= MAX_BUCKETS) {
      forgetForgotten(now);
    }
    if (buckets.size() >= MAX_BUCKETS) {
      bounds.warn("more than " + MAX_BUCKETS + " buckets of one Envoy: the rest has no assignment");
      return null;
    }
    if (!bounds.take()) {
      bounds.warn(
          "more than "
              + bounds.maxBuckets()
              + " buckets of all Envoys (--max-quota-buckets): the rest has no assignment");
      return null;
    }
    int unused = places.incrementAndGet();
    QuotaBucket bucket = new QuotaBucket(now);
    buckets.put(id, bucket);
    count(QuotaBucket.BYTES);
    return bucket;
  }

  private void forget(long id) {
    if (buckets.remove(id) != null) {
      removed(1);
    }
  }

  /**
   * Makes room, at most once in a report: a search through all buckets for each new one would be
   * slow.
   */
  private void forgetForgotten(long now) {
    if (looked) {
      return;
    }
    looked = true;
    int before = buckets.size();
    Iterator<QuotaBucket> each = buckets.values().iterator();
    while (each.hasNext()) {
      if (now - each.next().reportedAtNanos >= FORGOTTEN_NANOS) {
        each.remove();
      }
    }
    removed(before - buckets.size());
  }

  private void removed(int buckets) {
    int unused = places.addAndGet(-buckets);
    bounds.giveBack(buckets);
    count(-QuotaBucket.BYTES * buckets);
  }

  private void count(long bytes) {
    if (stream != null) {
      stream.keep(bytes);
    }
  }

  /** Ends the stream, on any thread; there are no more reports. */
  @Override
  public void ended() {
    bounds.giveBack(places.getAndSet(0));
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
