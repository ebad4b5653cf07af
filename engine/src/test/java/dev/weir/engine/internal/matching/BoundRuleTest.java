package dev.weir.engine.internal.matching;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Fingerprint;
import dev.weir.engine.Fixture;
import dev.weir.engine.internal.metrics.RuleLabels;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.Rule;
import dev.weir.rules.RuleSet;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The part of a fingerprint that a rule computes beforehand does not change which keys are one. */
class BoundRuleTest {
  private static final Fingerprint FINGERPRINT = Fingerprint.seeded(1, 2);

  private static final RuleSet RULES =
      Fixture.rules(
          """
          domain: d
          descriptors:
            - key: user
              rate_limit: {unit: hour, requests_per_unit: 1}
            - key: path
              value: /login
              rate_limit: {unit: hour, requests_per_unit: 1}
            - key: path
              value: /a*
              rate_limit: {unit: hour, requests_per_unit: 1}
            - key: path
              value: /s*
              share_threshold: true
              rate_limit: {unit: hour, requests_per_unit: 1}
              descriptors:
                - key: method
                  value: GET
                  descriptors:
                    - key: user
                      descriptors:
                        - key: kind
                          value: x*
                          share_threshold: true
                          rate_limit: {unit: hour, requests_per_unit: 1}
          """);

  private static BoundRule bound(Rule rule) {
    return new BoundRule(
        rule, 1, null, null, null, false, new RuleLabels(rule.path()), FINGERPRINT);
  }

  private static long fingerprint(String... keysAndValues) {
    List<Entry> entries = Descriptor.of(keysAndValues).entries();
    return bound(Objects.requireNonNull(RULES.match("d", entries))).fingerprint(entries);
  }

  /** Returns the fingerprint of every key and every value, one after the other. */
  private static long chain(String... parts) {
    long key = 0;
    for (String part : parts) {
      key = FINGERPRINT.add(key, part);
    }
    return key;
  }

  @ParameterizedTest
  @CsvSource({"user, a", "user, /login", "path, /login", "path, /a", "path, /a*", "path, /abc"})
  void ownCounter_isTheKeyWithItsValue(String key, String value) {
    assertThat(fingerprint(key, value)).isEqualTo(chain(key, value));
  }

  @ParameterizedTest
  @CsvSource({"/s", "/s*", "/static"})
  void sharedCounter_isTheKeyWithItsPattern(String value) {
    assertThat(fingerprint("path", value)).isEqualTo(chain("path", "/s*"));
  }

  @Test
  void severalLevels_eachCountsAsItsRuleSays() {
    assertThat(fingerprint("path", "/sub", "method", "GET", "user", "ann", "kind", "xy"))
        .isEqualTo(chain("path", "/s*", "method", "GET", "user", "ann", "kind", "x*"));
  }
}
