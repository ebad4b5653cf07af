package dev.weir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Ticker;
import dev.weir.testkit.ChildProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A test of {@code weir cluster demo}, under its other name, as a separate process with its own
 * processes.
 */
@Tag("live")
class ClusterDemoTest {
  private static final Pattern HTTP = Pattern.compile("ready: http on (127\\.0\\.0\\.1:\\d+)");

  @TempDir private Path folder;

  @Test
  @Timeout(300)
  void member_isStartedAgainWhenKilled_andGoneWithTheDemo() throws Exception {
    try (ChildProcess demo =
        ChildProcess.java(Main.class, "demo", "cluster", "--members", "1")
            .options("-Djava.io.tmpdir=" + folder)
            .errorsOnly()
            .start()) {
      String url = "http://" + demo.await(HTTP).group(1);
      assertThat(Ran.weir("cluster", "status", "--url", url, "--wait-healthy", "1m").status())
          .isZero();
      awaitLevel(url); // A member that starts again waits longer before it raises the level.

      ProcessHandle member = demo.handle().children().findFirst().orElseThrow();
      assertThat(member.destroyForcibly()).isTrue();
      demo.await("a is started again from its folder");
      demo.await("ready: ");
      assertThat(Ran.weir("cluster", "status", "--url", url, "--wait-healthy", "1m").status())
          .isZero();

      changes(url);

      ProcessHandle again = demo.handle().children().findFirst().orElseThrow();
      demo.terminate(); // Has the effect of Ctrl-C.
      assertThat(demo.endsWithin(Duration.ofMinutes(1))).isTrue();
      assertThat(again.isAlive()).isFalse();
    }
    try (var left = Files.newDirectoryStream(folder, "weir-cluster-demo-*")) {
      assertThat(left).isEmpty();
    }
  }

  /** Waits for the level at which there can be more groups. */
  private static void awaitLevel(String url) {
    long begun = Ticker.system().nanos();
    Ran raised = Ran.weir("cluster", "status", "--url", url);
    while (raised.out().contains(", level 1,")
        && Ticker.system().nanos() - begun < Duration.ofMinutes(1).toNanos()) {
      raised = Ran.weir("cluster", "status", "--url", url);
    }
    assertThat(raised.out()).doesNotContain(", level 1,");
  }

  /** Checks the commands that change members, against a real one. */
  private static void changes(String url) {
    Ran dry = Ran.weir("cluster", "rebalance", "--dry-run", "--url", url);
    assertThat(dry.status()).as(dry.err()).isZero();
    assertThat(dry.out()).contains("every replica and every slot is where it should be");
    Ran led = Ran.weir("cluster", "transfer", "0", "a", "--url", url);
    assertThat(led.status()).as(led.err()).isZero();
    assertThat(led.out()).contains("a leads group 0");
    Ran elsewhere = Ran.weir("cluster", "transfer", "7", "a", "--url", url);
    assertThat(elsewhere.err()).contains("group 7 has no leader");
    moreGroups(url);
    Ran last = Ran.weir("cluster", "remove", "a", "--url", url);
    assertThat(last.status()).isEqualTo(3);
    assertThat(last.err()).contains("a is the only member");
  }

  /** Checks that half of the keys move to another group, and that every key is in one. */
  private static void moreGroups(String url) {
    Ran more = Ran.weir("cluster", "groups", "2", "--url", url);
    assertThat(more.status()).as(more.err()).isZero();
    assertThat(more.out()).contains("there are 2 groups");
    long end = Ticker.system().nanos() + Duration.ofMinutes(1).toNanos();
    Ran slots = Ran.weir("cluster", "slots", "--url", url);
    while (slots.status() == 1 && Ticker.system().nanos() - end < 0) {
      slots = Ran.weir("cluster", "slots", "--url", url);
    }
    assertThat(slots.status()).as(slots.out()).isZero();
    assertThat(slots.out()).containsPattern("0 +2033 +a").containsPattern("1 +2063 +a");
    Ran fewer = Ran.weir("cluster", "groups", "1", "--url", url);
    assertThat(fewer.status()).isEqualTo(3);
    assertThat(fewer.err()).contains("groups: 1 (expected: 2..256");
  }
}
