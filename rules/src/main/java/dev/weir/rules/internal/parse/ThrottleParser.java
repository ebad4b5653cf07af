package dev.weir.rules.internal.parse;

import dev.weir.Throttle;
import dev.weir.rules.DidYouMean;
import dev.weir.rules.internal.parse.YamlNode.Mapping;
import dev.weir.rules.internal.parse.YamlNode.Text;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A reader of the {@code throttle} of a {@code rate_limit}. */
final class ThrottleParser {
  /** The load from which on an elastic rule is hard, if the rule does not set it. */
  private static final double DEFAULT_THRESHOLD = 0.7;

  private static final List<String> NAMES = List.of("hard", "soft", "elastic");
  private static final String EXPECTED = "hard, {soft: 5%}, elastic or {elastic: 70%}";
  private static final String SHARE_EXPECTED = "above 0% and at most 100%, for example 5% or 0.05";

  private ThrottleParser() {}

  /** Returns the throttle, hard if there is none; null after reporting a problem. */
  static @Nullable Throttle read(String file, Fields fields, Problems problems) {
    if (!fields.has("throttle")) {
      return Throttle.HARD;
    }
    Text name = fields.scalar("throttle");
    if (name != null) {
      return named(fields, name.text(), problems);
    }
    if (!fields.hasValue("throttle")) {
      fields.error("throttle", EXPECTED);
      return null;
    }
    Mapping mapping = fields.map("throttle", EXPECTED);
    if (mapping == null) {
      return null;
    }
    int errorsBefore = problems.errors();
    Fields modes = new Fields(file, mapping, Place.THROTTLE, problems);
    if (modes.has("soft") == modes.has("elastic")) {
      if (problems.errors() == errorsBefore) {
        fields.error("throttle", EXPECTED);
      }
      return null;
    }
    return modes.has("soft") ? soft(modes) : elastic(modes);
  }

  private static @Nullable Throttle named(Fields fields, String name, Problems problems) {
    if (name.equals("hard")) {
      return Throttle.HARD;
    }
    if (name.equals("elastic")) {
      return Throttle.elastic(DEFAULT_THRESHOLD);
    }
    problems.error(
        fields.position("throttle"),
        "throttle: %s%s (expected: %s)"
            .formatted(fields.shown("throttle"), DidYouMean.of(name, NAMES), EXPECTED));
    return null;
  }

  private static @Nullable Throttle soft(Fields modes) {
    double share = modes.share("soft", SHARE_EXPECTED);
    return share > 0 ? Throttle.soft(share) : null;
  }

  private static @Nullable Throttle elastic(Fields modes) {
    double threshold = modes.share("elastic", SHARE_EXPECTED);
    return threshold > 0 ? Throttle.elastic(threshold) : null;
  }
}
