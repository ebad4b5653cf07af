package dev.weir.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class JsonTest {
  @Test
  void membersAreReadInTheirOrder_andWrittenCanonicalOrAsTheyAre() throws IOException {
    Json.Members members = Json.readWithNulls("{\"b\":[{\"x\":null}],\"a\":{\"z\":1,\"y\":true}}");
    assertThat(members.names()).containsExactly("b", "a");
    assertThat(members.text()).isEqualTo("{\"a\":{\"y\":true,\"z\":1},\"b\":[{\"x\":null}]}");
    assertThat(Json.writeAsIs(members.without(Set.of())))
        .isEqualTo("{\"b\":[{\"x\":null}],\"a\":{\"z\":1,\"y\":true}}");
    assertThat(members.objects("b").get(0).isNull("x")).isTrue();
    assertThat(members.object("a").truth("y", false)).isTrue();
    assertThat(members.truth("none", true)).isTrue();
  }

  @Test
  void markup_isEscapedInAnswersOnly() throws IOException {
    Map<String, String> object = Map.of("k", "<script>&'");
    String text = Json.writeAsIs(object);
    assertThat(text).doesNotContain("<", ">", "&", "'");
    assertThat(Json.read(text).text("k")).isEqualTo("<script>&'");
    assertThat(Json.write(object)).isEqualTo("{\"k\":\"<script>&'\"}");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "1",
        "[]",
        "{",
        "{}x",
        "{\"a\":1,\"a\":2}",
        "{\"a\":1.5}",
        "{\"a\":99999999999999999999}",
        "{\"a\":\"\\ud800\"}",
        "{\"\\udc00\":1}",
        "{\"a\":NaN}",
        "{'a':1}"
      })
  void otherTexts_areRefused(String text) {
    assertThatThrownBy(() -> Json.readWithNulls(text)).isInstanceOf(IOException.class);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "` `                | no object (expected: {)",
        "[]                 | no object (expected: {)",
        "{} {}              | more behind the object (expected: its end)",
        "{\"a\":1          | expected close marker for Object (expected: JSON)",
        "{\"a\":1,\"a\":2} | Duplicate field 'a' (expected: JSON)",
      })
  void errors_haveThePlace_andNothingOfTheParser(String text, String message) {
    assertThatThrownBy(() -> Json.readWithNulls(text))
        .isInstanceOf(IOException.class)
        .hasMessageEndingWith(message)
        .message()
        .doesNotContain("Source", "`", "StreamRead", "line ");
    assertThatThrownBy(() -> Json.readWithNulls("{\n\"a\": b}"))
        .hasMessageStartingWith("line 2, column ");
  }

  @Test
  void tooManyLevels_areRefused() throws IOException {
    int most = Json.MAX_DEPTH - 1;
    assertThat(Json.readWithNulls("{\"a\":" + "[".repeat(most) + "]".repeat(most) + "}").names())
        .hasSize(1);
    String deep = "{\"a\":" + "[".repeat(100_000);
    assertThatThrownBy(() -> Json.readWithNulls(deep))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("depth");
  }

  @Test
  void nulls_areOnlyReadWhereTheyAreExpected() throws IOException {
    assertThat(Json.readWithNulls("{\"a\":null}").isNull("a")).isTrue();
    assertThatThrownBy(() -> Json.read("{\"a\":null}")).isInstanceOf(IOException.class);
  }

  @Test
  void membersOfAnotherType_areNamed() throws IOException {
    Json.Members members = Json.readWithNulls("{\"a\":1,\"list\":[1]}");
    assertThatThrownBy(() -> members.text("a")).hasMessage("a: 1 (expected: a text)");
    assertThatThrownBy(() -> members.text("b")).hasMessage("b: missing (expected: a text)");
    assertThatThrownBy(() -> members.list("list")).hasMessage("list: 1 (expected: texts)");
    assertThatThrownBy(() -> members.objects("list")).hasMessage("list: 1 (expected: objects)");
    assertThat(List.of(members.number("a"))).containsExactly(1L);
  }
}
