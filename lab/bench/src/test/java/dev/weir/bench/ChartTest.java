package dev.weir.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.bench.Reading.Scenario;
import java.io.StringReader;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.xml.sax.InputSource;

class ChartTest {
  private static Reading reading(String contender, int keys, String draw, double value) {
    Scenario scenario = new Scenario(1, draw, keys, "all-allowed");
    return new Reading(contender, scenario, List.of(value), 0, "jvm");
  }

  @Test
  void eachContenderIsALine_withAPointForEachNumberOfKeys() throws Exception {
    Chart chart = new Chart();
    for (int keys = 1_000; keys <= 1_000_000; keys *= 10) {
      chart.add(reading("weir-token-bucket", keys, "uniform", 1e7 / keys));
      chart.add(reading("bucket4j", keys, "uniform", 0.7));
      chart.add(reading("bucket4j", keys, "zipf", 99));
      chart.add(reading("unknown", keys, "uniform", 99));
    }
    Document svg =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(new InputSource(new StringReader(chart.svg())));
    assertThat(svg.getElementsByTagName("path").getLength()).isEqualTo(2);
    assertThat(svg.getElementsByTagName("circle").getLength()).isEqualTo(8);
    assertThat(svg.getDocumentElement().getTextContent())
        .contains("Bucket4j, 1,000 keys: 0.70 million/s")
        .contains("Weir, String key, 1,000,000 keys: 10.00 million/s")
        .doesNotContain("99");
  }

  @Test
  void nothingToDraw_isSaid() {
    assertThatThrownBy(() -> new Chart().svg()).hasMessageContaining("nothing to draw");
  }
}
