package dev.weir.siege.soak;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.siege.guests.IdleConnections;
import dev.weir.siege.guests.UnfinishedRequests;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A test that the parts of a soak work, by a soak of a few seconds; its findings do not matter. */
@Tag("siege")
class SoakTest {
  private static final Soak.Plan PLAN =
      new Soak.Plan(
          Duration.ofSeconds(6),
          Duration.ofSeconds(2),
          Duration.ofMillis(500),
          Duration.ofSeconds(5),
          Duration.ofSeconds(60),
          List.of(UnfinishedRequests.HEADS, IdleConnections.RESP));

  @TempDir private Path folder;

  @Test
  void soak_measuresAndDraws_andEveryPromiseHolds() throws Exception {
    SoakReport report = new Soak(PLAN, folder, System.out::println).run();
    assertThat(report.broken()).isEmpty();
    assertThat(report.intervals().stream().flatMap(each -> each.events().stream()))
        .contains("1000 unfinished heads at server A", "Redis killed", "rules");
    assertThat(report.text())
        .contains(
            "| s | HTTP/s |", "denied OVER_LIMIT", "server B heap MiB", "Every promise held.");
    byte[] svg = new SoakChart(report.intervals()).svg().getBytes(StandardCharsets.UTF_8);
    assertThat(
            DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new ByteArrayInputStream(svg))
                .getElementsByTagName("path")
                .getLength())
        .isEqualTo(16);
  }
}
