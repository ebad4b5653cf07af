package dev.weir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code weir cluster demo} as a process of its own, with processes of its own. */
class ClusterDemoTest {
  private static final Pattern HTTP = Pattern.compile("ready: http on (127\\.0\\.0\\.1:\\d+)");

  @TempDir private Path folder;

  @Test
  @Timeout(300)
  void member_isStartedAgainWhenKilled_andGoneWithTheDemo() throws Exception {
    List<String> options = List.of("-Djava.io.tmpdir=" + folder);
    try (Served demo =
        Served.start(List.of(), options, Main.class, "cluster", "demo", "--members", "1")) {
      Matcher ready = HTTP.matcher(demo.await("ready: "));
      assertThat(ready.find()).isTrue();
      String url = "http://" + ready.group(1);
      assertThat(Ran.weir("cluster", "status", "--url", url, "--wait-healthy", "1m").status())
          .isZero();

      ProcessHandle member = demo.process().children().findFirst().orElseThrow();
      assertThat(member.destroyForcibly()).isTrue();
      demo.await("a is started again from its folder");
      demo.await("ready: ");
      assertThat(Ran.weir("cluster", "status", "--url", url, "--wait-healthy", "1m").status())
          .isZero();

      ProcessHandle again = demo.process().children().findFirst().orElseThrow();
      demo.process().destroy(); // As Ctrl-C does.
      assertThat(demo.process().waitFor(60, TimeUnit.SECONDS)).isTrue();
      assertThat(again.isAlive()).isFalse();
    }
    try (var left = Files.newDirectoryStream(folder, "weir-cluster-demo-*")) {
      assertThat(left).isEmpty();
    }
  }
}
