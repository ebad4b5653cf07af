package dev.weir.server;

import dev.weir.engine.Answer;
import dev.weir.rules.Request;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What the HTTP door offers. Safe for use by many threads. */
final class Endpoints {
  private final Decider decider;
  private final RlsJson json;
  private final OlderFields olderFields;
  private final boolean shared;
  private final BooleanSupplier ready;
  private final Supplier<String> metrics;
  private final String openApi;

  Endpoints(
      Decider decider, ServerSettings settings, BooleanSupplier ready, Supplier<String> metrics) {
    this.decider = decider;
    this.json = new RlsJson(new RlsMessages(settings));
    this.olderFields = settings.value(Setting.OLDER_FIELDS);
    this.shared = settings.value(Setting.STORE).isPresent();
    this.ready = ready;
    this.metrics = metrics;
    this.openApi = resource("openapi.json");
  }

  /** Returns a text that comes with the server. */
  static String resource(String name) {
    try (InputStream in = Endpoints.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IOException(name + ": missing");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  List<Endpoint> all() {
    return List.of(
        Endpoint.get("/", "this list", this::index),
        Endpoint.post("/v1/check", "may this request pass?", true, this::check),
        Endpoint.post("/v1/check/batch", "the same for many", true, this::checkBatch),
        Endpoint.post("/v1/load", "how loaded is the system?", true, this::load),
        Endpoint.post("/json", "the same in Envoy's words", false, this::json),
        Endpoint.get("/healthcheck", "ready or not", this::health),
        Endpoint.get("/rlconfig", "the rules in force", this::rules),
        Endpoint.get("/metrics", "counters for Prometheus", this::metrics),
        Endpoint.get("/openapi.json", "all of this for machines", this::openApi));
  }

  private void index(HttpServerRequest request, byte[] body) {
    StringBuilder text = new StringBuilder("Weir: rate limits that hold.\n\n");
    for (Endpoint endpoint : all()) {
      text.append(
          String.format("%-5s%-17s%s%n", endpoint.method(), endpoint.path(), endpoint.about()));
    }
    Reply.send(request, 200, Reply.TEXT, text.toString());
  }

  private void check(HttpServerRequest request, byte[] body) {
    try {
      Request asked = CheckReader.read(body);
      decider.decide(asked, Reply.onLoop(request, answer -> answerCheck(request, asked, answer)));
    } catch (BadRequest e) {
      badRequest(request, e.getMessage());
    }
  }

  private void answerCheck(HttpServerRequest request, Request asked, Answer answer) {
    if (answer.error() != null) {
      badRequest(request, answer.error());
      return;
    }
    CheckAnswer check = new CheckAnswer(asked, answer);
    HttpServerResponse response = request.response();
    if (response.closed() || response.ended()) {
      return;
    }
    response.putHeader(Reply.CACHE_CONTROL, Reply.NO_STORE);
    List<Standing> standings = check.standings();
    if (!standings.isEmpty()) {
      response.putHeader(
          RateLimitFields.RATE_LIMIT_POLICY, RateLimitFields.rateLimitPolicy(standings));
      response.putHeader(RateLimitFields.RATE_LIMIT, RateLimitFields.rateLimit(standings));
      olderFields.add(response.headers(), answer);
    }
    long retryAfter = check.retryAfterSeconds();
    if (retryAfter != Standing.NO_TIME) {
      response.putHeader(Reply.RETRY_AFTER, Long.toString(retryAfter));
    }
    if (Reply.wantsText(request)) {
      Reply.send(request, check.httpStatus(), Reply.TEXT, check.detail() + "\n");
    } else {
      CharSequence type = answer.allowed() ? Reply.JSON : Reply.PROBLEM;
      Reply.send(request, check.httpStatus(), type, check.json());
    }
  }

  private void checkBatch(HttpServerRequest request, byte[] body) {
    try {
      CheckReader.readBatch(body)
          .decide(decider, Reply.onLoop(request, results -> answerBatch(request, results)));
    } catch (BadRequest e) {
      badRequest(request, e.getMessage());
    }
  }

  private static void answerBatch(HttpServerRequest request, CheckBatch.Results results) {
    JsonText json = new JsonText().object().field("revision", results.revision()).array("results");
    for (CheckBatch.Result result : results.results()) {
      if (result.request() != null && result.answer() != null) {
        new CheckAnswer(result.request(), result.answer()).write(json);
      } else {
        json.object().field("error", String.valueOf(result.error())).end();
      }
    }
    HttpServerResponse response = request.response();
    if (!response.closed() && !response.ended()) {
      response.putHeader(Reply.CACHE_CONTROL, Reply.NO_STORE);
      Reply.send(request, 200, Reply.JSON, json.endArray().end().buffer());
    }
  }

  private void load(HttpServerRequest request, byte[] body) {
    Load load = decider.load();
    if (load.source() != LoadSource.PUSHED) {
      String source = SettingKind.name(load.source());
      Reply.problem(
          request,
          409,
          "Not taken",
          Setting.LOAD_SIGNAL.flag() + ": " + source + " (expected: pushed)");
      return;
    }
    try {
      load.push(LoadReader.read(body));
      request.response().setStatusCode(204).end();
    } catch (BadRequest e) {
      badRequest(request, e.getMessage());
    }
  }

  private static void badRequest(HttpServerRequest request, @Nullable String message) {
    Reply.problem(request, 400, "Bad request", String.valueOf(message));
  }

  private void json(HttpServerRequest request, byte[] body) {
    try {
      decider.decide(json.read(body), Reply.onLoop(request, answer -> answerJson(request, answer)));
    } catch (BadRequest e) {
      Reply.send(request, 400, Reply.TEXT, e.getMessage() + "\n");
    }
  }

  private void answerJson(HttpServerRequest request, Answer answer) {
    if (answer.error() != null) {
      Reply.send(request, 400, Reply.TEXT, answer.error() + "\n");
    } else {
      Reply.send(request, answer.allowed() ? 200 : 429, Reply.JSON, json.write(answer));
    }
  }

  private void health(HttpServerRequest request, byte[] body) {
    boolean ok = ready.getAsBoolean();
    request.response().putHeader(Reply.CACHE_CONTROL, Reply.NO_STORE);
    Reply.send(request, ok ? 200 : 500, Reply.TEXT, ok ? "OK" : "not ready");
  }

  private void rules(HttpServerRequest request, byte[] body) {
    Reply.send(request, 200, Reply.TEXT, RulesPage.text(decider.engine().rules(), shared));
  }

  private void metrics(HttpServerRequest request, byte[] body) {
    Reply.send(request, 200, MetricsPage.TYPE, metrics.get());
  }

  private void openApi(HttpServerRequest request, byte[] body) {
    Reply.send(request, 200, Reply.JSON, openApi);
  }
}
