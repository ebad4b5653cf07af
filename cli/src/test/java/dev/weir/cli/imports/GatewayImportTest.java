package dev.weir.cli.imports;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Tests of the import of the limits of Kong and APISIX. */
class GatewayImportTest {
  @Test
  void kongsWindows_areARuleEach() {
    ImportedRules rules =
        Imports.kong(
            """
            _format_version: "3.0"
            plugins:
              - name: rate-limiting
                config: {minute: 5, month: 1000, policy: redis}
              - name: rate-limiting
                enabled: false
                config: {minute: 1}
            services:
              - name: orders
                routes:
                  - name: list
                    plugins:
                      - name: rate-limiting
                        config: {second: 3, limit_by: header, header_name: X-Api-Key}
                      - {name: rate-limiting, config: {hour: many, limit_by: credential}}
            """);
    assertThat(Imports.bare(rules))
        .isEqualTo(
            """
            domain: imported
            descriptors:
              - key: kong-minute
                rate_limit:
                  requests_per_unit: 5
                  window: 60s
                  algorithm: fixed-window
                  on_failure: allow
              - key: kong-month
                rate_limit:
                  requests_per_unit: 1000
                  window: 2678400s
                  algorithm: sliding-window
                  on_failure: allow
              - key: list-second
                rate_limit:
                  requests_per_unit: 3
                  window: 1s
                  algorithm: fixed-window
                  store: local
            """);
    assertThat(rules.text("d"))
        .contains(
            "list-second={header:x-api-key|ip}",
            "kong-minute={login|ip}",
            "a month of the calendar");
    assertThat(rules.remarks())
        .hasSize(1)
        .first()
        .asString()
        .contains("no number that can be read");
  }

  @Test
  void kongsFallbacks_areNotLeftOut() {
    ImportedRules rules =
        Imports.kong(
            """
            plugins:
              - name: rate-limiting
                config: {minute: 5, limit_by: path, path: /login}
            """);
    assertThat(rules.text("d")).contains("limit_by is path: send its value");
    assertThat(rules.isComplete()).isFalse();
  }

  @Test
  void apisixsGroup_isOneRule() {
    ImportedRules rules =
        Imports.apisix(
            """
            routes:
              - {id: a, plugins: {limit-count: {count: 2, time_window: 60, group: g}}}
              - {id: b, plugins: {limit-count: {count: 2, time_window: 60, group: g}}}
            """);
    assertThat(rules.size()).isEqualTo(1);
    assertThat(Imports.bare(rules)).contains("key: g\n");
    assertThat(rules.remarks())
        .containsExactly(
            "apisix.yaml:3: routes[1].plugins.limit-count: no rule is made of it, since there is"
                + " one of the same descriptor, g");
  }

  @Test
  void apisixsPlugins_areRules() {
    ImportedRules rules =
        Imports.apisix(
            """
            routes:
              - id: a
                uri: /a
                plugins:
                  limit-count: {count: 2, time_window: 60, rejected_code: 429, key: remote_addr}
                  limit-req: {rate: 4, burst: 6, key: http_x_api_key}
              - id: b
                plugins:
                  limit-conn: {conn: 3, burst: 1, key: consumer_name, default_conn_delay: 0.1}
            """);
    assertThat(Imports.bare(rules))
        .isEqualTo(
            """
            domain: imported
            descriptors:
              - key: a-limit-count
                rate_limit:
                  requests_per_unit: 2
                  window: 60s
                  algorithm: sliding-window
                  store: local
              - key: a-limit-req
                rate_limit:
                  requests_per_unit: 8
                  window: 2s
                  algorithm: token-bucket
                  burst: 1
                  on_limit: {queue: {requests: 6, wait: 2s}}
                  store: local
              - key: b-limit-conn
                rate_limit:
                  concurrency: 4
                  hold: 60s
            """);
    assertThat(rules.text("d"))
        .contains(
            "a-limit-count={ip}", "a-limit-req={header:x-api-key}", "the key is consumer_name");
    assertThat(rules.isComplete()).isFalse();
  }
}
