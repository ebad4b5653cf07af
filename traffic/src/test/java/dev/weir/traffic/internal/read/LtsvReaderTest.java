package dev.weir.traffic.internal.read;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.traffic.Format;
import dev.weir.traffic.Read;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class LtsvReaderTest {
  private static final String LINE =
      "time:27/Nov/2026:06:14:49 -0330\thost:192.0.2.1\treq:GET /a?x=1 HTTP/1.1\tstatus:200"
          + "\tsize:3\treferer:http://other.example/:x\tua:curl\n";

  private static List<String> read(String text, String... columns) throws Exception {
    return Read.all(lines -> Readers.of(Format.LTSV, lines), text, columns);
  }

  @Test
  void columns_areTheLabelsAndThoseOfAllAccessLogs() throws Exception {
    assertThat(
            read(
                LINE, "time", "ip", "method", "path", "query", "status", "bytes", "agent",
                "referer"))
        .containsExactly(
            "1|27/Nov/2026:06:14:49 -0330|192.0.2.1|GET|/a|x=1|200|3|curl|http://other.example/:x");
    assertThat(Readers.of(Format.LTSV, Read.lines(LINE)).columns())
        .contains("ip", "path", "host", "req", "ua");
  }

  @Test
  void recordWithoutAColumn_isUnreadableAlone() throws Exception {
    assertThat(read(LINE + "\n\n" + "time:x\tmore:1\n" + LINE, "host"))
        .containsExactly("1|192.0.2.1", "4! column \"host\": missing", "5|192.0.2.1");
  }

  @Test
  void format_isFoundByTheLabels() throws Exception {
    byte[] text = (LINE + LINE).getBytes(StandardCharsets.UTF_8);
    assertThat(Detection.of("access.log", text, Format.AUTO))
        .isEqualTo(new Detection.Result(Format.LTSV, false));
    assertThat(LtsvReader.labels("time\tip")).isEmpty();
    assertThat(LtsvReader.labels("a:1\tb c:2")).isEmpty();
    assertThat(LtsvReader.labels("a:1")).isEmpty();
    assertThat(LtsvReader.labels("a:1\tb:2")).containsExactly("a", "b");
  }
}
