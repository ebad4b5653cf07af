package dev.weir.server;

import dev.weir.Decision;
import dev.weir.Policy;
import dev.weir.Reason;
import dev.weir.engine.Answer;
import dev.weir.engine.CurrentLimit;
import dev.weir.engine.Status;
import dev.weir.rules.Request;
import dev.weir.rules.Rule;
import io.vertx.core.buffer.Buffer;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The engine's answer as {@code /v1/check} gives it: status, header fields, body.
 *
 * <p>"You are too fast" is 429; "we cannot tell" is 503. A refusal for both reasons is a 429: the
 * quota was certainly exceeded.
 */
final class CheckAnswer {
  private static final int MAX_SHOWN = 100;

  private final Answer answer;
  private final Reason reason;
  private final List<Status> refusing;
  private final List<Standing> standings;
  private final Request request;

  CheckAnswer(Request request, Answer answer) {
    this.request = request;
    this.answer = answer;
    this.reason = answer.reason();
    this.refusing = answer.refusing();
    this.standings = Standing.of(answer);
  }

  int httpStatus() {
    return answer.allowed() ? 200 : certain() ? 429 : 503;
  }

  List<Standing> standings() {
    return standings;
  }

  /** Returns whether some quota is exceeded, beyond doubt. */
  private boolean certain() {
    return reason == Reason.OVER_LIMIT;
  }

  /** Returns why the request may pass, or not. */
  Reason reason() {
    return reason;
  }

  /**
   * Returns the seconds of Retry-After, at least 1 and not earlier than any refusing policy's; or
   * {@link Standing#NO_TIME} if the request is not refused, or will never pass.
   */
  long retryAfterSeconds() {
    long longest = Standing.NO_TIME;
    for (Status status : refusing) {
      long seconds = Standing.retryAfterSeconds(status);
      if (seconds == Standing.NO_TIME) {
        return Standing.NO_TIME;
      }
      longest = Math.max(longest, seconds);
    }
    return longest;
  }

  /** Returns the time after which every refusing policy lets the request pass, if it ever does. */
  long retryAfterMillis() {
    long longest = 0;
    for (Status status : refusing) {
      Decision decision = status.decision();
      if (decision != null) {
        longest = Math.max(longest, decision.retryAfterMillis());
      }
    }
    return longest;
  }

  /** Returns the body: JSON of every status, and of a refusal also the problem document. */
  Buffer json() {
    JsonText json = new JsonText();
    write(json);
    return json.buffer();
  }

  /** Writes the body as one JSON object. */
  void write(JsonText json) {
    json.object();
    if (!answer.allowed()) {
      problem(json);
    }
    json.field("allowed", answer.allowed()).field("revision", answer.revision());
    if (answer.allowed()) {
      json.field("reason", reason.name());
    }
    if (reason == Reason.NO_LIMIT) {
      json.field("detail", detail());
    }
    json.array("statuses");
    for (Status status : answer.statuses()) {
      status(json, status);
    }
    json.endArray().end();
  }

  private void problem(JsonText json) {
    ProblemType type =
        certain() ? ProblemType.QUOTA_EXCEEDED : ProblemType.TEMPORARY_REDUCED_CAPACITY;
    json.field("type", type.uri())
        .field("title", type.title())
        .field("status", httpStatus())
        .field("detail", detail())
        .array("violated-policies");
    if (refusing.size() == 1) {
      json.value(policyName(refusing.get(0)));
    } else {
      Set<String> names = new LinkedHashSet<>();
      refusing.forEach(status -> names.add(policyName(status)));
      names.forEach(json::value);
    }
    json.endArray();
    if (retryAfterSeconds() != Standing.NO_TIME) {
      json.field("retry-after-ms", retryAfterMillis());
    }
    Status deciding = deciding();
    if (deciding != null && deciding.currentLimit() != null) {
      json.field("limit", deciding.currentLimit().requestsPerUnit())
          .field("remaining", deciding.limitRemaining());
    }
    json.field("reason", reason.name());
  }

