package dev.weir.cli.imports;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Tests of the import of the limits of Envoy and Traefik. */
class ProxyImportTest {
  @Test
  void envoysBuckets_areRulesOfTheFilterAndItsDescriptors() {
    ImportedRules rules =
        Imports.envoy(
            """
            name: envoy.filters.http.local_ratelimit
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit
              stat_prefix: shop
              token_bucket: {max_tokens: 100, tokens_per_fill: 10, fill_interval: 1s}
              filter_enabled: {default_value: {numerator: 100, denominator: HUNDRED}}
              filter_enforced: {default_value: {numerator: 50}}
              descriptors:
                - entries: [{key: client, value: a}, {key: path}]
                  token_bucket: {max_tokens: 5, fill_interval: 0.5s}
            """);
    assertThat(Imports.bare(rules))
        .isEqualTo(
            """
            domain: imported
            descriptors:
              - key: shop
                value: all
                rate_limit:
                  requests_per_unit: 10
                  window: 1s
                  algorithm: token-bucket
                  burst: 100
                  store: local
              - key: client
                value: a
                descriptors:
                  - key: path
                    rate_limit:
                      requests_per_unit: 1
                      window: 500ms
                      algorithm: token-bucket
                      burst: 5
                      store: local
            """);
    assertThat(rules.text("d")).contains("Stricter: filter_enforced is 50 of 100 there, here all");
    assertThat(rules.isComplete()).isTrue();
  }

  @Test
  void descriptorsWithTheSameFirstEntry_areOneBranch() {
    ImportedRules rules =
        Imports.envoy(
            """
            token_bucket: {max_tokens: 9, fill_interval: 1s}
            filter_enabled: {default_value: {numerator: 100}}
            descriptors:
              - entries: [{key: k, value: v}, {key: a}]
                token_bucket: {max_tokens: 2, fill_interval: 1s}
              - entries: [{key: k, value: v}]
                token_bucket: {max_tokens: 3, fill_interval: 1s}
              - entries: [{key: k, value: v}, {key: b}]
                token_bucket: {max_tokens: 4, fill_interval: 1s}
            """);
    assertThat(rules.size()).isEqualTo(4);
    assertThat(Imports.bare(rules))
        .containsOnlyOnce("value: v")
        .containsSubsequence("burst: 3", "- key: a", "burst: 2", "- key: b", "burst: 4");
  }

  @Test
  void envoysFilterThatEnforcesNothing_isAShadowOrNothing() {
    String dump =
        """
        {"statPrefix": "x", "tokenBucket": {"maxTokens": 3, "fillInterval": "60s"},
         "filterEnabled": {"defaultValue": {"numerator": %d}},
         "localRateLimitPerDownstreamConnection": true}
        """;
    ImportedRules shadow = Imports.envoy(dump.formatted(100));
    assertThat(Imports.bare(shadow)).contains("    shadow_mode: true\n", "window: 60s");
    assertThat(shadow.isComplete()).as("a bucket a connection").isFalse();
    ImportedRules none = Imports.envoy(dump.formatted(0));
    assertThat(none.size()).isZero();
    assertThat(none.remarks())
        .containsExactly(
            "envoy.yaml:1: tokenBucket: limits nothing, since filter_enabled is absent or 0 %: no"
                + " rule is made of it");
  }

  @Test
  void traefiksMiddlewares_areRules() {
    ImportedRules rules =
        Imports.traefik(
            """
            http:
              middlewares:
                api:
                  rateLimit: {average: 100, period: 1m, burst: 50}
                keyed:
                  rateLimit:
                    average: 10
                    sourceCriterion: {requestHeaderName: X-Api-Key}
                open:
                  rateLimit: {burst: 5}
                few:
                  inFlightReq: {amount: 4, sourceCriterion: {requestHost: true}}
            ---
            kind: Middleware
            metadata: {name: crd}
            spec:
              rateLimit: {average: 2, burst: 3}
            """);
    assertThat(Imports.bare(rules))
        .isEqualTo(
            """
            domain: imported
            descriptors:
              - key: api
                rate_limit:
                  requests_per_unit: 100
                  window: 60s
                  algorithm: token-bucket
                  burst: 50
                  on_limit: {queue: {requests: 1, wait: 300ms}}
              - key: keyed
                rate_limit:
                  requests_per_unit: 10
                  window: 1s
                  algorithm: token-bucket
                  burst: 1
                  on_limit: {queue: {requests: 1, wait: 50ms}}
              - key: few
                rate_limit:
                  concurrency: 4
                  hold: 60s
              - key: crd
                rate_limit:
                  requests_per_unit: 2
                  window: 1s
                  algorithm: token-bucket
                  burst: 3
                  on_limit: {queue: {requests: 1, wait: 250ms}}
            """);
    assertThat(rules.text("d"))
        .contains("api={ip}", "keyed={header:x-api-key}", "few={host}", "pauses for two seconds");
    assertThat(rules.remarks())
        .containsExactly(
            "traefik.yaml:10: http.middlewares.open.rateLimit: limits nothing, since average is 0:"
                + " no rule is made of it");
  }
}
