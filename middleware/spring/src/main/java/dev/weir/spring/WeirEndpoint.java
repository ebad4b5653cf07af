package dev.weir.spring;

import dev.weir.Decision;
import dev.weir.Policy;
import dev.weir.engine.Answer;
import dev.weir.engine.EngineMetrics;
import dev.weir.engine.RuleMetrics;
import dev.weir.engine.RulesException;
import dev.weir.engine.RunningEngine;
import dev.weir.engine.Status;
import dev.weir.internal.Choice;
import dev.weir.rules.Descriptor;
import dev.weir.rules.DurationText;
import dev.weir.rules.Entry;
import dev.weir.rules.Problem;
import dev.weir.rules.Request;
import dev.weir.rules.Rule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;

/**
 * The endpoint {@code weir}. It shows the rules in force with their counts, explains the rule and
 * the state of a descriptor, and reads the rules again. It lists no keys.
 */
@Endpoint(id = "weir")
public final class WeirEndpoint {
  /** The wait in addition to the store's timeout. */
  private static final Duration PATIENCE = Duration.ofSeconds(1);

  private final WeirProperties properties;
  private final RunningEngine engine;
  private final SharedStores store;

  WeirEndpoint(WeirProperties properties, RunningEngine engine, SharedStores store) {
    this.properties = properties;
    this.engine = engine;
    this.store = store;
  }

  /** Returns the rules in force, and the counts of the engine. */
  @ReadOperation
  public Map<String, Object> rules() {
    EngineMetrics metrics = engine.engine().metrics();
    Map<String, Object> body = new LinkedHashMap<>();
    body.put("enabled", properties.enabled());
    body.put("revision", metrics.revision());
    body.put("requests", metrics.requests());
    body.put("refused", metrics.denied());
    body.put("errors", metrics.errors());
    body.put("keys", metrics.keys());
    body.put("maxKeys", metrics.maxKeys());
    body.put("bytes", metrics.bytes());
    body.put("waiting", metrics.queues().waiting());
    body.put("store", store.details());
    Map<String, RuleMetrics> counters = RuleTotals.of(metrics.rules());
    List<Map<String, Object>> rules = new ArrayList<>();
    for (Rule rule : engine.engine().rules().rules()) {
      rules.add(rule(rule, counters.get(RuleTotals.name(rule))));
    }
    body.put("rules", rules);
    return body;
  }

  private static Map<String, Object> rule(Rule rule, @Nullable RuleMetrics counted) {
    Map<String, Object> body = new LinkedHashMap<>();
    body.put("path", rule.path());
    body.put("position", rule.position().toString());
    Policy policy = rule.policy();
    if (policy == null) {
      body.put("unlimited", true);
      return body;
    }
    body.put("name", policy.name());
    body.put("requests", rule.requestsPerUnit());
    body.put("window", DurationText.format(policy.quota().windowNanos()));
    body.put("algorithm", policy.algorithm().text());
    body.put("store", Choice.text(rule.store()));
    body.put("onFailure", Choice.text(policy.sharing().onFailure()));
    body.put("shadow", rule.shadowMode());
    if (counted != null) {
      body.put("permits", permits(counted));
    }
    return body;
  }

  private static Map<String, Object> permits(RuleMetrics counted) {
    Map<String, Object> permits = new LinkedHashMap<>();
    RuleTotals.classes(counted).forEach(permits::put);
    permits.put("nearLimit", counted.nearLimit());
    permits.put("shadow", counted.shadowMode());
    return permits;
  }

  /**
   * Returns the rule that decides a descriptor, the reason, and the current state. Charges nothing.
   *
   * @param descriptor {@code key=value[,key2=value2]}; a backslash takes the character behind it
   *     literally
   */
  @ReadOperation
  public Map<String, Object> explain(@Selector String domain, String descriptor) {
    List<Entry> entries = DescriptorText.parse(descriptor);
    Map<String, Object> body = new LinkedHashMap<>();
    body.put("domain", domain);
    body.put("descriptor", descriptor);
    String explanation = engine.engine().rules().explain(domain, entries).toString();
    body.put("explanation", explanation.lines().toList());
    Request request = new Request(domain, List.of(new Descriptor(entries, null, null)), 1);
    Answer answer = peeked(request);
    if (answer == null) {
      body.put("error", "the store has not answered");
    } else if (answer.error() != null) {
      body.put("error", answer.error());
    } else {
      body.put("allowed", answer.allowed());
      body.put("reason", Choice.text(answer.reason()));
      answer.statuses().forEach(status -> standing(status, body));
    }
    return body;
  }

  private @Nullable Answer peeked(Request request) {
    CompletableFuture<Answer> answer = new CompletableFuture<>();
    engine.peek(request, answer::complete);
    long millis = properties.store().timeout().plus(PATIENCE).toMillis();
    try {
      return answer.get(millis, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return null;
    } catch (TimeoutException | ExecutionException e) {
      return null;
    }
  }

  private static void standing(Status status, Map<String, Object> body) {
    Rule rule = status.rule();
    Decision decision = status.decision();
    if (rule != null) {
      body.put("rule", rule.path());
    }
    if (decision != null) {
      body.put("limit", decision.limit());
      body.put("remaining", decision.remaining());
      if (decision.retryAfterNanos() != Decision.NEVER) {
        body.put("retryAfterMillis", millis(decision.retryAfterNanos()));
      }
      body.put("resetAfterMillis", millis(decision.resetAfterNanos()));
    }
  }

  /** Returns milliseconds, rounded up: a request after that time passes. */
  private static long millis(long nanos) {
    return nanos / 1_000_000 + (nanos % 1_000_000 > 0 ? 1 : 0);
  }

  /** Reads the rule files again now; without files it only returns the revision. */
  @WriteOperation
  public Map<String, Object> reload() {
    Map<String, Object> body = new LinkedHashMap<>();
    List<String> problems = List.of();
    try {
      engine.reload();
    } catch (RulesException e) {
      problems = e.problems().stream().map(Problem::toString).toList();
    }
    body.put("revision", engine.engine().revision());
    body.put("problems", problems);
    return body;
  }
}
