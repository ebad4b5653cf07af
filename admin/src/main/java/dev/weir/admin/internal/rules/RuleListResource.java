package dev.weir.admin.internal.rules;

import dev.weir.Policy;
import dev.weir.admin.AdminResponse;
import dev.weir.admin.Role;
import dev.weir.admin.internal.http.Call;
import dev.weir.admin.internal.http.Reply;
import dev.weir.admin.internal.http.Resource;
import dev.weir.admin.internal.http.Route;
import dev.weir.rules.DurationText;
import dev.weir.rules.PlanLimit;
import dev.weir.rules.Rule;
import dev.weir.rules.RuleSet;
import dev.weir.rules.StoreChoice;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The resource that lists the limits of the rules: one line for each rule. */
public final class RuleListResource implements Resource {
  /** The most rules in an answer, which also states how many there are. */
  static final int MAX_RULES = 1_000;

  private final RuleVersions versions;

  public RuleListResource(RuleVersions versions) {
    this.versions = versions;
  }

  @Override
  public List<Route> routes() {
    return List.of(
        Route.get("/rules/list", Role.VIEWER, "Lists the limits of the rules.", this::list)
            .query("rule")
            .answers(200));
  }

  private AdminResponse list(Call call) {
    RuleVersion head = versions.head();
    String path = call.query().text("rule");
    List<Map<String, @Nullable Object>> listed = new ArrayList<>();
    long all = 0;
    for (Rule rule : head.rules().rules()) {
      if ((rule.policy() != null || rule.unlimited())
          && (path.isEmpty() || rule.path().equals(path))) {
        all++;
        if (listed.size() < MAX_RULES) {
          listed.add(members(rule, head.rules()));
        }
      }
    }
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("revision", head.revision());
    members.put("source", versions.areFiles() ? "files" : "store");
    members.put("all", all);
    members.put("rules", listed);
    return Reply.json(200, members);
  }

  private static Map<String, @Nullable Object> members(Rule rule, RuleSet rules) {
    Map<String, @Nullable Object> members = new LinkedHashMap<>();
    members.put("path", rule.path());
    Policy policy = rule.policy();
    members.put("name", policy == null ? rule.name() : policy.name());
    members.put("domain", rule.domain());
    members.put("file", rule.position().file());
    members.put("line", rule.position().line());
    members.put("unlimited", rule.unlimited());
    if (policy != null) {
      members.put("limit", rule.requestsPerUnit());
      members.put("window", DurationText.format(policy.quota().windowNanos()));
      members.put("burst", policy.burst());
      members.put("algorithm", policy.algorithm().toString());
      members.put("store", rule.store() == StoreChoice.DEFAULT ? "" : rule.store().text());
      members.put(
          "consistency", policy.sharing().consistency().toString().toLowerCase(Locale.ROOT));
      members.put("throttle", policy.throttle().isHard() ? "" : policy.throttle().toString());
    }
    members.put("shadow", rule.shadowMode());
    if (rule.byLevel() >= 0) {
      members.put("by", rule.keyAt(rule.byLevel()));
    }
    Map<String, @Nullable Object> plans = new LinkedHashMap<>();
    for (Map.Entry<String, PlanLimit> plan : rules.planLimits(rule).entrySet()) {
      plans.put(
          plan.getKey(), plan.getValue().unlimited() ? null : plan.getValue().requestsPerUnit());
    }
    if (!plans.isEmpty()) {
      members.put("plans", plans);
    }
    return members;
  }
}
