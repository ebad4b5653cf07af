package dev.weir.cli.imports;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.cli.command.CommandFailure;
import dev.weir.rules.Rules;
import dev.weir.rules.Severity;
import dev.weir.testkit.Trials;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Texts with random damage: each is an error with its place, or rules that are well-formed. No
 * number in it makes a rule that lint refuses.
 */
class DamagedImportTest {
  private static final int RUNS = 300;

  private static final String PIECES = "{};$#\"'\\=:[],-|&* \n\t0123456789abz\u00e9";

  private static final String NGINX =
      """
      http {
        map $a $key { default $remote_addr; 1 ""; }
        limit_req_zone $binary_remote_addr zone=a:1m rate=30r/m;
        limit_req_zone $key zone=b:1m rate=7r/s;
        limit_conn_zone $http_x zone=c:1m;
        server { server_name x; limit_req zone=a burst=9 delay=3; limit_conn c 12;
          location ~ "^/x{2}" { limit_req zone=b burst=4 nodelay; limit_req_dry_run on; } }
      }
      """;

  private static final String HAPROXY =
      """
      frontend web
        stick-table type ip size 1m expire 5s store http_req_rate(10s)
        acl busy sc_http_req_rate(0) gt 20
        http-request track-sc0 src
        http-request deny if busy
        http-request deny if { src_http_req_rate(web) ge 7 }
      """;

  private static final String SPRING =
      """
      resilience4j:
        ratelimiter: {configs: {default: {limitForPeriod: 20, limitRefreshPeriod: 1s}}, instances: {a: {}}}
        bulkhead.instances.b: {maxConcurrentCalls: 8, maxWaitDuration: 200}
      bucket4j.filters: [{rate-limits: [{num-tokens: 2, bandwidths: [{capacity: 20, time: 10, unit: seconds}]}]}]
      spring.cloud.gateway.routes:
        - {id: r, filters: [{name: RequestRateLimiter, args: {redis-rate-limiter.replenishRate: 3, redis-rate-limiter.burstCapacity: 9}}]}
      """;

  private static final String PROXIES =
      """
      token_bucket: {max_tokens: 100, tokens_per_fill: 10, fill_interval: 1s}
      filter_enabled: {default_value: {numerator: 100}}
      descriptors: [{entries: [{key: k, value: v}], token_bucket: {max_tokens: 5, fill_interval: 0.5s}}]
      http: {middlewares: {m: {rateLimit: {average: 100, period: 1m, burst: 5}}, f: {inFlightReq: {amount: 3}}}}
      plugins: [{name: rate-limiting, config: {minute: 5, year: 9}}]
      routes: [{plugins: {limit-count: {count: 2, time_window: 60}, limit-req: {rate: 4, burst: 6}, limit-conn: {conn: 3}}}]
      """;

  static Stream<Arguments> kinds() {
    return Stream.of(
        Arguments.of("nginx", NGINX, (Function<String, ImportedRules>) DamagedImportTest::nginx),
        Arguments.of(
            "haproxy", HAPROXY, (Function<String, ImportedRules>) DamagedImportTest::haproxy),
        Arguments.of("spring", SPRING, (Function<String, ImportedRules>) DamagedImportTest::spring),
        Arguments.of(
            "proxies", PROXIES, (Function<String, ImportedRules>) DamagedImportTest::proxies));
  }

  private static ImportedRules nginx(String text) {
    ImportedRules rules = new ImportedRules("nginx", "a");
    NginxLimits.add(NginxReader.read("a", text.replace("include", "exclude")), rules);
    return rules;
  }

  private static ImportedRules haproxy(String text) {
    ImportedRules rules = new ImportedRules("HAProxy", "a");
    HaproxyLimits.add(HaproxySection.read("a", text), rules);
    return rules;
  }

  private static ImportedRules spring(String text) {
    ImportedRules rules = new ImportedRules("Spring", "a");
    SpringLimits.add(ConfigProperties.parse("a", text), rules);
    SpringLimits.add(ConfigProperties.parse("a.properties", text), rules);
    return rules;
  }

  private static ImportedRules proxies(String text) {
    ImportedRules rules = new ImportedRules("proxies", "a");
    ConfigProperties properties = ConfigProperties.parse("a", text);
    EnvoyLimits.add(properties, rules);
    TraefikLimits.add(properties, rules);
    KongLimits.add(properties, rules);
    ApisixLimits.add(properties, rules);
    return rules;
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("kinds")
  void damagedText_isAnErrorOrRules(
      String name, String text, Function<String, ImportedRules> imported) {
    SplittableRandom random = Trials.random("DamagedImportTest." + name, RUNS);
    int read = 0;
    for (int run = 0; run < RUNS; run++) {
      String damaged = damaged(text, random);
      try {
        String rules = imported.apply(damaged).text("d");
        assertThat(Rules.parse("rules.yaml", rules).problems())
            .as(damaged + "\n" + rules)
            .filteredOn(problem -> problem.severity() == Severity.ERROR)
            .allMatch(problem -> rules.contains("descriptors: []"));
        read++;
      } catch (CommandFailure e) {
        assertThat(e).hasMessageStartingWith("a");
      }
    }
    assertThat(read).isBetween(1, RUNS);
  }

  private static String damaged(String text, SplittableRandom random) {
    StringBuilder damaged = new StringBuilder(text);
    for (int i = random.nextInt(1, 5); i > 0; i--) {
      int at = random.nextInt(damaged.length());
      switch (random.nextInt(3)) {
        case 0 -> damaged.deleteCharAt(at);
        case 1 -> damaged.insert(at, PIECES.charAt(random.nextInt(PIECES.length())));
        default -> damaged.insert(at, "9".repeat(random.nextInt(1, 20)));
      }
    }
    return damaged.toString();
  }
}
