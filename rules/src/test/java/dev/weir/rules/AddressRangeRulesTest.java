package dev.weir.rules;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Values that are ranges of addresses. */
class AddressRangeRulesTest {
  private static final String RULES =
      """
      domain: d
      descriptors:
        - {key: ip, value: "172.16.0.0/12"}
        - {key: ip, value: "172.16.5.0/24", rate_limit: {unit: minute, requests_per_unit: 7}}
        - {key: ip, value: "172.16.5.9", rate_limit: {unit: minute, requests_per_unit: 9}}
        - {key: ip, value: "2001:db8:5::/48"}
        - {key: ip, value: "17*", rate_limit: {unit: minute, requests_per_unit: 3}}
        - {key: ip, rate_limit: {unit: minute, requests_per_unit: 5}}
        - key: net
          value: "10.0.0.0/8"
          share_threshold: true
          rate_limit: {unit: minute, requests_per_unit: 100}
      """;

  private static String matched(String key, String value) {
    List<Entry> entries = List.of(new Entry(key, value));
    Rule rule = Texts.rules(RULES).match("d", entries);
    return rule == null ? "" : rule.value() + " " + rule.requestsPerUnit();
  }

  @Test
  void address_isLimitedByTheSmallestRangeItIsIn() {
    assertThat(matched("ip", "172.20.1.1")).isEmpty();
    assertThat(matched("ip", "172.16.5.8")).isEqualTo("172.16.5.0/24 7");
    assertThat(matched("ip", "172.16.5.9")).isEqualTo("172.16.5.9 9");
    assertThat(matched("ip", "173.0.0.1")).isEqualTo("17* 3");
    assertThat(matched("ip", "2001:db8:5:1::/64")).isEmpty();
    assertThat(matched("ip", "2001:db8:6:1::/64")).isEqualTo(" 5");
    assertThat(matched("ip", "via 172.20.1.1")).isEqualTo(" 5");
    assertThat(matched("ip", "172.16.0.0/12")).isEmpty();
    assertThat(matched("net", "11.0.0.1")).isEmpty();
  }

  @Test
  void addressesOfARange_haveACounterEach_unlessTheyShareOne() {
    RuleSet rules = Texts.rules(RULES);
    Rule own = Objects.requireNonNull(rules.match("d", List.of(new Entry("ip", "172.16.5.8"))));
    assertThat(own.oneCounterAt(0)).isFalse();
    Rule shared = Objects.requireNonNull(rules.match("d", List.of(new Entry("net", "10.1.1.1"))));
    assertThat(shared.oneCounterAt(0)).isTrue();
    assertThat(Texts.problems(RULES)).isEmpty();
  }

  @Test
  void explanation_saysWhyARangeIsTaken() {
    String text =
        Explainer.explain(Texts.rules(RULES), "d", List.of(new Entry("ip", "172.16.5.8")))
            .toString();
    assertThat(text).contains("smallest range with this address");
  }
}
