package dev.weir.cli.imports;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.cli.command.CommandFailure;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the import of limits from Spring's configuration. */
class SpringImportTest {
  @Test
  void gatewaysLimiter_isABucketOfEachRoute() {
    ImportedRules rules =
        Imports.spring(
            "application.yaml",
            """
            spring:
              cloud.gateway.server.webflux:
                default-filters:
                  - name: RequestRateLimiter
                    args: {redis-rate-limiter.replenishRate: 100, redis-rate-limiter.burstCapacity: 200}
                routes:
                  - id: orders
                    uri: http://orders
                    filters:
                      - StripPrefix=1
                      - name: RequestRateLimiter
                        args:
                          redis-rate-limiter:
                            replenish-rate: 1
                            burst-capacity: 60
                            requested-tokens: 6
                          key-resolver: "#{@userKeyResolver}"
                  - id: none
                    filters:
                      - name: RequestRateLimiter
                        args: {redis-rate-limiter.replenishRate: 10}
            """);
    assertThat(Imports.bare(rules))
        .isEqualTo(
            """
            domain: imported
            descriptors:
              - key: gateway
                rate_limit:
                  requests_per_unit: 100
                  window: 1s
                  algorithm: token-bucket
                  burst: 200
                  on_failure: allow
              - key: orders
                rate_limit:
                  requests_per_unit: 1
                  window: 6s
                  algorithm: token-bucket
                  burst: 10
                  on_failure: allow
            """);
    assertThat(rules.text("d"))
        .contains("the key is made by #{@userKeyResolver}: send its value as orders");
    assertThat(rules.remarks())
        .containsExactly(
            "application.yaml:20: RequestRateLimiter: limits nothing, since a burstCapacity of 1 is"
                + " less than half of replenishRate: no rule is made of it");
  }

  @Test
  void oldNamesAndProperties_areReadToo() {
    ImportedRules rules =
        Imports.spring(
            "application.properties",
            """
            # the gateway
            spring.cloud.gateway.routes[0].id=a
            spring.cloud.gateway.routes[0].filters[0].name=RequestRateLimiter
            spring.cloud.gateway.routes[0].filters[0].args[redis-rate-limiter.replenishRate]=5
            spring.cloud.gateway.routes[0].filters[0].args.redis-rate-limiter.burstCapacity=5
            """);
    assertThat(rules.remarks())
        .hasSize(1)
        .first()
        .asString()
        .startsWith("application.properties:3");
    rules =
        Imports.spring(
            "application.properties",
            """
            spring.cloud.gateway.routes[0].id = a
            spring.cloud.gateway.routes[0].filters[0].name: RequestRateLimiter
            spring.cloud.gateway.routes[0].filters[0].args.redis-rate-limiter.replenishRate=5
            spring.cloud.gateway.routes[0].filters[0].args.redis-rate-limiter.burst-capacity=5
            """);
    assertThat(Imports.bare(rules)).contains("requests_per_unit: 5\n", "burst: 5\n");
  }

  @Test
  void resilience4j_hasTheDefaultsOfItsConfigs() {
    ImportedRules rules =
        Imports.spring(
            "application.yml",
            """
            resilience4j.ratelimiter:
              configs:
                default: {limitForPeriod: 20, limitRefreshPeriod: 1s, timeoutDuration: 0}
                slow: {limit-refresh-period: PT10S, timeout-duration: 500ms}
              instances:
                search: {}
                mail: {baseConfig: slow, limit-for-period: 3}
            ---
            spring.config.activate.on-profile: test
            resilience4j:
              ratelimiter.instances.free.limitForPeriod: 10
              bulkhead.instances.db: {maxConcurrentCalls: 8, maxWaitDuration: 200}
            """);
    assertThat(Imports.bare(rules))
        .isEqualTo(
            """
            domain: imported
            descriptors:
              - key: ratelimiter
                value: search
                rate_limit:
                  requests_per_unit: 20
                  window: 1s
                  algorithm: fixed-window
              - key: ratelimiter
                value: mail
                rate_limit:
                  requests_per_unit: 3
                  window: 10s
                  algorithm: fixed-window
                  on_limit: {queue: {requests: 3, wait: 500ms}}
              - key: bulkhead
                value: db
                rate_limit:
                  concurrency: 8
                  hold: 60s
                  on_limit: {queue: {requests: 8, wait: 200ms}}
            """);
    assertThat(rules.remarks())
        .containsExactly(
            "application.yml:11: resilience4j.ratelimiter.instances.free: limits nothing, with 10 in"
                + " 500 ns (the default of limitRefreshPeriod is 500 ns): no rule is made of it");
    assertThat(rules.text("d")).contains("# Of the profile test only.");
  }

