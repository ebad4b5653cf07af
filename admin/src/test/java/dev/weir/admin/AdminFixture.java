package dev.weir.admin;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.MemoryStore;
import dev.weir.Store;
import dev.weir.admin.internal.http.Call;
import dev.weir.admin.internal.http.RequestException;
import dev.weir.admin.internal.http.Route;
import dev.weir.admin.internal.http.Router;
import dev.weir.config.Cause;
import dev.weir.config.Change;
import dev.weir.config.ConfigStore;
import dev.weir.config.ConfigStores;
import dev.weir.config.Json;
import dev.weir.config.rows.Tree;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.engine.KeyPolicies;
import dev.weir.insight.History;
import dev.weir.insight.HotKeys;
import dev.weir.insight.Insight;
import dev.weir.insight.Refusals;
import dev.weir.replay.DryRun;
import dev.weir.replay.DryRuns;
import dev.weir.replay.Masking;
import dev.weir.replay.RecordedTraffic;
import dev.weir.rules.Request;
import dev.weir.rules.Rules;
import dev.weir.testkit.FakeTicker;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.UnaryOperator;

/** The interface on stores in memory, with a token of each role, and the requests of tests. */
public final class AdminFixture {
  static final String RULES =
      """
      domain: shop
      plans:
        gold: {user-minute: {requests_per_unit: 1000}}
      descriptors:
        - key: user
          rate_limit: {name: user-minute, unit: minute, requests_per_unit: 100, by: user}
        - key: ip
          rate_limit: {unit: second, requests_per_unit: 5}
      """;

  public static final Cause CAUSE = Cause.of("test", "for a test");

  /** The answer to a request. */
  public record Answer(int status, Map<String, String> fields, String body) {
    Json.Members json() {
      try {
        return Json.readWithNulls(body);
      } catch (IOException e) {
        throw new AssertionError(status + ": " + body, e);
      }
    }

    public String field(String name) {
      return fields.getOrDefault(name, "");
    }

    public String text(String member) {
      return Call.reading(() -> json().text(member));
    }

    public long number(String member) {
      return Call.reading(() -> json().number(member));
    }

    public List<String> list(String member) {
      return Call.reading(() -> json().list(member));
    }

    public List<Json.Members> objects(String member) {
      return Call.reading(() -> json().objects(member));
    }

    public String detail() {
      return text("detail");
    }

    public Answer is(int expected) {
      assertThat(status).as(body).isEqualTo(expected);
      return this;
    }
  }

  public final FakeTicker ticker = new FakeTicker(1_800_000_000_000_000_000L);
  public final ConfigStore store;
  public final Engine engine;
  final RecordedTraffic traffic;
  final DryRuns dryRuns;
  public final Insight insight;
  public final AdminApi api;
  public final String viewer;
  public final String editor;
  public final String operator;

  public AdminFixture() {
    this(store -> store, builder -> builder, new MemoryStore());
  }

  public AdminFixture(
      UnaryOperator<ConfigStore> around, UnaryOperator<AdminApi.Builder> setting, Store decisions) {
    this(around, setting, decisions, true, "n0");
  }

  /** Makes another server on the store of a first one. */
  public AdminFixture(
      UnaryOperator<ConfigStore> around,
      UnaryOperator<AdminApi.Builder> setting,
      Store decisions,
      String node) {
    this(around, setting, decisions, true, node);
  }

  private AdminFixture(
      UnaryOperator<ConfigStore> around,
      UnaryOperator<AdminApi.Builder> setting,
      Store decisions,
      boolean records,
      String node) {
    store = around.apply(ConfigStores.inMemory(ticker));
    engine = Engine.create(decisions, ticker, EngineSettings.DEFAULTS);
    if (store.head().revision() == 0) {
      store.commit(0, Tree.of(Map.of("shop.yaml", RULES)), List.of(RULES), CAUSE);
    }
    engine.apply(Objects.requireNonNull(Rules.parse("shop.yaml", RULES).ruleSet()));
    viewer = token(Role.VIEWER);
    editor = token(Role.EDITOR);
    operator = token(Role.OPERATOR);
    traffic = new RecordedTraffic(ticker);
    dryRuns = new DryRuns(traffic, Masking.random(), DryRun.Limits.DEFAULTS);
    History history = new History(engine::totals, engine::fullPercent, null, ticker, ticker);
    insight = new Insight(history, new Refusals(ticker, () -> 1), new HotKeys(ticker));
    engine.observe(insight);
    AdminApi.Builder builder =
        AdminApi.builder(store, engine)
            .tickers(ticker, ticker)
            .files("dashboard-test")
            .observed(new Observations(insight, ShowKeys.MASKED, node, () -> 1, Runnable::run));
    if (records) {
      builder.dryRuns(dryRuns, KeyPolicies.NONE);
    }
    api = setting.apply(builder).build();
  }

  public String token(Role role) {
    return Tokens.create(store, role.text(), role, Tokens.DEFAULT_TTL, CAUSE, ticker).text();
  }

