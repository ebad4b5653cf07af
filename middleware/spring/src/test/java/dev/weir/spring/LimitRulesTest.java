package dev.weir.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.rules.Descriptor;
import dev.weir.rules.RuleSet;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.mock.env.MockEnvironment;

class LimitRulesTest {
  static Map<String, LimitProperties> limits(String... properties) {
    MockEnvironment environment = new MockEnvironment();
    for (String property : properties) {
      int equals = property.indexOf('=', property.lastIndexOf(']') + 1);
      environment.setProperty(
          "weir.limits." + property.substring(0, equals), property.substring(equals + 1));
    }
    return Binder.get(environment)
        .bind("weir.limits", Bindable.mapOf(String.class, LimitProperties.class))
        .get();
  }

  private static RuleSet rules(String... properties) {
    return LimitRules.rules("shop", limits(properties));
  }

  private static String verdict(RuleSet rules, String... descriptor) {
    return rules.explain("shop", Descriptor.of(descriptor).entries()).verdict();
  }

  @Test
  void limitByAddress_isTheRuleOfItsDescriptor() {
    RuleSet rules = rules("api.requests=100", "api.per=minute", "api.by=ip");
    assertThat(verdict(rules, "limit", "api", "ip", "203.0.113.7"))
        .isEqualTo(
            "decided by shop.limit_api.ip (weir.limits:6:9): 100 per minute, sliding-window");
  }

  @Test
  void limitByNothing_isOneCounter() {
    RuleSet rules = rules("api.requests=100", "api.per=90s", "api.by=none");
    assertThat(verdict(rules, "limit", "api")).contains("100 per 1m30s");
  }

  @Test
  void limitAtTheSameTime_hasNoWindow() {
    RuleSet rules = rules("exports.concurrency=2", "exports.hold=30s", "exports.by=login");
    assertThat(verdict(rules, "limit", "exports", "login", "alice"))
        .contains("2 at once, hold 30s");
  }

  @Test
  void limitBySeveral_isTheirCombination() {
    RuleSet rules = rules("api.requests=5", "api.per=day", "api.by=path,login|ip");
    assertThat(verdict(rules, "limit", "api", "path", "/a", "login|ip", "login:alice"))
        .startsWith("decided by shop.limit_api.path.login|ip ");
  }

  @Test
  void limitWithoutFilter_isTheAnnotations() {
    RuleSet rules = rules("checkout.requests=5", "checkout.per=hour");
    assertThat(verdict(rules, "name", "checkout")).startsWith("decided by shop.name_checkout ");
    assertThat(verdict(rules, "name", "checkout", "key", "alice"))
        .startsWith("decided by shop.name_checkout.key ");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "algorithm=token-bucket  | algorithm: token-bucket",
        "throttle=soft 5%        | throttle: {soft: 5%}",
        "throttle=elastic: 70%   | throttle: {elastic: 70%}",
        "throttle=elastic        | throttle: elastic",
        "costs=reported          | costs: reported",
        "granularity=1s          | granularity: 1s",
        "store=local             | store: local",
        "consistency=leased      | consistency: leased",
        "sync-interval=200ms     | sync_interval: 200ms",
        "on-failure=allow        | on_failure: allow",
        "local-share=25%         | local_share: 25%",
        "max-keys=1_000          | max_keys: 1_000",
        "when-full=sketch        | when_full: sketch",
        "shadow=true             | shadow_mode: true",
        "algorithm=\"a\\b        | algorithm: \"\\\"a\\\\b\""
      })
  void option_isTheRules(String property, String line) {
    String text =
        LimitRules.text("shop", limits("api.requests=5", "api.per=minute", "api." + property));
    assertThat(text.lines().map(String::strip)).contains(line);
  }

  @Test
  void options_takeEffect() {
    RuleSet rules =
        rules(
            "api.requests=5",
            "api.per=minute",
            "api.by=ip",
            "api.algorithm=token-bucket",
            "api.burst=10",
            "api.throttle=soft 20%",
            "api.shadow=true");
    assertThat(verdict(rules, "limit", "api", "ip", "x"))
        .contains("token-bucket", "soft 20%", "in shadow mode");
  }

  @Test
  void strangeNames_staySeparate() {
    RuleSet rules =
        rules("[a\"b\\: {c}].requests=1", "[a\"b\\: {c}].per=second", "[a\"b\\: {c}].by=ip");
    assertThat(verdict(rules, "limit", "a\"b\\: {c}", "ip", "x")).startsWith("decided by ");
    assertThat(LimitFilters.of(limits("[a,b={c}].by=ip")).get(0).descriptors())
        .containsExactly("limit=a\\,b\\=\\{c\\},ip={ip}");
  }

  @Test
  void requestsAndPerAreMissing_bothAreTold() {
    assertThat(LimitRules.problems(limits("api.by=ip")).stream().map(PropertyProblem::toString))
        .startsWith("weir.limits.api.requests: (expected: 0..4294967295)")
        .anyMatch(line -> line.startsWith("weir.limits.api.per: (expected: second, minute,"));
  }
}
