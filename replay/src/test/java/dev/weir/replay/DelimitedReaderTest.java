package dev.weir.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
  void header_names_the_columns_in_any_order() throws Exception {
    assertThat(csv("a,b,c\n1,2,3\n", "c", "a")).containsExactly("2|3|1");
    assertThat(csv("\ufeff\"a\", b ,\"c,\"\"d\"\"\"\r\n1,2,3\r\n", "c,\"d\"", "b", "a"))
        .containsExactly("2|3|2|1");
  }

  @Test
  void last_line_needs_no_end_and_blank_lines_are_none() throws Exception {
    assertThat(csv("a,b\n\n1,2\n   \n3,4", "a", "b")).containsExactly("3|1|2", "5|3|4");
    assertThat(csv("a\n\"\"\n", "a")).containsExactly("2|");
  }

  @Test
  void quotes_protect_commas_quotes_and_line_ends() throws Exception {
    assertThat(csv("a,b\n\"1,5\",\"say \"\"hi\"\"\"\n\"x\ny\r\n\",2\n3,\"\"\n", "a", "b"))
        .containsExactly("2|1,5|say \"hi\"", "3|x\ny\r\n|2", "6|3|");
  }

  @Test
  void quotes_within_an_unquoted_value_are_text() throws Exception {
    assertThat(csv("a,b\n5\" disk,\"x\"\n", "a", "b")).containsExactly("2|5\" disk|x");
  }

  @Test
  void tsv_has_no_quotes() throws Exception {
    assertThat(tsv("a\tb\n\"x\t5\" y\n\t\n", "a", "b")).containsExactly("2|\"x|5\" y", "3||");
  }

  @Test
  void another_number_of_columns_is_unreadable() throws Exception {
    assertThat(csv("a,b\n1\n1,2,3\n1,2\n", "a"))
        .containsExactly("2! 1 column (expected: 2)", "3! 3 columns (expected: 2)", "4|1");
  }

  @Test
  void a_stray_quote_costs_its_own_line_only() throws Exception {
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
  void a_record_that_is_too_long_is_skipped_in_bounded_memory() throws Exception {
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
  void a_quote_that_stays_open_for_long_is_given_up() throws Exception {
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
  void lines_that_open_quotes_for_ever_cost_no_more_than_their_length() throws Exception {
    // Each line is a record with an open quote, seen from its beginning and seen from within.
    int lines = 200_000;
    List<String> found = csv("a,b,c\n" + "a\",\",c\n".repeat(lines), "a");
    assertThat(found).hasSize(lines).allMatch(line -> line.endsWith("! no closing quote"));
  }

  @Test
  void an_empty_input_has_no_header_and_a_header_alone_no_records() throws Exception {
    assertThat(csv("a,b\n", "a")).isEmpty();
    assertThatThrownBy(() -> csv("", "a"))
        .isInstanceOf(ReplayException.class)
        .hasMessage("input: empty (expected: a header with the columns' names)");
    assertThatThrownBy(() -> csv("\n\n", "a")).isInstanceOf(ReplayException.class);
    assertThatThrownBy(() -> csv("a,\"b\n1,2\n", "a"))
        .isInstanceOf(ReplayException.class)
        .hasMessage("input: header in line 1 cannot be read: no closing quote");
  }

  @Test
  void a_name_that_stands_twice_cannot_be_chosen() throws Exception {
    assertThatThrownBy(() -> csv("a,b,a\n1,2,3\n", "a"))
        .isInstanceOf(ReplayException.class)
        .hasMessage("column \"a\": several (expected: once in the header)");
    assertThat(csv("a,b,a\n1,2,3\n", "b")).containsExactly("2|2");
  }

  @Test
  void whatever_is_written_by_the_rules_is_read_back() throws Exception {
    long seed = new SplittableRandom().nextLong();
    System.out.println("seed " + seed);
    SplittableRandom random = new SplittableRandom(seed);
    for (int round = 0; round < 2_000; round++) {
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

  /** Gives the bytes a few at a time, as a pipe does. */
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
  void random_text_is_read_or_refused_and_no_line_is_lost() throws Exception {
    long seed = new SplittableRandom().nextLong();
    System.out.println("seed " + seed);
    SplittableRandom random = new SplittableRandom(seed);
    for (int round = 0; round < 5_000; round++) {
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
      // A line is a record, a part of one (its line ends are in a value), or said to be unreadable.
      assertThat(found.size()).as("seed %s: %s", seed, text).isLessThanOrEqualTo(lines);
      assertThat(told).as("seed %s: %s", seed, text).isLessThanOrEqualTo(lines);
      assertThat(found.stream().map(each -> Integer.parseInt(each.split("[|!]", 2)[0])).toList())
          .as("seed %s: %s", seed, text)
          .isSorted()
          .doesNotHaveDuplicates();
    }
  }
}
