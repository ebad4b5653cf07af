package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.admin.AdminResponse;
import dev.weir.config.Cause;
import dev.weir.config.ConfigException.Kind;
import dev.weir.config.Node;
import dev.weir.config.OwnLimit;
import dev.weir.config.RecordWrite;
import dev.weir.config.Subject;
import dev.weir.config.SubjectRecord;
import dev.weir.protocol.envoy.RateLimitDescriptor;
import dev.weir.protocol.envoy.RateLimitRequest;
import dev.weir.protocol.envoy.RateLimitResponse;
import dev.weir.protocol.envoy.RateLimitServiceGrpc;
import dev.weir.server.internal.log.Logs;
import dev.weir.server.settings.StartException;
import dev.weir.wire.testkit.RespClient;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests of servers that take their rules from a configuration store, in every state of it. */
@Timeout(300)
class ConfiguredServerTest {
  private static final String BROKEN = RunningServer.RULES.replace("unit: minute", "unit: minit");

  @TempDir private Path folder;
  private final TestConfigStores.Shared store = TestConfigStores.store();
  private LogCapture log;

  @BeforeEach
  void listen() {
    log = LogCapture.all();
  }

  @AfterEach
  void stopListening() {
    log.close();
  }

  private RunningServer start(String... namesAndValues) throws Exception {
    return RunningServer.start(Map.of("config-store", store.address), namesAndValues);
  }

