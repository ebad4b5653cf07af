package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Charges;
import dev.weir.ForwardingStore;
import dev.weir.Ticker;
import dev.weir.server.internal.log.FewLines;
import dev.weir.shared.SharedMetrics;
import dev.weir.testkit.LateStore;
import dev.weir.wire.testkit.RespClient;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests of all ports with a store that answers later, on a thread of its own, the last request
 * first.
 */
class LateAnswersTest {
  private static final SharedMetrics METRICS =
      new SharedMetrics("redis", true, 0, 0, 0, 0, 0, Map.of(), 0, 0, 0, 0, Map.of());

  /** The answer of each port to a request for one permit of a thousand. */
  private static final Map<String, String> GRANTED =
      Map.of(
          "/v1/check", "200 retry-after=none {\"allowed\":true,\"revision\":1,",
          "/v1/check/batch", "200 retry-after=none {\"revision\":1,\"results\":[{\"allowed\":true,",
          "/json", "200 retry-after=none {\"overallCode\":\"OK\"",
          "ShouldRateLimit", "overall_code: OK ",
          "CheckBatch", "revision: 1 results { allowed: true ",
          "CheckStream", "revision: 1 results { allowed: true ",
          "WEIR.CHECK", "*7|:1|:1000|");

  @TempDir private Path folder;
  private final LateStore store = new LateStore();
  private final Together asked = new Together(store);
  private final CountDownLatch stopAnswering = new CountDownLatch(1);
  private RunningServer running;
  private EveryDoor doors;
  private LogCapture log;

  @BeforeEach
  void start() throws Exception {
    SharedStoreConnection shared =
        new SharedStoreConnection(
            asked,
            new StoreProbe(() -> METRICS, () -> ""),
            "late",
            "shared",
            new FewLines(Ticker.system()),
            new SharedStoreConnection.Warnings(new FewLines(Ticker.system())));
    log = new LogCapture();
    running = RunningServer.start(folder, shared, "drain-delay", "0s", "throttle-store", "local");
    doors = new EveryDoor(running.server);
  }

  @AfterEach
  void stop() throws Exception {
    stopAnswering.countDown();
    doors.close();
    running.close();
    log.close();
  }

  /**
   * A store that counts the requests that come by themselves, not together with others that
   * arrived.
   */
  private static final class Together extends ForwardingStore<LateStore> {
    private final ThreadLocal<Boolean> together = ThreadLocal.withInitial(() -> false);
    private final AtomicInteger alone = new AtomicInteger();

    Together(LateStore store) {
      super(store);
    }

    @Override
    public void together(Runnable asks) {
      boolean before = together.get();
      together.set(true);
      try {
        asks.run();
      } finally {
        together.set(before);
      }
    }

    @Override
    public void decide(Charges charges, long nowNanos, Consumer<? super Charges> done) {
      alone.addAndGet(together.get() ? 0 : 1);
      super.decide(charges, nowNanos, done);
    }
  }

  @Test
  void doorsThatTakeSeveralRequests_askForThemTogether() throws Exception {
    doors.request("tenant", "a");
    awaitDue(EveryDoor.COUNT);
    assertThat(asked.alone).as("/v1/check, /json and ShouldRateLimit").hasValue(3);
  }

  private static String granted(String door) {
    return Objects.requireNonNull(GRANTED.get(door));
  }

