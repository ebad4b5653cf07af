package dev.weir.cli.imports;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.cli.command.CommandFailure;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests of the import of HAProxy's limits. */
class HaproxyImportTest {
  private static String frontend(String lines) {
    return "frontend web\n  stick-table type ip size 1m expire 30s store http_req_rate(10s)\n"
        + lines;
  }

  @Test
  void deniesByRate_areRulesWithCommentsOnEach() {
    ImportedRules rules =
        Imports.haproxy(
            """
            global
              maxconn 100
            backend per_key
              stick-table type string len 64 size 100k expire 5s store gpc0,http_req_rate(1m)
            frontend web
              bind :80
              stick-table type ip size 1m expire 30s store http_req_rate(10000) # ms
              acl busy sc_http_req_rate(0) gt 20
              http-request track-sc0 src
              http-request track-sc1 hdr(X-Api-Key) table per_key if { hdr(X-Api-Key) -m found }
              http-request deny deny_status 429 if busy
              http-request deny if { sc1_http_req_rate ge 100 }
            """);
    assertThat(rules.text("shop"))
        .isEqualTo(
            """
            # Limits of HAProxy, from haproxy.cfg.
            domain: shop
            descriptors:
              # haproxy.cfg:7: stick-table type ip size 1m expire 30s store http_req_rate(10000)
              # haproxy.cfg:9: http-request track-sc0 src
              # haproxy.cfg:11: http-request deny deny_status 429 if busy
              # Descriptor of a request of web: web={ip}
              # Stricter: never more than 20 in any period, there up to twice as many around the end of one
              # There a refused request counts too; here a client that goes on passes sooner.
              - key: web
                rate_limit:
                  requests_per_unit: 20
                  window: 10s
                  algorithm: sliding-window
              # haproxy.cfg:4: stick-table type string len 64 size 100k expire 5s store gpc0,http_req_rate(1m)
              # haproxy.cfg:10: http-request track-sc1 hdr(X-Api-Key) table per_key if { hdr(X-Api-Key) -m found }
              # haproxy.cfg:12: http-request deny if { sc1_http_req_rate ge 100 }
              # Descriptor of a request of web: per_key={header:x-api-key}
              # Not carried over: the condition of the line that tracks: send no descriptor where it is false
              # Stricter: never more than 99 in any period, there up to twice as many around the end of one
              # There a refused request counts too; here a client that goes on passes sooner.
              # Stricter: there the table forgets a key after 5s, and with it what it has counted
              - key: per_key
                rate_limit:
                  requests_per_unit: 99
                  window: 60s
                  algorithm: sliding-window
            """);
    assertThat(rules.isComplete()).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "http-request deny if { sc_http_req_rate(0) gt 5 } | limits nothing, since no line tracks that before it",
        "http-request deny if { sc_conn_rate(0) gt 5 } | no rule is made of this condition",
        "http-request deny if { sc_http_req_rate(0) lt 5 } | no rule is made of this condition",
        "http-request deny if { sc_http_req_rate(0) gt 5 } { path /a } | no rule is made of this condition",
      })
  void lineOfWhichNoRuleIsMade_isNamed(String line, String remark) {
    ImportedRules rules =
        Imports.haproxy(frontend("  " + line + "\n  http-request track-sc0 src\n"));
    assertThat(rules.size()).isZero();
    assertThat(rules.remarks())
        .hasSize(1)
        .first()
        .asString()
        .startsWith("haproxy.cfg:3: " + line + ": ")
        .contains(remark);
  }

  /** HAProxy 2.6.12 lets as many requests of a period pass. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "http-request track-sc0 src | http-request deny if { src_http_req_rate gt 5 } | 5",
        "http-request deny if { src_http_req_rate(web) gt 5 } | http-request track-sc0 src | 6",
        "http-request deny if { src_http_req_rate(web) ge 5 } | http-request track-sc0 src | 5",
        "tcp-request connection track-sc1 src | http-request silent-drop if { sc1_http_req_rate gt 5 } | 5",
        "tcp-request content track-sc0 src | http-request tarpit if { sc_http_req_rate(0) ge 5 } | 4",
      })
  void number_dependsOnWhetherTheRequestIsCountedBefore(String first, String second, long permits) {
    ImportedRules rules = Imports.haproxy(frontend("  " + first + "\n  " + second + "\n"));
    assertThat(Imports.bare(rules)).contains("requests_per_unit: " + permits + "\n");
  }

  /** A table is one counter, also where several proxies use it. */
  @Test
  void tableOfTwoProxies_isOneRuleOfTheLeastNumber() {
    ImportedRules rules =
        Imports.haproxy(
            """
            backend all
              stick-table type ip size 1m store http_req_rate(10s)
            frontend a
              http-request track-sc0 src table all
              http-request deny if { sc_http_req_rate(0) gt 9 }
            frontend b
              http-request track-sc0 src table all
              http-request deny if { sc_http_req_rate(0) gt 4 }
            """);
    assertThat(Imports.bare(rules))
        .isEqualTo(
            """
            domain: imported
            descriptors:
              - key: all
                rate_limit:
                  requests_per_unit: 4
                  window: 10s
                  algorithm: sliding-window
            """);
    assertThat(rules.text("d"))
        .contains("haproxy.cfg:5: ", "haproxy.cfg:8: ")
        .contains("Stricter: the number is the least of all uses; haproxy.cfg:5 has more");
  }

  @Test
  void deniesByOtherThings_areNoLimits() {
    ImportedRules rules =
        Imports.haproxy(
            frontend("  http-request deny if { path_beg /admin }\n  http-request deny\n"));
    assertThat(rules.size()).isZero();
    assertThat(rules.remarks()).isEmpty();
  }

  @Test
  void words_haveQuotesAndComments() {
    HaproxySection section =
        HaproxySection.read("haproxy.cfg", "listen \"a b\" 'c' d\\ e # f\n\n  x\n").get(0);
    assertThat(section.words()).containsExactly("listen", "a b", "c", "d e");
    assertThat(section.lines().get(0).place()).hasToString("haproxy.cfg:3");
    assertThatThrownBy(() -> HaproxySection.read("haproxy.cfg", "listen \"a"))
        .isInstanceOf(CommandFailure.class)
        .hasMessage("haproxy.cfg:1: the end (expected: \" of a word)");
  }
}