  private static void poll(BooleanSupplier until) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!until.getAsBoolean()) {
      assertThat(System.nanoTime()).isLessThan(deadline);
      Thread.onSpinWait();
    }
  }

  private Path lastKnown() {
    return folder.resolve("last-known");
  }

  @Test
  void newStore_isReadyWithoutRules_andTheFirstOnesComeIntoForceEverywhere() throws Exception {
    try (RunningServer one = start("node-name", "one");
        RunningServer two = start("node-name", "two")) {
      assertThat(log.await("rules: none"))
          .contains(store.address, "is new", "weir rules push DIR --server URL of a server with");
      assertThat(one.get("/healthcheck").body()).isEqualTo("OK");
      assertThat(one.check("user", "ann").body()).contains("NO_LIMIT");
      assertThat(one.get("/rlconfig").body()).isEmpty();
      store.push(RunningServer.RULES);
      log.await("rules: revision 2 in force");
      log.await("rules: revision 2 in force");
      for (RunningServer each : new RunningServer[] {one, two}) {
        for (int i = 0; i < 3; i++) {
          assertThat(each.check("user", "ann").statusCode()).isEqualTo(200);
        }
        assertThat(each.check("user", "ann").statusCode()).isEqualTo(429);
      }
      poll(() -> store.store.nodes().stream().allMatch(node -> node.revision() == 1));
      assertThat(store.store.nodes()).extracting(Node::id).containsExactly("one", "two");
    }
  }

  @Test
  void nextCommand_namesThePortForAdministration() throws Exception {
    try (RunningServer running =
        RunningServer.start(
            store,
            request -> new AdminResponse(404, Map.of(), Collections.emptyIterator()),
            "admin-hosts",
            "weir.example")) {
      assertThat(log.await("rules: none"))
          .contains("weir rules push DIR --server http://127.0.0.1:PORT");
      assertThat(log.await("ready: "))
          .endsWith(", admin on 127.0.0.1:" + running.server.adminPort());
    }
  }

  @Test
  void brokenRevision_changesNothingAndIsNamedEverywhere() throws Exception {
    store.push(RunningServer.RULES);
    try (RunningServer running = start()) {
      assertThat(log.await("rules: 6 in force"))
          .contains("the configuration store " + store.address);
      store.push(BROKEN);
      assertThat(log.await("rules: errors; revision")).contains("rules.yaml:4:", "minit");
      assertThat(running.check("user", "ann").body()).contains("\"remaining\":2", "\"revision\":1");
      poll(() -> store.store.nodes().stream().anyMatch(node -> !node.problems().isEmpty()));
      assertThat(running.metric("weir_config_revision{state=\"applied\"}")).isEqualTo(1);
      assertThat(running.metric("weir_config_revision{state=\"head\"}")).isEqualTo(2);
      assertThat(running.metric("weir_config_problems")).isEqualTo(1);
      assertThat(running.metric("weir_config_stale_seconds")).isLessThan(30);
    }
  }

  /** A store that is stopped is no internal error of the server. */
  @Test
  void storeThatIsStoppedWhileTheServerRuns_isOneWarning() throws Exception {
    store.push(RunningServer.RULES);
    try (RunningServer running = start()) {
      log.await("ready: ");
      List<LogRecord> records = new CopyOnWriteArrayList<>();
      Handler handler = new Records(records);
      Logs.LOG.addHandler(handler);
      try {
        store.fault = Kind.UNAVAILABLE;
        assertThat(log.await("rules not read: "))
            .isEqualTo(
                "rules not read: "
                    + store.address
                    + ": pretended (expected: nothing else); revision 1 stays in force");
        store.fault = null;
        store.push(RunningServer.RULES.replace("requests_per_unit: 0", "requests_per_unit: 1"));
        log.await("rules: revision 2 in force");
        assertThat(running.check("user", "ann").statusCode()).isEqualTo(200);
      } finally {
        Logs.LOG.removeHandler(handler);
      }
      List<LogRecord> unread =
          records.stream().filter(each -> each.getMessage().contains("not read")).toList();
      assertThat(unread).hasSize(1);
      assertThat(unread.get(0).getLevel()).isEqualTo(Level.WARNING);
      assertThat(records).allSatisfy(each -> assertThat(each.getThrown()).isNull());
      assertThat(records).noneMatch(each -> each.getMessage().contains("could not be applied"));
    }
  }

  private static final class Records extends Handler {
    private final List<LogRecord> records;

    Records(List<LogRecord> records) {
      this.records = records;
    }

    @Override
    public void publish(LogRecord event) {
      records.add(event);
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }

  @Test
  void storeAwayWithoutKnownRules_answersUncertainAndIsReadyWhenItReturns() throws Exception {
    store.push(RunningServer.RULES);
    store.fault = Kind.UNAVAILABLE;
    try (RunningServer running = start()) {
      assertThat(log.await("waiting for rules: ")).contains("http on 127.0.0.1:");
      assertThat(log.await("rules: none in force")).contains("pretended");
      assertThat(running.server.ready()).isFalse();
      HttpResponse<String> health = running.get("/healthcheck");
      assertThat(health.statusCode()).isEqualTo(500);
      assertThat(health.body()).startsWith("not ready: no rules: ").contains("pretended");
      HttpResponse<String> check = running.check("free", "x");
      assertThat(check.statusCode()).isEqualTo(503);
      assertThat(check.headers().firstValue("Retry-After")).contains("1");
      assertThat(check.body())
          .contains("\"reason\":\"UNCERTAIN\",\"cause\":\"no_rules\"", "\"allowed\":false");
      assertThat(
              running
                  .post(
                      "/v1/check/batch",
                      "{\"checks\":[{\"domain\":\"test\"," + "\"descriptor\":{\"free\":\"x\"}}]}")
                  .body())
          .contains("\"reason\":\"UNCERTAIN\"");
      assertThat(grpc(running)).isEqualTo(RateLimitResponse.Code.OVER_LIMIT);
      try (RespClient resp = new RespClient(running.server.respPort())) {
        assertThat(resp.exchange("WEIR.CHECK", "test", "1", "free", "x"))
            .contains(":0|", "UNCERTAIN")
            .doesNotContain(":1|");
        assertThat(resp.exchange("CL.THROTTLE", "k", "1", "1", "60")).contains(":0|");
      }
      store.fault = null;
      log.await("ready: ");
      assertThat(running.server.ready()).isTrue();
      assertThat(running.get("/healthcheck").statusCode()).isEqualTo(200);
      assertThat(running.check("free", "x").statusCode()).isEqualTo(200);
      assertThat(running.check("never", "x").statusCode()).isEqualTo(429);
      store.push(RunningServer.RULES.replace("requests_per_unit: 0", "requests_per_unit: 1"));
      log.await("rules: revision 2 in force");
    }
  }

  private static RateLimitResponse.Code grpc(RunningServer running) {
    ManagedChannel channel =
        Grpc.newChannelBuilderForAddress(
                "127.0.0.1", running.server.grpcPort(), InsecureChannelCredentials.create())
            .build();
    try {
      return RateLimitServiceGrpc.newBlockingStub(channel)
          .withDeadlineAfter(60, TimeUnit.SECONDS)
          .shouldRateLimit(
              RateLimitRequest.newBuilder()
                  .setDomain("test")
                  .addDescriptors(
                      RateLimitDescriptor.newBuilder()
                          .addEntries(
                              RateLimitDescriptor.Entry.newBuilder().setKey("free").setValue("b")))
                  .build())
          .getOverallCode();
    } finally {
      channel.shutdownNow();
    }
  }

  @Test
  void storeAwayWithoutKnownRules_letsPassWhereTheSettingsSaySo() throws Exception {
    store.fault = Kind.UNAVAILABLE;
    try (RunningServer running = start("on-failure", "allow")) {
      HttpResponse<String> check = running.check("never", "x");
      assertThat(check.statusCode()).isEqualTo(200);
      assertThat(check.body()).contains("\"reason\":\"UNCERTAIN\"");
      assertThat(running.server.ready()).isFalse();
    }
  }

  @Test
  void serverThatWaitsForItsStore_stopsAtOnce() throws Exception {
    store.fault = Kind.UNAVAILABLE;
    RunningServer running = start();
    running.server.drain(Duration.ofSeconds(30));
    assertThat(log.await("stopped")).isEqualTo("stopped");
    store.fault = null;
    assertThat(running.server.ready()).isFalse();
  }

  @Test
  void storeAwayWithKnownRules_startsWithThemAndFollowsWhenItReturns() throws Exception {
    store.push(RunningServer.RULES);
    String[] file = {"config-last-known", lastKnown().toString()};
    try (RunningServer running = start(file)) {
      assertThat(running.server.ready()).isTrue();
      poll(() -> Files.exists(lastKnown()));
    }
    store.fault = Kind.UNAVAILABLE;
    try (RunningServer running = start(file)) {
      assertThat(log.await("started with the rules last known")).contains("pretended");
      assertThat(running.server.ready()).isTrue();
      assertThat(running.check("never", "x").statusCode()).isEqualTo(429);
      store.fault = null;
      store.push(RunningServer.RULES.replace("requests_per_unit: 0", "requests_per_unit: 1"));
      log.await("rules: revision 2 in force");
      assertThat(running.check("never", "x").statusCode()).isEqualTo(200);
    }
  }

  @Test
  void brokenRulesWithoutKnownOnes_areNamedAndCanBeReplaced() throws Exception {
    store.push(BROKEN);
    try (RunningServer running = start()) {
      assertThat(log.await("rules: none in force")).contains("rules.yaml:4:", "minit");
      assertThat(running.get("/healthcheck").body()).contains("rules.yaml:4:", "minit");
      store.push(RunningServer.RULES);
      log.await("ready: ");
      assertThat(running.check("user", "ann").body()).contains("\"remaining\":2");
    }
  }

  @Test
  void brokenRulesWithKnownOnes_startWithThose() throws Exception {
    store.push(RunningServer.RULES);
    String[] file = {"config-last-known", lastKnown().toString()};
    try (RunningServer running = start(file)) {
      poll(() -> Files.exists(lastKnown()));
      assertThat(running.server.ready()).isTrue();
    }
    store.push(BROKEN);
    try (RunningServer running = start(file)) {
      assertThat(log.await("started with the rules last known")).contains("minit");
      assertThat(running.check("never", "x").statusCode()).isEqualTo(429);
      assertThat(running.metric("weir_config_revision{state=\"applied\"}")).isEqualTo(1);
    }
  }

  @Test
  void storeThatWaitingWouldNotHelp_isAStartErrorWithTheRemedy() {
    store.fault = Kind.IN_USE;
    assertThatThrownBy(this::start)
        .isInstanceOf(StartException.class)
        .hasMessageStartingWith("--config-store: test:")
        .hasMessageContaining("pretended")
        .hasMessageEndingWith("stop the other process, or give this server a store of its own");
    store.fault = Kind.DAMAGED;
    assertThatThrownBy(this::start)
        .isInstanceOf(StartException.class)
        .hasMessageContaining("restore the store from a copy");
    store.fault = Kind.FULL;
    assertThatThrownBy(this::start)
        .isInstanceOf(StartException.class)
        .hasMessageContaining("free some space");
    store.fault = null;
  }

  @Test
  void unknownStore_isAStartErrorThatListsTheKnownOnes() {
    assertThatThrownBy(() -> RunningServer.start(Map.of("config-store", "oracle://secret@x/y")))
        .isInstanceOf(StartException.class)
        .hasMessageContaining("--config-store: configuration store:")
        .hasMessageContaining("test:NAME")
        .hasMessageNotContaining("secret");
  }

  @Test
  void rulesFromFiles_areLeftAloneByTheStore_whichKnowsTheServerAllTheSame() throws Exception {
    store.push("domain: other\n");
    Path rules = Files.writeString(folder.resolve("rules.yaml"), RunningServer.RULES);
    try (RunningServer running = start("rules", rules.toString(), "node-name", "files")) {
      assertThat(log.await("rules: 6 in force")).contains(rules.toString());
      poll(() -> !store.store.nodes().isEmpty());
      assertThat(store.store.nodes())
          .singleElement()
          .satisfies(node -> assertThat(node.id()).isEqualTo("files"))
          .satisfies(node -> assertThat(node.revision()).isZero());
      Path next = Files.writeString(folder.resolve("next"), RunningServer.RULES.replace("3", "4"));
      Files.move(next, rules, java.nio.file.StandardCopyOption.ATOMIC_MOVE);
      log.await("rules: revision 2 in force");
      assertThat(running.check("user", "ann").body()).contains("\"remaining\":3");
      assertThat(running.metric("weir_config_revision{state=\"head\"}")).isEqualTo(1);
      assertThat(running.metric("weir_config_revision{state=\"applied\"}")).isZero();
    }
  }

  @Test
  void rulesFromFiles_doNotWaitForTheStore() throws Exception {
    store.fault = Kind.UNAVAILABLE;
    Path rules = Files.writeString(folder.resolve("rules.yaml"), RunningServer.RULES);
    try (RunningServer running = start("rules", rules.toString())) {
      assertThat(running.server.ready()).isTrue();
      assertThat(running.check("never", "x").statusCode()).isEqualTo(429);
    }
  }

  private static final String BY_USER =
      RunningServer.RULES.replace("name: per-user", "name: per-user, by: user");

  private void limit(String user, long permits) {
    Subject subject = new Subject("test", "user", user);
    OwnLimit own = new OwnLimit("per-user", permits, null, null, null);
    SubjectRecord record = new SubjectRecord(subject, "", List.of(own), "", 0);
    store.store.write(List.of(RecordWrite.put(record, 0)), Cause.of("test", "a test"));
  }

  @Test
  void limitOfACustomer_holdsWhereverTheRulesAreFrom() throws Exception {
    store.push(BY_USER);
    limit("ann", 10);
    Path rules = Files.writeString(folder.resolve("rules.yaml"), BY_USER);
    try (RunningServer fromStore = start("limits-timeout", "4s");
        RunningServer fromFiles = start("rules", rules.toString(), "limits-timeout", "4s")) {
      for (RunningServer each : new RunningServer[] {fromStore, fromFiles}) {
        assertThat(each.check("user", "ann").body()).contains("\"remaining\":9");
        assertThat(each.check("user", "bob").body()).contains("\"remaining\":2");
        assertThat(each.metric("weir_limits_known")).isEqualTo(1);
        assertThat(each.metric("weir_limits_absent")).isEqualTo(1);
        assertThat(each.metric("weir_subject_loads_total")).isEqualTo(2);
      }
      limit("bob", 20);
      for (RunningServer each : new RunningServer[] {fromStore, fromFiles}) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!each.post(
                "/v1/check",
                "{\"domain\":\"test\",\"permits\":0,\"descriptor\":" + "{\"user\":\"bob\"}}")
            .body()
            .contains("\"remaining\":19")) {
          assertThat(System.nanoTime()).isLessThan(deadline);
        }
      }
    }
  }

  @Test
  void interfaceForAdministration_isThereAndClosedWithoutAToken() throws Exception {
    store.push(RunningServer.RULES);
    try (RunningServer running = start("admin-port", "0")) {
      HttpRequest.Builder request =
          HttpRequest.newBuilder(
              URI.create("http://127.0.0.1:" + running.server.adminPort() + "/admin/v1/rules"));
      HttpResponse<String> refused = running.send(request.GET());
      assertThat(refused.statusCode()).isEqualTo(401);
      assertThat(refused.headers().firstValue("X-Request-Id")).isPresent();
      assertThat(running.get("/admin/v1/rules").statusCode()).isEqualTo(404);
      assertThat(running.metric("weir_connections{door=\"admin\"}")).isEqualTo(1);
    }
  }

  @Test
  void subjectsWithoutAStore_areWarnedOf() throws Exception {
    Path rules = Files.writeString(folder.resolve("rules.yaml"), BY_USER);
    try (RunningServer running = RunningServer.start(Map.of("rules", rules.toString()))) {
      assertThat(log.await("rules: 1 with by"))
          .contains("there is no configuration store", "(expected: --data-dir or --config-store)");
      assertThat(running.check("user", "ann").statusCode()).isEqualTo(200);
    }
  }

  @Test
  void password_isReadFromItsFileAndNeverShown() throws Exception {
    Path file = Files.writeString(folder.resolve("password"), "open sesame\n");
    try (RunningServer running = start("config-store-password-file", file.toString())) {
      assertThat(store.password).isEqualTo("open sesame");
      assertThat(running.server.ready()).isTrue();
    }
    assertThat(log.text()).doesNotContain("sesame");
    Files.writeString(file, "");
    assertThatThrownBy(() -> start("config-store-password-file", file.toString()))
        .isInstanceOf(StartException.class)
        .hasMessage(
            "--config-store-password-file: "
                + file
                + ": not one line (expected: the password"
                + " alone)");
  }
}
