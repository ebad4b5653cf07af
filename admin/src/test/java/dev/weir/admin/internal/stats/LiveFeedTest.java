package dev.weir.admin.internal.stats;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.admin.AdminFixture;
import dev.weir.admin.AdminRequest;
import dev.weir.admin.AdminResponse;
import dev.weir.admin.EventStream;
import dev.weir.admin.Tokens;
import dev.weir.admin.internal.access.Token;
import dev.weir.rules.Request;
import java.io.ByteArrayInputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Tests of server-sent events, in the form that a transport reads. */
class LiveFeedTest {
  private final AdminFixture admin = new AdminFixture();
  private final AtomicInteger woken = new AtomicInteger();

  private AdminResponse request(String query, Map<String, String> more) {
    Map<String, List<String>> fields = new HashMap<>();
    fields.put("host", List.of("localhost"));
    fields.put("authorization", List.of("Bearer " + admin.viewer));
    more.forEach((name, value) -> fields.put(name, List.of(value)));
    return admin.api.handle(
        new AdminRequest(
            "GET",
            "/admin/v1/live",
            query,
            fields,
            new ByteArrayInputStream(new byte[0]),
            "192.0.2.1",
            false));
  }

  private EventStream open(String query, Map<String, String> fields) {
    AdminResponse answer = request(query, fields);
    assertThat(answer.status()).isEqualTo(200);
    assertThat(answer.fields())
        .containsEntry("Content-Type", "text/event-stream")
        .containsEntry("Cache-Control", "no-store");
    EventStream events = Objects.requireNonNull(answer.events());
    events.begin(woken::incrementAndGet);
    return events;
  }

  private EventStream open() {
    EventStream events = open("", Map.of());
    assertThat(next(events)).isEqualTo("retry: 2000\n\n");
    return events;
  }

  private static String next(EventStream events) {
    byte[] bytes = events.next();
    return bytes == null ? "over" : new String(bytes, UTF_8);
  }

  private static List<String> all(EventStream events) {
    List<String> all = new ArrayList<>();
    for (String event = next(events); !event.isEmpty(); event = next(events)) {
      all.add(event);
      if (event.equals("over")) {
        return all;
      }
    }
    return all;
  }

  private void second() {
    admin.advance(Duration.ofSeconds(1));
    admin.insight.tick();
  }

  private long now() {
    return admin.ticker.nanos() / 1_000_000_000L;
  }

  @Test
  void eachSecond_isAnEvent_withWhatWasRefused() {
    second();
    EventStream events = open();
    int before = woken.get();
    for (int i = 0; i < 7; i++) {
      var unused = admin.engine.decide(Request.of("shop", "ip", "192.0.2.9"));
    }
    second();
    assertThat(woken.get()).isGreaterThan(before);
    String event = next(events);
    assertThat(event).startsWith("id: " + (now() - 1) + "\nevent: tick\ndata: {").endsWith("}\n\n");
    assertThat(event.strip().lines()).hasSize(3);
    assertThat(event)
        .contains("\"asked\":7,\"refused\":2", "[\"shop.ip\",7,5,", "\"refusals_came\":2")
        .contains("192.0.2.0/24")
        .doesNotContain("192.0.2.9");
    assertThat(next(events)).isEmpty();
    second();
    assertThat(next(events)).contains("\"asked\":0", "\"refusals\":[]");
  }

  @Test
  void streamWithoutRulesAndRefusals_hasTheRest() {
    second();
    EventStream events = open("rules=false&refusals=false", Map.of());
    second();
    String event = String.join("", all(events));
    assertThat(event).contains("\"global\":{").doesNotContain("\"rules\"", "\"refusals\"");
  }

  @Test
  void slowReader_skipsSeconds() {
    second();
    EventStream events = open();
    for (int i = 0; i < 5; i++) {
      second();
    }
    assertThat(all(events)).hasSize(1).first().asString().startsWith("id: " + (now() - 1) + "\n");
  }

  @Test
  void comingBack_bringsWhatWasMissed() {
    for (int i = 0; i < 8; i++) {
      second();
    }
    long seen = now() - 5;
    EventStream events = open("", Map.of("last-event-id", Long.toString(seen)));
    second();
    List<String> got = all(events);
    List<String> ids =
        got.stream().flatMap(String::lines).filter(line -> line.startsWith("id: ")).toList();
    assertThat(ids)
        .containsExactly(
            "id: " + (seen + 1),
            "id: " + (seen + 2),
            "id: " + (seen + 3),
            "id: " + (seen + 4),
            "id: " + (now() - 1));
    EventStream byQuery = open("after=" + (now() - 2), Map.of());
    assertThat(all(byQuery)).anyMatch(event -> event.startsWith("id: " + (now() - 1)));
  }

  @Test
  void noSecondForAWhile_bringsAComment() {
    second();
    EventStream events = open();
    admin.insight.close(); // No further second ends.
    for (int i = 0; i < 14; i++) {
      second();
      assertThat(next(events)).as("after %d s", i + 1).isEmpty();
    }
    second();
    assertThat(next(events)).isEqualTo(": keep-alive\n\n");
    second();
    assertThat(next(events)).isEmpty();
  }

  @Test
  void revokedToken_endsItsStreams() {
    second();
    EventStream events = open();
    second();
    assertThat(next(events)).contains("event: tick");
    assertThat(Tokens.revoke(admin.store, Token.idOf(admin.viewer), AdminFixture.CAUSE)).isTrue();
    for (int i = 0; i < 3; i++) {
      second();
    }
    assertThat(all(events))
        .containsExactly("event: end\ndata: {\"why\":\"session ended\"}\n\n", "over");
  }

  @Test
  void session_endsItsStreams_andAStreamIsUse() {
    String cookie =
        admin
            .send("POST", "/session")
            .json("{'token':'" + admin.viewer + "'}")
            .now()
            .is(204)
            .field("Set-Cookie")
            .split(";", 2)[0];
    Map<String, String> byCookie = Map.of("authorization", "", "cookie", cookie);
    EventStream events = open("", byCookie);
    for (int i = 0; i < 5; i++) {
      admin.advance(Duration.ofMinutes(20));
      admin.insight.tick();
      assertThat(all(events)).doesNotContain("over");
    }
    admin.send("DELETE", "/session").cookie(cookie).sameOrigin().now().is(204);
    second();
    assertThat(all(events)).contains("over");
  }

  @Test
  void tooManyStreams_areRefused_untilOneEnds() {
    List<EventStream> open = new ArrayList<>();
    for (int i = 0; i < LiveFeed.MAX_STREAMS; i++) {
      open.add(open("", Map.of()));
    }
    assertThat(request("", Map.of()).status()).isEqualTo(503);
    open.get(0).end();
    assertThat(request("", Map.of()).status()).isEqualTo(200);
  }

  @Test
  void serverThatStops_endsAllStreams() {
    EventStream events = open();
    admin.api.endStreams();
    assertThat(all(events)).last().isEqualTo("over");
    assertThat(request("", Map.of()).status()).isEqualTo(503);
  }

  @Test
  void withoutAToken_thereIsNoStream() {
    assertThat(request("", Map.of("authorization", "")).status()).isEqualTo(401);
  }
}
