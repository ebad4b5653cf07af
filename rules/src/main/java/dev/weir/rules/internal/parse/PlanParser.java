package dev.weir.rules.internal.parse;

import dev.weir.Quota;
import dev.weir.rules.Position;
import dev.weir.rules.internal.parse.YamlNode.Field;
import dev.weir.rules.internal.parse.YamlNode.Mapping;

/** A parser of the {@code plans} of one file. Used by one thread, once. */
final class PlanParser {
  private static final String LIMITS = "a map of rule names and limits";
  private static final String REQUESTS = "0.." + Quota.MAX_PERMITS;

  private final String file;
  private final Problems problems;
  private final Plans plans;

  PlanParser(String file, Problems problems, Plans plans) {
    this.file = file;
    this.problems = problems;
    this.plans = plans;
  }

  void parse(Fields fields, String domain) {
    Mapping mapping = fields.map("plans", "a map of plan names");
    if (mapping == null) {
      return;
    }
    for (Field plan : mapping.fields()) {
      if (!isName("plan", plan)) {
        continue;
      }
      if (plan.value() instanceof Mapping limits) {
        limits.fields().forEach(limit -> limit(domain, plan, limit));
        plans.named(
            domain, plan.key().text(), new Position(file, plan.key().line(), plan.key().column()));
      } else {
        wrong(plan, LIMITS);
      }
    }
  }

  private void limit(String domain, Field plan, Field limit) {
    if (!isName("rule", limit)) {
      return;
    }
    if (!(limit.value() instanceof Mapping mapping)) {
      wrong(limit, "{requests_per_unit: 1000} or {unlimited: true}");
      return;
    }
    int errorsBefore = problems.errors();
    Fields fields = new Fields(file, mapping, Place.PLAN_LIMIT, problems);
    boolean unlimited = fields.flag("unlimited");
    long requests = 0;
    if (unlimited) {
      for (String key : Place.PLAN_LIMIT.keys()) {
        if (!key.equals("unlimited") && fields.has(key)) {
          fields.error(key, "none beside unlimited");
        }
      }
    } else if (fields.hasValue("requests_per_unit")) {
      requests = fields.number("requests_per_unit", 0, Quota.MAX_PERMITS);
    } else if (problems.errors() == errorsBefore) {
      fields.error("requests_per_unit", REQUESTS + ", or unlimited: true");
    }
    long window =
        fields.has("window") && !unlimited
            ? fields.duration("window", Quota.MIN_WINDOW_NANOS, Quota.MAX_WINDOW_NANOS)
            : Plans.NOT_SAID;
    long burst =
        fields.has("burst") && !unlimited
            ? fields.number("burst", 0, Quota.MAX_PERMITS)
            : Plans.NOT_SAID;
    if (problems.errors() == errorsBefore) {
      plans.add(
          new Plans.Draft(
              domain,
              plan.key().text(),
              limit.key().text(),
              fields.position(limit.key()),
              fields,
              unlimited,
              requests,
              window,
              burst));
    }
  }

  private boolean isName(String what, Field field) {
    String text = field.key().text();
    if (!text.isEmpty() && text.length() <= RuleParser.MAX_TEXT) {
      return true;
    }
    problems.error(
        new Position(file, field.key().line(), field.key().column()),
        "%s: a name of %d characters (expected: 1 to %d)"
            .formatted(what, text.length(), RuleParser.MAX_TEXT));
    return false;
  }

  private void wrong(Field field, String expected) {
    problems.error(
        new Position(file, field.key().line(), field.key().column()),
        "%s: %s (expected: %s)"
            .formatted(Words.shown(field.key().text()), field.value().kind(), expected));
  }
}
