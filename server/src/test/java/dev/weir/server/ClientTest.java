package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Decision;
import dev.weir.Reason;
import dev.weir.client.Dialect;
import dev.weir.client.WeirClient;
import dev.weir.engine.Answer;
import dev.weir.engine.Status;
import dev.weir.http.RequestLimiter;
import dev.weir.http.Verdict;
import dev.weir.identity.RequestView;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Request;
import dev.weir.testkit.Ports;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests of the client and a real server: decisions without a call, and answers without the server.
 */
class ClientTest {
  private static final String RULES =
      """
      domain: test
      descriptors:
        - key: hot
          rate_limit:
            {unit: hour, requests_per_unit: 1000000, consistency: leased, sync_interval: 1m}
        - key: short
          rate_limit:
            {unit: minute, requests_per_unit: 1000, consistency: leased, sync_interval: 300ms}
        - key: few
          rate_limit:
            {unit: hour, requests_per_unit: 50, consistency: leased, sync_interval: 1m}
        - key: strict
          rate_limit: {unit: hour, requests_per_unit: 5}
        - key: open
          rate_limit: {unit: hour, requests_per_unit: 5, on_failure: allow}
        - key: own
          rate_limit:
            {unit: hour, requests_per_unit: 20, on_failure: local, local_share: 25%}
      """;

  private static final Duration LONG = Duration.ofSeconds(60);

  @TempDir private Path folder;
  private int port;
  private RunningServer running;
  private WeirClient client;

  @BeforeEach
  void start() throws Exception {
    port = Ports.free();
    running = server();
    client = WeirClient.builder("127.0.0.1:" + port).deadline(Duration.ofSeconds(30)).build();
    assertThat(client.awaitAvailable(LONG)).isTrue();
  }

  private RunningServer server() throws Exception {
    Path rules = Files.writeString(folder.resolve("leases.yaml"), RULES);
    return RunningServer.start(
        Map.of("rules", rules.toString(), "grpc-port", port + "", "drain-delay", "0s"));
  }

  @AfterEach
  void stop() {
    client.close();
    running.close();
  }

  private static Request of(String key) {
    return Request.of("test", key, "a");
  }

  private Answer request(Request request) throws Exception {
    CompletableFuture<Answer> answer = new CompletableFuture<>();
    client.decide(request, answer::complete);
    return answer.get(30, TimeUnit.SECONDS);
  }

  private Answer request(String key) throws Exception {
    return request(of(key));
  }

