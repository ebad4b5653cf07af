package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.server.settings.StartException;
import dev.weir.wire.testkit.RespClient;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.stub.StreamObserver;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LifecycleTest {
  private static final String CHECK = "{\"domain\":\"demo\",\"descriptor\":{\"user\":\"a\"}}";

  @TempDir private Path folder;
  private LogCapture log;

  @BeforeEach
  void listen() {
    log = new LogCapture();
  }

  @AfterEach
  void stopListening() {
    log.close();
  }

  @Test
  void withoutRules_theDemonstrationIsInForceAndSaysSo() throws Exception {
    try (RunningServer running = RunningServer.start(Map.of())) {
      assertThat(log.await("rules: 1 in force"))
          .contains("built-in demo rules", "demo.user: unit=MINUTE requests_per_unit=3");
      for (int i = 0; i < 3; i++) {
        assertThat(running.post("/v1/check", CHECK).statusCode()).isEqualTo(200);
      }
      assertThat(running.post("/v1/check", CHECK).statusCode()).isEqualTo(429);
    }
  }

  @Test
  void probes_answerWithoutATokenAndSayWhyNot() throws Exception {
    Path tokens = Files.writeString(folder.resolve("tokens"), "a-token-of-20-letters\n");
    try (RunningServer running = RunningServer.start(folder, "token-file", tokens.toString())) {
      assertThat(running.get("/livez").statusCode()).isEqualTo(200);
      assertThat(running.get("/readyz").body()).isEqualTo("OK");
      assertThat(running.get("/rlconfig").statusCode()).isEqualTo(401);
    }
  }

  @Test
  void drain_losesReadinessAndStaysAlive() throws Exception {
    try (RunningServer running =
        RunningServer.start(folder, "drain-delay", "1h", "drain-timeout", "5s")) {
      Thread drain =
          new Thread(
              () -> {
                try {
                  running.server.drain();
                } catch (InterruptedException e) {
                  Thread.currentThread().interrupt();
                }
              });
      drain.start();
      log.await("draining");
      HttpResponse<String> ready = running.get("/readyz");
      assertThat(ready.statusCode()).isEqualTo(503);
      assertThat(ready.body()).isEqualTo("not ready: stopping");
      assertThat(running.get("/healthcheck").statusCode()).isEqualTo(500);
      assertThat(running.get("/livez").statusCode()).isEqualTo(200);
      assertThat(running.check("user", "ann").statusCode()).isEqualTo(200);
      running.server.endDrainDelay();
      drain.join();
    }
  }

  @Test
  void everyProtocol_hasItsOwnTimes() throws Exception {
    try (RunningServer running = RunningServer.start(folder)) {
      running.check("user", "ann");
      running.check("user", "ann");
      try (RespClient redis = new RespClient(running.server.respPort())) {
        assertThat(redis.throttle("CL.THROTTLE", "k", "9", "10", "60")).hasSize(5);
        assertThat(redis.exchange("WEIR.CHECK", "test", "1", "user", "bob")).startsWith("*");
        assertThat(redis.exchange("PING")).isEqualTo("+PONG|");
      }
      String count = "weir_request_seconds_count{protocol=\"%s\"}";
      assertThat(running.metric(count.formatted("http"))).isEqualTo(2);
      assertThat(running.metric(count.formatted("resp"))).isEqualTo(2);
      assertThat(running.metric(count.formatted("grpc"))).isZero();
      assertThat(running.get("/metrics").body()).doesNotContain("protocol=\"admin\"");
    }
  }

  @Test
  void changedRules_comeIntoForceAndKeepWhatIsCounted() throws Exception {
    Path rules = folder.resolve("rules.yaml");
    try (RunningServer running = RunningServer.start(folder)) {
      running.check("user", "ann");
      running.check("user", "ann");
      replace(rules, RunningServer.RULES.replace("requests_per_unit: 3", "requests_per_unit: 5"));
      assertThat(log.await("rules: revision 2 in force")).contains("test.user", "3", "5");
      assertThat(running.check("user", "ann").body()).contains("\"remaining\":2", "\"revision\":2");
      assertThat(running.metric("weir_rule_reloads_total")).isEqualTo(2);
      assertThat(running.metric("weir_rule_revision")).isEqualTo(2);
    }
  }

  @Test
  void brokenRules_areReportedInFullAndChangeNothing() throws Exception {
    Path rules = folder.resolve("rules.yaml");
    try (RunningServer running = RunningServer.start(folder)) {
      replace(rules, RunningServer.RULES.replace("unit: minute", "unit: minit"));
      assertThat(log.await("rules: errors; revision"))
          .contains("revision 1 stays in force", "rules.yaml:4:", "minit");
      assertThat(running.check("user", "ann").body()).contains("\"remaining\":2", "\"revision\":1");
      assertThat(running.metric("weir_rule_reload_failures_total")).isEqualTo(1);
      replace(rules, RunningServer.RULES.replace("requests_per_unit: 3", "requests_per_unit: 4"));
      log.await("rules: revision 2 in force");
    }
  }

  /** Replaces a file as careful writers do: a reader sees the old content or the new. */
  private void replace(Path file, String text) throws Exception {
    Path next = Files.writeString(folder.resolve("next.tmp"), text);
    Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
  }

  @Test
  void brokenRulesAtTheStart_nameEveryProblem() throws Exception {
    Path rules = Files.writeString(folder.resolve("r.yaml"), "domain: d\nfoo: 1\nbar: 2\n");
    assertThatThrownBy(() -> RunningServer.start(Map.of("rules", rules.toString())))
        .isInstanceOf(StartException.class)
        .hasMessageContainingAll("r.yaml:2:1", "foo", "r.yaml:3:1", "bar");
  }

  private static final String REDIS =
      RunningServer.RULES.replace("name: per-user", "name: per-user, store: redis");

  @Test
  void ruleForAStoreThatIsNotThere_isRefusedAtTheStart() throws Exception {
    Path rules = Files.writeString(folder.resolve("r.yaml"), REDIS);
    assertThatThrownBy(() -> RunningServer.start(Map.of("rules", rules.toString())))
        .isInstanceOf(StartException.class)
        .hasMessageStartingWith("rules: errors; the server was not started\n" + rules + ":3:5 ")
        .hasMessageContaining("store: shared (expected: local, there is no shared store)");
  }

  @Test
  void ruleForAStoreThatIsNotThere_changesNothingOnReload() throws Exception {
    try (RunningServer running = RunningServer.start(folder)) {
      replace(folder.resolve("rules.yaml"), REDIS);
      assertThat(log.await("rules: errors; "))
          .contains(
              "revision 1 stays in force\n", "rules.yaml:3:5 ", "store: shared (expected: local");
      assertThat(running.check("user", "ann").body()).contains("\"remaining\":2", "\"revision\":1");
      assertThat(running.metric("weir_rule_reload_failures_total")).isEqualTo(1);
    }
  }

  @Test
  void portsThatAreOff_areNotOpened() throws Exception {
    for (String only : new String[] {"port", "grpc-port", "resp-port"}) {
      List<String> off = new ArrayList<>();
      for (String each : new String[] {"port", "grpc-port", "resp-port"}) {
        off.addAll(each.equals(only) ? List.of() : List.of(each, "off"));
      }
      try (RunningServer running = RunningServer.start(folder, off.toArray(new String[0]))) {
        WeirServer server = running.server;
        assertThat(server.ready()).isTrue();
        assertThat(server.httpPort() > 0).isEqualTo(only.equals("port"));
        assertThat(server.grpcPort() > 0).isEqualTo(only.equals("grpc-port"));
        assertThat(server.respPort() > 0).isEqualTo(only.equals("resp-port"));
        int port = Math.max(server.httpPort(), Math.max(server.grpcPort(), server.respPort()));
        assertThat(log.await("ready: ")).matches("ready: (http|grpc|resp) on 127.0.0.1:" + port);
        server.drain();
        assertThat(log.await("stopped")).isEqualTo("stopped");
      }
    }
  }

  @Test
  void takenPort_isNamedWithItsFlag() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String port = Integer.toString(taken.getLocalPort());
      for (String flag : new String[] {"port", "grpc-port", "resp-port"}) {
        assertThatThrownBy(() -> RunningServer.start(Map.of(flag, port)))
            .isInstanceOf(StartException.class)
            .hasMessage("--" + flag + ": " + port + ": in use (expected: a free port, or 0)");
      }
    }
  }

  @Test
  void takenPorts_areAllNamedBeforeAnythingIsOpened() throws Exception {
    InetAddress host = InetAddress.getLoopbackAddress();
    try (ServerSocket http = new ServerSocket(0, 1, host);
        ServerSocket redis = new ServerSocket(0, 1, host)) {
      String httpPort = Integer.toString(http.getLocalPort());
      String respPort = Integer.toString(redis.getLocalPort());
      Path state = folder.resolve("state");
      assertThatThrownBy(
              () ->
                  RunningServer.start(
                      folder,
                      "port",
                      httpPort,
                      "resp-port",
                      respPort,
                      "state-dir",
                      state.toString()))
          .isInstanceOf(StartException.class)
          .hasMessage(
              "--port: %s: in use (expected: a free port, or 0)\n--resp-port: %s: in use (expected: a free port, or 0)"
                  .formatted(httpPort, respPort));
      assertThat(state).doesNotExist();
    }
  }

  /** A port that another process takes after the check, while the code is warmed up. */
  @Test
  void portTakenAfterTheCheck_isNamedInTheSameWords() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String port = Integer.toString(taken.getLocalPort());
      for (String flag : new String[] {"port", "grpc-port", "resp-port"}) {
        Map<String, String> flags =
            new HashMap<>(
                Map.of("port", "0", "grpc-port", "0", "resp-port", "0", "no-warmup", "true"));
        flags.put(flag, port);
        ServerSettings settings = ServerSettings.of(flags);
        assertThatThrownBy(
                () -> WeirServer.start(settings, StoreConnection.NONE, Administration::api))
            .isInstanceOf(StartException.class)
            .hasMessage("--" + flag + ": " + port + ": in use (expected: a free port, or 0)");
      }
    }
  }

  @Test
  void addressOfAnotherMachine_isNamedInPlainWords() {
    assertThatThrownBy(
            () -> RunningServer.start(folder, "host", "192.0.2.1", "port", "1", "insecure", "true"))
        .isInstanceOf(StartException.class)
        .hasMessageStartingWith("--port: 192.0.2.1:1: not an address of this machine (expected: ");
  }

  @Test
  void folderThatCannotBeMade_isNamedWithItsSetting() throws Exception {
    String file = Files.writeString(folder.resolve("file"), "").toString();
    for (String[] flags : new String[][] {{"state-dir", file}, {"data-dir", file}}) {
      assertThatThrownBy(() -> RunningServer.start(folder, flags))
          .isInstanceOf(StartException.class)
          .hasMessage(
              "--%s: %s: a file, or a link to nothing (expected: a folder that can be written)"
                  .formatted(flags[0], file));
    }
  }

  @Test
  void drain_saysNotReadyThenFinishesWhatIsInFlightThenFreesThePorts() throws Exception {
    RunningServer running = RunningServer.start(Map.of("drain-delay", "1m"));
    int port = running.server.httpPort();
    ManagedChannel channel =
        Grpc.newChannelBuilderForAddress(
                "127.0.0.1", running.server.grpcPort(), InsecureChannelCredentials.create())
            .build();
    BlockingQueue<ServingStatus> health = watch(channel);
    assertThat(health.poll(30, TimeUnit.SECONDS)).isEqualTo(ServingStatus.SERVING);
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      BufferedReader in = halfASentRequest(socket);
      CompletableFuture<Void> drained =
          CompletableFuture.runAsync(() -> drain(running.server, Duration.ofSeconds(30)));
      assertThat(health.poll(30, TimeUnit.SECONDS)).isEqualTo(ServingStatus.NOT_SERVING);
      assertThat(running.get("/healthcheck").statusCode()).isEqualTo(500);
      assertThat(running.post("/v1/check", CHECK).statusCode()).isEqualTo(200);
      assertThat(drained).isNotDone();

      running.server.endDrainDelay();
      log.await("no new requests");
      socket.getOutputStream().write(CHECK.substring(20).getBytes(StandardCharsets.US_ASCII));
      assertThat(in.readLine()).isEqualTo("HTTP/1.1 200 OK");
      drained.get(30, TimeUnit.SECONDS);
    } finally {
      channel.shutdownNow();
    }
    log.await("stopped");
    new ServerSocket(port, 1, InetAddress.getLoopbackAddress()).close();
    new ServerSocket(running.server.grpcPort(), 1, InetAddress.getLoopbackAddress()).close();
  }

  private static BlockingQueue<ServingStatus> watch(ManagedChannel channel) {
    BlockingQueue<ServingStatus> seen = new LinkedBlockingQueue<>();
    HealthGrpc.newStub(channel)
        .watch(
            HealthCheckRequest.getDefaultInstance(),
            new StreamObserver<HealthCheckResponse>() {
              @Override
              public void onNext(HealthCheckResponse response) {
                seen.add(response.getStatus());
              }

              @Override
              public void onError(Throwable error) {}

              @Override
              public void onCompleted() {}
            });
    return seen;
  }

  /** Returns when the server has taken the head and waits for the body. */
  private static BufferedReader halfASentRequest(Socket socket) throws Exception {
    String head =
        "POST /v1/check HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: "
            + CHECK.length()
            + "\r\n\r\n";
    socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
    BufferedReader in =
        new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
    assertThat(in.readLine()).isEqualTo("HTTP/1.1 100 Continue");
    assertThat(in.readLine()).isEmpty();
    socket.getOutputStream().write(CHECK.substring(0, 20).getBytes(StandardCharsets.US_ASCII));
    return in;
  }

  private static void drain(WeirServer server, Duration timeout) {
    try {
      server.drain(timeout);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void requestThatNeverEnds_isCutOffAfterTheTimeout() throws Exception {
    RunningServer running = RunningServer.start(Map.of("request-timeout", "1h"));
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), running.server.httpPort())) {
      BufferedReader in = halfASentRequest(socket);
      running.server.drain(Duration.ofMillis(100));
      assertThat(in.readLine()).isNull();
    }
    assertThat(running.server.ready()).isFalse();
  }

  @Test
  void keySpaceThatIsFull_isADifferentAnswerThanTooFast() throws Exception {
    try (RunningServer running = RunningServer.start(Map.of("max-keys", "1"))) {
      assertThat(running.post("/v1/check", CHECK).statusCode()).isEqualTo(200);
      var refused = running.post("/v1/check", CHECK.replace("\"a\"", "\"b\""));
      assertThat(refused.statusCode()).isEqualTo(503);
      assertThat(refused.headers().firstValue("Retry-After")).isPresent();
      assertThat(refused.body())
          .contains("#temporary-reduced-capacity", "\"reason\":\"KEY_SPACE_FULL\"");
      assertThat(running.post("/v1/check", CHECK).statusCode()).isEqualTo(200);
    }
  }
}