  private @Nullable Status deciding() {
    Status deciding = answer.deciding();
    return deciding != null && refusing.contains(deciding)
        ? deciding
        : refusing.isEmpty() ? null : refusing.get(0);
  }

  private static String policyName(Status status) {
    CurrentLimit limit = status.currentLimit();
    return limit == null ? "" : limit.policy().name();
  }

  /** Returns a refusal, or that there is no limit, in words; else OK. */
  String detail() {
    if (answer.allowed()) {
      return reason == Reason.NO_LIMIT ? noLimit() : "OK";
    }
    Status status = deciding();
    CurrentLimit limit = status == null ? null : status.currentLimit();
    if (limit == null) {
      return "Refused.";
    }
    if (!certain()) {
      return "Policy "
          + limit.policy().name()
          + " cannot be checked now ("
          + reason
          + ")."
          + retry();
    }
    Policy policy = limit.policy();
    long window = policy.quota().windowNanos();
    String per =
        window % 1_000_000_000L == 0 ? window / 1_000_000_000L + " s" : millis(window) + " ms";
    return "Policy "
        + policy.name()
        + " allows "
        + policy.quota().permits()
        + (policy.quota().permits() == 1 ? " request per " : " requests per ")
        + per
        + "."
        + retry();
  }

  /** A domain that is misspelt must not read as a limit that is kept. */
  private String noLimit() {
    if (!answer.domainKnown()) {
      return "No rule applies: there are no rules for the domain " + shown(request.domain()) + ".";
    }
    for (Status status : answer.statuses()) {
      if (status.rule() != null && status.rule().unlimited()) {
        return "Rule " + status.rule().path() + " sets no limit.";
      }
    }
    return "No rule applies.";
  }

  private static String shown(String text) {
    String printable = text.replaceAll("\\p{Cntrl}", "?");
    if (printable.length() <= MAX_SHOWN) {
      return printable;
    }
    int end =
        Character.isHighSurrogate(printable.charAt(MAX_SHOWN - 1)) ? MAX_SHOWN - 1 : MAX_SHOWN;
    return printable.substring(0, end) + "...";
  }

  private String retry() {
    long seconds = retryAfterSeconds();
    return seconds == Standing.NO_TIME
        ? " A request of " + permits() + (permits() == 1 ? " permit" : " permits") + " never fits."
        : " Retry in " + seconds + " s.";
  }

  /** Returns what the descriptor that decided asked for. */
  private long permits() {
    int index = answer.statuses().indexOf(deciding());
    Long own = index < 0 ? null : request.descriptors().get(index).permits();
    return own == null ? request.permits() : own;
  }

  private static void status(JsonText json, Status status) {
    json.object().field("code", status.code().name());
    Rule rule = status.rule();
    if (rule != null) {
      json.field("rule", rule.path());
      if (rule.unlimited()) {
        json.field("unlimited", true);
      }
    }
    CurrentLimit limit = status.currentLimit();
    Decision decision = status.decision();
    if (limit != null && decision != null) {
      json.field("policy", limit.policy().name())
          .field("limit", limit.requestsPerUnit())
          .field("window-ms", millis(limit.policy().quota().windowNanos()))
          .field("algorithm", limit.policy().algorithm().toString())
          .field("remaining", status.limitRemaining())
          .field("reason", decision.reason().name());
      if (decision.retryAfterNanos() != Decision.NEVER) {
        json.field("retry-after-ms", decision.retryAfterMillis());
      }
      json.field("reset-after-ms", millis(decision.resetAfterNanos()));
    } else {
      json.field("reason", status.reason().name());
    }
    json.end();
  }

  /** Returns milliseconds, rounded up. */
  static long millis(long nanos) {
    return nanos / 1_000_000L + (nanos % 1_000_000L > 0 ? 1 : 0);
  }
}
