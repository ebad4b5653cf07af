package dev.weir.siege;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.testkit.ChildProcess;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Seats whose holders are killed, and whose server is. */
@Tag("siege")
class SeatSiegeTest {
  private static final int SEATS = 1_000;
  private static final int HOLDERS = 4;
  private static final int ROUNDS = 3;
  private static final Duration HOLD = Duration.ofSeconds(3);
  private static final String RULES =
      """
      domain: siege
      descriptors:
        - key: seat
          rate_limit: {concurrency: %d, hold: 3s}
        - key: long
          rate_limit: {concurrency: 100, hold: 1h}
      """;

  private static final Pattern REMAINING = Pattern.compile("\"remaining\":(\\d+)");
  private static final Pattern SEAT = Pattern.compile("\"seat\":\"([^\"]+)\"");

  @TempDir private Path folder;
  private final HttpClient http = HttpClient.newHttpClient();
  private ServerProcess server;

  @BeforeEach
  void start() throws IOException {
    Path rules = Files.writeString(folder.resolve("rules.yaml"), RULES.formatted(SEATS));
    Path key = Files.writeString(folder.resolve("key"), "0123456789abcdef0123456789abcdef\n");
    server =
        ServerProcess.start(
            folder.resolve("server" + System.nanoTime() + ".log"),
            null,
            "--rules",
            rules.toString(),
            "--state-dir",
            folder.resolve("state").toString(),
            "--hold-key-file",
            key.toString());
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private String post(String path, String body) throws Exception {
    URI uri = URI.create("http://127.0.0.1:" + server.target().http() + path);
    HttpRequest request =
        HttpRequest.newBuilder(uri)
            .header("content-type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
    return http.send(request, HttpResponse.BodyHandlers.ofString()).body();
  }

  private static String check(String key, int permits) {
    return "{\"domain\":\"siege\",\"permits\":"
        + permits
        + ",\"descriptor\":{\""
        + key
        + "\":\"one\"}}";
  }

  private int left(String key) throws Exception {
    Matcher left = REMAINING.matcher(post("/v1/check", check(key, 0)));
    assertThat(left.find()).isTrue();
    return Integer.parseInt(left.group(1));
  }

  /** Waits until so many seats are left; returns how long that took. */
  private Duration awaitLeft(int seats) throws Exception {
    long began = System.nanoTime();
    int left = left(SeatHolder.KEY);
    while (left != seats) {
      assertThat(System.nanoTime() - began).as("%d left", left).isLessThan(60_000_000_000L);
      pause();
      left = left(SeatHolder.KEY);
    }
    return Duration.ofNanos(System.nanoTime() - began);
  }

  /** Leaves the processors to the processes under siege for a moment. */
  private static void pause() throws Exception {
    Object unused = new CompletableFuture<>().completeOnTimeout(1, 20, TimeUnit.MILLISECONDS).get();
  }

  /** All seats of killed holders are free within the hold and a second, and not before a third. */
  @Test
  void holdersThatAreKilled_loseTheirSeatsWithinTheHold() throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      List<ChildProcess> holders = new ArrayList<>();
      try {
        for (int i = 0; i < HOLDERS; i++) {
          holders.add(
              ChildProcess.java(
                      SeatHolder.class,
                      Integer.toString(server.target().grpc()),
                      Integer.toString(SEATS / HOLDERS))
                  .options("-Xmx64m")
                  .options(ServerProcess.SMALL)
                  .start());
        }
        for (ChildProcess each : holders) {
          String unused = each.await("holding");
        }
        long began = System.nanoTime();
        while (System.nanoTime() - began < 2 * HOLD.toNanos()) {
          assertThat(left(SeatHolder.KEY)).as("seats that are renewed").isZero();
          pause();
        }
      } finally {
        holders.forEach(ChildProcess::kill);
      }
      Duration back = awaitLeft(SEATS);
      System.out.printf("SeatSiegeTest: %d seats are back after %d ms%n", SEATS, back.toMillis());
      assertThat(back).isBetween(HOLD.dividedBy(2), HOLD.plusSeconds(1));
    }
  }

  /** The seats of a server that was killed are those of the next one on its folder. */
  @Test
  void serverThatIsKilled_hasItsSeatsAfterwards() throws Exception {
    List<String> seats = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      Matcher seat = SEAT.matcher(post("/v1/acquire", check("long", 1)));
      assertThat(seat.find()).isTrue();
      seats.add(seat.group(1));
      if (i == 50) {
        server.signal("KILL");
        assertThat(server.endsWithin(Duration.ofSeconds(30))).isTrue();
        start();
      }
    }
    server.signal("KILL");
    assertThat(server.endsWithin(Duration.ofSeconds(30))).isTrue();
    start();
    assertThat(left("long")).isZero();
    String all = "{\"seat\":[\"" + String.join("\",\"", seats) + "\"]}";
    assertThat(post("/v1/renew", all)).contains("DONE").doesNotContain("LOST", "UNCERTAIN");
    assertThat(left("long")).isZero();
    assertThat(post("/v1/release", all)).contains("DONE").doesNotContain("LOST", "UNCERTAIN");
    assertThat(left("long")).isEqualTo(100);
    assertThat(post("/v1/release", all)).contains("LOST").doesNotContain("DONE", "UNCERTAIN");
    assertThat(left("long")).isEqualTo(100);
  }
}
