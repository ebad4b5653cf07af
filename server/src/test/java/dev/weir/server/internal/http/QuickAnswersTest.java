package dev.weir.server.internal.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.MemoryStore;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.internal.Histogram;
import dev.weir.protocol.http.OlderFields;
import dev.weir.protocol.http.RetryFields;
import dev.weir.rules.Entry;
import dev.weir.rules.RuleSet;
import dev.weir.rules.Rules;
import dev.weir.server.internal.deciding.ByteText;
import dev.weir.server.internal.deciding.GuardedDecider;
import dev.weir.server.internal.deciding.RequestTimes;
import dev.weir.server.internal.guard.SystemLoad;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.testkit.FakeTicker;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the requests that the quick path takes, and of those that it leaves unchanged. */
class QuickAnswersTest {
  private static final String RULES =
      """
      domain: test
      descriptors:
        - key: bucket
          rate_limit: {unit: minute, requests_per_unit: 3, algorithm: token-bucket}
        - key: log
          rate_limit: {unit: minute, requests_per_unit: 3}
        - key: odd
          rate_limit: {unit: minute, requests_per_unit: 3, name: "a<b"}
        - key: queue
          rate_limit: {unit: minute, requests_per_unit: 3, on_limit: {queue: {requests: 2, wait: 2s}}}
        - key: watched
          shadow_mode: true
          rate_limit: {unit: minute, requests_per_unit: 3}
        - key: free
          rate_limit: {unlimited: true}
      """;

  private final FakeTicker ticker = new FakeTicker();
  private final Engine engine =
      Engine.create(new MemoryStore(100), ticker, EngineSettings.DEFAULTS);
  private boolean off;

  private QuickRequests quick() {
    Rules.LoadResult loaded = Rules.parse("rules.yaml", RULES);
    RuleSet rules = loaded.ruleSet();
    assertThat(loaded.problems()).isEmpty();
    engine.apply(Objects.requireNonNull(rules));
    SystemLoad load = SystemLoad.of(ServerSettings.defaults(), ticker);
    return new QuickRequests(
        new GuardedDecider(engine, load, ticker),
        new RequestTimes(Histogram.ofRequests(), ticker),
        new CheckFields(OlderFields.NONE, RetryFields.EXACT, ticker),
        200,
        () -> off);
  }

  private static String request(String key, String value) {
    String body =
        "{\"domain\":\"test\",\"descriptors\":[{\"entries\":[{\"key\":\"%s\",\"value\":\"%s\"}]}]}"
            .formatted(key, value);
    return "POST /json HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%s"
        .formatted(body.length(), body);
  }

  private static String check(String field, String body) {
    return "POST /v1/check HTTP/1.1\r\nHost: a\r\n%sContent-Length: %d\r\n\r\n%s"
        .formatted(field, body.length(), body);
  }

  private static int taken(QuickRequests quick, String text) {
    ByteBuf in = Unpooled.copiedBuffer("##" + text + "##", StandardCharsets.US_ASCII);
    int taken = quick.answer(in, 2, 2 + text.length()) - 2;
    assertThat(in.readerIndex()).isZero();
    return taken;
  }

  private static String answers(QuickRequests quick) {
    ByteText answers = quick.answers();
    return new String(answers.bytes(), 0, answers.size(), StandardCharsets.US_ASCII);
  }

  @ParameterizedTest
  @ValueSource(strings = {"bucket", "log"})
  void oneLimitThatDecidesAtOnce_isTaken(String key) {
    QuickRequests quick = quick();
    String request = request(key, "ann");
    assertThat(taken(quick, request)).isEqualTo(request.length());
    assertThat(answers(quick)).startsWith("HTTP/1.1 200 OK\r\n").contains("\"limitRemaining\":2");
    assertThat(engine.metrics().requests()).isEqualTo(1);
  }

  @Test
  void checksOfOneLimit_areTaken() {
    QuickRequests quick = quick();
    String request = check("", "{\"domain\":\"test\",\"descriptor\":{\"bucket\":\"ann\"}}");
    assertThat(taken(quick, request.repeat(4))).isEqualTo(4 * request.length());
    String[] each = answers(quick).split("HTTP/1.1 ", -1);
    assertThat(each[1])
        .startsWith("200 OK\r\nCache-Control: no-store\r\nRateLimit-Policy: ")
        .contains("\"remaining\":2");
    assertThat(each[4])
        .startsWith("429 Too Many Requests\r\n")
        .contains("\r\nRetry-After: 20\r\nContent-Type: application/problem+json\r\n");
    assertThat(engine.metrics().requests()).isEqualTo(4);
  }

  @Test
  void checkThatWantsTextOrIsNoJson_isLeft() {
    QuickRequests quick = quick();
    String body = "{\"domain\":\"test\",\"descriptor\":{\"bucket\":\"ann\"}}";
    assertThat(taken(quick, check("Accept: text/plain\r\n", body))).isZero();
    assertThat(taken(quick, check("Content-Type: text/plain\r\n", body))).isZero();
    assertThat(engine.metrics().requests()).isZero();
  }

  @Test
  void requestsThatAreObserved_areTaken() {
    QuickRequests quick = quick();
    List<String> heard = new ArrayList<>();
    engine.observe(
        each -> heard.add(each.descriptor().entries() + " " + each.status().limitRemaining()));
    String request = request("bucket", "ann");
    assertThat(taken(quick, request.repeat(2))).isEqualTo(2 * request.length());
    String entries = List.of(new Entry("bucket", "ann")).toString();
    assertThat(heard).containsExactly(entries + " 2", entries + " 1");
  }

  @ParameterizedTest
  @ValueSource(strings = {"odd", "queue", "watched", "free", "unknown"})
  void ruleThatIsUnusual_isLeftAndNothingIsCounted(String key) {
    QuickRequests quick = quick();
    assertThat(taken(quick, request(key, "ann"))).isZero();
    assertThat(answers(quick)).isEmpty();
    assertThat(engine.metrics().requests()).isZero();
  }

  @Test
  void requestsInOneRead_areTakenUpToTheFirstUnusual() {
    QuickRequests quick = quick();
    String usual = request("bucket", "ann");
    assertThat(taken(quick, usual.repeat(5) + request("free", "x") + usual))
        .isEqualTo(5 * usual.length());
    String[] each = answers(quick).split("HTTP/1.1 ", -1);
    assertThat(each).hasSize(6);
    assertThat(each[3]).startsWith("200 OK\r\n").doesNotContain("limitRemaining");
    assertThat(each[5]).startsWith("429 Too Many Requests\r\n").contains("OVER_LIMIT");
  }

  @Test
  void requestThatIsNotWhole_isLeft() {
    QuickRequests quick = quick();
    String request = request("bucket", "ann");
    for (int length = 0; length < request.length(); length++) {
      assertThat(taken(quick, request.substring(0, length))).isZero();
    }
    assertThat(engine.metrics().requests()).isZero();
  }

  @Test
  void bodyBeyondTheMost_isLeft() {
    assertThat(taken(quick(), request("bucket", "a".repeat(200)))).isZero();
  }

  @Test
  void everything_isLeftWhileItIsOff() {
    QuickRequests quick = quick();
    off = true;
    assertThat(taken(quick, request("bucket", "ann"))).isZero();
    off = false;
    assertThat(taken(quick, request("bucket", "ann"))).isPositive();
  }
}
