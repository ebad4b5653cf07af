package dev.weir.server.internal.http;

import dev.weir.engine.seats.SeatOutcome;
import dev.weir.protocol.http.BadRequest;
import dev.weir.protocol.http.CheckReader;
import dev.weir.protocol.http.JsonBytes;
import dev.weir.protocol.http.SeatReader;
import dev.weir.rules.Request;
import dev.weir.server.internal.deciding.GuardedDecider;
import dev.weir.server.internal.deciding.RequestTimes;
import dev.weir.server.internal.deciding.SeatCall;
import dev.weir.server.internal.deciding.Tracing;
import io.opentelemetry.api.trace.Span;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.util.List;

/** The paths about seats, which are permits of a limit at the same time. */
final class SeatEndpoints {
  private final GuardedDecider decider;
  private final CheckFields fields;
  private final RequestTimes times;
  private final Tracing tracing;

  SeatEndpoints(GuardedDecider decider, CheckFields fields, RequestTimes times, Tracing tracing) {
    this.decider = decider;
    this.fields = fields;
    this.times = times;
    this.tracing = tracing;
  }

  List<Endpoint> all() {
    return List.of(
        Endpoint.post("/v1/acquire", "takes a seat of a limit at the same time", true, this::take),
        Endpoint.post(
            "/v1/renew",
            "keeps seats for another hold",
            true,
            (request, body) -> call(SeatCall.RENEW, request, body)),
        Endpoint.post(
            "/v1/release",
            "gives seats back",
            true,
            (request, body) -> call(SeatCall.RELEASE, request, body)));
  }

  private void take(HttpServerRequest request, byte[] body) {
    long begunNanos = times.begin();
    Span span = Endpoints.span(tracing, request);
    try {
      Request asked = CheckReader.read(body);
      decider.acquire(
          asked,
          () -> Endpoints.beside(request),
          Reply.onLoop(
              request,
              taken -> {
                Tracing.end(span, asked, taken.answer());
                Endpoints.answerKept(
                    request,
                    fields,
                    asked,
                    taken.answer(),
                    check -> check.json(taken.seat(), taken.holdNanos()));
                times.ended(begunNanos, 1);
              }));
    } catch (BadRequest e) {
      Tracing.failed(span, e.getMessage());
      Endpoints.badRequest(request, e.getMessage());
    }
  }

  private void call(SeatCall call, HttpServerRequest request, byte[] body) {
    try {
      decider.seats(
          call,
          SeatReader.read(body),
          () -> Endpoints.beside(request),
          Reply.onLoop(request, outcomes -> answer(request, outcomes)));
    } catch (BadRequest | IllegalArgumentException e) {
      Endpoints.badRequest(request, e.getMessage());
    }
  }

  private static void answer(HttpServerRequest request, List<SeatOutcome> outcomes) {
    HttpServerResponse response = request.response();
    if (response.closed() || response.ended()) {
      return;
    }
    response.putHeader(Reply.CACHE_CONTROL, Reply.NO_STORE);
    Reply.send(
        request,
        200,
        Reply.JSON,
        JsonBytes.of(
            json -> {
              json.writeStartObject();
              json.writeArrayFieldStart("outcomes");
              for (SeatOutcome outcome : outcomes) {
                json.writeString(outcome.name());
              }
              json.writeEndArray();
              json.writeEndObject();
            }));
  }
}
