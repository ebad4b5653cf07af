package dev.weir.traffic.internal.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.testkit.Trials;
import dev.weir.traffic.Read;
import dev.weir.traffic.TrafficException;
import java.io.ByteArrayInputStream;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class JsonLinesReaderTest {

  private static List<String> read(String text, String... columns) throws Exception {
    return Read.all(JsonLinesReader::new, text, columns);
  }

  @Test
  void values_areFoundByName() throws Exception {
    String text =
        "{\"a\":\"x\\u00e9\\n\",\"b\":1.50,\"c\":true,\"d\":[1,{\"a\":2}],\"e\":{\"a\":3}}\r\n"
            + "\n{\"b\":2,\"a\":\"\",\"c\":false}";
    assertThat(read(text, "a", "b", "c")).containsExactly("1|x\u00e9\n|1.50|true", "3||2|false");
  }

  @Test
  void dots_goIntoObjectsOrArePartOfTheName() throws Exception {
    assertThat(
            read(
                "{\"u\":{\"id\":1,\"n\":{\"x\":2}}}\n{\"u.id\":3,\"u\":{\"n.x\":4}}\n",
                "u.id",
                "u.n.x"))
        .containsExactly("1|1|2", "2|3|4");
  }

  @Test
  void lastOfEqualNames_counts() throws Exception {
    assertThat(read("{\"a\":1,\"a\":2}\n", "a")).containsExactly("1|2");
  }

  @Test
  void columns_areThoseOfTheFirstLines() throws Exception {
    JsonLinesReader reader =
        new JsonLinesReader(
            Read.lines("\ufeff{\"a\":1,\"u\":{\"id\":2,\"l\":[1]}}\nnonsense\n{\"b\":null}\n"));
    assertThat(reader.columns()).containsExactlyInAnyOrder("a", "u.id", "b");
    assertThat(reader.has("u.id")).isTrue();
    assertThat(reader.has("x")).isFalse();
    assertThat(new JsonLinesReader(Read.lines("")).has("x")).isTrue();
  }

  @Test
  void hostileLines_areRefusedOneByOne() throws Exception {
    String text =
        String.join(
            "\n",
            "[1]",
            "17",
            "{\"a\":",
            "{\"a\":1} {}",
            "{\"b\":1}",
            "{\"a\":null}",
            "{\"a\":[1]}",
            "{\"a\":{\"b\":1}}",
            "[".repeat(100_000),
            "{\"b\":" + "{\"b\":".repeat(50_000),
            "{\"b\":" + "1".repeat(5_000) + ",\"a\":1}",
            "\u0000{",
            "{\"a\":1}");
    List<String> found = read(text, "a");
    assertThat(found).hasSize(13);
    assertThat(found.subList(0, 8))
        .satisfiesExactly(
            line -> assertThat(line).isEqualTo("1! no JSON object"),
            line -> assertThat(line).isEqualTo("2! no JSON object"),
            line -> assertThat(line).startsWith("3! no valid JSON: "),
            line -> assertThat(line).isEqualTo("4! text behind the JSON object"),
            line -> assertThat(line).isEqualTo("5! column \"a\": missing"),
            line -> assertThat(line).isEqualTo("6! column \"a\": missing"),
            line -> assertThat(line).isEqualTo("7! column \"a\": a list (expected: one value)"),
            line -> assertThat(line).isEqualTo("8! column \"a\": missing"));
    assertThat(found.subList(8, 10)).allMatch(line -> line.contains("! no "));
    assertThat(found.get(11)).startsWith("12! no valid JSON: ");
    assertThat(found.get(12)).isEqualTo("13|1");
  }

  @Test
  void column_mayNotBeDeeperThanCanBeLookedFor() {
    assertThatThrownBy(() -> read("", "a" + ".a".repeat(13)))
        .isInstanceOf(TrafficException.class)
        .hasMessageContaining("expected: at most 12 dots");
  }

  @Test
  void randomBytes_areRefusedLineByLine() throws Exception {
    int runs = 3_000;
    long seed = Trials.random("JSON lines", runs).nextLong();
    SplittableRandom random = new SplittableRandom(seed);
    for (int round = 0; round < runs; round++) {
      byte[] bytes = new byte[random.nextInt(60)];
      random.nextBytes(bytes);
      for (int i = 0; i < bytes.length; i++) {
        if (random.nextInt(3) == 0) {
          bytes[i] = (byte) "{}[]\":,\\\u0000\n".charAt(random.nextInt(10));
        }
      }
      assertThat(Read.all(JsonLinesReader::new, new ByteArrayInputStream(bytes), "a"))
          .as("seed %s", seed)
          .allMatch(line -> line.contains("!") || line.contains("|"));
    }
  }
}
