package dev.weir.server.internal.log;

import dev.weir.Algorithm;
import dev.weir.Decision;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.RateLimiter;
import dev.weir.SingleLimiter;
import dev.weir.Ticker;
import dev.weir.engine.Answer;
import dev.weir.engine.Status;
import dev.weir.replay.Masking;
import dev.weir.rules.Descriptor;
import dev.weir.rules.DurationText;
import dev.weir.rules.Entry;
import dev.weir.rules.Request;
import dev.weir.rules.ShareText;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.server.internal.settings.Settings;
import dev.weir.server.internal.settings.ShownKeys;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.logging.Level;

/**
 * The log of a random share of the refused requests: their descriptors, the policy, and the time of
 * the refusal. Safe for use by many threads.
 */
public final class RefusalLog {
  /** A log of no refusal. */
  public static final RefusalLog NONE = new RefusalLog(0, value -> "", Ticker.system());

  /** The lines at once; after that, {@value #PER_SECOND} a second. */
  private static final int BURST = 20;

  private static final int PER_SECOND = 10;
  private static final long SECOND_NANOS = 1_000_000_000L;

  /** The most characters of a value that are written. */
  private static final int MAX_SHOWN = 200;

  private final long millionths;
  private final UnaryOperator<String> shown;
  private final SingleLimiter limiter;
  private final AtomicLong leftOut = new AtomicLong();

  /**
   * @param millionths share of the refusals that are logged, 0 to 1,000,000
   * @param shown returns the text of a descriptor's value
   */
  RefusalLog(long millionths, UnaryOperator<String> shown, Ticker ticker) {
    this.millionths = millionths;
    this.shown = shown;
    Policy policy =
        Policy.builder(new Quota(PER_SECOND, SECOND_NANOS))
            .algorithm(Algorithm.TOKEN_BUCKET)
            .burst(BURST)
            .build();
    limiter = RateLimiter.builder(policy).ticker(ticker).maxKeys(1).buildSingle();
  }

  /** Returns the log of the settings, or {@link #NONE}. */
  public static RefusalLog of(ServerSettings settings, Ticker ticker) {
    long share = settings.value(Settings.LOG_REFUSALS);
    boolean plain = settings.value(Settings.LOG_REFUSALS_KEYS) == ShownKeys.PLAIN;
    return share == 0
        ? NONE
        : new RefusalLog(share, plain ? RefusalLog::cut : Masking.random()::masked, ticker);
  }

  private static String cut(String value) {
    return value.length() <= MAX_SHOWN ? value : value.substring(0, MAX_SHOWN) + '\u2026';
  }

  /**
   * Returns a consumer that logs a refusal and passes on every answer; the one given if none is
   * logged.
   *
   * @param waits true if a refused request that may wait by the rules is answered later
   */
  public Consumer<? super Answer> before(
      Consumer<? super Answer> done, Request request, boolean waits) {
    if (!isOn()) {
      return done;
    }
    return answer -> {
      if (!answer.allowed() && !(waits && answer.maxWaitNanos() > 0)) {
        refused(request, answer);
      }
      done.accept(answer);
    };
  }

  /** Returns whether refusals are logged. */
  public boolean isOn() {
    return millionths > 0;
  }

  /** Logs a refusal, by chance. */
  public void refused(Request request, Answer answer) {
    if (answer.allowed()
        || answer.error() != null
        || ThreadLocalRandom.current().nextLong(ShareText.WHOLE) >= millionths) {
      return;
    }
    if (!limiter.tryAcquire().allowed()) {
      leftOut.incrementAndGet();
      return;
    }
    Status status = answer.deciding();
    List<Map<String, String>> descriptors = descriptors(request, answer);
    Decision decision = status == null ? null : status.decision();
    long before = leftOut.getAndSet(0);
    LogEvent line =
        LogEvent.of(
                Level.INFO,
                "refused",
                "refused: "
                    + request.domain()
                    + " "
                    + words(descriptors)
                    + ": "
                    + answer.reason()
                    + (answer.cause().isEmpty() ? "" : " (" + answer.cause() + ")")
                    + (decision == null ? "" : words(decision))
                    + (before == 0 ? "" : " (" + before + " lines left out)"))
            .with("domain", request.domain())
            .with("descriptors", descriptors)
            .with("reason", answer.reason());
    if (!answer.cause().isEmpty()) {
      line.with("cause", answer.cause());
    }
    if (decision != null) {
      if (!decision.policy().isEmpty()) {
        line.with("policy", decision.policy()).with("limit", decision.limit());
      }
      if (decision.retryAfterNanos() != Decision.NEVER) {
        line.with("retry_after_ms", (decision.retryAfterNanos() + 999_999) / 1_000_000);
      }
    }
    if (before > 0) {
      line.with("left_out", before);
    }
    line.log();
  }

  /** Returns the refused descriptors, with the values in the form in which they may be shown. */
  private List<Map<String, String>> descriptors(Request request, Answer answer) {
    List<Status> refusing = answer.refusing();
    List<Map<String, String>> all = new ArrayList<>();
    for (int i = 0; i < request.descriptors().size() && i < answer.statuses().size(); i++) {
      if (refusing.contains(answer.statuses().get(i))) {
        all.add(entries(request.descriptors().get(i)));
      }
    }
    return all;
  }

  private Map<String, String> entries(Descriptor descriptor) {
    Map<String, String> entries = new LinkedHashMap<>();
    for (Entry entry : descriptor.entries()) {
      entries.put(entry.key(), shown.apply(entry.value()));
    }
    return entries;
  }

  private static String words(List<Map<String, String>> descriptors) {
    List<String> words = new ArrayList<>();
    for (Map<String, String> entries : descriptors) {
      List<String> pairs = new ArrayList<>();
      entries.forEach((key, value) -> pairs.add(key + "=" + value));
      words.add(String.join(",", pairs));
    }
    return String.join(" and ", words);
  }

  private static String words(Decision decision) {
    long nanos = decision.retryAfterNanos();
    String by =
        decision.policy().isEmpty() // There are no rules yet, or it is an upstream server's.
            ? ""
            : " by " + decision.policy() + ", limit " + decision.limit();
    return by
        + (nanos == Decision.NEVER
            ? ", never fits"
            : ", retry after " + DurationText.format((nanos + 999_999) / 1_000_000 * 1_000_000));
  }
}
