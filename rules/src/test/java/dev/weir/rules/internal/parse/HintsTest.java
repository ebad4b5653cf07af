package dev.weir.rules.internal.parse;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.rules.Problem;
import dev.weir.rules.Rules;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The messages of lint about common mistakes, in words that help to correct them. */
class HintsTest {
  private static final String LIMIT = "    rate_limit: {unit: minute, requests_per_unit: 5}\n";

  private static List<String> lint(String text) {
    return Rules.parse("r.yaml", text).problems().stream().map(Problem::toString).toList();
  }

  private static List<String> descriptors(String text) {
    return lint("domain: a\ndescriptors:\n" + text);
  }

  @Test
  void commaInAKey_isWarnedOf() {
    assertThat(descriptors("  - key: user,path\n" + LIMIT))
        .containsExactly(
            "r.yaml:3:5 key: user,path (expected: one key; a descriptor of several entries has"
                + " descriptors in descriptors)");
  }

  @ParameterizedTest
  @ValueSource(strings = {"^/api/.*$", "/api/.*", "/user/\\d+", "[a-z]+", "/x$", "(?i)abc", "/a.+"})
  void regularExpression_isWarnedOf(String value) {
    assertThat(descriptors("  - key: path\n    value: '" + value + "'\n" + LIMIT))
        .containsExactly(
            "r.yaml:4:5 value: \""
                + value
                + "\" (expected: a text; a * stands for any characters, other patterns are not"
                + " read)");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"/api/*", "*.example.com", "$5", "a^b", "[::1]", "(x)", "10.0.0.1", "/a/*b"})
  void ordinaryValue_isNotWarnedOf(String value) {
    assertThat(descriptors("  - key: path\n    value: '" + value + "'\n" + LIMIT)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"172.16.0.1/12", "10.0.0.0/33", "2001:db8:5::1/48", "::/0", "10.0.0.0/08"})
  void rangeThatIsNone_isWarnedOf(String value) {
    assertThat(descriptors("  - key: ip\n    value: '" + value + "'\n" + LIMIT))
        .containsExactly(
            "r.yaml:4:5 value: \""
                + value
                + "\" (expected: a range such as 10.0.0.0/8, without bits behind its prefix; this is a"
                + " text)");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "172.16.0.0/12",
        "2001:db8:5::/48",
        "/api/1",
        "a/12",
        "1.2.3/4",
        "10.0.0.0",
        "http://a/1",
        "10.0.0.0/8/x"
      })
  void valueWithASlash_isNotWarnedOf(String value) {
    assertThat(descriptors("  - key: ip\n    value: '" + value + "'\n" + LIMIT)).isEmpty();
  }

  @Test
  void boundOnKeysOfASharedStore_isWarnedOf() {
    String limit =
        "  - key: u\n    rate_limit: {unit: hour, requests_per_unit: 3, store: %s, max_keys: 20,"
            + " when_full: sketch}\n";
    assertThat(descriptors(limit.formatted("local"))).isEmpty();
    assertThat(descriptors(limit.formatted("shared")))
        .hasSize(2)
        .allMatch(each -> each.contains("(expected: none with store: shared, it bounds only"));
  }

  @Test
  void whatLimitsNothing_isWarnedOf() {
    assertThat(descriptors("  - key: ip\n"))
        .containsExactly(
            "r.yaml:3:5 descriptor: \"ip\" limits nothing (expected: rate_limit or descriptors)");
    assertThat(descriptors("  - key: ip\n    descriptors:\n      - key: path\n        value: /a\n"))
        .containsExactly(
            "r.yaml:5:9 descriptor: \"path_/a\" limits nothing (expected: rate_limit or"
                + " descriptors)");
    assertThat(lint("domain: a\ndescriptors: []\n"))
        .containsExactly(
            "r.yaml:2:1 descriptors: a list (expected: a list; without it the domain limits"
                + " nothing)");
  }

  @Test
  void exemption_isNotWarnedOf() {
    assertThat(descriptors("  - key: ip\n    value: 10.0.0.1\n  - key: ip\n" + LIMIT)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "0.5|0.5 (expected: a whole number, 0..4294967295; for fewer than one a unit, window: 2s with requests_per_unit: 1)",
        "1k|1k (expected: a whole number, 0..4294967295; with its zeros, as in 1_000)",
        "2.5M|2.5M (expected: a whole number, 0..4294967295; with its zeros, as in 1_000_000)",
        "5,000|5,000 (expected: a whole number, 0..4294967295; without a comma, as in 5_000)",
      })
  void numberWrittenInAnotherWay_isToldHowItIsWritten(String number, String said) {
    assertThat(
            descriptors(
                "  - key: a\n    rate_limit:\n      unit: hour\n      requests_per_unit: "
                    + number))
        .containsExactly("r.yaml:6:7 requests_per_unit: " + said);
  }

  @Test
  void commaInANumber_isFoundInFlowStyleToo() {
    assertThat(descriptors("  - key: a\n    rate_limit: {unit: hour, requests_per_unit: 5,000}\n"))
        .containsExactly(
            "r.yaml:4:51 key: 000 (expected: a text; within a number there is no comma: 5_000)");
  }

  @Test
  void openQuote_isFoundWhereItBegins() {
    assertThat(descriptors("  - key: \"path\n" + LIMIT))
        .containsExactly(
            "r.yaml:3:10 quote: not closed (expected: the same quote at the end of the text)");
  }

  @Test
  void missingColon_isFoundInItsLine() {
    assertThat(descriptors("  - key path # the path\n\n    # of a request\n" + LIMIT))
        .containsExactly("r.yaml:3:3 syntax: no colon in this line (expected: key: value)");
  }

  @Test
  void tab_isNamed() {
    assertThat(descriptors("\t- key: path\n"))
        .containsExactly("r.yaml:3:1 indentation: a tab (expected: blanks)");
  }
}
