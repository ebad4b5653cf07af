package dev.weir.traffic.internal.read;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.traffic.Read;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
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
            "11! request: no closing quote",
            "12|192.0.2.7|/a/b");
  }

  @Test
  void time_isTheLastBracketBeforeTheFirstQuoteWhateverTheUserIsCalled() throws Exception {
    long seed = new SplittableRandom().nextLong();
    SplittableRandom random = new SplittableRandom(seed);
    String[] pieces = {
      "[", "]", " ", "[2070-01-01]", "[01/Jan/2001:00:00:00 +0000] ", "x", "\\\"", "\\x22GET /", "-"
    };
    for (int i = 0; i < 5_000; i++) {
      StringBuilder user = new StringBuilder("u");
      for (int j = random.nextInt(8); j > 0; j--) {
        user.append(pieces[random.nextInt(pieces.length)]);
      }
      assertThat(read(PLAIN.replace("frank", user) + "\n", "ip", "time", "path"))
          .as("seed %s, %s", seed, user)
          .containsExactly("1|192.0.2.7|17/May/2015:10:05:03 +0000|/a/b");
    }
  }

  @Test
  void textBehindAQuote_isNoTime() throws Exception {
    String agent = "\"x [01/Jan/2001:00:00:00 +0000] \"GET /x HTTP/1.1\" 200 5\"\n";
    assertThat(read("192.0.2.7 - - \"GET / HTTP/1.1\" 200 1 \"-\" " + agent, "ip", "time"))
        .containsExactly("1! time: no [ with a space before it");
    assertThat(
            read(
                "192.0.2.7 [17/May/2015:10:05:03 +0000] \"GET /a HTTP/1.1\" 200 1 \"-\" " + agent,
                "ip",
                "ident",
                "user",
                "time",
                "path"))
        .containsExactly("1|192.0.2.7|-|-|17/May/2015:10:05:03 +0000|/a");
  }

  @Test
  void wordsBeforeTheTime_mayBeFewer() throws Exception {
    String end = "[17/May/2015:10:05:03 +0000] \"GET /a HTTP/1.1\" 200 1\n";
    assertThat(read("192.0.2.7 " + end, "ip", "ident", "user")).containsExactly("1|192.0.2.7|-|-");
    assertThat(read("192.0.2.7 frank " + end, "ip", "ident", "user"))
        .containsExactly("1|192.0.2.7|-|frank");
    assertThat(read("192.0.2.7 - \"\" " + end, "ip", "ident", "user", "path"))
        .containsExactly("1|192.0.2.7|-|\"\"|/a");
  }

  @Test
  void client_mayBeAListOrInQuotes() throws Exception {
    String end = " - - [17/May/2015:10:05:03 +0000] \"GET /a HTTP/1.1\" 200 1\n";
    assertThat(read("203.0.113.7, 198.51.100.2, 198.51.100.3" + end, "ip", "proxies", "path"))
        .containsExactly("1|203.0.113.7, 198.51.100.2, 198.51.100.3|198.51.100.2, 198.51.100.3|/a");
    assertThat(read("\"192.0.2.7\"" + end, "ip", "ident", "path"))
        .containsExactly("1|192.0.2.7|-|/a");
    assertThat(read("\"192.0.2.7\"" + end.replace("200 1", "200 1 \"-\" \"a\""), "ip", "agent"))
        .containsExactly("1|192.0.2.7|a");
    assertThat(read("203.0.113.7,\n", "ip")).containsExactly("1! ip: the line ends before it");
  }

  @Test
  void wholeLineInQuotes_isReadHoweverItsQuotesAreWritten() throws Exception {
    for (String quote : List.of("\"", "\"\"", "\\\"")) {
      assertThat(read('"' + PLAIN.replace("\"", quote) + "\"\n", "ip", "path", "agent"))
          .containsExactly("1|192.0.2.7|/a/b|Mozilla/5.0 (X11)");
    }
  }

  @Test
  void wholeUrl_losesSchemeAndHost() throws Exception {
    String start = "192.0.2.7 - - [17/May/2015:10:05:03 +0000] \"";
    for (String[] target :
        new String[][] {
          {"http://shop.example/a/b?x=1", "/a/b|x=1|shop.example"},
          {"https://user@shop.example:8443/a", "/a||shop.example"},
          {"http://[2001:db8::1]:80/", "/||[2001:db8::1]"},
          {"http://shop.example", "/||shop.example"},
          {"http://shop.example?x", "/|x|shop.example"},
          {"/a?u=http://other.example/p", "/a|u=http://other.example/p|-"},
          {"shop.example:443", "shop.example:443||-"},
          {"*", "*||-"}
        }) {
      String line = start + "GET " + target[0] + " HTTP/1.1\" 200 1\n";
      assertThat(read(line, "path", "query", "host")).containsExactly("1|" + target[1]);
      assertThat(Read.all(CombinedReader::vhost, "web:80 " + line, "path", "query", "host"))
          .containsExactly("1|" + target[1]);
    }
  }

  @Test
  void whatStandsWhereTheRefererIs_isOneOnlyInQuotes() throws Exception {
    String line = "192.0.2.7 - - [17/May/2015:10:05:03 +0000] \"GET / HTTP/1.1\" 200 - 0.0002\n";
    RecordReader reader = new CombinedReader(Read.lines(line + PLAIN + "\n"));
    reader.select(List.of("ip", "referer", "agent", "status"));
    reader.require(Set.of("ip"));
    RecordValues values = new RecordValues(4);
    assertThat(reader.next(values)).isTrue();
    assertThat(values.text(1) + "|" + values.text(2) + "|" + values.text(3)).isEqualTo("||200");
    assertThat(reader.next(values)).isTrue();
    assertThat(values.text(1)).isEqualTo("http://example.org/");
    assertThat(read(line, "ip", "referer"))
        .containsExactly("1! referer: \"0.0002\" (expected: a text in quotes)");
  }

  @Test
  void columnThatNoRecordMustHave_isEmptyWhereTheLineIsCutOff() throws Exception {
    for (int length = PLAIN.indexOf(']') + 1; length <= PLAIN.length(); length++) {
      RecordReader reader = new CombinedReader(Read.lines(PLAIN.substring(0, length) + "\n"));
      reader.select(CombinedReader.COLUMNS);
      reader.require(Set.of("time", "ip"));
      RecordValues values = new RecordValues(CombinedReader.COLUMNS.size());
      assertThat(reader.next(values)).as("%s bytes", length).isTrue();
      assertThat(values.text(0)).isEqualTo("192.0.2.7");
      assertThat(values.text(12)).isIn("", "Mozilla/5.0 (X11)");
    }
  }

  @Test
  void quoteWithinTheRequest_doesNotEndIt() throws Exception {
    String line =
        "192.0.2.7 - - [17/May/2015:10:05:03 +0000] \"GET /quote\"in HTTP/1.1\" 200 1 \"-\""
            + " \"-\"\n";
    assertThat(read(line, "path", "status")).containsExactly("1|/quote\"in|200");
  }
}
