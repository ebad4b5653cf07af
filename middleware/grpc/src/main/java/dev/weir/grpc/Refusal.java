package dev.weir.grpc;

import com.google.protobuf.Any;
import com.google.rpc.QuotaFailure;
import com.google.rpc.RetryInfo;
import dev.weir.Reason;
import dev.weir.engine.Answer;
import dev.weir.engine.CurrentLimit;
import dev.weir.protocol.http.CheckAnswer;
import dev.weir.protocol.http.Standing;
import dev.weir.rules.Request;
import dev.weir.rules.ShownText;
import io.grpc.Deadline;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A refused call in the terms of gRPC: {@code RESOURCE_EXHAUSTED} if a quota is certainly exceeded,
 * {@code UNAVAILABLE} if the store could not decide; with {@code RetryInfo}, {@code QuotaFailure}
 * and a pushback in the trailers.
 */
record Refusal(Status status, Metadata trailers) {
  /**
   * The longest message. A client reads 8 KiB of headers by default; text beyond ASCII and bytes
   * grow in transmission.
   */
  private static final int MAX_MESSAGE = 300;

  private static final int MAX_DETAIL_BYTES = 3072;

  /**
   * Returns the refusal for an answer.
   *
   * @param deadline the call's, or null. A client whose retries wait for a pushback beyond it would
   *     see its deadline pass instead of the refusal, so the pushback then forbids the retry
   */
  static Refusal of(Request request, Answer answer, @Nullable Deadline deadline) {
    if (answer.error() != null) {
      return new Refusal(
          Status.INTERNAL.withDescription("The rate limit cannot be decided: " + answer.error()),
          new Metadata());
    }
    CheckAnswer check = new CheckAnswer(request, answer);
    boolean exceeded = check.reason() == Reason.OVER_LIMIT;
    Status status =
        (exceeded ? Status.RESOURCE_EXHAUSTED : Status.UNAVAILABLE)
            .withDescription(ShownText.cut(check.detail(), MAX_MESSAGE));
    boolean never = check.retryAfterSeconds() == Standing.NO_TIME;
    long millis = check.retryAfterMillis();
    if (!exceeded && !never && millis == 0) {
      return new Refusal(status, new Metadata()); // The client's own pace is as good as any.
    }
    RetryInfo retry = never ? null : Retry.info(Math.max(1, millis));
    boolean late = deadline != null && deadline.timeRemaining(TimeUnit.MILLISECONDS) <= millis;
    String pushback = never || late ? Retry.NEVER : Retry.pushback(Math.max(1, millis));
    return of(status, retry, exceeded ? failure(request, answer) : null, pushback);
  }

  /** Returns the refusal of a call that lacks a value on which its limit depends. */
  static Refusal missing(String value) {
    return new Refusal(
        Status.INVALID_ARGUMENT.withDescription(
            value + ": missing (expected: a value, which the call's rate limit depends on)"),
        new Metadata());
  }

  /**
   * Returns the refusal of a call that is not sent, because of an earlier refusal by the server.
   */
  static Refusal remembered(String method, long millis) {
    Status status =
        Status.RESOURCE_EXHAUSTED.withDescription(
            "Not sent: the server has refused "
                + ShownText.brief(method)
                + ", and lets it come again in "
                + millis
                + " ms.");
    return of(status, Retry.info(millis), null, Retry.pushback(millis));
  }

  private static Refusal of(
      Status status, @Nullable RetryInfo retry, @Nullable QuotaFailure failure, String pushback) {
    com.google.rpc.Status.Builder details =
        com.google.rpc.Status.newBuilder()
            .setCode(status.getCode().value())
            .setMessage(String.valueOf(status.getDescription()));
    if (retry != null) {
      details.addDetails(Any.pack(retry));
    }
    if (failure != null) {
      details.addDetails(Any.pack(failure));
    }
    Metadata trailers = new Metadata();
    trailers.put(Retry.DETAILS, details.build());
    trailers.put(Retry.PUSHBACK, pushback);
    return new Refusal(status, trailers);
  }

  /** Returns the policies that refuse. Keys are left out: they may be another party's address. */
  private static QuotaFailure failure(Request request, Answer answer) {
    QuotaFailure.Builder failure = QuotaFailure.newBuilder();
    int bytes = 0;
    List<dev.weir.engine.Status> refusing = answer.refusing();
    for (int i = 0; i < answer.statuses().size(); i++) {
      dev.weir.engine.Status status = answer.statuses().get(i);
      CurrentLimit limit = status.currentLimit();
      if (limit == null || !refusing.contains(status)) {
        continue;
      }
      QuotaFailure.Violation violation = violation(request, answer, i, limit);
      bytes += violation.getSerializedSize();
      if (bytes > MAX_DETAIL_BYTES) {
        break;
      }
      failure.addViolations(violation);
    }
    return failure.build();
  }

  private static QuotaFailure.Violation violation(
      Request request, Answer answer, int i, CurrentLimit limit) {
    Request alone =
        new Request(request.domain(), List.of(request.descriptors().get(i)), request.permits());
    Answer only = Answer.of(false, List.of(answer.statuses().get(i)), null, answer.revision());
    String policy = ShownText.cut(limit.policy().name(), MAX_MESSAGE);
    return QuotaFailure.Violation.newBuilder()
        .setSubject(policy)
        .setDescription(ShownText.cut(new CheckAnswer(alone, only).detail(), MAX_MESSAGE))
        .setQuotaId(policy)
        .setQuotaValue(limit.policy().quota().permits())
        .build();
  }

  void close(ServerCall<?, ?> call) {
    call.close(status, trailers);
  }
}
