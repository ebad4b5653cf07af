package dev.weir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Ticker;
import dev.weir.load.Door;
import dev.weir.load.KeyDraw;
import dev.weir.load.LoadGenerator;
import dev.weir.load.LoadPlan;
import dev.weir.load.LoadResult;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A test of load over Redis's protocol, against a small server that speaks it. */
class BenchRespTest {
  private static Ran bench(RespStub stub, String door, String... more) {
    String[] fixed = {
      "bench",
      "--door",
      door,
      "--target",
      "127.0.0.1:" + stub.port(),
      "--connections",
      "2",
      "--duration",
      "200ms",
      "--warmup",
      "0s",
      "--json",
      "-"
    };
    String[] all = new String[fixed.length + more.length];
    System.arraycopy(fixed, 0, all, 0, fixed.length);
    System.arraycopy(more, 0, all, fixed.length, more.length);
    return Ran.weir(all);
  }

  private static LoadPlan plan(int port, Door door, String hours) {
    return new LoadPlan(
        door,
        List.of(
            new LoadPlan.Target(
                "127.0.0.1", new InetSocketAddress(InetAddress.getLoopbackAddress(), port))),
        new LoadPlan.Connections(1, 4, LoadPlan.Loops.woken()),
        LoadPlan.Timing.bySecond(0, 0, TimeUnit.HOURS.toNanos(Long.parseLong(hours))),
        new LoadPlan.Requests(
            "demo",
            "user",
            new LoadPlan.Throttle(9, 10, 60),
            new LoadPlan.Keys(10, KeyDraw.Kind.UNIFORM, 0)),
        LoadPlan.Access.OPEN);
  }

  @Test
  void throttle_countsWhatTheServerSays() throws Exception {
    try (RespStub stub = RespStub.start(RespStub::throttle)) {
      Ran ran = bench(stub, "resp", "--keys", "1", "--throttle", "4,100,60");

      assertThat(ran.status()).as(ran.err()).isZero();
      BenchJson json = BenchJson.of(ran.out());
      assertThat(json.number("allowed")).isEqualTo(5);
      assertThat(json.number("denied")).isEqualTo(stub.commands.get() - 5).isPositive();
      assertThat(json.number("errors")).isZero();
      assertThat(stub.byKey).containsOnlyKeys("demo:user:000000000");
    }
  }

  @Test
  void exhaustedShare_goesToKeysThatOneRequestUsesUp() throws Exception {
    try (RespStub stub = RespStub.start(RespStub::throttle)) {
      BenchJson json =
          BenchJson.of(
              bench(stub, "resp", "--keys", "1000", "--denied", "50%", "--in-flight", "200").out());

      int keys = 0;
      int asked = 0;
      for (int i = 0; i < KeyDraw.EXHAUSTED_KEYS; i++) {
        AtomicInteger count = stub.byKey.get("demo:user:00000100" + i);
        keys += count == null ? 0 : 1;
        asked += count == null ? 0 : count.get();
      }
      assertThat(json.number("denied")).isEqualTo(asked - keys);
      assertThat((double) asked / stub.commands.get()).isBetween(0.2, 0.8);
    }
  }

  @Test
  void rules_areAskedWithDomainPermitsAndEntry() throws Exception {
    Set<List<String>> asked = ConcurrentHashMap.newKeySet();
    try (RespStub stub =
        RespStub.start(
            (self, command) -> {
              asked.add(command);
              return "*7\r\n:1\r\n:3\r\n:2\r\n:0\r\n:60000\r\n$9\r\ndemo.user\r\n$12\r\nWITHIN_LIMIT\r\n";
            })) {
      Ran ran = bench(stub, "resp-rules", "--keys", "1", "--domain", "a b", "--descriptor", "ü");

      assertThat(asked).containsExactly(List.of("WEIR.CHECK", "a b", "1", "ü", "000000000"));
      BenchJson json = BenchJson.of(ran.out());
      assertThat(json.number("allowed")).isEqualTo(stub.commands.get()).isPositive();
    }
  }

