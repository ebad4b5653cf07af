package dev.weir.protocol.http;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.weir.Algorithm;
import dev.weir.Decision;
import dev.weir.Policy;
import dev.weir.Reason;
import dev.weir.engine.Answer;
import dev.weir.engine.CurrentLimit;
import dev.weir.engine.LimitOrigin;
import dev.weir.engine.Status;
import dev.weir.internal.UncertainCause;
import dev.weir.rules.Request;
import dev.weir.rules.Rule;
import dev.weir.rules.ShownText;
import java.io.IOException;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The engine's answer over HTTP: status, header fields, body. Immutable.
 *
 * <p>An exceeded quota is 429; a refusal without a decision is 503. A refusal for both reasons is
 * 429: the quota was certainly exceeded.
 */
public final class CheckAnswer {
  /*
   * Which parts of an answer does a client read? The status code and Retry-After, if it knows no
   * more of Weir than HTTP; the sentence of the problem document, if a person reads it; and the
   * statuses, one for each descriptor, if a program wants to know which limit it was. All of them
   * come from the one status that decides a refusal, so that they never contradict each other. An
   * answer that carries something to be kept, a hold or a seat, has its text in front.
   *
   * Why are there sentences at all? An engineer who sees a refusal in a log should not need a manual:
   * the sentence names the policy, its number, and the time to wait.
   */

  private final Answer answer;
  private final Reason reason;
  private final List<Status> refusing;
  private final List<Standing> standings;
  private final Request request;
  private final boolean forModelClients;

  /**
   * Makes the answer to a request.
   *
   * @param request the request that was decided
   * @param answer of the engine, without an {@link Answer#error() error}
   */
  public CheckAnswer(Request request, Answer answer) {
    this(request, answer, OlderFields.NONE);
  }

  /**
   * Makes the answer to a request.
   *
   * @param request the request that was decided
   * @param answer of the engine, without an {@link Answer#error() error}
   * @param older with {@link OlderFields#OPENAI}, a refusal's body has the member {@code error}
   */
  public CheckAnswer(Request request, Answer answer, OlderFields older) {
    this.request = request;
    this.forModelClients = older == OlderFields.OPENAI;
    this.answer = answer;
    this.reason = answer.reason();
    this.refusing = answer.refusing();
    this.standings = Standing.of(answer);
  }

  /** Returns 200, 429 if a quota is certainly exceeded, or 503 if the store could not decide. */
  public int httpStatus() {
    return answer.allowed() ? 200 : certain() ? 429 : 503;
  }

  /**
   * Returns the standing with each policy, for {@link RateLimitFields}; empty if no limit applies.
   */
  public List<Standing> standings() {
    return standings;
  }

  /** Returns whether a quota is certainly exceeded. */
  private boolean certain() {
    return reason == Reason.OVER_LIMIT;
  }

  /** Returns why the request may pass or is refused. */
  public Reason reason() {
    return reason;
  }

