package dev.weir.admin.internal.rules;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.weir.Decision;
import dev.weir.admin.AdminResponse;
import dev.weir.admin.Role;
import dev.weir.admin.internal.http.Call;
import dev.weir.admin.internal.http.Reply;
import dev.weir.admin.internal.http.RequestException;
import dev.weir.admin.internal.http.Resource;
import dev.weir.admin.internal.http.Route;
import dev.weir.config.Json;
import dev.weir.engine.Answer;
import dev.weir.engine.CurrentLimit;
import dev.weir.engine.Engine;
import dev.weir.engine.Status;
import dev.weir.internal.Choice;
import dev.weir.protocol.http.BadRequest;
import dev.weir.protocol.http.CheckReader;
import dev.weir.rules.DurationText;
import dev.weir.rules.Entry;
import dev.weir.rules.Explanation;
import dev.weir.rules.Request;
import dev.weir.rules.Rule;
import dev.weir.rules.RuleSet;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The resource that explains the answer to a request: the rule, the number, and its origin. */
public final class ExplainResource implements Resource {
  private final Engine engine;

  public ExplainResource(Engine engine) {
    this.engine = engine;
  }

  @Override
  public List<Route> routes() {
    return List.of(
        Route.write(
                "POST",
                "/explain",
                Role.VIEWER,
                "Says what limits a request, why, and how much is left.",
                this::explain)
            .answers(200, 422, 504));
  }

  /**
   * Reads the request that members of a body describe, in the form of {@code /v1/check}.
   *
   * @throws RequestException with 400
   */
  public static Request request(Map<String, @Nullable Object> members) {
    try {
      return CheckReader.read(Json.writeAsIs(members).getBytes(UTF_8));
    } catch (BadRequest e) {
      throw new RequestException(400, "body: " + e.getMessage());
    }
  }

  private AdminResponse explain(Call call) {
    Json.Members body = call.body("domain", "descriptor", "descriptors", "permits");
    Request request = request(body.without(Set.of()));
    RuleSet rules = engine.rules();
    Answer answer = peek(engine, request);
    List<String> keys = engine.shownKeys(request);
    List<Map<String, Object>> descriptors = new ArrayList<>();
    for (int i = 0; i < request.descriptors().size(); i++) {
      List<Entry> entries = request.descriptors().get(i).entries();
      Map<String, Object> members = new LinkedHashMap<>();
      members.put("entries", entries.stream().map(ExplainResource::members).toList());
      Explanation explanation = rules.explain(request.domain(), entries);
      members.put("verdict", explanation.verdict());
      members.put("steps", explanation.steps().stream().map(ExplainResource::members).toList());
      members.putAll(members(answer.statuses().get(i)));
      if (i < keys.size() && !keys.get(i).isEmpty()) {
        members.put("store_key", keys.get(i));
      }
      descriptors.add(members);
    }
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("domain", request.domain());
    members.put("domain_known", answer.domainKnown());
    members.put("allowed", answer.allowed());
    members.put("reason", Choice.name(answer.reason()));
    members.put("descriptors", descriptors);
    return Reply.json(200, members);
  }

  /**
   * Returns the answer that the engine would give.
   *
   * @throws RequestException with 422 if the request is malformed
   */
  public static Answer peek(Engine engine, Request request) {
    Answer answer = BlockingAnswer.answer(done -> engine.peek(request, done));
    if (answer.error() != null) {
      throw new RequestException(422, answer.error());
    }
    return answer;
  }

  private static Map<String, Object> members(Entry entry) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("key", entry.key());
    members.put("value", entry.value());
    return members;
  }

  private static Map<String, Object> members(Explanation.Step step) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("entry", members(step.entry()));
    List<Map<String, Object>> candidates = new ArrayList<>();
    for (Explanation.Candidate candidate : step.candidates()) {
      Map<String, Object> one = rule(candidate.rule());
      one.put("chosen", candidate.chosen());
      one.put("why", candidate.why());
      candidates.add(one);
    }
    members.put("candidates", candidates);
    members.put("note", step.note());
    return members;
  }

  private static Map<String, Object> rule(Rule rule) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("path", rule.path());
    members.put("name", rule.name());
    members.put("position", rule.position().toString());
    return members;
  }

  /** Returns the limit of a descriptor, the origin of its number, and its state. */
  public static Map<String, Object> members(Status status) {
    Map<String, Object> members = new LinkedHashMap<>();
    Rule rule = status.rule();
    if (rule != null) {
      members.put("rule", rule(rule));
    }
    CurrentLimit limit = status.currentLimit();
    if (limit != null) {
      Map<String, Object> policy = new LinkedHashMap<>();
      policy.put("requests_per_unit", limit.requestsPerUnit());
      policy.put("window", DurationText.format(limit.policy().quota().windowNanos()));
      policy.put("algorithm", limit.policy().algorithm().toString());
      policy.put("burst", limit.policy().burst());
      policy.put("origin", Choice.name(limit.origin().kind()));
      if (!limit.origin().plan().isEmpty()) {
        policy.put("plan", limit.origin().plan());
      }
      members.put("limit", policy);
    }
    Map<String, Object> state = new LinkedHashMap<>();
    state.put("allowed", status.allowed());
    state.put("reason", Choice.name(status.reason()));
    if (!status.cause().isEmpty()) {
      state.put("cause", status.cause());
    }
    Decision decision = status.decision();
    if (decision != null) {
      state.put("remaining", decision.remaining());
      if (decision.retryAfterNanos() != Decision.NEVER) {
        state.put("retry_after_ms", decision.retryAfterMillis());
      }
      state.put("reset_after_ms", decision.resetAfterMillis());
    }
    members.put("state", state);
    return members;
  }
}
