package dev.weir.server.internal.grpc;

import dev.weir.FailureMode;
import dev.weir.Sharing;
import dev.weir.engine.Grant;
import dev.weir.engine.Loan;
import dev.weir.engine.LoanRequest;
import dev.weir.protocol.http.BadRequest;
import dev.weir.protocol.http.LeaseAnswer;
import dev.weir.protocol.http.LeaseCall;
import dev.weir.protocol.v1.WeirProto;
import dev.weir.protocol.v1.WeirProto.CheckResult;
import dev.weir.protocol.v1.WeirProto.DescriptorLease;
import dev.weir.protocol.v1.WeirProto.LeaseRequest;
import dev.weir.protocol.v1.WeirProto.LeaseResponse;
import dev.weir.protocol.v1.WeirProto.OnFailure;
import dev.weir.rules.Request;

/** The translation of the messages about leases; it decides nothing. */
final class LeaseMessages {
  private LeaseMessages() {}

  /**
   * Returns the contents of a call, with malformed lease requests as errors.
   *
   * @throws BadRequest if there is too much for one call
   */
  static LeaseCall call(LeaseRequest message) throws BadRequest {
    LeaseCall call = new LeaseCall();
    for (WeirProto.LeaseReturn each : message.getReturnsList()) {
      // A number beyond 2^63 is also more than was ever lent.
      long permits = each.getPermits() < 0 ? Long.MAX_VALUE : each.getPermits();
      call.addReturn(each.getLease(), permits);
    }
    for (WeirProto.Refund each : message.getRefundsList()) {
      call.addRefund(each.getCharge());
    }
    for (int i = 0; i < message.getAsksCount(); i++) {
      add(call, message.getAsks(i), "asks[" + i + "]");
    }
    return call;
  }

  private static void add(LeaseCall call, WeirProto.LeaseAsk ask, String path) throws BadRequest {
    Request check = null;
    String error = "";
    try {
      check = WeirMessages.request(ask.getCheck(), path + ".check");
    } catch (BadRequest e) {
      error = String.valueOf(e.getMessage());
    }
    if (check == null) {
      call.addInvalid(ask.getId(), error);
    } else {
      call.add(
          ask.getId(),
          check,
          ask.getAheadList().stream().map(each -> each < 0 ? Long.MAX_VALUE : each).toList(),
          ask.getRefundable());
    }
  }

  static LeaseResponse response(LeaseCall.Results results) {
    LeaseResponse.Builder response =
        LeaseResponse.newBuilder()
            .setRevision(results.revision())
            .setTakenBack(results.takenBack());
    for (LeaseCall.Result result : results.results()) {
      response.addGrants(grant(result));
    }
    return response.build();
  }

  private static WeirProto.Grant.Builder grant(LeaseCall.Result result) {
    WeirProto.Grant.Builder message = WeirProto.Grant.newBuilder().setId(result.id());
    LoanRequest ask = result.ask();
    Grant grant = result.grant();
    if (ask == null || grant == null) {
      return message.setResult(CheckResult.newBuilder().setError(String.valueOf(result.error())));
    }
    message.setResult(WeirMessages.result(ask.request(), grant.answer()));
    message.setCharge(grant.charge());
    for (Loan loan : grant.loans()) {
      message.addLeases(lease(loan));
    }
    return message;
  }

  private static DescriptorLease.Builder lease(Loan loan) {
    DescriptorLease.Builder message = DescriptorLease.newBuilder().setLeased(loan.leased());
    if (loan.lease() != 0) {
      message
          .setLease(loan.lease())
          .setPermits(loan.permits())
          .setLifeUs(LeaseAnswer.lifeMicros(loan));
    }
    if (LeaseAnswer.refuseForMillis(loan) > 0) {
      message
          .setRefuseForMs(LeaseAnswer.refuseForMillis(loan))
          .setRefusePermits(loan.refusePermits());
    }
    Sharing sharing = loan.sharing();
    if (sharing != null) {
      message.setOnFailure(
          switch (sharing.onFailure()) {
            case DENY -> OnFailure.ON_FAILURE_DENY;
            case ALLOW -> OnFailure.ON_FAILURE_ALLOW;
            case LOCAL -> OnFailure.ON_FAILURE_LOCAL;
          });
      if (sharing.onFailure() == FailureMode.LOCAL) {
        message.setLocalShare(sharing.localShare());
      }
    }
    return message;
  }
}