  /**
   * Returns the seconds of Retry-After, at least 1 and not earlier than any refusing policy's; or
   * {@link Standing#NO_TIME} if the request is not refused, or will never pass.
   */
  public long retryAfterSeconds() {
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
  public long retryAfterMillis() {
    long longest = 0;
    for (Status status : refusing) {
      Decision decision = status.decision();
      if (decision != null) {
        longest = Math.max(longest, decision.retryAfterMillis());
      }
    }
    return longest;
  }

  /**
   * Returns the body: UTF-8 JSON of every status, and of a refusal also the problem document (RFC
   * 9457), which is then {@code application/problem+json}.
   */
  public byte[] json() {
    return JsonBytes.of(this::write);
  }

  /**
   * Returns the body with the text of a hold.
   *
   * @param hold empty if the request was refused; the body is as of {@link #json()} then
   */
  public byte[] json(String hold) {
    return JsonBytes.of(json -> write(hold, json));
  }

  /**
   * Returns the body with the text of a seat.
   *
   * @param seat empty if the request was refused; the body is as of {@link #json()} then
   * @param holdNanos the time within which it has to be renewed, 0 if it has not
   */
  public byte[] json(String seat, long holdNanos) {
    return JsonBytes.of(
        json ->
            write(
                json,
                head -> {
                  if (!seat.isEmpty()) {
                    head.writeStringField("seat", seat);
                    head.writeNumberField("hold-ms", holdNanos / 1_000_000L);
                  }
                }));
  }

  /** Writes the body as one JSON object. */
  public void write(JsonGenerator json) throws IOException {
    write(json, head -> {});
  }

  private void write(String hold, JsonGenerator json) throws IOException {
    write(
        json,
        head -> {
          if (!hold.isEmpty()) {
            head.writeStringField("hold", hold);
          }
        });
  }

  /** A writer of the fields that an answer has before those of a check. */
  private interface Head {
    void write(JsonGenerator json) throws IOException;
  }

  private void write(JsonGenerator json, Head head) throws IOException {
    json.writeStartObject();
    head.write(json);
    if (!answer.allowed()) {
      problem(json);
    }
    json.writeBooleanField("allowed", answer.allowed());
    json.writeNumberField("revision", answer.revision());
    if (answer.allowed()) {
      json.writeStringField("reason", reason.name());
      cause(json, answer.cause());
    }
    if (reason == Reason.NO_LIMIT) {
      json.writeStringField("detail", detail());
    }
    json.writeArrayFieldStart("statuses");
    for (Status status : answer.statuses()) {
      status(json, status);
    }
    json.writeEndArray();
    json.writeEndObject();
  }

  private void problem(JsonGenerator json) throws IOException {
    ProblemType type =
        certain() ? ProblemType.QUOTA_EXCEEDED : ProblemType.TEMPORARY_REDUCED_CAPACITY;
    json.writeStringField("type", type.uri());
    json.writeStringField("title", type.title());
    json.writeNumberField("status", httpStatus());
    json.writeStringField("detail", detail());
    if (forModelClients) {
      json.writeObjectFieldStart("error");
      json.writeStringField("type", certain() ? "rate_limit_error" : "server_error");
      json.writeStringField("code", certain() ? "rate_limit_exceeded" : "unavailable");
      json.writeNullField("param");
      json.writeStringField("message", detail());
      json.writeEndObject();
    }
    json.writeArrayFieldStart("violated-policies");
    for (String name : violatedPolicies()) {
      json.writeString(name);
    }
    json.writeEndArray();
    if (retryAfterSeconds() != Standing.NO_TIME) {
      json.writeNumberField("retry-after-ms", retryAfterMillis());
    }
    Status deciding = deciding();
    if (deciding != null && deciding.currentLimit() != null) {
      json.writeNumberField("limit", deciding.currentLimit().requestsPerUnit());
      json.writeNumberField("remaining", deciding.limitRemaining());
      debt(json, deciding);
    }
    json.writeStringField("reason", reason.name());
    cause(json, answer.cause());
  }

  private static void debt(JsonGenerator json, Status status) throws IOException {
    if (status.debt() > 0) {
      json.writeNumberField("debt", status.debt());
    }
  }

  private static void cause(JsonGenerator json, String cause) throws IOException {
    if (!cause.isEmpty()) {
      json.writeStringField("cause", cause);
    }
  }

  /** Returns the names of the policies that refuse; none before the first rules. */
  private Collection<String> violatedPolicies() {
    if (refusing.size() == 1) {
      CurrentLimit limit = refusing.get(0).currentLimit();
      return limit == null ? List.of() : List.of(limit.policy().name()); // The usual case.
    }
    Set<String> names = new LinkedHashSet<>();
    for (Status status : refusing) {
      CurrentLimit limit = status.currentLimit();
      if (limit != null) {
        names.add(limit.policy().name());
      }
    }
    return names;
  }

  /** Returns the status that refuses, or null if the request may pass. */
  private @Nullable Status deciding() {
    return answer.allowed() ? null : answer.deciding();
  }

  /** Returns a sentence for a refusal or a missing limit, else OK. */
  public String detail() {
    if (answer.allowed()) {
      return reason == Reason.NO_LIMIT ? noLimit() : "OK";
    }
    Status status = deciding();
    CurrentLimit limit = status == null ? null : status.currentLimit();
    if (!certain()) {
      String cause = answer.cause();
      String shown = cause.isEmpty() ? reason.name() : reason + ": " + cause;
      return undecided(limit, cause) + " (" + shown + ")." + retry();
    }
    if (limit == null) {
      return "Refused.";
    }
    Policy policy = limit.policy();
    return "Policy "
        + policy.name()
        + " allows "
        + policy.quota().permits()
        + (policy.quota().permits() == 1 ? " request " : " requests ")
        + per(policy)
        + "."
        + retry();
  }

  private static String per(Policy policy) {
    if (policy.algorithm() == Algorithm.CONCURRENCY) {
      return "at the same time";
    }
    long window = policy.quota().windowNanos();
    return window % 1_000_000_000L == 0
        ? "per " + window / 1_000_000_000L + " s"
        : "per " + millis(window) + " ms";
  }

  /** Returns the beginning of a sentence for a refusal without a decision: its cause. */
  private static String undecided(@Nullable CurrentLimit limit, String cause) {
    if (cause.equals(UncertainCause.NO_RULES)) {
      return "No rules are known yet";
    }
    String checked =
        limit == null ? "The limits of this request" : "Policy " + limit.policy().name();
    boolean unknown = limit != null && limit.origin().kind() == LimitOrigin.Kind.UNKNOWN;
    return checked
        + " cannot be checked now"
        + (unknown ? because(UncertainCause.SUBJECT) : because(cause));
  }

  private static String because(String cause) {
    return switch (cause) {
      case "" -> "";
      case UncertainCause.SUBJECT -> ": the limits of its subject are not known";
      case UncertainCause.COUNTS -> ": the server reads its counts";
      case UncertainCause.UPSTREAM -> ": the upstream server gave no answer";
      case UncertainCause.UNKNOWN_REASON -> ": the upstream server's reason is not known here";
      default -> ": the shared store gave no decision";
    };
  }

  /**
   * Returns a sentence for a missing limit: a misspelt domain must not look like a limit that is
   * not exceeded.
   */
  private String noLimit() {
    if (!answer.domainKnown()) {
      return "No rule applies: there are no rules for the domain "
          + ShownText.brief(request.domain())
          + ".";
    }
    for (Status status : answer.statuses()) {
      if (status.rule() != null && status.rule().unlimited()) {
        return "Rule " + status.rule().path() + " sets no limit.";
      }
    }
    return "No rule applies.";
  }

  private String retry() {
    long seconds = retryAfterSeconds();
    return seconds == Standing.NO_TIME
        ? " A request of " + permits() + (permits() == 1 ? " permit" : " permits") + " never fits."
        : " Retry in " + seconds + " s.";
  }

  /** Returns the permits that the deciding descriptor requested. */
  private long permits() {
    int index = answer.statuses().indexOf(deciding());
    Long own = index < 0 ? null : request.descriptors().get(index).permits();
    return own == null ? request.permits() : own;
  }

  private static void status(JsonGenerator json, Status status) throws IOException {
    json.writeStartObject();
    json.writeStringField("code", status.allowed() ? "OK" : "OVER_LIMIT");
    Rule rule = status.rule();
    if (rule != null) {
      json.writeStringField("rule", rule.path());
      if (rule.unlimited()) {
        json.writeBooleanField("unlimited", true);
      }
    }
    CurrentLimit limit = status.currentLimit();
    Decision decision = status.decision();
    if (limit != null && decision != null) {
      json.writeStringField("policy", limit.policy().name());
      json.writeNumberField("limit", limit.requestsPerUnit());
      json.writeNumberField("window-ms", millis(limit.policy().quota().windowNanos()));
      json.writeStringField("algorithm", limit.policy().algorithm().toString());
      json.writeNumberField("remaining", status.limitRemaining());
      debt(json, status);
      json.writeStringField("reason", decision.reason().name());
      cause(json, decision.cause());
      if (decision.retryAfterNanos() != Decision.NEVER) {
        json.writeNumberField("retry-after-ms", decision.retryAfterMillis());
      }
      json.writeNumberField("reset-after-ms", millis(decision.resetAfterNanos()));
    } else {
      json.writeStringField("reason", status.reason().name());
      cause(json, status.cause());
    }
    json.writeEndObject();
  }

  /**
   * Returns milliseconds, rounded up.
   *
   * @param nanos at least 0
   */
  public static long millis(long nanos) {
    return nanos / 1_000_000L + (nanos % 1_000_000L > 0 ? 1 : 0);
  }
}
