package dev.weir.rules.internal.parse;

import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.rules.DidYouMean;
import dev.weir.rules.DurationText;
import dev.weir.rules.QueueBounds;
import dev.weir.rules.internal.parse.YamlNode.Mapping;
import dev.weir.rules.internal.parse.YamlNode.Text;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A reader of the {@code on_limit} of a {@code rate_limit}. Used by one thread. */
final class OnLimitParser {
  private static final String DROP = "drop";
  private static final List<String> NAMES = List.of(DROP, "queue");
  private static final String EXPECTED = "drop or {queue: {requests: 50, wait: 2s}}";
  private static final String QUEUE_EXPECTED = "{requests: 50, wait: 2s}";

  private OnLimitParser() {}

  /**
   * Returns how requests beyond the limit may wait; null if they are refused at once, or after
   * reporting a problem.
   *
   * @param permits the quota's, which bound the queue unless they are 0 or wrong themselves
   */
  static @Nullable QueueBounds read(String file, Fields fields, long permits, Problems problems) {
    if (!fields.has("on_limit")) {
      return null;
    }
    Text name = fields.scalar("on_limit");
    if (name != null) {
      named(fields, name.text(), problems);
      return null;
    }
    if (!fields.hasValue("on_limit")) {
      fields.error("on_limit", EXPECTED);
      return null;
    }
    Mapping mapping = fields.map("on_limit", EXPECTED);
    if (mapping == null) {
      return null;
    }
    int errorsBefore = problems.errors();
    Fields actions = new Fields(file, mapping, Place.ON_LIMIT, problems);
    if (!actions.has("queue")) {
      if (problems.errors() == errorsBefore) {
        fields.error("on_limit", EXPECTED);
      }
      return null;
    }
    if (!actions.hasValue("queue")) {
      actions.error("queue", QUEUE_EXPECTED);
      return null;
    }
    Mapping queue = actions.map("queue", QUEUE_EXPECTED);
    return queue == null
        ? null
        : bounds(new Fields(file, queue, Place.QUEUE, problems), permits, problems);
  }

  private static void named(Fields fields, String name, Problems problems) {
    if (!name.equals(DROP)) {
      // A queue needs its bounds, so the word alone is no near miss.
      String meant = name.equals("queue") ? "" : DidYouMean.of(name, NAMES);
      problems.error(
          fields.position("on_limit"),
          "on_limit: %s%s (expected: %s)".formatted(fields.shown("on_limit"), meant, EXPECTED));
    }
  }

  private static @Nullable QueueBounds bounds(Fields queue, long permits, Problems problems) {
    int errorsBefore = problems.errors();
    long requests = queue.number("requests", 1, QueueBounds.MAX_REQUESTS);
    if (permits > 0 && requests > permits) {
      // Requests further behind would have to wait for longer than a window.
      queue.error("requests", "1.." + permits + ", at most requests_per_unit");
    }
    long waitNanos = queue.duration("wait", QueueBounds.MIN_WAIT_NANOS, QueueBounds.MAX_WAIT_NANOS);
    return problems.errors() > errorsBefore ? null : new QueueBounds((int) requests, waitNanos);
  }

  /** Warns of a queue in which no request can wait, or that is longer than useful. */
  static void lint(Fields fields, RuleDraft draft, Policy policy) {
    QueueBounds queue = draft.queue;
    if (queue == null) {
      return;
    }
    if (Math.min(policy.quota().permits(), policy.burst()) == 0) {
      fields.warning("on_limit", "drop; with a limit of 0 no wait helps");
    } else if (draft.shadowMode) {
      fields.warning("on_limit", "drop in shadow_mode, where no request is refused, so none waits");
    } else if (draft.quotaMode) {
      fields.warning("on_limit", "drop in quota_mode, where no request waits");
    } else if (policy.algorithm().bucket()) {
      long served = servedWithin(queue.waitNanos(), policy.enforced().quota());
      if (served < queue.requests()) {
        fields.warning(
            "on_limit",
            "requests: at most %d; %s admits no more within wait: %s"
                .formatted(served, policy.algorithm(), DurationText.format(queue.waitNanos())));
      }
    }
  }

  /** Returns how many permits an empty bucket admits in less than {@code waitNanos}, rounded up. */
  private static long servedWithin(long waitNanos, Quota quota) {
    double emissionNanos = (double) quota.windowNanos() / quota.permits();
    return (long) Math.ceil(waitNanos / emissionNanos);
  }
}
