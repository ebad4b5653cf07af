package dev.weir.server.internal.grpc;

import dev.weir.Decision;
import dev.weir.Reason;
import dev.weir.engine.Answer;
import dev.weir.engine.CurrentLimit;
import dev.weir.engine.Status;
import dev.weir.protocol.http.BadRequest;
import dev.weir.protocol.http.CheckAnswer;
import dev.weir.protocol.http.CheckBatch;
import dev.weir.protocol.http.CheckReader;
import dev.weir.protocol.http.Standing;
import dev.weir.protocol.v1.WeirProto;
import dev.weir.protocol.v1.WeirProto.CheckBatchRequest;
import dev.weir.protocol.v1.WeirProto.CheckBatchResponse;
import dev.weir.protocol.v1.WeirProto.CheckResult;
import dev.weir.protocol.v1.WeirProto.DescriptorStatus;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.LimitOverride;
import dev.weir.rules.RateLimitUnit;
import dev.weir.rules.Request;
import dev.weir.rules.Rule;
import java.util.ArrayList;
import java.util.List;

/** The translation of the messages of Weir's own service; it decides nothing. */
final class WeirMessages {
  private WeirMessages() {}

  /**
   * Returns the checks of a call, with malformed ones as errors.
   *
   * @throws BadRequest if there are too many for one call
   */
  static CheckBatch batch(CheckBatchRequest message) throws BadRequest {
    CheckBatch batch = new CheckBatch();
    for (int i = 0; i < message.getChecksCount(); i++) {
      Request request = null;
      String error = "";
      try {
        request = request(message.getChecks(i), "checks[" + i + "]");
      } catch (BadRequest e) {
        error = String.valueOf(e.getMessage());
      }
      if (request == null) {
        batch.addInvalid(error);
      } else {
        batch.add(request);
      }
    }
    return batch;
  }

  /**
   * Returns a check.
   *
   * @param path the path of the check, for errors
   */
  static Request request(WeirProto.Check check, String path) throws BadRequest {
    List<Descriptor> descriptors = new ArrayList<>(check.getDescriptorsCount());
    for (int i = 0; i < check.getDescriptorsCount(); i++) {
      WeirProto.Descriptor message = check.getDescriptors(i);
      List<Entry> entries = new ArrayList<>(message.getEntriesCount());
      for (WeirProto.Entry entry : message.getEntriesList()) {
        entries.add(new Entry(entry.getKey(), entry.getValue()));
      }
      LimitOverride limit = null;
      if (message.hasLimit()) {
        RateLimitUnit unit = unit(message.getLimit(), path + ".descriptors[" + i);
        limit =
            new LimitOverride(
                Integer.toUnsignedLong(message.getLimit().getRequestsPerUnit()),
                unit,
                message.getLimit().hasUnitMultiplier()
                    ? Integer.toUnsignedLong(message.getLimit().getUnitMultiplier())
                    : 1);
      }
      Long permits = message.hasPermits() ? Integer.toUnsignedLong(message.getPermits()) : null;
      descriptors.add(new Descriptor(entries, limit, permits));
    }
    long permits = check.hasPermits() ? Integer.toUnsignedLong(check.getPermits()) : 1;
    return CheckReader.request(check.getDomain(), descriptors, permits, check.getCharge());
  }

  private static RateLimitUnit unit(WeirProto.Limit limit, String path) throws BadRequest {
    return switch (limit.getUnit()) {
      case UNIT_SECOND -> RateLimitUnit.SECOND;
      case UNIT_MINUTE -> RateLimitUnit.MINUTE;
      case UNIT_HOUR -> RateLimitUnit.HOUR;
      case UNIT_DAY -> RateLimitUnit.DAY;
      case UNIT_WEEK -> RateLimitUnit.WEEK;
      case UNIT_MONTH -> RateLimitUnit.MONTH;
      case UNIT_YEAR -> RateLimitUnit.YEAR;
      case UNIT_UNSPECIFIED, UNRECOGNIZED ->
          throw new BadRequest(
              path
                  + "].limit.unit: "
                  + limit.getUnitValue()
                  + " (expected: 1..7, UNIT_SECOND to UNIT_YEAR)");
    };
  }

  static CheckBatchResponse response(CheckBatch.Results results) {
    CheckBatchResponse.Builder response =
        CheckBatchResponse.newBuilder().setRevision(results.revision());
    for (CheckBatch.Result result : results.results()) {
      response.addResults(result(result));
    }
    return response.build();
  }

  private static CheckResult.Builder result(CheckBatch.Result result) {
    return result.request() == null || result.answer() == null
        ? CheckResult.newBuilder().setError(String.valueOf(result.error()))
        : result(result.request(), result.answer());
  }

  /** Returns an answer without an error. */
  static CheckResult.Builder result(Request request, Answer answer) {
    CheckResult.Builder message = CheckResult.newBuilder().setAllowed(answer.allowed());
    for (Status status : answer.statuses()) {
      message.addStatuses(status(status));
    }
    message.setReason(reason(answer.reason()));
    if (!answer.allowed()) {
      CheckAnswer check = new CheckAnswer(request, answer);
      if (check.retryAfterSeconds() != Standing.NO_TIME) {
        message.setRetryAfterMs(check.retryAfterMillis());
      }
    }
    return message;
  }

  private static DescriptorStatus.Builder status(Status status) {
    DescriptorStatus.Builder message =
        DescriptorStatus.newBuilder()
            .setCode(status.allowed() ? WeirProto.Code.CODE_OK : WeirProto.Code.CODE_OVER_LIMIT);
    Rule rule = status.rule();
    if (rule != null) {
      message.setRule(rule.path()).setUnlimited(rule.unlimited());
    }
    message.setReason(reason(status.reason())).setCause(status.cause());
    CurrentLimit limit = status.currentLimit();
    Decision decision = status.decision();
    if (limit != null && decision != null) {
      message
          .setPolicy(limit.policy().name())
          .setLimit(limit.requestsPerUnit())
          .setWindowMs(CheckAnswer.millis(limit.policy().quota().windowNanos()))
          .setAlgorithm(limit.policy().algorithm().toString())
          .setRemaining(status.limitRemaining())
          .setDebt(status.debt())
          .setResetAfterMs(CheckAnswer.millis(decision.resetAfterNanos()));
      if (decision.retryAfterNanos() != Decision.NEVER) {
        message.setRetryAfterMs(decision.retryAfterMillis());
      }
    }
    return message;
  }

  private static WeirProto.Reason reason(Reason reason) {
    return switch (reason) {
      case WITHIN_LIMIT -> WeirProto.Reason.REASON_WITHIN_LIMIT;
      case OVER_LIMIT -> WeirProto.Reason.REASON_OVER_LIMIT;
      case TOLERATED -> WeirProto.Reason.REASON_TOLERATED;
      case SHADOW -> WeirProto.Reason.REASON_SHADOW;
      case UNCERTAIN -> WeirProto.Reason.REASON_UNCERTAIN;
      case OVERLOADED -> WeirProto.Reason.REASON_OVERLOADED;
      case KEY_SPACE_FULL -> WeirProto.Reason.REASON_KEY_SPACE_FULL;
      case INVALID -> WeirProto.Reason.REASON_INVALID;
      case NO_LIMIT -> WeirProto.Reason.REASON_NO_LIMIT;
    };
  }
}