  @Test
  void instanceOfTwoProfiles_isOneRule_andTheOtherIsNamed() {
    ImportedRules rules =
        Imports.spring(
            "application.yml",
            """
            resilience4j.bulkhead.instances.a.maxConcurrentCalls: 5
            ---
            spring.config.activate.on-profile: test
            resilience4j.bulkhead.instances.a.maxConcurrentCalls: 7
            """);
    assertThat(rules.size()).isEqualTo(1);
    assertThat(rules.remarks())
        .containsExactly(
            "application.yml:4: resilience4j.bulkhead.instances.a: no rule is made of it, since"
                + " there is one of the same descriptor, bulkhead=a");
  }

  @Test
  void startersBandwidths_areBucketsAndWindows() {
    ImportedRules rules =
        Imports.spring(
            "application.yml",
            """
            bucket4j:
              filters:
                - url: /api/.*
                  rate-limits:
                    - cache-key: getRemoteAddr()
                      bandwidths:
                        - {capacity: 20, refill-capacity: 5, time: 10, unit: seconds}
                        - {capacity: 100, time: 1, unit: hours, refill-speed: interval}
                    - num-tokens: 5
                      bandwidths:
                        - {capacity: 50, refill-capacity: 10, time: 1, unit: minutes, refill-speed: interval}
            """);
    assertThat(Imports.bare(rules))
        .isEqualTo(
            """
            domain: imported
            descriptors:
              - key: bucket4j
                rate_limit:
                  requests_per_unit: 5
                  window: 10s
                  algorithm: token-bucket
                  burst: 20
              - key: bucket4j-2
                rate_limit:
                  requests_per_unit: 100
                  window: 3600s
                  algorithm: fixed-window
              - key: bucket4j-3
                rate_limit:
                  requests_per_unit: 10
                  window: 300s
                  algorithm: token-bucket
                  burst: 10
            """);
    assertThat(rules.text("d")).contains("getRemoteAddr()", "Of requests to /api/.*");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "resilience4j.ratelimiter.instances.a: {limitForPeriod: many, limitRefreshPeriod: 1s}",
        "resilience4j.ratelimiter.instances.a: {limitForPeriod: 1, limitRefreshPeriod: soon}",
        "resilience4j.bulkhead.instances.a: {maxConcurrentCalls: 100000}",
        "bucket4j.filters: [{rate-limits: [{bandwidths: [{capacity: ten, time: 1}]}]}]",
        "bucket4j.filters: [{rate-limits: [{bandwidths: [{capacity: 10, time: 1, unit: moons}]}]}]",
      })
  void numberThatCannotBeRead_isNamed(String text) {
    ImportedRules rules = Imports.spring("application.yml", text);
    assertThat(rules.size()).isZero();
    assertThat(rules.remarks()).hasSize(1).first().asString().startsWith("application.yml:1: ");
  }

  @Test
  void nestingBeyondTheBound_isOneError() {
    assertThatThrownBy(() -> Imports.spring("application.yml", "[".repeat(100_000)))
        .isInstanceOf(CommandFailure.class)
        .hasMessage("application.yml:1: too many levels (expected: at most 100)");
  }

  @Test
  void textThatIsNoYaml_isOneError() {
    assertThatThrownBy(() -> Imports.spring("application.yml", "a: [b"))
        .isInstanceOf(CommandFailure.class)
        .hasMessageContainingAll("application.yml", "line 1", "(expected: YAML or JSON)");
  }
}
