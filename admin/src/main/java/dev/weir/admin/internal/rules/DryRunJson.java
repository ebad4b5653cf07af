package dev.weir.admin.internal.rules;

import dev.weir.replay.DryRunResult;
import dev.weir.replay.DryRunResult.Counts;
import dev.weir.replay.DryRunResult.KeyChange;
import dev.weir.replay.DryRunResult.RuleChange;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Results of dry runs as JSON. */
final class DryRunJson {
  private DryRunJson() {}

  static Map<String, Object> members(DryRunResult result) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("from", instant(result.fromNanos()));
    members.put("to", instant(result.toNanos()));
    members.put("came", result.came());
    members.put("replayed", result.replayed());
    members.put("keys_per_replayed", result.keysPerReplayed());
    members.put("end", result.end().text());
    members.put("before", counts(result.before()));
    members.put("after", counts(result.after()));
    List<Map<String, @Nullable Object>> rules = new ArrayList<>();
    for (RuleChange each : result.rules()) {
      Map<String, @Nullable Object> rule = new LinkedHashMap<>();
      rule.put("rule", each.rule());
      rule.put("path", each.path());
      rule.put("before", counts(each.before()));
      rule.put("after", counts(each.after()));
      rule.put("whole", each.whole());
      rules.add(rule);
    }
    members.put("rules", rules);
    members.put("refused_more", keys(result.refusedMore()));
    members.put("refused_less", keys(result.refusedLess()));
    members.put("keys_exact", result.keysExact());
    members.put("unknown_subjects", result.unknownSubjects());
    members.put("warnings", result.warnings());
    return members;
  }

  private static String instant(long nanos) {
    return Instant.ofEpochSecond(
            Math.floorDiv(nanos, 1_000_000_000L), Math.floorMod(nanos, 1_000_000_000L))
        .toString();
  }

  private static @Nullable Map<String, Object> counts(@Nullable Counts counts) {
    if (counts == null) {
      return null;
    }
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("asked", counts.asked());
    members.put("admitted", counts.admitted());
    members.put("refused", counts.refused());
    members.put("shadow", counts.shadow());
    members.put("trouble", counts.trouble());
    return members;
  }

  private static List<Map<String, Object>> keys(List<KeyChange> keys) {
    List<Map<String, Object>> all = new ArrayList<>();
    for (KeyChange each : keys) {
      Map<String, Object> members = new LinkedHashMap<>();
      members.put("rule", each.rule());
      members.put("path", each.path());
      members.put("key", each.key());
      members.put("before", each.before());
      members.put("after", each.after());
      all.add(members);
    }
    return all;
  }
}
