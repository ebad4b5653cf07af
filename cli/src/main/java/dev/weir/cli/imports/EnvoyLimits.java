package dev.weir.cli.imports;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The limits of Envoy's HTTP filter {@code local_ratelimit}, in its bootstrap, a resource or a dump
 * of its admin port, as YAML or JSON.
 */
final class EnvoyLimits {
  /*
   * Which values decide? A filter without filter_enabled and filter_enforced refuses nothing:
   * both are 0 % if they are absent. The bucket of the filter is charged beside those of its
   * descriptors. [envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit]
   */

  private static final Pattern BUCKET = Pattern.compile("(.*\\.)?tokenbucket");
  private static final Duration LEAST_FILL = Duration.ofMillis(1);

  private final ConfigProperties properties;
  private final ImportedRules rules;

  private EnvoyLimits(ConfigProperties properties, ImportedRules rules) {
    this.properties = properties;
    this.rules = rules;
  }

  /** Adds a rule for each bucket. */
  static void add(ConfigProperties file, ImportedRules rules) {
    for (int document : file.documents()) {
      ConfigProperties properties = file.document(document);
      EnvoyLimits limits = new EnvoyLimits(properties, rules);
      properties.beginnings(BUCKET).forEach(limits::bucket);
    }
  }

  private void bucket(String path) {
    SourcePlace place = properties.placeOf(path);
    String owner = ConfigProperties.parent(path);
    boolean descriptor = owner.matches(".*(^|\\.)descriptors\\[\\d+]");
    String filter =
        descriptor ? owner.substring(0, Math.max(0, owner.lastIndexOf("descriptors[") - 1)) : owner;
    if (isAt(filter, "descriptors") || filter.contains("share_provider")) {
      return;
    }
    Long most = ConfigNumbers.whole(properties.text(path + ".max_tokens", ""));
    Long fill = ConfigNumbers.whole(properties.text(path + ".tokens_per_fill", "1"));
    Duration interval = ConfigNumbers.time(properties.text(path + ".fill_interval", ""), "s");
    if (most == null || fill == null || interval == null || interval.compareTo(LEAST_FILL) < 0) {
      rules.remark(
          place, path + ": no numbers that can be read (expected: max_tokens, fill_interval)");
      return;
    }
    if (!isOn(filter, "filter_enabled")) {
      rules.remark(
          place,
          path + ": limits nothing, since filter_enabled is absent or 0 %: no rule is made of it");
      return;
    }
    String prefix = properties.text(at(filter, "stat_prefix"), "local");
    List<ImportedRule.Level> levels = new ArrayList<>();
    if (descriptor) {
      levels.addAll(entries(owner));
    } else {
      levels.add(new ImportedRule.Level(rules.unusedKey(prefix), "all"));
    }
    ImportedRule rule = new ImportedRule(levels).comment(place + ": " + path);
    if (descriptor) {
      rule.comment(
          "Envoy charges the bucket of the filter beside this one: send both descriptors.");
      rule.comment(
          "Envoy charges this one also when the other refuses; Weir charges both or none.");
    } else {
      rule.comment("Descriptor of every request of the filter: " + rule.key() + "=all");
    }
    rule.bucket(fill, interval, most, 0);
    rule.field("store", "local");
    rule.same(most + " at once, then the rate, in each process as there");
    if (!isOn(filter, "filter_enforced")) {
      rule.comment("filter_enforced is absent or 0 %, so the rule refuses nothing.").shadow();
    }
    partly(rule, filter, "filter_enabled");
    partly(rule, filter, "filter_enforced");
    if (isAt(filter, "local_rate_limit_per_downstream_connection")) {
      rule.missing("the bucket is of each connection there, here of the whole process");
    }
    rules.add(rule);
  }

  private List<ImportedRule.Level> entries(String owner) {
    List<ImportedRule.Level> levels = new ArrayList<>();
    for (int i = 0; properties.at(owner + ".entries[" + i + "].key") != null; i++) {
      String entry = owner + ".entries[" + i + "]";
      String value = properties.text(entry + ".value", "");
      levels.add(
          new ImportedRule.Level(
              properties.text(entry + ".key", ""), value.isEmpty() ? null : value));
    }
    return levels.isEmpty() ? List.of(new ImportedRule.Level("descriptor", null)) : levels;
  }

  private static String at(String filter, String name) {
    return filter.isEmpty() ? name : filter + "." + name;
  }

  private boolean isAt(String filter, String name) {
    return properties.text(at(filter, name), "false").equals("true");
  }

  /** Returns the share of requests for which a setting is on, from 0 to its denominator. */
  private @Nullable Long numerator(String filter, String setting) {
    return ConfigNumbers.whole(
        properties.text(at(filter, setting) + ".default_value.numerator", "0"));
  }

  private boolean isOn(String filter, String setting) {
    Long numerator = numerator(filter, setting);
    return numerator != null && numerator > 0;
  }

  private void partly(ImportedRule rule, String filter, String setting) {
    String unit = properties.text(at(filter, setting) + ".default_value.denominator", "HUNDRED");
    long whole =
        switch (unit) {
          case "TEN_THOUSAND" -> 10_000;
          case "MILLION" -> 1_000_000;
          default -> 100;
        };
    Long numerator = numerator(filter, setting);
    if (numerator != null && numerator > 0 && numerator < whole) {
      rule.stricter(setting + " is " + numerator + " of " + whole + " there, here all");
    }
  }
}
