package dev.weir.spring;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WrongPropertiesTest {
  @Test
  void severalAreWrong_allAreTold() {
    String problems =
        Contexts.problems(
            "weir.enabled=perhaps",
            "weir.store.timeout=soon",
            "weir.client-address.trusted-proxies=10.0.0.1/8",
            "weir.client-address.ipv6-prefix=200",
            "weir.filters[0].descriptors[0]=ip={ip",
            "weir.filters[0].permits=many",
            "weir.limits.api.requests=-1",
            "weir.limits.api.per=fortnight",
            "weir.limits.api.algorithm=guess",
            "weir.fields=all",
            "weir.lmits.api.requests=5");
    assertThat(problems.lines().map(line -> line.replaceFirst(", from .*", "")))
        .containsExactlyInAnyOrder(
            "weir.enabled: \"perhaps\" (expected: true or false)",
            "weir.store.timeout: \"soon\" (expected: a time such as 100ms or 2s)",
            "weir.client-address.trusted-proxies: \"10.0.0.1/8\" (expected: 10.0.0.0/8)",
            "weir.client-address.ipv6-prefix: \"200\" (expected: 1..128)",
            "weir.filters[0].descriptors[0]: \"ip={ip\" (expected: a } behind {)",
            "weir.filters[0].permits: \"many\" (expected: a whole number)",
            "weir.limits.api.requests: \"-1\" (expected: 0..4294967295)",
            "weir.limits.api.per: \"fortnight\" (expected: second, minute, hour, day, week, month"
                + " or year)",
            "weir.limits.api.algorithm: \"guess\" (expected: sliding-window,"
                + " sliding-window-log, sliding-window-buckets, sliding-window-counter, fixed-window,"
                + " token-bucket, leaky-bucket)",
            "weir.fields: \"all\" (expected: standard, ratelimit, envoy, github, openai, none)",
            "weir.lmits.api.requests: \"5\" (expected: no such property)");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "weir.domain=                      | weir.domain: \"\" (expected: 1..1024 characters)",
        "weir.store.timeout=2m             | weir.store.timeout: \"PT2M\" (expected: 1ms to 60s)",
        "weir.store.prefix=                | weir.store.prefix: \"\" (expected: 1..64 characters)",
        "weir.store.password-file=/secret  | weir.store.password-file: \"/secret\" (expected: weir.store.uri beside it)",
        "weir.store=redis                  | weir.store: \"redis\" (expected: no value of its own, only properties below it)",
        "weir.max-keys=0                   | weir.max-keys: 0 (expected: at least 1)",
        "weir.max-memory=0B                | weir.max-memory: \"0B\" (expected: at least 1B)",
        "weir.queue.max-requests=-1        | weir.queue.max-requests: -1 (expected: 0..1048576)",
        "weir.queue.max-blocked-threads=-1 | weir.queue.max-blocked-threads: -1 (expected: at least 0)",
        "weir.longest-seat=0s             | weir.longest-seat: \"PT0S\" (expected: 1s to 366d)",
        "weir.longest-seat=367d           | weir.longest-seat: \"PT8808H\" (expected: 1s to 366d)",
        "weir.identity.pepper=short        | weir.identity.pepper: (expected: at least 16 bytes, of random)",
        "weir.filters[0].paths=login       | weir.filters[0].paths: \"login\" (expected: a path such as /login, /users/* or /static/**)",
        "weir.filters[0].methods=GET IT    | weir.filters[0].methods: \"GET IT\" (expected: a method such as POST)",
        "weir.filters[0].order=first       | weir.filters[0].order: \"first\" (expected: auto or a number)",
        "weir.filters[0].missing=ignore    | weir.filters[0].missing: \"ignore\" (expected: shared, skip, refuse)",
        "weir.filters[0].permits=-1        | weir.filters[0].permits: -1 (expected: at least 0)",
        "weir.filters[0].costs=later       | weir.filters[0].costs: \"later\" (expected: before, reported)",
        "weir.retry-after.max=-1s          | weir.retry-after.max: \"PT-1S\" (expected: 0s to 366d)",
        "weir.retry-after.jitter=2h        | weir.retry-after.jitter: \"PT2H\" (expected: 0s to 1h)",
        "weir.filters[0].refund-unless-status=4 | weir.filters[0].refund-unless-status: 4 (expected: 100..599)",
        "weir.filters[0].descriptors=a={ip},b={ip} | weir.filters[0].descriptors: \"a={ip},b={ip}\" (expected: a list, weir.filters[0].descriptors[0] and so on: a descriptor may have a comma itself)",
        "weir.filters[1].paths=/x          | weir.filters[1].paths: \"/x\" (expected: no such property; the elements of a list are counted from 0 without a gap)",
        "weir.client-address.header=X Y    | weir.client-address.header: \"X Y\" (expected: the name of a header)",
        "weir.rules=nowhere.yaml,classpath:none.yaml | weir.rules: \"classpath:none.yaml\" (expected: a file that is there)"
      })
  void value_isRefusedWithWhatWasExpected(String property, String expected) {
    assertThat(Contexts.problems(property).replaceFirst(", from .*", "")).isEqualTo(expected);
  }

  @Test
  void origin_isTold() {
    assertThat(Contexts.problems("weir.max-keys=0")).contains(", from \"weir.max-keys\"");
  }

  @Test
  void secrets_areNotTold() {
    assertThat(Contexts.problems("weir.identity.pepper=hunter2")).doesNotContain("hunter2");
    assertThat(Contexts.problems("weir.store.uri=http://user:hunter2@host"))
        .contains("weir.store.uri:")
        .doesNotContain("hunter2");
  }

  @Test
  void otherProperties_areNoBusinessOfOurs() {
    Contexts.weir()
        .withPropertyValues("weird.enabled=perhaps", "spring.application.name=shop")
        .run(context -> assertThat(context).hasNotFailed());
  }

  @Test
  void permitsAndReportedCosts_excludeEachOther() {
    assertThat(Contexts.problems("weir.filters[0].permits=2", "weir.filters[0].costs=reported"))
        .startsWith("weir.filters[0].permits: 2 (expected: none beside costs: reported)");
  }

  @Test
  void concurrencyAndARate_excludeEachOther() {
    assertThat(
            Contexts.problems(
                "weir.limits.api.concurrency=5",
                "weir.limits.api.requests=5",
                "weir.limits.api.algorithm=fixed-window"))
        .contains("weir.limits.api.requests: \"5\" (expected: none beside concurrency)")
        .contains("(expected: concurrency beside concurrency)");
    assertThat(
            Contexts.problems(
                "weir.limits.api.requests=5",
                "weir.limits.api.per=minute",
                "weir.limits.api.hold=5s"))
        .startsWith("weir.limits.api.hold: \"5s\" (expected: none without concurrency)");
  }

  @Test
  void heldCosts_areRefused() {
    assertThat(
            Contexts.problems(
                "weir.limits.api.requests=5",
                "weir.limits.api.per=minute",
                "weir.limits.api.costs=held"))
        .startsWith(
            "weir.limits.api.costs: \"held\" (expected: before, reported: no filter settles a hold)");
  }

  @Test
  void rulesAndLimits_excludeEachOther() {
    assertThat(
            Contexts.problems(
                "weir.rules=some.yaml", "weir.limits.api.requests=5", "weir.limits.api.per=minute"))
        .startsWith("weir.rules: \"some.yaml\" (expected: none beside weir.limits)");
  }
}