  private void awaitDue(int questions) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (store.due() < questions && System.nanoTime() < deadline) {
      Thread.onSpinWait();
    }
    assertThat(store.due()).isEqualTo(questions);
  }

  private static String get(CompletableFuture<String> answer) throws Exception {
    return answer.get(30, TimeUnit.SECONDS);
  }

  @Test
  void everyDoor_answersWhenTheStoreDoes() throws Exception {
    List<Map<String, CompletableFuture<String>>> asked = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      asked.add(doors.request("tenant", "t" + i));
    }
    awaitDue(3 * EveryDoor.COUNT);
    asked.forEach(answers -> assertThat(answers.values()).noneMatch(CompletableFuture::isDone));
    assertThat(store.answer()).isEqualTo(3 * EveryDoor.COUNT);
    for (Map<String, CompletableFuture<String>> answers : asked) {
      for (Map.Entry<String, CompletableFuture<String>> each : answers.entrySet()) {
        assertThat(get(each.getValue())).as(each.getKey()).startsWith(granted(each.getKey()));
      }
    }
  }

  @Test
  void loops_goOnWhileTheStoreTakesItsTime() throws Exception {
    int loops = Runtime.getRuntime().availableProcessors();
    List<Map<String, CompletableFuture<String>>> asked = new ArrayList<>();
    for (int i = 0; i < 4 * loops; i++) {
      asked.add(doors.request("tenant", "u" + i));
    }
    awaitDue(4 * loops * EveryDoor.COUNT);
    ManagedChannel channel =
        Grpc.newChannelBuilderForAddress(
                "127.0.0.1", running.server.grpcPort(), InsecureChannelCredentials.create())
            .build();
    try {
      for (int i = 0; i < 4 * loops; i++) {
        assertThat(running.get("/healthcheck").statusCode()).isEqualTo(200);
        assertThat(
                HealthGrpc.newBlockingStub(channel)
                    .withDeadlineAfter(30, TimeUnit.SECONDS)
                    .check(HealthCheckRequest.getDefaultInstance())
                    .getStatus())
            .isEqualTo(ServingStatus.SERVING);
        try (RespClient client = new RespClient(running.server.respPort())) {
          assertThat(client.exchange("PING")).isEqualTo("+PONG|");
          assertThat(client.throttle("CL.THROTTLE", "k" + i, "1", "1", "60"))
              .as("--throttle-store is local")
              .startsWith(0L, 2L, 1L);
        }
      }
    } finally {
      channel.shutdownNow();
    }
    assertThat(store.due()).isEqualTo(4 * loops * EveryDoor.COUNT);
    store.answer();
    for (Map<String, CompletableFuture<String>> answers : asked) {
      for (Map.Entry<String, CompletableFuture<String>> each : answers.entrySet()) {
        assertThat(get(each.getValue())).startsWith(granted(each.getKey()));
      }
    }
  }

  @Test
  void commandsBehindOneThatWaits_keepTheirOrder() throws Exception {
    try (RespClient client = new RespClient(running.server.respPort())) {
      client
          .command("PING", "first")
          .command("WEIR.CHECK", "test", "1", "user", "a")
          .command("PING", "second")
          .command("WEIR.CHECK", "test", "1", "user", "a")
          .command("CL.THROTTLE", "k", "1", "1", "60")
          .command("WEIR.CHECK", "test", "1", "allowed", "a");
      assertThat(client.reply()).isEqualTo("$5|first|");
      awaitDue(1);
      CompletableFuture<Void> store = answerUntilToldToStop();
      assertThat(client.reply()).startsWith("*7|:1|:3|:2|");
      assertThat(client.reply()).isEqualTo("$6|second|");
      assertThat(client.reply()).startsWith("*7|:1|:3|:1|");
      assertThat(client.reply()).startsWith("*5|:0|:2|:1|");
      assertThat(client.reply()).isEqualTo("*7|:1|:-1|:-1|:0|:0|$0||$8|NO_LIMIT|");
      stopAnswering.countDown();
      store.get(30, TimeUnit.SECONDS);
    }
  }

  private CompletableFuture<Void> answerUntilToldToStop() {
    return CompletableFuture.runAsync(
        () -> {
          while (stopAnswering.getCount() > 0) {
            store.answer();
            Thread.onSpinWait();
          }
        });
  }

  @Test
  void callersThatAreGone_disturbNobody() throws Exception {
    doors.request("tenant", "a");
    awaitDue(EveryDoor.COUNT);
    doors.close();
    store.answer();
    CompletableFuture<Integer> next =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return running.check("user", "b").statusCode();
              } catch (Exception e) {
                throw new IllegalStateException(e);
              }
            });
    awaitDue(1);
    store.answer();
    assertThat(next.get(30, TimeUnit.SECONDS)).isEqualTo(200);
  }

  @Test
  void drain_waitsForTheStore() throws Exception {
    Map<String, CompletableFuture<String>> asked = doors.request("tenant", "a");
    awaitDue(EveryDoor.COUNT);
    asked.remove("CheckStream"); // The answers on streams are not awaited.
    CompletableFuture<Void> drained = drain();
    log.await("no new requests");
    store.answer();
    for (Map.Entry<String, CompletableFuture<String>> each : asked.entrySet()) {
      assertThat(get(each.getValue())).as(each.getKey()).startsWith(granted(each.getKey()));
    }
    drained.get(30, TimeUnit.SECONDS);
    new ServerSocket(running.server.respPort(), 1, InetAddress.getLoopbackAddress()).close();
  }

  @Test
  void drain_closesIdleRedisClientsAndWaitsForTheOthers() throws Exception {
    try (RespClient idle = new RespClient(running.server.respPort());
        RespClient waiting = new RespClient(running.server.respPort())) {
      assertThat(idle.exchange("PING")).isEqualTo("+PONG|");
      waiting.send("WEIR.CHECK test 1 tenant a\r\nPING\r\n");
      awaitDue(1);
      CompletableFuture<Void> drained = drain();
      assertThat(idle.closed()).isTrue();
      store.answer();
      assertThat(waiting.reply()).startsWith(granted("WEIR.CHECK"));
      assertThat(waiting.reply()).isEqualTo("+PONG|");
      assertThat(waiting.closed()).isTrue();
      drained.get(30, TimeUnit.SECONDS);
    }
  }

  /** The server still waits for HTTP then. */
  @Test
  void drain_readsNoMoreCommandsWhileOtherPortsAreBusy() throws Exception {
    try (RespClient idle = new RespClient(running.server.respPort())) {
      assertThat(idle.exchange("PING")).isEqualTo("+PONG|");
      CompletableFuture<Integer> busy =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  return running.check("tenant", "a").statusCode();
                } catch (Exception e) {
                  throw new IllegalStateException(e);
                }
              });
      awaitDue(1);
      CompletableFuture<Void> drained = drain();
      assertThat(idle.closed()).isTrue();
      assertThat(drained).isNotDone();
      store.answer();
      assertThat(busy.get(30, TimeUnit.SECONDS)).isEqualTo(200);
      drained.get(30, TimeUnit.SECONDS);
    }
  }

  private CompletableFuture<Void> drain() {
    return CompletableFuture.runAsync(
        () -> {
          try {
            running.server.drain(Duration.ofSeconds(30));
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
        });
  }

  @Test
  void close_cutsOffWhatTheStoreHasNotAnswered() throws Exception {
    Map<String, CompletableFuture<String>> asked = doors.request("tenant", "a");
    awaitDue(EveryDoor.COUNT);
    running.close();
    assertThat(store.answer()).as("late answers are dropped").isEqualTo(EveryDoor.COUNT);
    for (Map.Entry<String, CompletableFuture<String>> each : asked.entrySet()) {
      assertThat(each.getValue())
          .as(each.getKey())
          .failsWithin(Duration.ofSeconds(30))
          .withThrowableOfType(ExecutionException.class);
    }
  }
}
