package dev.weir.server;

import dev.weir.Algorithm;
import dev.weir.Batch;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.PackedDecision;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Reason;
import dev.weir.Store;
import dev.weir.Ticker;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The warm-up of a cluster before this member is ready: it compiles the code of the path to the
 * cluster and back. The requests of {@link WarmUp} end at a table in this process.
 */
final class ClusterWarmUp {
  /*
   * What does it leave behind? Nothing that a rule, a caller's bucket or a count of one can see.
   * Its decisions have a name of their own, and their keys are removed as soon as their buckets are
   * full again, a moment later. It sends as few requests at once as a few clients, so that a
   * cluster that serves others while this member restarts is not disturbed. The first decisions of
   * a member are the slowest that it will ever make, and may come too late. The warm-up continues
   * after a pause, and gives up if too many rounds in a row fail.
   */

  /** The name under which its keys are counted. No rule and no bucket of a caller has it. */
  static final String NAME = "warm-up of members";

  private static final long MOST_NANOS = 2_000_000_000L;

  /** The number of sizes of a round: 1, 2, 4 ... decisions at once, and then 1 again. */
  private static final int SIZES = 8;

  private static final int BATCH = 16;
  private static final long KEYS = 64;

  /** A factor that spreads keys over all groups: a fingerprint's first bits decide its group. */
  private static final long SPREAD = Long.MIN_VALUE / (KEYS / 2);

  /** The permits a second, far more than it requests: none is refused. */
  private static final long PERMITS = 1_000_000;

  private static final long ANSWER_MILLIS = 2_000;

  private static final int MOST_FAILED = 20;
  private static final long PAUSE_NANOS = 20_000_000L;

  private final Store store;
  private final Ticker ticker;
  private final Binding binding;
  private final Semaphore answers = new Semaphore(0);
  private final AtomicInteger undecided = new AtomicInteger();
  private long asked;

  private ClusterWarmUp(Store store, Ticker ticker) {
    this.store = store;
    this.ticker = ticker;
    binding =
        store.bind(
            NAME,
            Policy.builder(new Quota(PERMITS, Duration.ofSeconds(1).toNanos()))
                .name(NAME)
                .algorithm(Algorithm.TOKEN_BUCKET)
                .build(),
            ticker.nanos());
  }

  /** Warms up for a bounded time; returns a summary for the log. */
  static String run(Store store, Ticker ticker) throws InterruptedException {
    long begun = ticker.nanos();
    ClusterWarmUp warmUp = new ClusterWarmUp(store, ticker);
    try {
      int failed = 0;
      for (int round = 0; ticker.nanos() - begun < MOST_NANOS; round++) {
        if (warmUp.decides(1 << round % SIZES)) {
          failed = 0;
        } else if (++failed < MOST_FAILED) {
          ticker.sleep(PAUSE_NANOS);
        } else {
          return "the cluster was not warmed up: it does not decide";
        }
      }
    } finally {
      store.retire(NAME, ticker.nanos());
    }
    return String.format(
        Locale.ROOT,
        "warmed up the cluster in %.1f s with %d decisions",
        (ticker.nanos() - begun) / 1e9,
        warmUp.asked);
  }

  /** Decides this many requests at once; returns whether the cluster decided all. */
  private boolean decides(int count) throws InterruptedException {
    int calls = 0;
    for (int left = count; left > 0; calls++) {
      // Ports decide single requests, and batches of requests that arrived together on a
      // connection.
      if (left >= BATCH) {
        Batch batch = new Batch(BATCH);
        for (int i = 0; i < BATCH; i++) {
          batch.add(binding, asked++ % KEYS * SPREAD, 1);
        }
        store.decide(
            batch, ticker.nanos(), decided -> answered(PackedDecision.reason(decided.decision(0))));
        left -= BATCH;
      } else {
        Charges charges = new Charges().add(binding, asked++ % KEYS * SPREAD, 1);
        store.decide(charges, ticker.nanos(), decided -> answered(decided.reason(0)));
        left--;
      }
    }
    return answers.tryAcquire(calls, ANSWER_MILLIS, TimeUnit.MILLISECONDS)
        && undecided.getAndSet(0) == 0;
  }

  private void answered(Reason reason) {
    if (reason == Reason.UNCERTAIN || reason == Reason.OVERLOADED) {
      undecided.incrementAndGet();
    }
    answers.release();
  }
}