  /** Returns the interface of a server that does not record its traffic. */
  static AdminFixture withoutDryRuns() {
    return new AdminFixture(store -> store, builder -> builder, new MemoryStore(), false, "n0");
  }

  /** Returns the statistics of a server that does not count keys. */
  static Insight withoutKeys() {
    FakeTicker ticker = new FakeTicker();
    Engine none = Engine.create(new MemoryStore(), ticker, EngineSettings.DEFAULTS);
    History history = new History(none::totals, none::fullPercent, null, ticker, ticker);
    return new Insight(history, new Refusals(ticker, () -> 0), null);
  }

  /** Starts a dry run of rules that change nothing, and waits for its end. */
  String dryRun() {
    String body = "{'rules':{'put':{'spare.yaml':'domain: spare'}}}";
    String id = send("POST", "/dry-runs").by(editor).json(body).now().is(202).text("id");
    return ended(id);
  }

  /** Refuses the ip 1.2.3.4 once, and returns the ref of its key. */
  String refusedRef() {
    for (int i = 0; i < 6; i++) {
      var unused = engine.decide(Request.of("shop", "ip", "1.2.3.4"));
    }
    return Call.reading(() -> get("/refusals").objects("refusals").get(0).text("ref"));
  }

  /** Waits until a dry run has ended. */
  String ended(String id) {
    long deadline = System.nanoTime() + 120_000_000_000L;
    while (get("/dry-runs/" + id).is(200).text("state").equals("running")) {
      assertThat(System.nanoTime()).as("deadline").isLessThan(deadline);
      Thread.onSpinWait();
    }
    return id;
  }

  public Sending send(String method, String path) {
    return new Sending(method, path);
  }

  public Answer get(String path) {
    return send("GET", path).by(viewer).now();
  }

  /** Returns all changes. */
  List<Change> changes() {
    return store.changes(0, ConfigStore.MAX_BATCH);
  }

  public List<Change> changes(String kind) {
    return changes().stream().filter(each -> each.details().kind().equals(kind)).toList();
  }

  public void advance(Duration by) {
    ticker.advance(by);
  }

  /** A request under construction. */
  public final class Sending {
    private final String method;
    private final String address;
    private final Map<String, List<String>> fields = new LinkedHashMap<>();
    private byte[] body = new byte[0];
    private String source = "192.0.2.1";
    private boolean secure;

    private Sending(String method, String address) {
      this.method = method;
      this.address = address;
      field("Host", "localhost:8090");
    }

    public Sending field(String name, String value) {
      fields.put(name.toLowerCase(Locale.ROOT), List.of(value));
      return this;
    }

    public Sending by(String token) {
      return field("Authorization", "Bearer " + token);
    }

    public Sending cookie(String cookie) {
      return field("Cookie", cookie);
    }

    public Sending sameOrigin() {
      return field("Sec-Fetch-Site", "same-origin");
    }

    public Sending json(String text) {
      return field("Content-Type", "application/json")
          .bytes(text.replace('\'', '"').getBytes(UTF_8));
    }

    Sending bytes(byte[] bytes) {
      body = bytes;
      return this;
    }

    Sending from(String address) {
      source = address;
      return this;
    }

    public Sending secure() {
      secure = true;
      return this;
    }

    public Answer now() {
      int question = address.indexOf('?');
      String path = question < 0 ? address : address.substring(0, question);
      AdminRequest request =
          new AdminRequest(
              method,
              Router.BASE + path,
              question < 0 ? "" : address.substring(question + 1),
              fields,
              new ByteArrayInputStream(body),
              source,
              secure);
      return answer(request);
    }
  }

  Answer answer(AdminRequest request) {
    AdminResponse response = api.handle(request);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    response.body().forEachRemaining(bytes::writeBytes);
    EventStream events = response.events();
    if (events != null) {
      bytes.writeBytes(Objects.requireNonNull(events.next()));
      events.end();
    }
    Answer answer = new Answer(response.status(), response.fields(), bytes.toString(UTF_8));
    check(request, answer);
    return answer;
  }

  /** Checks the properties of every answer. */
  private void check(AdminRequest request, Answer answer) {
    assertThat(answer.field("Cache-Control")).isEqualTo("no-store");
    assertThat(answer.field("X-Content-Type-Options")).isEqualTo("nosniff");
    assertThat(answer.field("X-Request-Id")).isNotEmpty();
    assertThat(answer.status()).as(answer.body()).isNotEqualTo(500);
    if (answer.status() >= 400) {
      assertThat(answer.field("Content-Type")).isEqualTo("application/problem+json");
      assertThat(answer.number("status")).isEqualTo(answer.status());
    }
    Route route;
    try {
      route = new Router(api.routes()).match(request.method(), request.path()).route();
    } catch (RequestException e) {
      return; // There is no route of that name.
    }
    assertThat(route.statuses()).as("%s: %s", route, answer.body()).contains(answer.status());
  }

  /** Returns the names of all routes. */
  static List<String> names(List<Route> routes) {
    List<String> names = new ArrayList<>();
    routes.forEach(route -> names.add(route.toString()));
    return names;
  }
}
