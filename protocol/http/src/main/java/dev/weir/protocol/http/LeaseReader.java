package dev.weir.protocol.http;

import com.fasterxml.jackson.core.JsonStreamContext;
import dev.weir.rules.Request;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A reader of the body of {@code /v1/lease}. */
public final class LeaseReader {
  private final JsonCursor json;
  private final LeaseCall call = new LeaseCall();

  private LeaseReader(JsonCursor json) {
    this.json = json;
  }

  /**
   * Returns the call that a body holds; malformed lease requests become errors.
   *
   * @param body UTF-8 JSON: {@code {"returns": [{"lease": ..., "permits": ...}], "refunds": [...],
   *     "asks": [{"check": {...}, "ahead": [...], "refundable": true, "id": "..."}]}}, each list
   *     optional
   * @throws BadRequest if a list itself is wrong, or there is too much for one call
   */
  public static LeaseCall read(byte[] body) throws BadRequest {
    try (JsonCursor json = new JsonCursor(body)) {
      json.begin();
      LeaseReader reader = new LeaseReader(json);
      reader.read();
      return reader.call;
    } catch (IOException e) {
      throw JsonSyntax.error(e);
    }
  }

  private void read() throws IOException, BadRequest {
    json.beginObject("a JSON object");
    for (String field = json.nextField(); field != null; field = json.nextField()) {
      switch (field) {
        case "returns" -> returns();
        case "refunds" -> refunds();
        case "asks" -> readRequests();
        default -> throw json.unknown("asks, returns, refunds");
      }
    }
    json.end();
  }

  private void returns() throws IOException, BadRequest {
    json.beginList();
    while (json.nextElement()) {
      json.beginObject("an object");
      Long lease = null;
      long permits = -1;
      for (String field = json.nextField(); field != null; field = json.nextField()) {
        switch (field) {
          case "lease" -> lease = number();
          case "permits" -> permits = json.permits();
          default -> throw json.unknown("lease, permits");
        }
      }
      if (lease == null) {
        throw json.missing("lease", "16 hexadecimal digits");
      }
      if (permits < 0) {
        throw json.missing("permits", "how many were not spent");
      }
      call.addReturn(lease, permits);
    }
  }

  private void refunds() throws IOException, BadRequest {
    json.beginList();
    while (json.nextElement()) {
      call.addRefund(number());
    }
  }

  private void readRequests() throws IOException, BadRequest {
    json.beginList();
    JsonStreamContext list = json.inside();
    while (json.nextElement()) {
      LeaseFields ask = new LeaseFields();
      String error = "";
      try {
        readRequest(ask);
      } catch (BadRequest e) {
        error = String.valueOf(e.getMessage());
        json.leaveTo(list); // Skips the rest of this lease request.
        ask.check = null;
      }
      Request check = ask.check;
      if (check == null) {
        call.addInvalid(ask.id, error);
      } else {
        call.add(ask.id, check, ask.ahead, ask.refundable);
      }
    }
  }

  /** The fields of one lease request that have been read. */
  private static final class LeaseFields {
    @Nullable Request check;
    List<Long> ahead = List.of();
    boolean refundable;
    long id;
  }

  private void readRequest(LeaseFields ask) throws IOException, BadRequest {
    json.beginObject("an object");
    Request check = null;
    for (String field = json.nextField(); field != null; field = json.nextField()) {
      switch (field) {
        case "check" ->
            check = new DescriptorReader(json, DescriptorReader.Dialect.CHECK).request();
        case "ahead" -> ask.ahead = ahead();
        case "refundable" -> ask.refundable = json.truth();
        case "id" -> ask.id = number();
        default -> throw json.unknown("check, ahead, refundable, id");
      }
    }
    if (check == null) {
      throw json.missing("check", "an object as of /v1/check");
    }
    ask.check = check;
  }

  private List<Long> ahead() throws IOException, BadRequest {
    json.beginList();
    List<Long> ahead = new ArrayList<>();
    while (json.nextElement()) {
      ahead.add(json.permits());
    }
    return ahead;
  }

  private long number() throws IOException, BadRequest {
    if (!json.isString() || !LeaseNumber.matches(json.raw())) {
      throw json.wrong("16 hexadecimal digits");
    }
    return LeaseNumber.of(json.raw());
  }
}
