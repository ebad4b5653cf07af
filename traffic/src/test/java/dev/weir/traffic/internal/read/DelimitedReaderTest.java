package dev.weir.traffic.internal.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.testkit.Trials;
import dev.weir.traffic.Read;
import dev.weir.traffic.TrafficException;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class DelimitedReaderTest {

  private static List<String> csv(String text, String... columns) throws Exception {
    return Read.all(DelimitedReader::csv, text, columns);
  }

  private static List<String> tsv(String text, String... columns) throws Exception {
    return Read.all(DelimitedReader::tsv, text, columns);
  }

  @Test
  void header_namesTheColumnsInAnyOrder() throws Exception {
    assertThat(csv("a,b,c\n1,2,3\n", "c", "a")).containsExactly("2|3|1");
    assertThat(csv("\ufeff\"a\", b ,\"c,\"\"d\"\"\"\r\n1,2,3\r\n", "c,\"d\"", "b", "a"))
        .containsExactly("2|3|2|1");
  }

  @Test
  void lastLine_needsNoEndAndBlankLinesAreNone() throws Exception {
    assertThat(csv("a,b\n\n1,2\n   \n3,4", "a", "b")).containsExactly("3|1|2", "5|3|4");
    assertThat(csv("a\n\"\"\n", "a")).containsExactly("2|");
  }

  @Test
  void quotes_protectCommasQuotesAndLineEnds() throws Exception {
    assertThat(csv("a,b\n\"1,5\",\"say \"\"hi\"\"\"\n\"x\ny\r\n\",2\n3,\"\"\n", "a", "b"))
        .containsExactly("2|1,5|say \"hi\"", "3|x\ny\r\n|2", "6|3|");
  }

  @Test
  void quotesWithinAnUnquotedValue_areText() throws Exception {
    assertThat(csv("a,b\n5\" disk,\"x\"\n", "a", "b")).containsExactly("2|5\" disk|x");
  }

  @Test
  void tsv_hasNoQuotes() throws Exception {
    assertThat(tsv("a\tb\n\"x\t5\" y\n\t\n", "a", "b")).containsExactly("2|\"x|5\" y", "3||");
  }

  @Test
  void anotherNumberOfColumns_isUnreadable() throws Exception {
    assertThat(csv("a,b\n1\n1,2,3\n1,2\n", "a"))
        .containsExactly("2! 1 column (expected: 2)", "3! 3 columns (expected: 2)", "4|1");
  }

  @Test
  void strayQuote_costsItsOwnLineOnly() throws Exception {
    assertThat(csv("a,b\n1,\"open\n2,x\n3,y\n", "a"))
        .containsExactly("2! no closing quote", "3|2", "4|3");
    assertThat(csv("a,b\n1,\"open\n2,\"x\"\n3,y\n", "a"))
        .containsExactly("2! text behind a closing quote", "3|2", "4|3");
    assertThat(csv("a,b\n\"1\"x,2\n3,4\n", "a"))
        .containsExactly("2! text behind a closing quote", "3|3");
    assertThat(csv("a,b\n\"1\n2\"\n3,4\n", "a"))
        .containsExactly("2! 1 column (expected: 2)", "3! 1 column (expected: 2)", "4|3");
  }

  @Test
  void recordThatIsTooLong_isSkippedInBoundedMemory() throws Exception {
    String huge = "x".repeat(Lines.MAX_BYTES + 1);
    String expected = "! longer than " + Lines.MAX_BYTES + " bytes";
    assertThat(csv("a,b\n1,2\n1," + huge + "\n3,4\n1," + huge, "a"))
        .containsExactly("2|1", "3" + expected, "4|3", "5" + expected);
    assertThat(tsv("a\tb\n" + huge + huge + huge + "\n3\t4\n", "a"))
        .containsExactly("2" + expected, "3|3");
    String longest = "x".repeat(Lines.MAX_BYTES - 2);
    assertThat(csv("a,b\n1," + longest + "\n", "a")).containsExactly("2|1");
  }

  @Test
  void quoteThatStaysOpenForLong_isGivenUp() throws Exception {
    StringBuilder text = new StringBuilder("a,b\n1,\"open\n");
    int lines = 60_000;
    for (int i = 0; i < lines; i++) {
      text.append(i).append(",some text that is long enough\n");
    }
    List<String> found = csv(text.toString(), "a");
    assertThat(found).hasSize(lines + 1);
    assertThat(found.get(0)).isEqualTo("2! no closing quote");
    assertThat(found.get(lines)).isEqualTo(lines + 2 + "|" + (lines - 1));
  }

  @Test
  void linesThatOpenQuotesForEver_costNoMoreThanTheirLength() throws Exception {
    // Each line is a record with an open quote, seen from its beginning and seen from within.
    int lines = 200_000;
    List<String> found = csv("a,b,c\n" + "a\",\",c\n".repeat(lines), "a");
    assertThat(found).hasSize(lines).allMatch(line -> line.endsWith("! no closing quote"));
  }

  @Test
  void emptyInput_hasNoHeaderAndAHeaderAloneNoRecords() throws Exception {
    assertThat(csv("a,b\n", "a")).isEmpty();
    assertThatThrownBy(() -> csv("", "a"))
        .isInstanceOf(TrafficException.class)
        .hasMessage("input: empty (expected: a header with the columns' names)");
    assertThatThrownBy(() -> csv("\n\n", "a")).isInstanceOf(TrafficException.class);
    assertThatThrownBy(() -> csv("a,\"b\n1,2\n", "a"))
        .isInstanceOf(TrafficException.class)
        .hasMessage("input: header in line 1 cannot be read: no closing quote");
  }

  @Test
  void nameThatStandsTwice_cannotBeChosen() throws Exception {
    assertThatThrownBy(() -> csv("a,b,a\n1,2,3\n", "a"))
        .isInstanceOf(TrafficException.class)
        .hasMessage("column \"a\": several (expected: once in the header)");
    assertThat(csv("a,b,a\n1,2,3\n", "b")).containsExactly("2|2");
  }

  @Test
  void whateverIsWrittenByTheRules_isReadBack() throws Exception {
    int runs = 2_000;
    long seed = Trials.random("delimited records", runs).nextLong();
    SplittableRandom random = new SplittableRandom(seed);
    for (int round = 0; round < runs; round++) {
      int columns = random.nextInt(1, 5);
      List<String> names = new ArrayList<>();
      for (int i = 0; i < columns; i++) {
        names.add("c" + i);
      }
      StringBuilder text = new StringBuilder(String.join(",", names)).append('\n');
      List<String> expected = new ArrayList<>();
      long line = 2;
      for (int i = random.nextInt(6); i > 0; i--) {
        StringBuilder record = new StringBuilder().append(line);
        long lineEnds = 0;
        for (int c = 0; c < columns; c++) {
          String value = value(random);
          record.append('|').append(value);
          text.append(c == 0 ? "" : ",")
              .append('"')
              .append(value.replace("\"", "\"\""))
              .append('"');
          lineEnds += value.chars().filter(each -> each == '\n').count();
        }
        expected.add(record.toString());
        text.append(random.nextBoolean() ? "\n" : "\r\n");
        line += 1 + lineEnds;
      }
      InputStream in = slices(random, text.toString().getBytes(StandardCharsets.UTF_8));
      assertThat(Read.all(DelimitedReader::csv, in, names.toArray(new String[0])))
          .as("seed %s round %s", seed, round)
          .isEqualTo(expected);
    }
  }

  private static String value(SplittableRandom random) {
    StringBuilder value = new StringBuilder();
    for (int i = random.nextInt(6); i > 0; i--) {
      value.append("a,\"\n\r \u00e9\t".charAt(random.nextInt(8)));
    }
    return value.toString();
  }

  /** Returns a stream that gives the bytes a few at a time, as a pipe does. */
  private static InputStream slices(SplittableRandom random, byte[] bytes) {
    List<InputStream> slices = new ArrayList<>();
    int at = 0;
    while (at < bytes.length) {
      int length = Math.min(bytes.length - at, random.nextInt(1, 9));
      slices.add(new ByteArrayInputStream(bytes, at, length));
      at += length;
    }
    return new SequenceInputStream(Collections.enumeration(slices));
  }

  @Test
  void randomText_isReadOrRefusedAndNoLineIsLost() throws Exception {
    int runs = 5_000;
    long seed = Trials.random("delimited noise", runs).nextLong();
    SplittableRandom random = new SplittableRandom(seed);
    for (int round = 0; round < runs; round++) {
      StringBuilder text = new StringBuilder("a,b\n");
      int lines = random.nextInt(8);
      for (int i = 0; i < lines; i++) {
        for (int j = random.nextInt(7); j >= 0; j--) {
          text.append("\",\"x,".charAt(random.nextInt(5)));
        }
        text.append('\n');
      }
      List<String> found = csv(text.toString(), "a");
      long told = 0;
      for (String each : found) {
        told += 1 + each.chars().filter(c -> c == '\n').count();
      }
      // A line is a record, a part of one (its line ends are in a value), or reported as
      // unreadable.
      assertThat(found.size()).as("seed %s: %s", seed, text).isLessThanOrEqualTo(lines);
      assertThat(told).as("seed %s: %s", seed, text).isLessThanOrEqualTo(lines);
      assertThat(found.stream().map(each -> Integer.parseInt(each.split("[|!]", 2)[0])).toList())
          .as("seed %s: %s", seed, text)
          .isSorted()
          .doesNotHaveDuplicates();
    }
  }
}
