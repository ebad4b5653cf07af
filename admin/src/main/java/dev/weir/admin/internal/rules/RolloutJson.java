package dev.weir.admin.internal.rules;

import dev.weir.admin.internal.http.RequestException;
import dev.weir.admin.internal.limits.ShownText;
import dev.weir.config.Json;
import dev.weir.config.Rollout;
import dev.weir.config.Rollouts;
import dev.weir.internal.Choice;
import dev.weir.rules.DurationText;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Rollouts as JSON, in requests and in answers. */
public final class RolloutJson {
  private static final long SECOND_NANOS = 1_000_000_000L;
  private static final long DAY_NANOS = 86_400 * SECOND_NANOS;

  private RolloutJson() {}

  /**
   * Reads the plan of a rollout: {@code {"nodes": "10%", "for": "5m", "max_refused_rise": "2%"}},
   * of which the last two may be missing.
   *
   * @throws RequestException with 400
   */
  static Rollouts.Plan plan(Json.Members members) throws IOException {
    for (String name : members.names()) {
      if (!List.of("nodes", "for", "max_refused_rise").contains(name)) {
        throw new RequestException(
            400, ShownText.wrong("rollout", name, "one of nodes, for, max_refused_rise"));
      }
    }
    int share = hundredths("rollout: nodes", members.text("nodes"), 100, 9_900);
    if (share % 100 != 0) {
      throw new RequestException(
          400,
          ShownText.wrong("rollout: nodes", members.text("nodes"), "whole percents, 1% to 99%"));
    }
    int rise =
        members.has("max_refused_rise")
            ? hundredths("rollout: max_refused_rise", members.text("max_refused_rise"), 0, 10_000)
            : 100;
    try {
      long nanos =
          members.has("for")
              ? DurationText.read("rollout: for", members.text("for"), SECOND_NANOS, DAY_NANOS)
              : 300 * SECOND_NANOS;
      return new Rollouts.Plan(share / 100, Duration.ofNanos(nanos), rise);
    } catch (IllegalArgumentException e) {
      throw new RequestException(400, String.valueOf(e.getMessage()));
    }
  }

  /** Reads a percentage as hundredths of a percent. */
  private static int hundredths(String name, String text, int least, int most) {
    if (text.matches("[0-9]{1,3}(\\.[0-9]{1,2})?%")) {
      int value =
          new BigDecimal(text.substring(0, text.length() - 1)).movePointRight(2).intValueExact();
      if (value >= least && value <= most) {
        return value;
      }
    }
    throw new RequestException(
        400,
        ShownText.wrong(name, text, "such as 2%, " + least / 100 + "% to " + most / 100 + "%"));
  }

  public static Map<String, Object> members(Rollout rollout) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("revision", rollout.revision());
    members.put("before", rollout.before());
    members.put("nodes", rollout.nodes());
    members.put("since", rollout.since().toString());
    members.put("for", DurationText.format(rollout.time().toNanos()));
    members.put("max_refused_rise", BigDecimal.valueOf(rollout.maxRise(), 2).toPlainString() + "%");
    members.put("state", Choice.name(rollout.state()));
    if (!rollout.outcome().isEmpty()) {
      members.put("outcome", rollout.outcome());
    }
    return members;
  }
}
