package dev.weir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.protocol.envoy.RateLimitResponse;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A test of what only a separate process can show: a small heap, few descriptors, cold code. */
class ServeProcessTest {
  @TempDir private Path folder;

  /** A server in a process whose other threads want all the processors. */
  static final class BusyServe {
    private static final int BUSY = Runtime.getRuntime().availableProcessors();

    private BusyServe() {}

    public static void main(String[] arguments) {
      for (int i = 0; i < BUSY; i++) {
        Thread busy =
            new Thread(
                () -> {
                  while (true) {
                    Thread.onSpinWait();
                  }
                });
        busy.setDaemon(true);
        busy.start();
      }
      Main.main(arguments);
    }
  }

  /**
   * Tests that the first request is in time: with such a short wait, loading its classes alone
   * would make it late.
   */
  @Test
  @Timeout(300)
  void firstRequestOfAColdAndStarvedServer_isDecidedByEveryDoor() throws Exception {
    try (Served served =
        Served.serve(List.of(), List.of(), BusyServe.class, "--max-wait", "10ms")) {
      HttpResponse<String> answer = served.check(HttpClient.Version.HTTP_1_1);
      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
      assertThat(answer.body()).contains("\"reason\":\"WITHIN_LIMIT\"");
      try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), served.respPort())) {
        BufferedReader replies =
            new BufferedReader(
                new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
        socket
            .getOutputStream()
            .write("CL.THROTTLE k 1 1 60\r\n".getBytes(StandardCharsets.US_ASCII));
        assertThat(replies.readLine()).isEqualTo("*5");
      }
      assertThat(served.checkOverGrpc()).isEqualTo(RateLimitResponse.Code.OK);
      assertThat(served.metrics())
          .contains("weir_overloaded_total 0.0\n", "weir_throttle_overloaded_total 0.0\n");
    }
  }

  /** Tests the end by SIGTERM of a server whose folder of counts is there, and one whose is not. */
  @Test
  @Timeout(300)
  void exitStatus_saysWhetherTheCountsWereSaved() throws Exception {
    for (boolean lost : new boolean[] {false, true}) {
      Path state = folder.resolve("state-" + lost);
      try (Served served =
          Served.serve(List.of(), List.of(), Main.class, "--state-dir", state.toString())) {
        assertThat(served.check(HttpClient.Version.HTTP_1_1).statusCode()).isEqualTo(200);
        if (lost) {
          Files.move(state, folder.resolve("moved"));
          Files.createFile(state);
        }
        served.process().terminate();
        assertThat(served.process().endsWithin(Duration.ofMinutes(1))).isTrue();
        assertThat(served.process().exitStatus()).isEqualTo(lost ? Main.NOT_WHOLE : 0);
        assertThat(served.await("stopped")).contains(lost ? "stopped, except counts" : "stopped");
      }
    }
  }

  private Path rules(String version, int files, int rulesEach) throws Exception {
    Path made = Files.createDirectory(folder.resolve(version));
    for (int file = 0; file < files; file++) {
      StringBuilder text = new StringBuilder("domain: d" + file + "\ndescriptors:\n");
      for (int i = 0; i < rulesEach; i++) {
        text.append("  - key: k").append(i);
        text.append("\n    rate_limit: {unit: minute, requests_per_unit: 5}\n");
      }
      Files.writeString(made.resolve("r" + file + ".yaml"), text);
    }
    return made;
  }

  private void swap(Path link, Path target) throws Exception {
    Path next = Files.createSymbolicLink(folder.resolve("next"), target);
    Files.move(next, link, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  /** Tests 12 files with 100,800 rules, which took 340 MB. */
  @Test
  @Timeout(300)
  void moreRulesThanASmallHeapHolds_areRefusedAndLeaveNothingBehind() throws Exception {
    Path link = Files.createSymbolicLink(folder.resolve("rules"), rules("v1", 1, 2));
    Path tooMany = rules("v2", 12, 8_400);
    try (Served served =
        Served.serve(List.of(), List.of("-Xmx128m"), Main.class, "--rules", link.toString())) {
      int before = served.metrics().length();
      swap(link, tooMany);
      served.await("rules: errors; revision 1 stays in force");
      assertThat(served.await("descriptors: "))
          .contains("more than there is memory for", "(expected: at most 42 MiB, a third of");
      assertThat(served.metrics())
          .contains("weir_rule_reload_failures_total 1.0\n", "weir_rule_revision 1.0\n")
          .contains("weir_internal_errors_total{loop=\"rules\"} 0.0\n")
          .hasSizeLessThan(before + 1_000);
      swap(link, rules("v3", 3, 3_000));
      served.await("rules: revision 2 in force");
      swap(link, rules("v4", 1, 1));
      served.await("rules: revision 3 in force");
    }
  }

  private static final Pattern FAILURES =
      Pattern.compile("(?m)^weir_accept_failures_total (\\S+)$");

  private static long failures(Served served) throws Exception {
    Matcher found = FAILURES.matcher(served.metrics());
    assertThat(found.find()).isTrue();
    return (long) Double.parseDouble(found.group(1));
  }

  @Test
  @Timeout(300)
  void wantOfDescriptors_isSaidAndCountedForEveryDoor() throws Exception {
    List<String> few = List.of("sh", "-c", "ulimit -n 400 && exec \"$0\" \"$@\"");
    try (Served served = Served.serve(few, List.of(), Main.class)) {
      assertThat(failures(served)).isZero(); // The connection stays open for the next question.
      for (int port : new int[] {served.httpPort(), served.grpcPort(), served.respPort()}) {
        long before = failures(served);
        List<Socket> sockets = new ArrayList<>();
        try {
          for (int i = 0; i < 450; i++) {
            sockets.add(new Socket(InetAddress.getLoopbackAddress(), port));
          }
          long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
          while (failures(served) == before && System.nanoTime() < deadline) {
            Thread.onSpinWait();
          }
          assertThat(failures(served)).isGreaterThan(before);
        } finally {
          for (Socket socket : sockets) {
            socket.close();
          }
        }
      }
      assertThat(served.await("connections cannot be accepted"))
          .contains("too many open files (expected: fewer than 400, the limit of this process;");
    }
  }
}
