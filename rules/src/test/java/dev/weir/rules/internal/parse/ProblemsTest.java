package dev.weir.rules.internal.parse;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.rules.Problem;
import dev.weir.rules.Rules;
import dev.weir.rules.Severity;
import dev.weir.rules.Texts;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every cause of refusal, with its exact place and words. */
class ProblemsTest {
  private static final String UNITS = "second, minute, hour, day, week, month or year";

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{unit: minute, requests_per_unit: -1} | 4:32 requests_per_unit: -1 (expected: 0..4294967295)",
        "{unit: minute, requests_per_unit: 4294967296} | 4:32 requests_per_unit: 4294967296 (expected: 0..4294967295)",
        "{unit: minute, requests_per_unit: 99999999999999999999} | 4:32 requests_per_unit: 99999999999999999999 (expected: 0..4294967295)",
        "{unit: minute, requests_per_unit: ten} | 4:32 requests_per_unit: ten (expected: a whole number, 0..4294967295)",
        "{unit: minute, requests_per_unit: 1.5} | 4:32 requests_per_unit: 1.5 (expected: a whole number, 0..4294967295)",
        "{unit: minute, requests_per_unit: '5'} | 4:32 requests_per_unit: \"5\" (expected: 0..4294967295, without quotes)",
        "{unit: minute, requests_per_unit: 010} | 4:32 requests_per_unit: 010 (expected: 0..4294967295, without leading zeros)",
        "{unit: minute, requests_per_unit: [1]} | 4:32 requests_per_unit: a list (expected: a whole number, 0..4294967295)",
        "{requests_per_unit: 1, unit: [a]} | 4:40 unit: a list (expected: a text)",
        "{unit: minute, requests_per_unit: 1, unlimited: maybe} | 4:54 unlimited: maybe (expected: true or false)",
        "{unit: minute, requests_per_unit: 1, unlimited: 'true'} | 4:54 unlimited: \"true\" (expected: true or false)",
        "{unlimited: true, unit: minute} | 4:35 unit: minute (expected: none beside unlimited)",
        "{unlimited: true, window: 1s} | 4:35 window: 1s (expected: none beside unlimited)",
        "{window: 1s, unit: second, requests_per_unit: 1} | 4:30 unit: second (expected: none beside window)",
        "{window: 1s, unit_multiplier: 2, requests_per_unit: 1} | 4:30 unit_multiplier: 2 (expected: none beside window)",
        "{window: 367d, requests_per_unit: 1} | 4:18 window: 367d (expected: 1ms..366d)",
        "{window: 0s, requests_per_unit: 1} | 4:18 window: 0s (expected: 1ms..366d)",
        "{window: 90, requests_per_unit: 1} | 4:18 window: 90 (expected: numbers with units, largest first, such as 90s, 1h30m or 250ms (units: w, d, h, m, s, ms))",
        "{unit: minute, unit_multiplier: 0, requests_per_unit: 1} | 4:32 unit_multiplier: 0 (expected: 1..527040)",
        "{unit: month, unit_multiplier: 13, requests_per_unit: 1} | 4:31 unit_multiplier: 13 (expected: 1..12)",
        "{unit: year, unit_multiplier: 2, requests_per_unit: 1} | 4:30 unit_multiplier: 2 (expected: 1..1)",
        "{unit: minute, requests_per_unit: 1, burst: 5} | 4:54 burst: 5 (expected: none with sliding-window, only token-bucket and leaky-bucket have one)",
        "{unit: year, requests_per_unit: 1, algorithm: token-bucket, burst: 4000000000} | 4:77 burst: 4000000000 (expected: 0..36)",
        "{unit: hour, requests_per_unit: 1000, granularity: 1ms} | 4:55 granularity: 1ms (expected: 879ms..1h)",
        "{unit: hour, requests_per_unit: 1000, granularity: 2h} | 4:55 granularity: 2h (expected: 879ms..1h)",
        "{unit: hour, requests_per_unit: 1000, max_keys: 0} | 4:55 max_keys: 0 (expected: 1..1099511627776)",
        "{unit: hour, requests_per_unit: 1000, throttle: sof} | 4:55 throttle: sof, did you mean \"soft\"? (expected: hard, {soft: 5%}, elastic or {elastic: 70%})",
        "{unit: hour, requests_per_unit: 1000, throttle: } | 4:55 throttle: nothing (expected: hard, {soft: 5%}, elastic or {elastic: 70%})",
        "{unit: hour, requests_per_unit: 1000, throttle: [soft]} | 4:55 throttle: a list (expected: hard, {soft: 5%}, elastic or {elastic: 70%})",
        "{unit: hour, requests_per_unit: 1000, throttle: {}} | 4:55 throttle: a map (expected: hard, {soft: 5%}, elastic or {elastic: 70%})",
        "{unit: hour, requests_per_unit: 1000, throttle: {soft: 5%, elastic: 70%}} | 4:55 throttle: a map (expected: hard, {soft: 5%}, elastic or {elastic: 70%})",
        "{unit: hour, requests_per_unit: 1000, throttle: {soft: 0%}} | 4:66 soft: 0% (expected: above 0% and at most 100%, for example 5% or 0.05)",
        "{unit: hour, requests_per_unit: 1000, throttle: {soft: 0.00001%}} | 4:66 soft: 0.00001% (expected: 0.0001% to 100%, at most four digits behind the point)",
        "{unit: hour, requests_per_unit: 1000, throttle: {soft: 1.234567%}} | 4:66 soft: 1.234567% (expected: 0.0001% to 100%, at most four digits behind the point)",
        "{unit: second, requests_per_unit: 1000, algorithm: token-bucket, burst: 4200000000, throttle: {soft: 5%}} | 4:82 burst with what is tolerated: 4410000000 (expected: 0..4294967295)",
        "{unit: hour, requests_per_unit: 1000, throttle: {elastic: 101%}} | 4:66 elastic: 101% (expected: above 0% and at most 100%, for example 5% or 0.05)",
        "{unit: hour, requests_per_unit: 1000, throttle: {hard: true}} | 4:66 hard: unknown key in throttle (expected: soft, elastic)",
        "{unit: hour, requests_per_unit: 4294967295, throttle: {soft: 5%}} | 4:30 quota with what is tolerated: 4509715659 (expected: 0..4294967295)",
        "{unit: minute, requests_per_unit: 10, on_limit: dorp} | 4:55 on_limit: dorp, did you mean \"drop\"? (expected: drop or {queue: {requests: 50, wait: 2s}})",
        "{unit: minute, requests_per_unit: 10, on_limit: queue} | 4:55 on_limit: queue (expected: drop or {queue: {requests: 50, wait: 2s}})",
        "{unit: minute, requests_per_unit: 10, on_limit: wait} | 4:55 on_limit: wait (expected: drop or {queue: {requests: 50, wait: 2s}})",
        "{unit: minute, requests_per_unit: 10, on_limit: } | 4:55 on_limit: nothing (expected: drop or {queue: {requests: 50, wait: 2s}})",
        "{unit: minute, requests_per_unit: 10, on_limit: [drop]} | 4:55 on_limit: a list (expected: drop or {queue: {requests: 50, wait: 2s}})",
        "{unit: minute, requests_per_unit: 10, on_limit: {}} | 4:55 on_limit: a map (expected: drop or {queue: {requests: 50, wait: 2s}})",
        "{unit: minute, requests_per_unit: 10, on_limit: {drop: true}} | 4:66 drop: unknown key in on_limit (expected: queue)",
        "{unit: minute, requests_per_unit: 10, on_limit: {queu: {}}} | 4:66 queu: unknown key in on_limit, did you mean \"queue\"? (expected: queue)",
        "{unit: minute, requests_per_unit: 10, on_limit: {requests: 5, queue: {requests: 5, wait: 2s}}} | 4:66 requests: stands in on_limit (expected: in the queue of on_limit)",
        "{unit: minute, requests_per_unit: 10, on_limit: {queue: }} | 4:66 queue: nothing (expected: {requests: 50, wait: 2s})",
        "{unit: minute, requests_per_unit: 10, on_limit: {queue: 50}} | 4:66 queue: 50 (expected: {requests: 50, wait: 2s})",
        "{unit: minute, requests_per_unit: 10, on_limit: {queue: {wait: 2s}}} | 4:73 requests: missing (expected: a whole number, 1..100000)",
        "{unit: minute, requests_per_unit: 10, on_limit: {queue: {requests: 0, wait: 2s}}} | 4:74 requests: 0 (expected: 1..100000)",
        "{unit: minute, requests_per_unit: 10, on_limit: {queue: {requests: 100001, wait: 2s}}} | 4:74 requests: 100001 (expected: 1..100000)",
        "{unit: minute, requests_per_unit: 10, on_limit: {queue: {requests: '5', wait: 2s}}} | 4:74 requests: \"5\" (expected: 1..100000, without quotes)",
        "{unit: minute, requests_per_unit: 10, on_limit: {queue: {requests: 11, wait: 2s}}} | 4:74 requests: 11 (expected: 1..10, at most requests_per_unit)",
        "{unit: minute, requests_per_unit: 10, on_limit: {queue: {requests: 5}}} | 4:73 wait: missing (expected: numbers with units, largest first, such as 90s, 1h30m or 250ms (units: w, d, h, m, s, ms))",
        "{unit: minute, requests_per_unit: 10, on_limit: {queue: {requests: 5, wait: 2}}} | 4:87 wait: 2 (expected: numbers with units, largest first, such as 90s, 1h30m or 250ms (units: w, d, h, m, s, ms))",
        "{unit: minute, requests_per_unit: 10, on_limit: {queue: {requests: 5, wait: 0ms}}} | 4:87 wait: 0ms (expected: 1ms..1m)",
        "{unit: minute, requests_per_unit: 10, on_limit: {queue: {requests: 5, wait: 61s}}} | 4:87 wait: 61s (expected: 1ms..1m)",
        "{unit: minute, requests_per_unit: 10, on_limit: {queue: {request: 5, requests: 5, wait: 2s}}} | 4:74 request: unknown key in the queue of on_limit, did you mean \"requests\"? (expected: requests, wait)",
        "{unit: minute, requests_per_unit: 10, queue: {requests: 5, wait: 2s}} | 4:55 queue: stands in rate_limit (expected: in on_limit)",
        "{unit: hour, requests_per_unit: 1000, costs: after} | 4:55 costs: after (expected: before, reported or held)",
        "{unit: hour, requests_per_unit: 1000, costs: held, on_limit: {queue: {requests: 5, wait: 2s}}} | 4:55 costs: held (expected: before, beside on_limit: queue; a report is counted and cannot wait)",
        "{unit: hour, requests_per_unit: 1000, costs: reported, on_limit: {queue: {requests: 5, wait: 2s}}} | 4:55 costs: reported (expected: before, beside on_limit: queue; a report is counted and cannot wait)",
        "{unit: hour, requests_per_unit: 1000, when_full: evict} | 4:55 when_full: evict (expected: deny or sketch)",
        "{unit: hour, requests_per_unit: 1000, on_failure: maybe} | 4:55 on_failure: maybe (expected: deny, allow or local)",
        "{unit: hour, requests_per_unit: 1000, on_failure: [deny]} | 4:55 on_failure: a list (expected: deny, allow or local)",
        "{unit: hour, requests_per_unit: 1000, on_failure: } | 4:55 on_failure: nothing (expected: deny, allow or local)",
        "{unit: hour, requests_per_unit: 1000, store: default} | 4:55 store: default (expected: local or shared)",
        "{unit: hour, requests_per_unit: 1000, consistency: exact} | 4:55 consistency: exact (expected: strict, leased or approximate)",
        "{unit: hour, requests_per_unit: 1000, consistency: leased, store: local, sync_interval: 2h} | 4:90 sync_interval: 2h (expected: 1ms..1h)",
        "{unit: hour, requests_per_unit: 1000, store: LOCAL, consistency: approximate} | 4:69 consistency: approximate (expected: strict or leased with store: local)",
        "{unit: hour, requests_per_unit: 1000, store: local, on_failure: local} | 4:69 on_failure: local (expected: deny or allow with store: local)",
        "{unit: hour, requests_per_unit: 1000, store: local, sync_interval: 1s} | 4:69 sync_interval: 1s (expected: none with store: local, but for consistency: leased)",
        "{unit: hour, requests_per_unit: 1000, store: local, local_share: 25%} | 4:69 local_share: 25% (expected: none with store: local)",
        "{unit: hour, requests_per_unit: 1000, sync_interval: 1s} | 4:55 sync_interval: 1s (expected: none with consistency: strict, only leased and approximate have one)",
        "{unit: hour, requests_per_unit: 1000, sync_interval: 1s, consistency: strict} | 4:55 sync_interval: 1s (expected: none with consistency: strict, only leased and approximate have one)",
        "{unit: hour, requests_per_unit: 1000, consistency: leased, sync_interval: 61m} | 4:76 sync_interval: 61m (expected: 1ms..1h)",
        "{unit: hour, requests_per_unit: 1000, consistency: leased, sync_interval: 0ms} | 4:76 sync_interval: 0ms (expected: 1ms..1h)",
        "{unit: hour, requests_per_unit: 1000, consistency: leased, sync_interval: 5} | 4:76 sync_interval: 5 (expected: numbers with units, largest first, such as 90s, 1h30m or 250ms (units: w, d, h, m, s, ms))",
        "{unit: hour, requests_per_unit: 1000, on_failure: local} | 4:17 local_share: missing (expected: above 0% and at most 100%, for example 25% or 0.25, beside on_failure: local)",
        "{unit: hour, requests_per_unit: 1000, local_share: 25%} | 4:55 local_share: 25% (expected: none without on_failure: local)",
        "{unit: hour, requests_per_unit: 1000, local_share: 25%, on_failure: allow} | 4:55 local_share: 25% (expected: none without on_failure: local)",
        "{unit: hour, requests_per_unit: 1000, on_failure: local, local_share: 0%} | 4:74 local_share: 0% (expected: above 0% and at most 100%, for example 25% or 0.25)",
        "{unit: hour, requests_per_unit: 1000, on_failure: local, local_share: 0} | 4:74 local_share: 0 (expected: above 0% and at most 100%, for example 25% or 0.25)",
        "{unit: hour, requests_per_unit: 1000, on_failure: local, local_share: 101%} | 4:74 local_share: 101% (expected: above 0% and at most 100%, for example 25% or 0.25)",
        "{unit: hour, requests_per_unit: 1000, on_failure: local, local_share: 25} | 4:74 local_share: 25 (expected: above 0% and at most 100%, for example 25% or 0.25)",
        "{unit: hour, requests_per_unit: 1000, on_failure: local, local_share: 1.0000001} | 4:74 local_share: 1.0000001 (expected: above 0% and at most 100%, for example 25% or 0.25)",
        "{unit: hour, requests_per_unit: 1000, on_failure: local, local_share: -1%} | 4:74 local_share: -1% (expected: above 0% and at most 100%, for example 25% or 0.25)",
        "{unit: hour, requests_per_unit: 1000, on_failure: local, local_share: half} | 4:74 local_share: half (expected: above 0% and at most 100%, for example 25% or 0.25)",
        "{unit: hour, requests_per_unit: 1000, on_failure: local, local_share: [25%]} | 4:74 local_share: a list (expected: above 0% and at most 100%, for example 25% or 0.25)",
        "{unit: hour, requests_per_unit: 1000, on_failure: local, local_share: } | 4:74 local_share: nothing (expected: above 0% and at most 100%, for example 25% or 0.25)",
        "{unit: hour, requests_per_unit: 1, name: a, replaces: [{name: a}]} | 4:73 name: a (expected: another rule, not this one)",
        "{unit: hour, requests_per_unit: 1, replaces: [{}]} | 4:63 name: missing (expected: the name of another rule)",
        "{unit: hour, requests_per_unit: 1, replaces: [{name: ''}]} | 4:64 name: \"\" (expected: the name of another rule)",
        "{unit: hour, requests_per_unit: 1, replaces: [a]} | 4:63 replaces: a (expected: a list of maps)",
        "{unit: hour, requests_per_unit: 1, replaces: a} | 4:52 replaces: a (expected: a list)",
        "[unit, minute] | 4:5 rate_limit: a list (expected: a map)",
      })
  void rateLimit_isRefused(String rateLimit, String problem) {
    assertThat(Texts.problems(Texts.file(rateLimit))).containsExactly("rules.yaml:" + problem);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{unit: minite, requests_per_unit: 1} | 4:18 unit: minite, did you mean \"minute\"?",
        "{unit: fortnight, requests_per_unit: 1} | 4:18 unit: fortnight",
      })
  void unknownUnit_isRefused(String rateLimit, String problem) {
    assertThat(Texts.problems(Texts.file(rateLimit)))
        .containsExactly("rules.yaml:" + problem + " (expected: " + UNITS + ")");
  }

  @Test
  void missingUnit_isRefused() {
    assertThat(Texts.problems(Texts.file("{requests_per_unit: 1}")))
        .containsExactly(
            "rules.yaml:4:17 unit: missing (expected: " + UNITS + ", or window instead)");
  }

  @Test
  void unknownAlgorithm_isRefusedOnce() {
    assertThat(
            Texts.problems(
                Texts.file("{unit: day, requests_per_unit: 1, algorithm: token_bucket, burst: 1}")))
        .containsExactly(
            "rules.yaml:4:51 algorithm: token_bucket, did you mean \"token-bucket\"?"
                + " (expected: sliding-window, sliding-window-log, sliding-window-buckets,"
                + " sliding-window-counter, fixed-window, token-bucket, leaky-bucket)");
  }

  @Test
  void allProblemsOfAFile_areReportedAtOnceInOrder() {
    assertThat(
            Texts.problems(
                """
                domian: foo
                descriptors:
                  - key: k1
                    value: v1
                    rate_limit:
                      unit: minute
                      requests_per_unit: -1
                      shadow_mode: true
                  - value: x
                    requests_per_unit: 3
                    share_threshold: yes
                  - key: k1
                    value: v1
                  - just text
                  - key: ""
                  - key: m
                    metadata: [a]
                    descriptors: {key: n}
                """))
        .containsExactly(
            "rules.yaml:1:1 domian: unknown key at the top of the file, did you mean \"domain\"?"
                + " (expected: domain, plans, descriptors)",
            "rules.yaml:1:1 domain: missing (expected: a text)",
            "rules.yaml:7:7 requests_per_unit: -1 (expected: 0..4294967295)",
            "rules.yaml:8:7 shadow_mode: stands in rate_limit (expected: in a descriptor)",
            "rules.yaml:9:5 key: missing (expected: a text that is not empty)",
            "rules.yaml:10:5 requests_per_unit: stands in a descriptor (expected: in rate_limit)",
            "rules.yaml:11:5 share_threshold: yes (expected: only beside a value with a *, or a range of addresses)",
            "rules.yaml:12:5 descriptor \"k1_v1\": duplicate of line 3"
                + " (expected: unique key and value per level)",
            "rules.yaml:14:5 descriptors: just text (expected: a list of maps)",
            "rules.yaml:15:5 key: \"\" (expected: a text that is not empty)",
            "rules.yaml:17:5 metadata: a list (expected: a map)",
            "rules.yaml:18:5 descriptors: a map (expected: a list)");
  }

  @Test
  void allContradictionsOfAStore_areReportedAtOnce() {
    assertThat(
            Texts.problems(
                """
                domain: d
                descriptors:
                  - key: local
                    rate_limit:
                      unit: minute
                      requests_per_unit: 1
                      store: local
                      consistency: approximate
                      sync_interval: never
                      on_failure: local
                      local_share: 300%
                  - key: wrong
                    rate_limit:
                      unit: minute
                      requests_per_unit: 1
                      store: disk
                      consistency: sloppy
                      sync_interval: 2m
                      on_failure: panic
                      local_share: 300%
                  - key: badWindow
                    rate_limit: {window: 1, requests_per_unit: 1, consistency: leased, sync_interval: 1h}
                """))
        .containsExactly(
            "rules.yaml:8:7 consistency: approximate (expected: strict or leased with store: local)",
            "rules.yaml:9:7 sync_interval: never (expected: none with store: local, but for"
                + " consistency: leased)",
            "rules.yaml:10:7 on_failure: local (expected: deny or allow with store: local)",
            "rules.yaml:11:7 local_share: 300% (expected: none with store: local)",
            "rules.yaml:16:7 store: disk (expected: local or shared)",
            "rules.yaml:17:7 consistency: sloppy (expected: strict, leased or approximate)",
            "rules.yaml:18:7 sync_interval: 2m (expected: 1ms..1m)",
            "rules.yaml:19:7 on_failure: panic (expected: deny, allow or local)",
            "rules.yaml:20:7 local_share: 300% (expected: above 0% and at most 100%, for example 25% or 0.25)",
            "rules.yaml:22:18 window: 1 (expected: numbers with units, largest first, such as 90s, 1h30m or 250ms (units: w, d, h, m, s, ms))");
  }

  @Test
  void compositeKeysThatReadAlike_areRefused() {
    assertThat(
            Texts.problems(
                """
                domain: d
                descriptors:
                  - key: a_b
                    rate_limit: {unit: day, requests_per_unit: 1}
                  - {key: a, value: b}
                """))
        .containsExactly(
            "rules.yaml:5:5 descriptor \"a_b\": reads like the other key and value of line 3"
                + " (expected: unique key_value per level)");
  }

  @Test
  void pathsThatReadAlike_areRefused() {
    assertThat(
            Texts.problems(
                """
                domain: d
                descriptors:
                  - key: a.b
                    rate_limit: {unit: day, requests_per_unit: 1}
                  - key: a
                    descriptors:
                      - key: b
                        rate_limit: {unit: day, requests_per_unit: 1}
                """))
        .containsExactly(
            "rules.yaml:7:9 descriptor path \"d.a.b\": reads like the one at rules.yaml:3:5"
                + " (expected: unique)");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "domain: '' | 1:1 domain: \"\" (expected: a text that is not empty)",
        "domain: | 1:1 domain: nothing (expected: a text)",
        "domain: [a] | 1:1 domain: a list (expected: a text)",
        "domain: d\\nkey: k | 2:1 key: stands at the top of the file (expected: in a descriptor)",
        "domain: d\\ndescriptors: x | 2:1 descriptors: x (expected: a list)",
        "domain: d\\ndescriptors:\\n- key: [k] | 3:3 key: a list (expected: a text)",
        "domain: d\\ndescriptors:\\n- key: k\\n  value: {a: b} | 4:3 value: a map (expected: a text)",
        "domain: d\\ndescriptors:\\n- | 3:2 descriptors: nothing (expected: a list of maps)",
      })
  void structure_isRefused(String yaml, String problem) {
    assertThat(Texts.problems(yaml.replace("\\n", "\n"))).contains("rules.yaml:" + problem);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{unit: day, request_per_unit: 3} | 4:29 request_per_unit: old name (expected: requests_per_unit)",
        "{unit: day, requests_per_unit: 0} | 4:29 requests_per_unit: 0 (expected: at least 1; with 0 every request is refused)",
        "{unit: day} | 4:17 requests_per_unit: missing (expected: 0..4294967295; without it, as with 0, every request is refused)",
        "{unlimited: true, store: redis} | 4:35 store: redis (expected: none beside unlimited, it has no effect)",
        "{unlimited: true, consistency: leased} | 4:35 consistency: leased (expected: none beside unlimited, it has no effect)",
        "{unlimited: true, sync_interval: 1s} | 4:35 sync_interval: 1s (expected: none beside unlimited, it has no effect)",
        "{unlimited: true, local_share: 25%} | 4:35 local_share: 25% (expected: none beside unlimited, it has no effect)",
        "{unlimited: true, throttle: elastic} | 4:35 throttle: elastic (expected: none beside unlimited, it has no effect)",
        "{unit: day, requests_per_unit: 5, throttle: {soft: 10%}} | 4:51 throttle: a map (expected: a share of 5 that is at least 1; nothing is tolerated)",
        "{unit: day, requests_per_unit: 50, algorithm: token-bucket, burst: 5, throttle: {soft: 10%}} | 4:87 throttle: a map (expected: a share of 5 that is at least 1; nothing is tolerated)",
        "{unlimited: true, on_limit: drop} | 4:35 on_limit: drop (expected: none beside unlimited, it has no effect)",
        "{unlimited: true, on_limit: {queue: {requests: 5, wait: 2s}}} | 4:35 on_limit: a map (expected: none beside unlimited, it has no effect)",
        "{unit: minute, requests_per_unit: 60, algorithm: token-bucket, on_limit: {queue: {requests: 5, wait: 4s}}} | 4:80 on_limit: a map (expected: requests: at most 4; token-bucket admits no more within wait: 4s)",
        "{unlimited: true, costs: reported} | 4:35 costs: reported (expected: none beside unlimited, it has no effect)",
        "{unlimited: true, burst: 3} | 4:35 burst: 3 (expected: none beside unlimited, it has no effect)",
        "{unit: day, requests_per_unit: 5, algorithm: token-bucket, burst: 0} | 4:76 burst: 0 (expected: at least 1; with 0 every request is refused)",
        "{unit: day, requests_per_unit: 5, algorithm: leaky-bucket, burst: 60} | 4:76 burst: 60 (expected: at most 10 times requests_per_unit; one window can take burst + requests_per_unit - 1 = 64)",
        "{unit: day, requests_per_unit: 5, granularity: 1h} | 4:51 granularity: 1h (expected: none, it has no effect on sliding-window up to 128 requests)",
        "{unit: day, requests_per_unit: 500, algorithm: fixed-window, granularity: 1h} | 4:78 granularity: 1h (expected: none, it has no effect on fixed-window)",
        "{unit: day, requests_per_unit: 5, replaces: [{name: x}]} | 4:63 name: x (expected: the name of a rule in domain d; there is none, so nothing is replaced)",
        "`` | 4:5 rate_limit: nothing (expected: a map; without it nothing is limited here)",
      })
  void doubtfulRateLimit_isAcceptedWithAWarning(String rateLimit, String problem) {
    Rules.LoadResult loaded = Rules.parse("rules.yaml", Texts.file(rateLimit));
    assertThat(loaded.ruleSet()).isNotNull();
    assertThat(loaded.problems()).extracting(Problem::severity).containsOnly(Severity.WARNING);
    assertThat(loaded.problems())
        .extracting(Problem::toString)
        .containsExactly("rules.yaml:" + problem);
  }

  @ParameterizedTest(name = "{0}, {1}")
  @CsvSource(
      delimiter = '|',
      value = {
        "7 |                | ",
        "7 | shadow_mode    | drop in shadow_mode, where no request is refused, so none waits",
        "7 | quota_mode     | drop in quota_mode, where no request waits",
        "0 | detailed_metric | drop; with a limit of 0 no wait helps",
      })
  void queueWithoutEffect_isAcceptedWithAWarning(
      long permits, @Nullable String mode, @Nullable String expected) {
    String yaml =
        Texts.file(
                "{unit: day, requests_per_unit: %d, on_limit: {queue: {requests: 5, wait: 1s}}}"
                    .formatted(permits))
            + (mode == null ? "" : "    " + mode + ": true\n");
    Rules.LoadResult loaded = Rules.parse("rules.yaml", yaml);
    assertThat(loaded.ruleSet()).isNotNull();
    assertThat(loaded.problems())
        .extracting(Problem::toString)
        .filteredOn(problem -> problem.contains("on_limit"))
        .isEqualTo(
            expected == null
                ? List.of()
                : List.of("rules.yaml:4:51 on_limit: a map (expected: " + expected + ")"));
    assertThat(loaded.problems()).extracting(Problem::severity).doesNotContain(Severity.ERROR);
  }

  @Test
  void ruleThatIsNeverReached_isAcceptedWithAWarning() {
    assertThat(
            Texts.problems(
                """
                domain: d
                descriptors:
                  - {key: k, value: "a*", rate_limit: {unit: day, requests_per_unit: 1}}
                  - {key: k, value: "ab*c", rate_limit: {unit: day, requests_per_unit: 1}}
                  - {key: k, value: "*b", rate_limit: {unit: day, requests_per_unit: 1}}
                  - {key: k, value: "abc", rate_limit: {unit: day, requests_per_unit: 1}}
                  - {key: x, value: "*", rate_limit: {unit: day, requests_per_unit: 1}}
                  - {key: x, rate_limit: {unit: day, requests_per_unit: 1}}
                """))
        .containsExactly(
            "rules.yaml:4:5 descriptor \"k_ab*c\": never reached"
                + " (expected: before \"k_a*\" at rules.yaml:3:5, which takes all its values)",
            "rules.yaml:8:5 descriptor \"x\": never reached"
                + " (expected: before \"x_*\" at rules.yaml:7:5, which takes all its values)");
  }

  @Test
  void optionsWithoutEffect_areAcceptedWithAWarning() {
    assertThat(
            Texts.problems(
                """
                domain: d
                descriptors:
                  - key: k
                    value:
                    shadow_mode: true
                    quota_mode: true
                """))
        .containsExactly(
            "rules.yaml:4:5 value: nothing (expected: a text; without it the rule takes every value)",
            "rules.yaml:5:5 shadow_mode: true (expected: only beside rate_limit, it has no effect here)",
            "rules.yaml:6:5 quota_mode: true (expected: only beside rate_limit, it has no effect here)");
    assertThat(Texts.problems("domain: d\n"))
        .containsExactly(
            "rules.yaml:1:1 descriptors: missing (expected: a list; without it the domain limits nothing)");
  }

  /** A file as Envoy Gateway writes it. */
  @Test
  void emptyFieldsThatAreWrittenOut_areTakenWithoutAWarning() {
    assertThat(
            Texts.problems(
                """
                name: first-listener
                domain: first-listener
                descriptors:
                  - key: first-route
                    value: first-route
                    rate_limit: null
                    descriptors:
                      - key: rule-0-match-0
                        value: ""
                        rate_limit:
                          requests_per_unit: 5
                          unit: SECOND
                          unlimited: false
                          name: ""
                          replaces: []
                        descriptors: []
                        shadow_mode: false
                        quota_mode: false
                        detailed_metric: false
                        value_to_metric: false
                        share_threshold: false
                    shadow_mode: false
                """))
        .isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"key: \"wk*\"", "key: \"*\"", "{key: \"a*b\", value: x}"})
  void patternInAKey_isRefused(String descriptor) {
    String key = descriptor.contains("a*b") ? "a*b" : descriptor.contains("wk") ? "wk*" : "*";
    assertThat(Texts.problems("domain: d\ndescriptors:\n  - " + descriptor + "\n"))
        .anySatisfy(
            problem ->
                assertThat(problem)
                    .endsWith(
                        "key: \""
                            + key
                            + "\" (expected: a text without *; only a value can be a pattern)"));
  }

  @Test
  void anyError_leavesNoRules() {
    Rules.LoadResult loaded = Rules.parse("r", Texts.file("{unit: x, requests_per_unit: 1}"));
    assertThat(loaded.ruleSet()).isNull();
  }

  @Test
  void veryManyProblems_areCountedAndTheFirstAreListed() {
    StringBuilder yaml = new StringBuilder("domain: d\ndescriptors:\n");
    for (int i = 0; i < Problems.MAX_PROBLEMS + 500; i++) {
      yaml.append("  - {kex: k}\n");
    }
    List<String> problems = Texts.problems(yaml.toString());
    assertThat(problems).hasSize(Problems.MAX_PROBLEMS + 1);
    assertThat(problems.get(Problems.MAX_PROBLEMS))
        .isEqualTo(
            "rules.yaml problems: at least 2,000 more (expected: none; the first 1,000 are listed)");
  }

  @Test
  void controlCharactersAndLongValues_areShownOnOneShortLine() {
    String problem =
        Texts.problems(Texts.file("{unit: \"a\\nb" + "c".repeat(500) + "\", requests_per_unit: 1}"))
            .get(0);
    assertThat(problem).contains("unit: \"a\\u000abccc").contains("...\"").doesNotContain("\n");
    assertThat(problem.length()).isLessThan(250);
  }
}
