package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HttpDoorTest {
  @TempDir private static Path folder;
  private static RunningServer running;

  @BeforeAll
  static void start() throws Exception {
    running = RunningServer.start(folder);
  }

  @AfterAll
  static void stop() {
    running.close();
  }

  @Test
  void check_allowsUpToTheLimitAndThenRefusesInFull() throws Exception {
    for (int left = 2; left >= 0; left--) {
      HttpResponse<String> allowed = running.check("user", "alice");
      assertThat(allowed.statusCode()).isEqualTo(200);
      assertThat(header(allowed, "RateLimit-Policy")).isEqualTo("\"per-user\";q=3;w=60");
      assertThat(header(allowed, "RateLimit")).isEqualTo("\"per-user\";r=" + left + ";t=60");
      assertThat(allowed.headers().firstValue("Retry-After")).isEmpty();
      assertThat(allowed.body())
          .contains("\"allowed\":true", "\"remaining\":" + left, "\"rule\":\"test.user\"");
    }
    HttpResponse<String> refused = running.check("user", "alice");
    assertThat(refused.statusCode()).isEqualTo(429);
    assertThat(header(refused, "Content-Type")).isEqualTo("application/problem+json");
    assertThat(header(refused, "Cache-Control")).isEqualTo("no-store");
    String retry = header(refused, "Retry-After");
    assertThat(Integer.parseInt(retry)).isBetween(1, 60);
    assertThat(header(refused, "RateLimit")).isEqualTo("\"per-user\";r=0;t=" + retry);
    assertThat(header(refused, "RateLimit-Policy")).isEqualTo("\"per-user\";q=3;w=60");
    assertThat(refused.body())
        .contains(
            "\"type\":\"https://iana.org/assignments/http-problem-types#quota-exceeded\"",
            "\"title\":\"Quota exceeded\"",
            "\"status\":429",
            "\"detail\":\"Policy per-user allows 3 requests per 60 s. Retry in " + retry + " s.\"",
            "\"violated-policies\":[\"per-user\"]",
            "\"limit\":3",
            "\"remaining\":0",
            "\"reason\":\"OVER_LIMIT\"",
            "\"statuses\":[{\"code\":\"OVER_LIMIT\"")
        .doesNotContain("alice");
    long millis = Long.parseLong(refused.body().replaceAll(".*?\"retry-after-ms\":(\\d+).*", "$1"));
    assertThat((millis + 999) / 1000).isEqualTo(Long.parseLong(retry));
  }

  @Test
  void refusalOfOne_chargesNoneAndNamesEveryPolicy() throws Exception {
    String both =
        "{\"domain\":\"test\",\"descriptors\":["
            + "{\"entries\":[{\"key\":\"tenant\",\"value\":\"t1\"}]},"
            + "{\"entries\":[{\"key\":\"never\"}]}]}";
    HttpResponse<String> refused = running.post("/v1/check", both);
    assertThat(refused.statusCode()).isEqualTo(429);
    assertThat(refused.body()).contains("\"violated-policies\":[\"test.never\"]");
    assertThat(header(refused, "RateLimit"))
        .isEqualTo("\"test.never\";r=0, \"test.tenant\";r=1000");
    assertThat(header(refused, "RateLimit-Policy"))
        .isEqualTo("\"test.never\";q=0;w=3600, \"test.tenant\";q=1000;w=604800");
    assertThat(running.check("tenant", "t1").body()).contains("\"remaining\":999");
  }

  @Test
  void requestThatNeverFits_isToldSoWithoutATime() throws Exception {
    HttpResponse<String> refused =
        running.post(
            "/v1/check", "{\"domain\":\"test\",\"descriptor\":{\"user\":\"x\"},\"permits\":4}");
    assertThat(refused.statusCode()).isEqualTo(429);
    assertThat(refused.headers().firstValue("Retry-After")).isEmpty();
    assertThat(refused.body()).contains("A request of 4 permits never fits.");
    assertThat(refused.body()).doesNotContain("retry-after-ms");
  }

  @Test
  void zeroPermits_looksWithoutCharging() throws Exception {
    String look = "{\"domain\":\"test\",\"descriptor\":{\"user\":\"look\"},\"permits\":0}";
    assertThat(running.post("/v1/check", look).body()).contains("\"remaining\":3");
    assertThat(running.post("/v1/check", look).body()).contains("\"remaining\":3");
  }

  @Test
  void limitOfTheRequest_isInForceInsteadOfTheRules() throws Exception {
    String body =
        "{\"domain\":\"test\",\"descriptors\":[{\"entries\":[{\"key\":\"user\",\"value\":\"own\"}],"
            + "\"limit\":{\"requests_per_unit\":1,\"unit\":\"day\"}}]}";
    HttpResponse<String> first = running.post("/v1/check", body);
    assertThat(first.statusCode()).isEqualTo(200);
    assertThat(first.body()).contains("\"window-ms\":86400000", "\"remaining\":0");
    assertThat(running.post("/v1/check", body).statusCode()).isEqualTo(429);
  }

  @Test
  void descriptorsWithoutALimit_passWithoutFields() throws Exception {
    for (String key : new String[] {"free", "allowed", "unknown"}) {
      HttpResponse<String> answer = running.check(key, "x");
      assertThat(answer.statusCode()).isEqualTo(200);
      assertThat(answer.headers().firstValue("RateLimit")).isEmpty();
    }
    assertThat(running.check("free", "x").body()).contains("\"unlimited\":true");
  }

  @Test
  void descriptorsWithoutALimit_areToldApartFromThoseWithin() throws Exception {
    assertThat(running.check("user", "within").body())
        .startsWith("{\"allowed\":true,\"revision\":1,\"reason\":\"WITHIN_LIMIT\",\"statuses\":");
    assertThat(running.check("unknown", "x").body())
        .isEqualTo(
            "{\"allowed\":true,\"revision\":1,\"reason\":\"NO_LIMIT\",\"detail\":\"No rule applies.\","
                + "\"statuses\":[{\"code\":\"OK\",\"reason\":\"NO_LIMIT\"}]}");
    assertThat(running.check("free", "x").body())
        .contains("\"reason\":\"NO_LIMIT\",\"detail\":\"Rule test.free sets no limit.\"");
    String nowhere = "{\"domain\":\"tset\",\"descriptor\":{\"user\":\"x\"}}";
    String hint = "No rule applies: there are no rules for the domain tset.";
    assertThat(running.post("/v1/check", nowhere).body()).contains("\"detail\":\"" + hint + "\"");
    assertThat(running.post("/v1/check/batch", "{\"checks\":[" + nowhere + "]}").body())
        .contains("\"reason\":\"NO_LIMIT\",\"detail\":\"" + hint + "\"");
    assertThat(running.post("/v1/check", nowhere, "Accept", "text/plain").body())
        .isEqualTo(hint + "\n");
    String known = "{\"domain\":\"test\",\"descriptor\":{\"user\":\"text\"}}";
    assertThat(running.post("/v1/check", known, "Accept", "text/plain").body()).isEqualTo("OK\n");
  }

  @Test
  void untouchedKey_isToldNoTime_andATouchedOneIs() throws Exception {
    String look = "{\"domain\":\"test\",\"permits\":%d,\"descriptor\":{\"user\":\"glance\"}}";
    assertThat(header(running.post("/v1/check", look.formatted(0)), "RateLimit"))
        .isEqualTo("\"per-user\";r=3");
    running.post("/v1/check", look.formatted(1));
    assertThat(header(running.post("/v1/check", look.formatted(0)), "RateLimit"))
        .matches("\"per-user\";r=2;t=(60|5[0-9])");
  }

  @Test
  void whatCanNeverFit_isToldTheWindowInEnvoysWords() throws Exception {
    String body =
        "{\"domain\":\"test\",\"hitsAddend\":4,"
            + "\"descriptors\":[{\"entries\":[{\"key\":\"user\",\"value\":\"never\"}]}]}";
    assertThat(running.post("/json", body).body())
        .contains("\"limitRemaining\":3,\"durationUntilReset\":\"60s\"");
  }

  @Test
  void halfASurrogatePair_isRefused_andAWholeOneIsNot() throws Exception {
    String half = "{\"domain\":\"test\",\"descriptor\":{\"user\":\"a\\ud800\"}}";
    HttpResponse<String> refused = running.post("/v1/check", half);
    assertThat(refused.statusCode()).isEqualTo(400);
    assertThat(refused.body())
        .contains(
            "line 1, column 39: descriptor.user: ",
            "(expected: Unicode text, no half of a surrogate pair)");
    assertThat(running.post("/v1/check", half.replace("a\\ud800", "\\ud83d\\ude00")).statusCode())
        .isEqualTo(200);
    for (String wrong :
        new String[] {
          half.replace("\"user\"", "\"\\udc00\""),
          half.replace("\"test\"", "\"\\ud800x\""),
          half.replace("\\ud800", "\\ude00\\ud83d")
        }) {
      assertThat(running.post("/v1/check", wrong).statusCode()).as(wrong).isEqualTo(400);
    }
    assertThat(running.post("/v1/check/batch", "{\"checks\":[" + half + "]}").body())
        .contains("\"error\":", "no half of a surrogate pair");
    String json =
        "{\"domain\":\"test\",\"descriptors\":[{\"entries\":[{\"key\":\"user\",\"value\":\"\\udfff\"}]}]}";
    HttpResponse<String> original = running.post("/json", json);
    assertThat(original.statusCode()).isEqualTo(400);
    assertThat(original.body())
        .isEqualTo(
            "descriptors[0].entries[0].value: not Unicode"
                + " (expected: Unicode text, no half of a surrogate pair)\n");
  }

  @Test
  void shadowedRefusal_passes() throws Exception {
    running.check("watched", "x");
    HttpResponse<String> answer = running.check("watched", "x");
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.body()).contains("\"reason\":\"SHADOW\"").doesNotContain("quota-exceeded");
  }

  @Test
  void clientThatTakesOnlyText_getsText() throws Exception {
    String body = "{\"domain\":\"test\",\"descriptor\":{\"never\":\"\"}}";
    HttpResponse<String> refused = running.post("/v1/check", body, "Accept", "text/plain");
    assertThat(refused.statusCode()).isEqualTo(429);
    assertThat(header(refused, "Content-Type")).startsWith("text/plain");
    assertThat(refused.body())
        .isEqualTo(
            "Policy test.never allows 0 requests per 3600 s. A request of 1 permit never fits.\n");
    assertThat(
            running.post("/v1/check", body, "Accept", "text/plain, application/json;q=0.5").body())
        .startsWith("{");
    assertThat(running.post("/v1/check", "{", "Accept", "text/*").body())
        .startsWith("line 1, column 2: ");
  }

  @Test
  void json_speaksTheOriginalsWords() throws Exception {
    String body =
        "{\"domain\":\"test\",\"hitsAddend\":3,"
            + "\"descriptors\":[{\"entries\":[{\"key\":\"user\",\"value\":\"json\"}]}]}";
    HttpResponse<String> allowed = running.post("/json", body);
    assertThat(allowed.statusCode()).isEqualTo(200);
    assertThat(allowed.body())
        .isEqualTo(
            "{\"overallCode\":\"OK\",\"statuses\":[{\"code\":\"OK\",\"currentLimit\":"
                + "{\"requestsPerUnit\":3,\"unit\":\"MINUTE\",\"name\":\"per-user\"},"
                + "\"durationUntilReset\":\"60s\"}]}");
    HttpResponse<String> refused = running.post("/json", body.replace("hitsAddend", "hits_addend"));
    assertThat(refused.statusCode()).isEqualTo(429);
    assertThat(refused.body()).startsWith("{\"overallCode\":\"OVER_LIMIT\"");
    assertThat(header(refused, "Content-Type")).isEqualTo("application/json");
  }

  @Test
  void badJson_isRefusedWithWhereAndWhy() throws Exception {
    Map<String, String> messages =
        Map.of(
            "", "body: empty (expected: JSON)",
            "{\"domain\":", "line 1, column",
            "{\"domain\":\"\"}", "rate limit domain must not be empty",
            "{\"domain\":\"test\"}", "rate limit descriptor list must not be empty",
            "{\"surprise\":1}", "surprise",
            "{\"domain\":\"a\",\"domain\":\"b\"}", "Duplicate field 'domain'",
            "{} {}", "line 1, column 4: more text (expected: the end)",
            "{\"domain\":\"test\",\"descriptors\":[{\"limit\":{\"requestsPerUnit\":1}}]}",
                "descriptors[0].limit.unit: 0 (expected: 1..6, SECOND to YEAR)");
    for (Map.Entry<String, String> each : messages.entrySet()) {
      HttpResponse<String> answer = running.post("/json", each.getKey());
      assertThat(answer.statusCode()).as(each.getKey()).isEqualTo(400);
      assertThat(answer.body()).contains(each.getValue());
    }
  }

  @Test
  void unknownPathMethodAndType_haveTheirOwnAnswers() throws Exception {
    assertThat(running.get("/v1/chek").statusCode()).isEqualTo(404);
    HttpResponse<String> wrongMethod = running.get("/v1/check");
    assertThat(wrongMethod.statusCode()).isEqualTo(405);
    assertThat(header(wrongMethod, "Allow")).isEqualTo("POST");
    assertThat(wrongMethod.body()).contains("\"detail\":\"method: GET (expected: POST)\"");
    HttpResponse<String> wrongType =
        running.post("/v1/check", "<domain/>", "Content-Type", "text/xml");
    assertThat(wrongType.statusCode()).isEqualTo(415);
    assertThat(wrongType.body()).contains("Content-Type: text/xml (expected: application/json)");
  }

  @Test
  void head_hasTheLengthAndNoBody() throws Exception {
    HttpResponse<String> head =
        running.send(
            HttpRequest.newBuilder(running.uri("/healthcheck"))
                .method("HEAD", HttpRequest.BodyPublishers.noBody()));
    assertThat(head.statusCode()).isEqualTo(200);
    assertThat(header(head, "Content-Length")).isEqualTo("2");
    assertThat(head.body()).isEmpty();
  }

  @Test
  void pagesForPeopleAndMachines_areThere() throws Exception {
    assertThat(running.get("/healthcheck").body()).isEqualTo("OK");
    assertThat(running.get("/").body()).contains("/v1/check");
    assertThat(running.get("/rlconfig").body())
        .isEqualTo(
            """
            test.user: unit=MINUTE requests_per_unit=3, shadow_mode: false, quota_mode: false
            test.tenant: unit=WEEK requests_per_unit=1000, shadow_mode: false, quota_mode: false
            test.never: unit=HOUR requests_per_unit=0, shadow_mode: false, quota_mode: false
            test.free: unlimited, shadow_mode: false, quota_mode: false
            test.odd: window=1m30s requests_per_unit=5, shadow_mode: false, quota_mode: false
            test.watched: unit=DAY requests_per_unit=1, shadow_mode: true, quota_mode: false
            """);
  }

  private static String header(HttpResponse<?> response, String name) {
    return response.headers().firstValue(name).orElse("");
  }
}
