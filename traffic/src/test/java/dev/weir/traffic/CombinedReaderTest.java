package dev.weir.traffic;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class CombinedReaderTest {
  private static final String PLAIN =
      "192.0.2.7 - frank [17/May/2015:10:05:03 +0000] \"GET /a/b?x=1&y=2 HTTP/1.1\" 200 512"
          + " \"http://example.org/\" \"Mozilla/5.0 (X11)\"";

  private static List<String> read(String text, String... columns) throws Exception {
    return Read.all(CombinedReader::new, text, columns);
  }

  @Test
  void everyColumn_isFound() throws Exception {
    assertThat(read(PLAIN + "\n", CombinedReader.COLUMNS.toArray(new String[0])))
        .containsExactly(
            "1|192.0.2.7|-|frank|17/May/2015:10:05:03 +0000|GET /a/b?x=1&y=2 HTTP/1.1|GET|/a/b"
                + "|x=1&y=2|HTTP/1.1|200|512|http://example.org/|Mozilla/5.0 (X11)");
  }

  @Test
  void lines_endInAnyWay() throws Exception {
    String two = PLAIN + "\r\n\n  \n" + PLAIN;
    assertThat(read(two, "ip", "agent"))
        .containsExactly("1|192.0.2.7|Mozilla/5.0 (X11)", "4|192.0.2.7|Mozilla/5.0 (X11)");
  }

  @Test
  void commonFormat_hasNoRefererAndNoAgent() throws Exception {
    String common = "2001:db8::1 - - [17/May/2015:10:05:03 +0000] \"GET / HTTP/1.0\" 304 -\n";
    assertThat(read(common, "ip", "path", "query", "bytes")).containsExactly("1|2001:db8::1|/||0");
    assertThat(read(common, "agent")).containsExactly("1! referer: the line ends before it");
  }

  @Test
  void moreColumnsBehind_areIgnored() throws Exception {
    assertThat(read(PLAIN + " \"-\" 0.003 upstream\n", "agent"))
        .containsExactly("1|Mozilla/5.0 (X11)");
  }

  @Test
  void user_mayHaveSpaces() throws Exception {
    assertThat(read(PLAIN.replace("frank", "frank m") + "\n", "user", "path"))
        .containsExactly("1|frank m|/a/b");
  }

  @Test
  void escapesInQuotes_areUndone() throws Exception {
    String line =
        "192.0.2.7 - - [17/May/2015:10:05:03 +0000] \"GET /\\x22a\\\\b\\\"?q=\\xC3\\xA9 HTTP/1.1\""
            + " 200 1 \"a\\tb\\q\" \"say \\\"hi\\\" \\x2\"\n";
    assertThat(read(line, "path", "query", "referer", "agent"))
        .containsExactly("1|/\"a\\b\"|q=\u00e9|a\tb\\q|say \"hi\" \\x2");
  }

  @Test
  void requestLineThatIsNone_hasNoParts() throws Exception {
    String start = "192.0.2.7 - - [17/May/2015:10:05:03 +0000] \"";
    String end = "\" 400 0 \"-\" \"-\"\n";
    for (String request :
        List.of("-", "", "\\x16\\x03\\x01", "GET", "GET ", "GET HTTP/1.1", " /a HTTP/1.1")) {
      assertThat(read(start + request + end, "method", "path", "query", "protocol", "status"))
          .as(request)
          .containsExactly("1|-|-||-|400");
    }
    assertThat(read(start + "GET /old" + end, "method", "path", "query", "protocol"))
        .containsExactly("1|GET|/old||-");
    assertThat(read(start + "GET /a b?c d HTTP/1.1" + end, "method", "path", "query"))
        .containsExactly("1|GET|/a b|c d");
  }

  @Test
  void lineThatIsCutOff_countsAsFarAsItGoes() throws Exception {
    String cut = PLAIN.substring(0, PLAIN.length() - 4) + "\n" + PLAIN + "\n";
    assertThat(read(cut, "ip", "status")).containsExactly("1|192.0.2.7|200", "2|192.0.2.7|200");
    assertThat(read(cut, "agent"))
        .containsExactly("1! agent: no closing quote", "2|Mozilla/5.0 (X11)");
  }

  @Test
  void hostileLines_areRefusedOneByOne() throws Exception {
    String hostile =
        String.join(
            "\n",
            "",
            "garbage",
            " - - [17/May/2015:10:05:03 +0000]",
            "a b",
            "a b c d e f",
            "a b c [17/May/2015:10:05:03 +0000",
            "a b c [t] GET / HTTP/1.1",
            "a b c [t] \"GET / HTTP/1.1",
            "a b c [t] \"GET / HTTP/1.1\\\" 200",
            "a b c [t]",
            "\u0000\u0001 [ ] \" \\",
            PLAIN);
    List<String> found = read(hostile, "ip", "path");
    assertThat(found)
        .containsExactly(
            "2! ident: the line ends before it",
            "3! ip: nothing (expected: an address at the line's beginning)",
            "4! time: no [ with a space before it",
            "5! time: no [ with a space before it",
            "6! time: no ] behind it",
            "7! request: \"GET / HTTP/1.1\" (expected: a text in quotes)",
            "8! request: no closing quote",
            "9! request: no closing quote",
            "10! request: the line ends before it",
            "11! time: no [ with a space before it",
            "12|192.0.2.7|/a/b");
  }
}