  @Test
  void errorReplies_areCountedByKind() throws Exception {
    try (RespStub stub =
        RespStub.start((self, command) -> "-ERR unknown command 'CL.THROTTLE'\r\n")) {
      Ran ran = bench(stub, "resp");

      assertThat(ran.status()).isEqualTo(3);
      BenchJson json = BenchJson.of(ran.out());
      assertThat(json.number("errors")).isEqualTo(stub.commands.get()).isPositive();
      assertThat(json.fields("errors_by_kind"))
          .containsExactly("resp ERR unknown command 'CL.THROTTLE'");
      assertThat(json.isNull("latency_us")).isTrue();
    }
  }

  @Test
  void nonsense_endsTheConnectionAndIsCounted() throws Exception {
    AtomicInteger left = new AtomicInteger(1);
    CompletableFuture<LoadGenerator> load = new CompletableFuture<>();
    try (RespStub stub =
        RespStub.start(
            (self, command) -> {
              if (left.getAndDecrement() > 0) {
                return "HTTP/1.1 400 Bad Request\r\n\r\n";
              }
              load.join().stop();
              return RespStub.array(1, 1, 1, 1, 1);
            })) {
      load.complete(new LoadGenerator(plan(stub.port(), Door.RESP_RULES, "1"), Ticker.system()));

      LoadResult result = load.join().run((at, of, latest) -> {});

      assertThat(result.counts().errors()).containsEntry("unreadable answer", 4L);
    }
  }

  @Test
  void stop_endsEarlyAndKeepsWhatWasMeasured() throws Exception {
    AtomicInteger left = new AtomicInteger(1_000);
    CompletableFuture<LoadGenerator> load = new CompletableFuture<>();
    try (RespStub stub =
        RespStub.start(
            (self, command) -> {
              if (left.decrementAndGet() == 0) {
                load.join().stop();
              }
              return RespStub.array(0, 10, 9, -1, 1);
            })) {
      load.complete(new LoadGenerator(plan(stub.port(), Door.RESP, "1"), Ticker.system()));

      LoadResult result = load.join().run((at, of, latest) -> {});

      assertThat(result.endedEarly()).isTrue();
      assertThat(result.counts().allowed()).isGreaterThanOrEqualTo(1_000);
      assertThat(result.unfinished()).isZero();
      assertThat(result.latency().getTotalCount()).isEqualTo(result.counts().answered());
    }
  }

  @Test
  void lostConnection_isOpenedAgain() throws Exception {
    AtomicInteger asked = new AtomicInteger();
    CompletableFuture<LoadGenerator> load = new CompletableFuture<>();
    try (RespStub stub =
        RespStub.start(
            (self, command) -> {
              int number = asked.incrementAndGet();
              if (number == 200) {
                load.join().stop();
              }
              return number == 100 ? RespStub.HANG_UP : RespStub.array(0, 10, 9, -1, 1);
            })) {
      load.complete(new LoadGenerator(plan(stub.port(), Door.RESP, "1"), Ticker.system()));

      LoadResult result = load.join().run((at, of, latest) -> {});

      assertThat(result.counts().lostConnections()).isEqualTo(1);
      assertThat(result.counts().errors()).containsOnlyKeys("connection closed");
      assertThat(result.counts().answered()).isGreaterThanOrEqualTo(196);
    }
  }

  @Test
  void token_isShownFirst(@TempDir Path folder) throws Exception {
    Path token = Files.writeString(folder.resolve("token"), "s3cret\n");
    Set<String> shown = ConcurrentHashMap.newKeySet();
    try (RespStub stub =
        RespStub.start(
            (self, command) -> {
              if (command.get(0).equals("AUTH")) {
                shown.add(command.get(1));
                return "+OK\r\n";
              }
              return RespStub.array(0, 10, 9, -1, 1);
            })) {
      Ran ran = bench(stub, "resp", "--token-file", token.toString());

      assertThat(ran.status()).isZero();
      assertThat(shown).containsExactly("s3cret");
      assertThat(ran.out()).doesNotContain("s3cret");
    }
    try (RespStub stub = RespStub.start((self, command) -> "-WRONGPASS no such token\r\n")) {
      Ran ran = bench(stub, "resp", "--token-file", token.toString());

      assertThat(ran.status()).isEqualTo(3);
      assertThat(ran.err()).contains("127.0.0.1:" + stub.port(), "AUTH: WRONGPASS no such token");
    }
  }
}
