package dev.weir.server.internal.http;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.weir.engine.Answer;
import dev.weir.engine.Ticket;
import dev.weir.engine.holds.Settlement;
import dev.weir.internal.Choice;
import dev.weir.protocol.http.BadRequest;
import dev.weir.protocol.http.CheckAnswer;
import dev.weir.protocol.http.CheckBatch;
import dev.weir.protocol.http.CheckReader;
import dev.weir.protocol.http.JsonBytes;
import dev.weir.protocol.http.LeaseAnswer;
import dev.weir.protocol.http.LeaseCall;
import dev.weir.protocol.http.LeaseReader;
import dev.weir.protocol.http.LoadReader;
import dev.weir.protocol.http.RetryFields;
import dev.weir.protocol.http.SettleReader;
import dev.weir.protocol.http.Standing;
import dev.weir.rules.Request;
import dev.weir.server.internal.deciding.GuardedDecider;
import dev.weir.server.internal.deciding.RequestTimes;
import dev.weir.server.internal.deciding.RlsMessages;
import dev.weir.server.internal.deciding.Tracing;
import dev.weir.server.internal.guard.SystemLoad;
import dev.weir.server.internal.settings.LoadSource;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.server.internal.settings.Settings;
import io.opentelemetry.api.trace.Span;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.net.HostAndPort;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The paths of the HTTP port. Safe for use by many threads. */
public final class Endpoints {
  /*
   * How is a request answered? Its path has an Endpoint, which names the method here. A request for
   * a decision is read (CheckReader, LeaseReader, RlsJson), decided by the GuardedDecider on any
   * thread, and answered on the request's own event loop (Reply.onLoop), where its latency is
   * measured and its span ends. A request that waits for its turn leaves the queue when its client
   * goes away.
   *
   * Pages answer at once, except those of the metrics and of a cluster: they are made on another
   * thread, since an event loop must not wait for them.
   */
  private static final Pattern LOOPBACK =
      Pattern.compile("localhost|\\[?(::1|0:0:0:0:0:0:0:1)]?|127(\\.\\d{1,3}){3}");

  private static final String BYTES = "application/octet-stream";

  private final GuardedDecider decider;
  private final ServerSettings settings;
  private final RlsJson json;
  private final CheckFields fields;
  private final boolean shared;
  private final Supplier<String> notReady;
  private final MetricsPage metrics;
  private final String openApi;
  private final RequestTimes times;
  private final Tracing tracing;
  private @Nullable ClusterPages cluster;

  /**
   * Makes the paths of a server.
   *
   * @param notReady returns the reason why the server takes no requests; empty if it does
   * @param times measures the requests for decisions
   * @param tracing makes their spans
   */
  public Endpoints(
      GuardedDecider decider,
      ServerSettings settings,
      Supplier<String> notReady,
      PrometheusRegistry metrics,
      RequestTimes times,
      Tracing tracing) {
    this.decider = decider;
    this.settings = settings;
    this.json = new RlsJson(new RlsMessages(settings));
    this.fields =
        new CheckFields(
            settings.value(Settings.OLDER_FIELDS),
            RetryFields.of(
                    settings.value(Settings.MAX_RETRY_AFTER), settings.value(Settings.RETRY_JITTER))
                .with(settings.value(Settings.OLDER_FIELDS)),
            times.ticker());
    this.shared = settings.shares();
    this.notReady = notReady;
    this.metrics = new MetricsPage(metrics);
    this.openApi = resource("openapi.json");
    this.times = times;
    this.tracing = tracing;
  }

  /**
   * Returns the quick path for usual requests on one event loop; null if the settings require more
   * for each answer.
   *
   * @param off returns true while every request takes the general path
   */
  @Nullable Quick quick(BooleanSupplier off) {
    return tracing.isOn() || RlsMessages.haveMore(settings)
        ? null
        : new QuickRequests(decider, times, fields, settings.value(Settings.MAX_BODY_BYTES), off);
  }

  /** Adds the pages of a cluster. */
  public Endpoints withCluster(ClusterPages pages) {
    cluster = pages;
    return this;
  }

