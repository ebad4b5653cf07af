package dev.weir.cli.imports;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

/** The limits of Kong's plugin {@code rate-limiting}, in a declarative configuration. */
final class KongLimits {
  private static final Pattern PLUGIN = Pattern.compile("(.*\\.)?plugins\\[\\d+]");

  /** The windows by the clock. */
  private static final Map<String, Duration> WINDOWS = windows();

  /** The longest month and year: those of the calendar are not longer. */
  private static final Map<String, Duration> CALENDAR =
      Map.of("month", Duration.ofDays(31), "year", Duration.ofDays(366));

  private final ConfigProperties properties;
  private final ImportedRules rules;

  private KongLimits(ConfigProperties properties, ImportedRules rules) {
    this.properties = properties;
    this.rules = rules;
  }

  private static Map<String, Duration> windows() {
    Map<String, Duration> windows = new LinkedHashMap<>();
    windows.put("second", Duration.ofSeconds(1));
    windows.put("minute", Duration.ofMinutes(1));
    windows.put("hour", Duration.ofHours(1));
    windows.put("day", Duration.ofDays(1));
    windows.put("month", Duration.ofDays(31));
    windows.put("year", Duration.ofDays(366));
    return windows;
  }

  /** Adds a rule for each window of each plugin. */
  static void add(ConfigProperties file, ImportedRules rules) {
    for (int document : file.documents()) {
      ConfigProperties properties = file.document(document);
      KongLimits limits = new KongLimits(properties, rules);
      properties.beginnings(PLUGIN).forEach(limits::plugin);
    }
  }

  private void plugin(String path) {
    String name = properties.text(path + ".name", "");
    if (name.equals("rate-limiting-advanced")) {
      rules.remark(properties.placeOf(path), name + ": no rule is made of this plugin");
    }
    if (!name.equals("rate-limiting")
        || properties.text(path + ".enabled", "true").equals("false")) {
      return;
    }
    String owner = ConfigProperties.parent(path);
    String of = owner.isEmpty() ? "kong" : properties.text(owner + ".name", "kong");
    for (Map.Entry<String, Duration> window : WINDOWS.entrySet()) {
      ConfigProperties.Property limit = properties.at(path + ".config." + window.getKey());
      if (limit == null || limit.value().isEmpty() || limit.value().equals("null")) {
        continue;
      }
      Long permits = ConfigNumbers.whole(limit.value());
      if (permits == null) {
        rules.remark(limit.place(), limit.path() + ": no number that can be read");
      } else {
        rules.add(rule(path, of, window, permits));
      }
    }
  }

  private ImportedRule rule(
      String path, String of, Map.Entry<String, Duration> window, long permits) {
    String config = path + ".config.";
    ImportedRule rule =
        new ImportedRule(rules.unusedKey(of + "-" + window.getKey()))
            .comment(properties.placeOf(path) + ": " + path + ", a " + window.getKey());
    String by = properties.text(config + "limit_by", "consumer");
    String field =
        switch (by) {
          case "ip" -> "{ip}";
          case "consumer" -> "{login|ip}";
          case "service" -> "all";
          case "header" -> // Without it, the address counts.
              "{header:"
                  + properties.text(config + "header_name", "").toLowerCase(Locale.ROOT)
                  + "|ip}";
          default -> "";
        };
    if (field.isEmpty()) {
      rule.missing("limit_by is " + by + ": send its value as " + rule.key());
    } else {
      rule.comment("Descriptor of a request of " + of + ": " + rule.key() + "=" + field);
    }
    rule.rate(permits, window.getValue());
    if (CALENDAR.containsKey(window.getKey())) {
      rule.field("algorithm", "sliding-window");
      rule.stricter("there a " + window.getKey() + " of the calendar, here any that is as long");
    } else {
      rule.field("algorithm", "fixed-window");
      rule.same("up to twice the number around the end of a " + window.getKey() + ", as there");
    }
    if (properties.text(config + "policy", "local").equals("local")) {
      rule.field("store", "local");
      rule.same("each node counts by itself");
    } else if (properties.text(config + "fault_tolerant", "true").equals("true")) {
      rule.field("on_failure", "allow");
      rule.same("while the store is away, requests pass");
    }
    return rule;
  }
}
