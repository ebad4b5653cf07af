package dev.weir.cli.imports;

import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The limits of APISIX's plugins {@code limit-count}, {@code limit-req} and {@code limit-conn}, in
 * its file of routes or a resource of its admin API, as YAML or JSON.
 */
final class ApisixLimits {
  private static final Pattern COUNT = Pattern.compile("(.*\\.)?plugins\\.limitcount");
  private static final Pattern REQUESTS = Pattern.compile("(.*\\.)?plugins\\.limitreq");
  private static final Pattern CONNECTIONS = Pattern.compile("(.*\\.)?plugins\\.limitconn");
  private static final long MOST_SEATS = 65_536;
  private static final long MOST_WAIT_SECONDS = 60;

  private final ConfigProperties properties;
  private final ImportedRules rules;

  private ApisixLimits(ConfigProperties properties, ImportedRules rules) {
    this.properties = properties;
    this.rules = rules;
  }

  /** Adds a rule for each plugin. */
  static void add(ConfigProperties file, ImportedRules rules) {
    for (int document : file.documents()) {
      ConfigProperties properties = file.document(document);
      ApisixLimits limits = new ApisixLimits(properties, rules);
      properties.beginnings(COUNT).forEach(limits::count);
      properties.beginnings(REQUESTS).forEach(limits::requests);
      properties.beginnings(CONNECTIONS).forEach(limits::connections);
    }
  }

  /** Begins a rule with its place and key. */
  private ImportedRule begun(String path) {
    String owner = ConfigProperties.parent(ConfigProperties.parent(path));
    String prefix = owner.isEmpty() ? "" : owner + ".";
    String id = properties.text(prefix + "id", properties.text(prefix + "name", "apisix"));
    String plugin = path.substring(path.lastIndexOf('.') + 1);
    String group = properties.text(path + ".group", ""); // Its members share one counter.
    ImportedRule rule =
        new ImportedRule(group.isEmpty() ? rules.unusedKey(id + "-" + plugin) : group)
            .comment(properties.placeOf(path) + ": " + path);
    String variable = properties.text(path + ".key", "remote_addr").replace("$", "");
    NginxKey key =
        NginxKey.of(
            "$" + variable, new NginxDirective(List.of(""), List.of(), new SourcePlace("", 0)));
    boolean one = properties.text(path + ".key_type", "var").equals("var");
    if (key.missing().isEmpty() && one) {
      rule.comment("Descriptor of a request of its route: " + rule.key() + "=" + key.template());
    } else {
      rule.missing("the key is " + variable + ": send its value as " + rule.key());
    }
    String status = properties.text(path + ".rejected_code", "503");
    if (!status.equals("429")) {
      rule.comment("Weir answers a refusal by 429, APISIX by " + status + ".");
    }
    if (!group.isEmpty()) {
      rule.comment("The routes of the group " + group + " share it: all send this descriptor.");
    }
    return rule;
  }

  private void unreadable(String path) {
    rules.remark(properties.placeOf(path), path + ": a number that cannot be read");
  }

  private void count(String path) {
    Long count = ConfigNumbers.whole(properties.text(path + ".count", ""));
    Long seconds = ConfigNumbers.whole(properties.text(path + ".time_window", ""));
    if (count == null || seconds == null || seconds == 0) {
      unreadable(path);
      return;
    }
    ImportedRule rule = begun(path).rate(count, Duration.ofSeconds(seconds));
    rule.field("algorithm", "sliding-window");
    rule.stricter(
        "never more than " + count + " in any window, there up to one less than twice as many");
    if (properties.text(path + ".policy", "local").equals("local")) {
      rule.field("store", "local");
      rule.same("each node counts by itself");
    } else if (properties.text(path + ".allow_degradation", "false").equals("true")) {
      rule.field("on_failure", "allow");
      rule.same("while the store is away, requests pass");
    }
    rules.add(rule);
  }

  private void requests(String path) {
    Long rate = ConfigNumbers.whole(properties.text(path + ".rate", ""));
    Long burst = ConfigNumbers.whole(properties.text(path + ".burst", "0"));
    if (rate == null || burst == null || rate == 0) {
      unreadable(path);
      return;
    }
    ImportedRule rule = begun(path);
    boolean nodelay = properties.text(path + ".nodelay", "false").equals("true");
    long queued = nodelay ? 0 : Math.min(burst, rate * MOST_WAIT_SECONDS);
    rule.bucket(rate, Duration.ofSeconds(1), nodelay ? burst + 1 : 1, queued);
    if (queued > 0) {
      long wait = (queued + rate - 1) / rate;
      rule.field("on_limit", "{queue: {requests: " + queued + ", wait: " + wait + "s}}");
    }
    rule.same((nodelay ? burst + 1 : 1) + " at once, " + queued + " more wait, then the rate");
    if (properties.text(path + ".policy", "local").equals("local")) {
      rule.field("store", "local");
    }
    rules.add(rule);
  }

  private void connections(String path) {
    Long most = ConfigNumbers.whole(properties.text(path + ".conn", ""));
    Long burst = ConfigNumbers.whole(properties.text(path + ".burst", "0"));
    if (most == null || burst == null || most + burst > MOST_SEATS || most + burst == 0) {
      unreadable(path);
      return;
    }
    ImportedRule rule = begun(path).field("concurrency", most + burst).field("hold", "60s");
    rule.same("at most " + (most + burst) + " requests at the same time");
    if (burst > 0) {
      rule.missing("the delay of those beyond " + most);
    }
    rules.add(rule);
  }
}
