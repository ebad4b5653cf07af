package dev.weir.traffic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.rules.Entry;
import dev.weir.rules.Request;
import dev.weir.traffic.internal.read.RecordValues;
import dev.weir.traffic.internal.values.UnreadableException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RequestTemplateTest {
  private static final List<String> COLUMNS = List.of("a", "b", "c,d");

  private static Request request(List<String> descriptors, String permits, String... texts)
      throws Exception {
    RequestTemplate template = RequestTemplate.of("d", descriptors, permits);
    assertThat(COLUMNS).containsAll(template.columns());
    template.bind(COLUMNS);
    RecordValues values = new RecordValues(COLUMNS.size());
    for (int i = 0; i < texts.length; i++) {
      byte[] bytes = texts[i].getBytes(StandardCharsets.UTF_8);
      values.set(i, bytes, 0, bytes.length);
    }
    return template.request(values);
  }

  private static List<Entry> entries(String descriptor, String... texts) throws Exception {
    return request(List.of(descriptor), "1", texts).descriptors().get(0).entries();
  }

  @Test
  void columns_areFilledInAndOtherTextIsLiteral() throws Exception {
    assertThat(entries("k={a}", "x")).containsExactly(new Entry("k", "x"));
    assertThat(entries("k=v", "x")).containsExactly(new Entry("k", "v"));
    assertThat(entries("k=", "x")).containsExactly(new Entry("k", ""));
    assertThat(entries("k={a}-{b}/z,k2={b}", "x", "y"))
        .containsExactly(new Entry("k", "x-y/z"), new Entry("k2", "y"));
    assertThat(entries("k=a=b={a}", "x")).containsExactly(new Entry("k", "a=b=x"));
    assertThat(entries("k={c,d}", "x", "y", "z")).containsExactly(new Entry("k", "z"));
    assertThat(entries("k={a}", "a,b={a}")).containsExactly(new Entry("k", "a,b={a}"));
  }

  @Test
  void backslash_makesTheNextCharacterLiteral() throws Exception {
    assertThat(entries("k\\=\\,={a}\\,\\{b\\}\\\\,l=1", "x"))
        .containsExactly(new Entry("k=,", "x,{b}\\"), new Entry("l", "1"));
  }

  @Test
  void alternatives_areTheFirstColumnThatHasSomething() throws Exception {
    assertThat(entries("k={a|b}", "x", "y")).containsExactly(new Entry("k", "a:x"));
    assertThat(entries("k={a|b}", "", "y")).containsExactly(new Entry("k", "b:y"));
    assertThat(entries("k={a|b}", "-", "y")).containsExactly(new Entry("k", "b:y"));
    assertThat(entries("k=u-{a|b}", "-", "")).containsExactly(new Entry("k", "u-"));
    assertThat(entries("k={a}", "-")).containsExactly(new Entry("k", "-"));
  }

  @Test
  void columnWithABarInItsName_isStillOne() throws Exception {
    RequestTemplate template = RequestTemplate.of("d", List.of("k={a|b},l={c|d}"), "1");
    template.resolve("a|b"::equals);
    assertThat(template.columns()).containsExactly("a|b", "c", "d");
    assertThat(template.required()).containsExactly("a|b");
    assertThat(RequestTemplate.of("d", List.of("k={a\\|b}"), "1").columns()).containsExactly("a|b");
  }

  @Test
  void severalDescriptors_makeOneRequestInTheirOrder() throws Exception {
    Request request = request(List.of("k={a}", "l={b}"), "{b}", "x", "7");
    assertThat(request.domain()).isEqualTo("d");
    assertThat(request.descriptors()).hasSize(2);
    assertThat(request.descriptors()).allMatch(each -> Long.valueOf(7).equals(each.permits()));
    assertThat(request.descriptors().get(1).entries()).containsExactly(new Entry("l", "7"));
  }

  @ParameterizedTest
  @CsvSource({"0,0", "1,1", "' 12 ',12", "007,7", "999999999999999999,999999999999999999"})
  void permits_areWholeNumbers(String text, long expected) throws Exception {
    Long permits = expected;
    assertThat(request(List.of("k=v"), "{a}", text).descriptors().get(0).permits())
        .isEqualTo(permits);
    assertThat(request(List.of("k=v"), text).descriptors().get(0).permits()).isEqualTo(permits);
    assertThat(request(List.of("k=v"), "{a}{b}", text, "").descriptors().get(0).permits())
        .isEqualTo(permits);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "-1", "1.0", "1e3", "x", "1 2", "1000000000000000000", "\u0661"})
  void otherPermits_areUnreadable(String text) {
    assertThatThrownBy(() -> request(List.of("k=v"), "{a}", text))
        .isInstanceOf(UnreadableException.class)
        .hasMessage(
            "permits: \"" + text + "\" (expected: a whole number from 0 to 999999999999999999)");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "k",
        "=v",
        "{a}=v",
        "k={a",
        "k=a}",
        "k={}",
        "k={a|}",
        "k={|a}",
        "k={a{b}}",
        "k=v,",
        ",k=v",
        "k=v\\",
        "k,l=v"
      })
  void otherDescriptors_areRefused(String text) {
    assertThatThrownBy(() -> RequestTemplate.of("d", List.of(text), "1"))
        .isInstanceOf(TrafficException.class)
        .hasMessageStartingWith("descriptor: \"" + text)
        .hasMessageContaining("(expected: ");
  }

  @Test
  void everythingWrong_isSaidAtOnce() {
    List<String> wrong = new ArrayList<>(List.of("k", "l={"));
    assertThatThrownBy(() -> RequestTemplate.of("d", wrong, "many"))
        .isInstanceOfSatisfying(
            TrafficException.class,
            e ->
                assertThat(e.problems())
                    .containsExactly(
                        "descriptor: \"k\" (expected: key={column}[,key2={column2}])",
                        "descriptor: \"l={\" (expected: a } behind {)",
                        "permits: \"many\" (expected: a whole number from 0 to 999999999999999999,"
                            + " or a column like {bytes})"));
    assertThatThrownBy(() -> RequestTemplate.of("d", List.of(), "1"))
        .hasMessage("descriptor: none (expected: at least one, for example ip={ip})");
  }
}
