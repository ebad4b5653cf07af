package dev.weir.protocol.http;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.weir.FailureMode;
import dev.weir.Sharing;
import dev.weir.engine.Grant;
import dev.weir.engine.Loan;
import dev.weir.engine.LoanRequest;
import java.io.IOException;

/** The body of an answer of {@code /v1/lease}. */
public final class LeaseAnswer {
  private LeaseAnswer() {}

  /** Returns the results as UTF-8 JSON. */
  public static byte[] json(LeaseCall.Results results) {
    return JsonBytes.of(json -> write(results, json));
  }

  private static void write(LeaseCall.Results results, JsonGenerator json) throws IOException {
    json.writeStartObject();
    json.writeNumberField("revision", results.revision());
    json.writeNumberField("taken-back", results.takenBack());
    json.writeArrayFieldStart("grants");
    for (LeaseCall.Result result : results.results()) {
      json.writeStartObject();
      if (result.id() != 0) {
        json.writeStringField("id", LeaseNumber.text(result.id()));
      }
      LoanRequest ask = result.ask();
      Grant grant = result.grant();
      if (ask == null || grant == null) {
        json.writeStringField("error", String.valueOf(result.error()));
      } else {
        grant(ask, grant, json);
      }
      json.writeEndObject();
    }
    json.writeEndArray();
    json.writeEndObject();
  }

  private static void grant(LoanRequest ask, Grant grant, JsonGenerator json) throws IOException {
    json.writeFieldName("result");
    new CheckAnswer(ask.request(), grant.answer()).write(json);
    if (grant.charge() != 0) {
      json.writeStringField("charge", LeaseNumber.text(grant.charge()));
    }
    json.writeArrayFieldStart("leases");
    for (Loan loan : grant.loans()) {
      loan(loan, json);
    }
    json.writeEndArray();
  }

  private static void loan(Loan loan, JsonGenerator json) throws IOException {
    json.writeStartObject();
    json.writeBooleanField("leased", loan.leased());
    if (loan.lease() != 0) {
      json.writeStringField("lease", LeaseNumber.text(loan.lease()));
      json.writeNumberField("permits", loan.permits());
      json.writeNumberField("life-us", lifeMicros(loan));
    }
    if (refuseForMillis(loan) > 0) {
      json.writeNumberField("refuse-for-ms", refuseForMillis(loan));
      json.writeNumberField("refuse-permits", loan.refusePermits());
    }
    Sharing sharing = loan.sharing();
    if (sharing != null) {
      json.writeStringField("on-failure", text(sharing.onFailure()));
      if (sharing.onFailure() == FailureMode.LOCAL) {
        json.writeNumberField("local-share", sharing.localShare());
      }
    }
    json.writeEndObject();
  }

  private static String text(FailureMode mode) {
    return switch (mode) {
      case DENY -> "deny";
      case ALLOW -> "allow";
      case LOCAL -> "local";
    };
  }

  /** Returns the lifetime in microseconds, rounded down: a lease may end early, but not late. */
  public static long lifeMicros(Loan loan) {
    return loan.lifeNanos() / 1_000;
  }

  /**
   * Returns the time of refusals in milliseconds, rounded down: a client may call too early, but
   * must not be refused for too long.
   */
  public static long refuseForMillis(Loan loan) {
    return loan.refuseForNanos() / 1_000_000;
  }
}