  private static void until(BooleanSupplier condition) throws Exception {
    long end = System.nanoTime() + LONG.toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime() - end).as("nanoseconds too late").isNegative();
      Object unused =
          new CompletableFuture<>().completeOnTimeout(1, 2, TimeUnit.MILLISECONDS).get();
    }
  }

  @Test
  void leasedKey_isDecidedNearlyWithoutCalls() throws Exception {
    for (int i = 0; i < 20_000; i++) {
      assertThat(request("hot").allowed()).isTrue();
    }
    assertThat(client.metrics().messages()).isLessThan(100); // 5 for 1,000 requests.
    assertThat(client.metrics().admittedLocally()).isGreaterThan(19_900);
    client.close();
    until(() -> outstanding() == 0);
    assertThat(running.metric("weir_lease_returned_permits_total")).isPositive();
  }

  private long outstanding() {
    try {
      return running.metric("weir_leases_outstanding");
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void limit_ofTwoClients_isThatOfTheRule() throws Exception {
    try (WeirClient other = WeirClient.builder("127.0.0.1:" + port).deadline(LONG).build()) {
      int admitted = 0;
      for (int i = 0; i < 100; i++) {
        CompletableFuture<Answer> answer = new CompletableFuture<>();
        other.decide(of("few"), answer::complete);
        admitted += answer.get(30, TimeUnit.SECONDS).allowed() ? 1 : 0;
        admitted += request("few").allowed() ? 1 : 0;
      }
      assertThat(admitted).isBetween(40, 50);
    }
  }

  @Test
  void deniedKey_isDeniedWithoutCalls() throws Exception {
    for (int i = 0; i < 6; i++) {
      assertThat(request("strict").allowed()).isEqualTo(i < 5);
    }
    long before = client.metrics().messages();
    for (int i = 0; i < 1_000; i++) {
      Answer answer = request("strict");
      assertThat(answer.allowed()).isFalse();
      assertThat(answer.reason()).isEqualTo(Reason.OVER_LIMIT);
    }
    assertThat(client.metrics().messages() - before).isZero();
    Status status = Objects.requireNonNull(request("strict").deciding());
    Decision decision = Objects.requireNonNull(status.decision());
    assertThat(decision.retryAfterSeconds()).isBetween(3_500L, 3_600L);
  }

  /** If the caller is held up between two requests, each of them may be answered by itself. */
  @Test
  void manyAtOnce_shareMessages() throws Exception {
    Retried.run(this::askManyAtOnce);
  }

  private void askManyAtOnce() throws Exception {
    long asked = client.metrics().asked();
    long messages = client.metrics().messages();
    CompletableFuture<?>[] answers = new CompletableFuture<?>[2_000];
    for (int i = 0; i < answers.length; i++) {
      CompletableFuture<Answer> answer = new CompletableFuture<>();
      answers[i] = answer;
      client.decide(Request.of("test", "strict", "user-" + (asked + i)), answer::complete);
    }
    CompletableFuture.allOf(answers).get(30, TimeUnit.SECONDS);
    assertThat(client.metrics().asked() - asked).isEqualTo(2_000);
    assertThat(client.metrics().messages() - messages).isLessThan(1_000);
  }

  @Test
  void severalDescriptors_areAdmittedByAllOrNone() throws Exception {
    Request both =
        new Request("test", List.of(Descriptor.of("hot", "a"), Descriptor.of("few", "a")), 1);
    int admitted = 0;
    for (int i = 0; i < 60; i++) {
      admitted += request(both).allowed() ? 1 : 0;
    }
    assertThat(admitted).isBetween(40, 50);
    assertThat(request("hot").allowed()).isTrue();
    assertThat(request(both).refusing()).hasSize(1);
  }

  @Test
  void peek_chargesNothing() throws Exception {
    for (int i = 0; i < 10; i++) {
      CompletableFuture<Answer> answer = new CompletableFuture<>();
      client.peek(of("strict"), answer::complete);
      assertThat(answer.get(30, TimeUnit.SECONDS).allowed()).isTrue();
    }
    CompletableFuture<Answer> six = new CompletableFuture<>();
    client.peek(new Request("test", List.of(Descriptor.of("strict", "a")), 6), six::complete);
    assertThat(six.get(30, TimeUnit.SECONDS).allowed()).isFalse();
    assertThat(request("strict").allowed()).isTrue();
  }

  @Test
  void refund_givesBackWhatWasCharged() throws Exception {
    Answer first = request("strict");
    client.refund(of("strict"), first, back -> {}); // From now on charges are kept.
    for (int i = 0; i < 20; i++) {
      Answer answer = request("strict");
      assertThat(answer.allowed()).as("request %d", i).isTrue();
      CompletableFuture<Long> back = new CompletableFuture<>();
      client.refund(of("strict"), answer, back::complete);
      assertThat(back.get(30, TimeUnit.SECONDS)).isEqualTo(1);
    }
  }

  @Test
  void brokenRequest_isAnError() throws Exception {
    Answer answer = request(new Request("test", List.of(), 1));
    assertThat(answer.allowed()).isFalse();
    assertThat(answer.error()).contains("descriptor list");
    assertThat(request(new Request("test", List.of(Descriptor.of("strict", "a")), -1)).error())
        .isEqualTo("descriptors[0].permits: -1 (expected: 0..4294967295)");
  }

  @Test
  void serverAway_leasesGoOn_thenEachRuleAnswers_andItIsBackByItself() throws Exception {
    for (int i = 0; i < 200; i++) {
      Answer unused = request("short");
    }
    for (String key : List.of("strict", "open", "own")) {
      assertThat(request(key).allowed()).isTrue();
    }
    Answer lease = request("short");
    running.close();
    assertThat(lease.reason()).isEqualTo(Reason.WITHIN_LIMIT);
    until(() -> !client.metrics().available());
    until(() -> reason("short") == Reason.UNCERTAIN); // The lease has ended.
    assertThat(request("short").allowed()).isFalse();
    assertThat(request("strict").allowed()).isFalse();
    assertThat(reason("open")).isEqualTo(Reason.UNCERTAIN);
    assertThat(request("open").allowed()).isTrue();
    int own = 0;
    for (int i = 0; i < 20; i++) {
      own += request("own").allowed() ? 1 : 0;
    }
    assertThat(own).isEqualTo(5); // A quarter of 20.
    assertThat(request(Request.of("test", "strict", "never seen")).allowed()).isFalse();
    running = server();
    until(() -> reason("short") == Reason.WITHIN_LIMIT);
    assertThat(request("strict").allowed()).isTrue();
  }

  @Test
  void lease_isSpentWithoutTheServer() throws Exception {
    for (int i = 0; i < 600; i++) { // Leases of 1, 2, 4, ... 512: some 400 are left of the last.
      Answer unused = request("hot");
    }
    running.close();
    until(() -> reason("strict") == Reason.UNCERTAIN); // The loss is noticed.
    long before = client.metrics().admittedLocally();
    for (int i = 0; i < 50; i++) {
      assertThat(request("hot").reason()).isEqualTo(Reason.WITHIN_LIMIT);
    }
    assertThat(client.metrics().admittedLocally() - before).isEqualTo(50);
  }

  private Reason reason(String key) {
    try {
      return request(key).reason();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void middleware_takesTheClientAsItIs() throws Exception {
    RequestLimiter limiter =
        RequestLimiter.builder(client).domain("test").descriptor("strict={ip}").build();
    for (int i = 0; i < 6; i++) {
      CompletableFuture<Verdict> verdict = new CompletableFuture<>();
      limiter.decide(new View(), verdict::complete);
      assertThat(verdict.get(30, TimeUnit.SECONDS).passes()).isEqualTo(i < 5);
    }
  }

  private record View() implements RequestView {
    @Override
    public String peer() {
      return "203.0.113.7";
    }

    @Override
    public List<String> headers(String name) {
      return List.of();
    }

    @Override
    public String method() {
      return "GET";
    }

    @Override
    public String path() {
      return "/";
    }
  }

  @Test
  void envoysProtocol_decidesWithoutLeases() throws Exception {
    try (WeirClient envoy =
        WeirClient.builder("127.0.0.1:" + port).dialect(Dialect.ENVOY).deadline(LONG).build()) {
      assertThat(envoy.awaitAvailable(LONG)).isTrue();
      for (int i = 0; i < 8; i++) {
        CompletableFuture<Answer> answer = new CompletableFuture<>();
        envoy.decide(of("strict"), answer::complete);
        assertThat(answer.get(30, TimeUnit.SECONDS).allowed()).isEqualTo(i < 5);
      }
      assertThat(envoy.metrics().leases()).isZero();
      assertThat(envoy.metrics().refusedLocally()).isEqualTo(2);
    }
  }
}
