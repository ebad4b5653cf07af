package dev.weir.traffic.internal.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.traffic.Read;
import java.util.Set;
import org.junit.jupiter.api.Test;

class W3cReaderTest {
  private static final String LOG =
      """
      #Version: 1.0
      #Fields: date time c-ip cs-method sc-status
      2026-11-27 06:14:49 192.0.2.1 GET 200
      #Fields: date time cs-method c-ip
      2026-11-27 06:14:50 POST 192.0.2.2
      #Fields: date c-ip cs-method sc-status
      2026-11-27 192.0.2.3 PUT 404
      """;

  @Test
  void furtherFields_changeTheOrderFromThereOn() throws Exception {
    assertThat(Read.all(W3cReader::new, LOG, "c-ip", "cs-method"))
        .containsExactly("3|192.0.2.1|GET", "5|192.0.2.2|POST", "7|192.0.2.3|PUT");
  }

  @Test
  void requiredColumnThatFurtherFieldsLack_isNamed() throws Exception {
    assertThat(Read.all(W3cReader::new, LOG, "time", "sc-status"))
        .containsExactly(
            "3|2026-11-27 06:14:49|200",
            "5! column \"sc-status\": not in the last #Fields before this line",
            "7! column \"time\": not in the last #Fields before this line");
  }

  @Test
  void otherColumnThatFurtherFieldsLack_isEmpty() throws Exception {
    assertThat(Read.all(W3cReader::new, LOG, Set.of("time"), "time", "c-ip", "sc-status"))
        .containsExactly(
            "3|2026-11-27 06:14:49|192.0.2.1|200",
            "5|2026-11-27 06:14:50|192.0.2.2|",
            "7! column \"time\": not in the last #Fields before this line");
    assertThat(Read.all(W3cReader::new, LOG, Set.of(), "time", "c-ip", "sc-status"))
        .containsExactly(
            "3|2026-11-27 06:14:49|192.0.2.1|200",
            "5|2026-11-27 06:14:50|192.0.2.2|",
            "7||192.0.2.3|404");
  }

  @Test
  void columnThatStandsTwice_isNoneThatCanBeRead() throws Exception {
    String log = "#Fields: date time c-ip c-ip sc-status\n2026-11-27 06:14:49 a b 200\n";
    assertThatThrownBy(() -> Read.all(W3cReader::new, log, "time", "c-ip"))
        .hasMessage("column \"c-ip\": several (expected: once in #Fields)");
    assertThatThrownBy(
            () -> Read.all(W3cReader::new, log.replace("sc-status", "date"), "time", "c-ip"))
        .hasMessage("column \"date\": several (expected: once in #Fields)");
    assertThat(Read.all(W3cReader::new, log, "sc-status")).containsExactly("2|200");
    String restarted = "#Fields: date time c-ip\n2026-11-27 06:14:48 a\n" + log;
    assertThat(Read.all(W3cReader::new, restarted, "c-ip"))
        .containsExactly("2|a", "4! column \"c-ip\": several in the last #Fields before this line");
    assertThat(Read.all(W3cReader::new, restarted, Set.of("time"), "time", "c-ip"))
        .containsExactly("2|2026-11-27 06:14:48|a", "4|2026-11-27 06:14:49|");
  }

  @Test
  void recordOfAnotherLength_isUnreadable() throws Exception {
    String log = "#Fields: date time c-ip\n2026-11-27 06:14:49 a b\n";
    assertThat(Read.all(W3cReader::new, log, Set.of("time"), "time", "c-ip"))
        .containsExactly("2! 4 columns (expected: 3)");
  }
}