  /** Returns a text resource of the server. */
  public static String resource(String name) {
    try (InputStream in = Endpoints.class.getResourceAsStream("/dev/weir/server/" + name)) {
      if (in == null) {
        throw new IOException(name + ": missing");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public List<Endpoint> all() {
    List<Endpoint> all = new ArrayList<>(always());
    all.addAll(new SeatEndpoints(decider, fields, times, tracing).all());
    ClusterPages pages = cluster;
    if (pages != null) {
      all.add(
          Endpoint.get(
              "/cluster",
              "how the cluster is, as its members say",
              (request, body) -> cluster(request, pages)));
      all.add(
          Endpoint.patient(
              "/cluster/change",
              "changes the members of the cluster; from this machine only",
              true,
              (request, body, wait) -> change(request, body, wait, pages)));
      all.add(
          Endpoint.patient(
              "/cluster/backup",
              "hands out snapshots for a backup; to this machine only",
              false,
              (request, body, wait) -> backup(request, body, wait, pages)));
    }
    return all;
  }

  /**
   * Answers with the state of the cluster, on another thread: a call to all members takes too long
   * for an event loop.
   */
  private static void cluster(HttpServerRequest request, ClusterPages pages) {
    Consumer<String> answer =
        Reply.onLoop(request, text -> Reply.send(request, 200, Reply.JSON, text));
    var unused = CompletableFuture.supplyAsync(pages::status).thenAccept(answer);
  }

  /**
   * Returns whether a request comes from this machine. A token for decisions does not permit
   * administration. So these paths are for users of this machine, and not for pages of other sites
   * that their browser shows: such a page cannot send this type without a permission.
   */
  private static boolean isLocal(HttpServerRequest request, String type) {
    HostAndPort asked = request.authority();
    boolean local =
        LOOPBACK.matcher(String.valueOf(request.remoteAddress().hostAddress())).matches()
            && asked != null
            && LOOPBACK.matcher(asked.host()).matches();
    String sent = request.getHeader(HttpHeaders.CONTENT_TYPE);
    boolean right = local && sent != null && (type.isEmpty() || sent.equals(type));
    if (!right) {
      Reply.problem(
          request,
          403,
          "Forbidden",
          "from "
              + request.remoteAddress()
              + " (expected: from this machine, by http://127.0.0.1 or localhost, as "
              + (type.isEmpty() ? "JSON" : type)
              + ")");
    }
    return right;
  }

  private static Consumer<Throwable> conflict(HttpServerRequest request) {
    return Reply.onLoop(
        request,
        problem ->
            Reply.problem(
                request,
                409,
                "Conflict",
                String.valueOf(
                    (problem.getCause() == null ? problem : problem.getCause()).getMessage())));
  }

  /**
   * Answers a request of a backup. The answers contain the cluster's secret, so they are for this
   * machine only, too.
   */
  private static void backup(
      HttpServerRequest request, byte[] body, Requests.Wait wait, ClusterPages pages) {
    if (!isLocal(request, BYTES)) {
      return;
    }
    wait.forServer();
    Consumer<byte[]> done =
        Reply.onLoop(request, answer -> Reply.send(request, 200, BYTES, answer));
    Consumer<Throwable> failed = conflict(request);
    var unused =
        pages
            .backup(body)
            .whenComplete(
                (answer, problem) -> {
                  if (problem == null) {
                    done.accept(answer);
                  } else {
                    failed.accept(problem);
                  }
                });
  }

  private static void change(
      HttpServerRequest request, byte[] body, Requests.Wait wait, ClusterPages pages) {
    if (!isLocal(request, "")) {
      return;
    }
    wait.forServer(); // Sending a group may take longer than the request timeout.
    Consumer<String> done =
        Reply.onLoop(request, text -> Reply.send(request, 200, Reply.TEXT, text));
    Consumer<Throwable> failed = conflict(request);
    var unused =
        CompletableFuture.supplyAsync(
                () -> {
                  try {
                    return pages.change(body);
                  } catch (IOException e) {
                    throw new UncheckedIOException(e.getMessage(), e);
                  }
                })
            .whenComplete(
                (text, problem) -> {
                  if (problem == null) {
                    done.accept(text);
                  } else {
                    failed.accept(problem);
                  }
                });
  }

  private List<Endpoint> always() {
    return List.of(
        Endpoint.get("/", "this list", this::index),
        Endpoint.patient("/v1/check", "decides one request", true, this::check),
        Endpoint.post("/v1/check/batch", "decides many requests", true, this::checkBatch),
        Endpoint.post(
            "/v1/lease", "decides requests and lends permits for a while", true, this::lease),
        Endpoint.post("/v1/hold", "holds the most that a request may cost", true, this::hold),
        Endpoint.post("/v1/settle", "replaces a hold by the cost", true, this::settle),
        Endpoint.post("/v1/load", "takes a load reading for elastic rules", true, this::load),
        Endpoint.patient(
                "/json",
                "decides one request in the JSON of Envoy's RateLimitRequest",
                false,
                this::json)
            .ofAnyMethod(),
        Endpoint.get(Routes.LIVENESS, "whether the server answers at all", this::live),
        Endpoint.get(Routes.READINESS, "whether the server takes requests", this::ready),
        Endpoint.get(Routes.HEALTH, "as /readyz, for Envoy's settings: 500 if not", this::health)
            .ofAnyMethod(),
        Endpoint.get("/rlconfig", "the rules in force", this::rules),
        Endpoint.get("/metrics", "counters for Prometheus", this::metrics),
        Endpoint.get("/openapi.json", "this interface as an OpenAPI document", this::openApi));
  }

  private void index(HttpServerRequest request, byte[] body) {
    StringBuilder text = new StringBuilder("Weir: rate limits that hold.\n\n");
    for (Endpoint endpoint : all()) {
      text.append(
          String.format("%-5s%-17s%s%n", endpoint.method(), endpoint.path(), endpoint.about()));
    }
    Reply.send(request, 200, Reply.TEXT, text.toString());
  }

  private void check(HttpServerRequest request, byte[] body, Requests.Wait wait) {
    try {
      Request asked = CheckReader.read(body);
      decide(request, asked, wait, answer -> answerCheck(request, asked, answer));
    } catch (BadRequest e) {
      badRequest(request, e.getMessage());
    }
  }

  /**
   * Decides a request. A refused one waits for its turn if the rules have a queue for it, until its
   * client goes away.
   *
   * @param reply is called on the request's event loop
   */
  private void decide(
      HttpServerRequest request, Request asked, Requests.Wait wait, Consumer<Answer> reply) {
    long begunNanos = times.begin();
    Span span = span(request);
    Consumer<Answer> last =
        answer -> {
          Tracing.end(span, asked, answer);
          reply.accept(answer);
          times.ended(begunNanos, 1);
        };
    decider.decide(
        asked,
        () -> beside(request),
        Reply.onLoop(
            request,
            answer -> {
              if (answer.maxWaitNanos() == 0) {
                last.accept(answer);
              } else {
                wait.forServer(); // A rule's wait may be longer than the request timeout.
                Ticket ticket =
                    decider.enqueue(asked, answer, Long.MAX_VALUE, Reply.onLoop(request, last));
                HttpServerResponse response = request.response();
                if (response.closed()) {
                  leave(ticket);
                } else if (!response.ended()) {
                  response.closeHandler(gone -> leave(ticket));
                }
              }
            }));
  }

  /**
   * Returns the approximate bytes that are kept of a request, besides its body, until it is
   * answered.
   */
  static long beside(HttpServerRequest request) {
    return HttpPeer.QUEUED_BYTES + Dispatch.headBytes(request);
  }

  private Span span(HttpServerRequest request) {
    return span(tracing, request);
  }

  static Span span(Tracing tracing, HttpServerRequest request) {
    return tracing.isOn()
        ? tracing.begin("POST " + request.path(), tracing.parent(request, TraceFields.OF_REQUESTS))
        : Span.getInvalid();
  }

  private static void leave(Ticket ticket) {
    boolean unused = ticket.leave();
  }

  private void answerCheck(HttpServerRequest request, Request asked, Answer answer) {
    if (answer.error() != null) {
      badRequest(request, answer.error());
      return;
    }
    CheckAnswer check = new CheckAnswer(asked, answer, fields.older());
    HttpServerResponse response = request.response();
    if (response.closed() || response.ended()) {
      return;
    }
    fields.add(check, answer, response::putHeader);
    if (Reply.acceptsText(request)) {
      Reply.send(request, check.httpStatus(), Reply.TEXT, check.detail() + "\n");
    } else {
      CharSequence type = answer.allowed() ? Reply.JSON : Reply.PROBLEM;
      Reply.send(request, check.httpStatus(), type, check.json());
    }
  }

  private void checkBatch(HttpServerRequest request, byte[] body) {
    long begunNanos = times.begin();
    Span span = span(request);
    try {
      decider.decideAll(
          CheckReader.readBatch(body),
          () -> beside(request),
          Reply.onLoop(
              request,
              results -> {
                Tracing.end(span, results);
                answerBatch(request, results);
                times.ended(begunNanos, results.results().size());
              }));
    } catch (BadRequest e) {
      Tracing.failed(span, e.getMessage());
      badRequest(request, e.getMessage());
    }
  }

  private static void answerBatch(HttpServerRequest request, CheckBatch.Results results) {
    HttpServerResponse response = request.response();
    if (!response.closed() && !response.ended()) {
      response.putHeader(Reply.CACHE_CONTROL, Reply.NO_STORE);
      Reply.send(request, 200, Reply.JSON, JsonBytes.of(json -> write(results, json)));
    }
  }

  private static void write(CheckBatch.Results results, JsonGenerator json) throws IOException {
    json.writeStartObject();
    json.writeNumberField("revision", results.revision());
    json.writeArrayFieldStart("results");
    for (CheckBatch.Result result : results.results()) {
      if (result.request() != null && result.answer() != null) {
        new CheckAnswer(result.request(), result.answer()).write(json);
      } else {
        json.writeStartObject();
        json.writeStringField("error", String.valueOf(result.error()));
        json.writeEndObject();
      }
    }
    json.writeEndArray();
    json.writeEndObject();
  }

  private void lease(HttpServerRequest request, byte[] body) {
    try {
      decider.lend(
          LeaseReader.read(body),
          () -> beside(request),
          Reply.onLoop(request, results -> answerLease(request, results)));
    } catch (BadRequest e) {
      badRequest(request, e.getMessage());
    }
  }

  private static void answerLease(HttpServerRequest request, LeaseCall.Results results) {
    HttpServerResponse response = request.response();
    if (!response.closed() && !response.ended()) {
      response.putHeader(Reply.CACHE_CONTROL, Reply.NO_STORE);
      Reply.send(request, 200, Reply.JSON, LeaseAnswer.json(results));
    }
  }

  private void hold(HttpServerRequest request, byte[] body) {
    long begunNanos = times.begin();
    Span span = span(request);
    try {
      Request asked = CheckReader.read(body);
      decider.hold(
          asked,
          () -> beside(request),
          Reply.onLoop(
              request,
              held -> {
                Tracing.end(span, asked, held.answer());
                answerKept(request, fields, asked, held.answer(), check -> check.json(held.hold()));
                times.ended(begunNanos, 1);
              }));
    } catch (BadRequest e) {
      Tracing.failed(span, e.getMessage());
      badRequest(request, e.getMessage());
    }
  }

  /**
   * Answers with a text that the client keeps.
   *
   * @param json makes the body
   */
  static void answerKept(
      HttpServerRequest request,
      CheckFields fields,
      Request asked,
      Answer answer,
      Function<CheckAnswer, byte[]> json) {
    if (answer.error() != null) {
      badRequest(request, answer.error());
      return;
    }
    HttpServerResponse response = request.response();
    if (!response.closed() && !response.ended()) {
      CheckAnswer check = new CheckAnswer(asked, answer, fields.older());
      fields.add(check, answer, response::putHeader);
      CharSequence type = answer.allowed() ? Reply.JSON : Reply.PROBLEM;
      Reply.send(request, check.httpStatus(), type, json.apply(check));
    }
  }

  private void settle(HttpServerRequest request, byte[] body) {
    try {
      SettleReader.SettleCall call = SettleReader.read(body);
      decider.settle(
          call.hold(),
          call.permits(),
          () -> beside(request),
          Reply.onLoop(request, settlement -> answerSettle(request, settlement)));
    } catch (BadRequest | IllegalArgumentException e) {
      badRequest(request, e.getMessage());
    }
  }

  private static void answerSettle(HttpServerRequest request, Settlement settlement) {
    HttpServerResponse response = request.response();
    if (response.closed() || response.ended()) {
      return;
    }
    if (settlement.outcome() == Settlement.Outcome.UNCERTAIN) {
      Reply.problem(
          request,
          503,
          "Not settled",
          "not decided whether the hold was settled before (expected: the same call again)");
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
              json.writeStringField("outcome", settlement.outcome().name());
              json.writeNumberField("returned", settlement.returned());
              json.writeNumberField("charged", settlement.charged());
              json.writeEndObject();
            }));
  }

  private void load(HttpServerRequest request, byte[] body) {
    SystemLoad load = decider.load();
    if (load.source() != LoadSource.PUSHED) {
      String source = Choice.text(load.source());
      Reply.problem(
          request,
          409,
          "Not taken",
          Settings.LOAD_SIGNAL.flag() + ": " + source + " (expected: pushed)");
      return;
    }
    try {
      load.push(LoadReader.read(body));
      request.response().setStatusCode(204).end();
    } catch (BadRequest e) {
      badRequest(request, e.getMessage());
    }
  }

  static void badRequest(HttpServerRequest request, @Nullable String message) {
    Reply.problem(request, 400, "Bad request", String.valueOf(message));
  }

  private void json(HttpServerRequest request, byte[] body, Requests.Wait wait) {
    try {
      Request asked = json.read(body);
      decide(request, asked, wait, answer -> answerJson(request, asked, answer));
    } catch (BadRequest e) {
      Reply.send(request, 400, Reply.TEXT, e.getMessage() + "\n");
    }
  }

  private void answerJson(HttpServerRequest request, Request asked, Answer answer) {
    if (answer.error() != null) {
      Reply.send(request, 400, Reply.TEXT, answer.error() + "\n");
    } else {
      if (HttpPeer.of(request.connection()).isEnding()) {
        addRetryAfter(request.response(), new CheckAnswer(asked, answer).retryAfterSeconds());
      }
      Reply.send(request, answer.allowed() ? 200 : 429, Reply.JSON, json.write(asked, answer));
    }
  }

  /** Adds a field that Envoy's answers do not have otherwise: the client has to go elsewhere. */
  private static void addRetryAfter(HttpServerResponse response, long seconds) {
    if (seconds != Standing.NO_TIME && !response.closed() && !response.ended()) {
      response.putHeader(Reply.RETRY_AFTER, Long.toString(seconds));
    }
  }

  /** Answers a probe by which a server that hangs is restarted. */
  private void live(HttpServerRequest request, byte[] body) {
    request.response().putHeader(Reply.CACHE_CONTROL, Reply.NO_STORE);
    Reply.send(request, 200, Reply.TEXT, "OK");
  }

  private void ready(HttpServerRequest request, byte[] body) {
    readiness(request, 503);
  }

  private void health(HttpServerRequest request, byte[] body) {
    readiness(request, 500);
  }

  private void readiness(HttpServerRequest request, int otherwise) {
    String why = notReady.get();
    boolean ok = why.isEmpty();
    request.response().putHeader(Reply.CACHE_CONTROL, Reply.NO_STORE);
    Reply.send(request, ok ? 200 : otherwise, Reply.TEXT, ok ? "OK" : "not ready: " + why);
  }

  private void rules(HttpServerRequest request, byte[] body) {
    Reply.send(request, 200, Reply.TEXT, RulesPage.text(decider.engine().rules(), shared));
  }

  private void metrics(HttpServerRequest request, byte[] body) {
    metrics.send(request);
  }

  private void openApi(HttpServerRequest request, byte[] body) {
    Reply.send(request, 200, Reply.JSON, openApi);
  }
}
