package dev.weir.admin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.admin.AdminFixture.Answer;
import dev.weir.admin.internal.access.AuditResource;
import dev.weir.admin.internal.access.Token;
import dev.weir.admin.internal.http.Call;
import dev.weir.config.Node;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests of the log of changes, and of the list of servers. */
class AuditTest {
  private final AdminFixture admin = new AdminFixture();

  private void put(String value) {
    admin
        .send("PUT", "/limits/shop/user/" + value)
        .by(admin.editor)
        .field("If-None-Match", "*")
        .json("{'plan':'gold','reason':'a test'}")
        .now()
        .is(201);
  }

  private List<Long> numbers(String query) {
    List<Long> numbers = new ArrayList<>();
    String before = "";
    while (true) {
      Answer page = admin.get("/audit?limit=2" + query + before).is(200);
      page.objects("changes")
          .forEach(change -> numbers.add(Call.reading(() -> change.number("number"))));
      if (!page.json().has("next")) {
        return numbers;
      }
      before = "&before=" + page.number("next");
    }
  }

  @Test
  void changes_comeNewestFirstAndFiltered() {
    put("a");
    put("b%2F");
    long last = admin.store.head().position();
    assertThat(last).isEqualTo(6);
    assertThat(numbers("")).containsExactly(6L, 5L, 4L, 3L, 2L, 1L);
    assertThat(numbers("&after=4")).containsExactly(6L, 5L);
    assertThat(numbers("&kind=token")).containsExactly(4L, 3L, 2L);
    assertThat(numbers("&kind=none")).isEmpty();
    assertThat(numbers("&actor=editor")).containsExactly(6L, 5L);
    assertThat(numbers("&actor=" + Token.idOf(admin.editor))).containsExactly(6L, 5L);
    assertThat(numbers("&actor=test")).containsExactly(4L, 3L, 2L, 1L);
    assertThat(numbers("&target=shop/user/b%252F")).containsExactly(6L);
    assertThat(numbers("&target=r1")).contains(1L).doesNotContain(5L);
    assertThat(numbers("&target=" + Token.idOf(admin.viewer))).containsExactly(2L);
    Answer newest = admin.get("/audit?limit=1").is(200);
    assertThat(newest.body())
        .contains("\"kind\":\"record\"", "\"role\":\"editor\"", "\"after\":{\"plan\":\"gold\"}");
  }

  @Test
  void rareChange_isFoundOverSeveralBoundedPages() {
    for (int i = 0; i < 25_000; i++) {
      admin.store.log("noise", "{}", AdminFixture.CAUSE);
    }
    Answer first = admin.get("/audit?kind=rules").is(200);
    assertThat(first.objects("changes")).isEmpty();
    assertThat(first.number("next")).isEqualTo(25_005 - AuditResource.MAX_READ);
    assertThat(numbers("&kind=rules")).containsExactly(1L);
  }

  @Test
  void verification_provesTheLog() {
    Answer ok = admin.send("GET", "/audit/verify").by(admin.operator).now().is(200);
    assertThat(ok.body()).contains("\"ok\":true");
    assertThat(ok.number("up_to")).isEqualTo(4);
    assertThat(ok.text("hash")).isEqualTo(admin.store.head().hash());
  }

  @Test
  void servers_areListedWithTheirAge() {
    admin.store.beat(
        Node.builder("n1")
            .address("10.0.0.1")
            .version("1.0")
            .revision(1)
            .position(4)
            .problems(List.of("wrong"))
            .build());
    admin.ticker.advance(10_000_000_000L);
    admin.store.beat(
        Node.builder("n2").address("10.0.0.2").version("1.0").revision(1).position(4).build());
    Answer nodes = admin.get("/nodes").is(200);
    assertThat(nodes.number("position")).isEqualTo(4);
    assertThat(nodes.objects("nodes"))
        .extracting(node -> Call.reading(() -> node.truth("alive", false)))
        .containsExactly(false, true);
    assertThat(nodes.body()).contains("\"silent_seconds\":10", "\"problems\":[\"wrong\"]");
  }
}
