package dev.weir.admin.internal.limits;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Binding;
import dev.weir.ForwardingStore;
import dev.weir.MemoryStore;
import dev.weir.Store;
import dev.weir.admin.AdminApi;
import dev.weir.admin.AdminFixture;
import dev.weir.admin.AdminFixture.Answer;
import dev.weir.admin.FailingStore;
import dev.weir.admin.Role;
import dev.weir.rules.Request;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Tests of the explanation of a request, and of the reset of its keys. */
class ResetResourceTest {
  private static final Request IP = Request.of("shop", "ip", "1.2.3.4");
  private static final String DESCRIBED = "'domain':'shop','descriptor':{'ip':'1.2.3.4'}";

  private final AdminFixture admin = new AdminFixture();

  private void use() {
    for (int i = 0; i < 5; i++) {
      assertThat(admin.engine.decide(IP).allowed()).isTrue();
    }
    assertThat(admin.engine.decide(IP).allowed()).isFalse();
  }

  private Answer reset(String token, String body) {
    return admin.send("POST", "/reset").by(token).json(body).now();
  }

  private String asked() {
    return reset(admin.operator, "{" + DESCRIBED + ",'reason':'by mistake'}")
        .is(200)
        .text("confirm");
  }

  private Answer confirmed(String code) {
    return reset(
        admin.operator, "{" + DESCRIBED + ",'reason':'by mistake','confirm':'" + code + "'}");
  }

  @Test
  void explanation_saysWhichNumberAndHowMuchIsLeft() {
    use();
    Answer answer =
        admin
            .send("POST", "/explain")
            .by(admin.viewer)
            .json(
                "{'domain':'shop','descriptors':[{'entries':[{'key':'ip','value':'1.2.3.4'}]},"
                    + "{'entries':[{'key':'none','value':'x'}]}]}")
            .now()
            .is(200);
    assertThat(answer.body())
        .contains(
            "\"allowed\":false,\"reason\":\"over_limit\"",
            "\"path\":\"shop.ip\"",
            "\"requests_per_unit\":5,\"window\":\"1s\"",
            "\"origin\":\"rule\"",
            "\"remaining\":0,\"retry_after_ms\":",
            "\"reason\":\"no_limit\"");
    explain("{'domain':'shop'}").is(400);
    explain("{'domain':'shop','descriptor':{'a':1}}").is(400);
    explain("{'domain':'','descriptor':{'a':'b'}}").is(422);
    assertThat(explain("{'domain':'none','descriptor':{'a':'b'}}").is(200).body())
        .contains("\"domain_known\":false");
  }

  private Answer explain(String body) {
    return admin.send("POST", "/explain").by(admin.viewer).json(body).now();
  }

  @Test
  void orderOfEntries_isThatOfTheBody() {
    assertThat(explain("{'domain':'shop','descriptor':{'z':'1','a':'2'}}").is(200).body())
        .contains("[{\"key\":\"z\",\"value\":\"1\"},{\"key\":\"a\",\"value\":\"2\"}]");
  }

  @Test
  void confirmedReset_forgetsAndIsWrittenDown() {
    use();
    Answer asked = reset(admin.operator, "{" + DESCRIBED + ",'reason':'by mistake'}").is(200);
    assertThat(asked.body()).contains("would_forget", "\"remaining\":0");
    assertThat(admin.engine.decide(IP).allowed()).isFalse();
    assertThat(admin.changes("reset")).isEmpty();
    assertThat(confirmed(asked.text("confirm")).is(200).list("keys")).containsExactly("forgotten");
    assertThat(admin.engine.decide(IP).allowed()).isTrue();
    assertThat(admin.engine.resets()).isEqualTo(1);
    assertThat(admin.changes("reset")).hasSize(1);
    assertThat(admin.changes("reset").get(0).details().after()).contains("1.2.3.4");
    assertThat(admin.changes("reset").get(0).details().cause().reason()).isEqualTo("by mistake");
  }

  @Test
  void confirmation_isGoodOnceForOneRequestAndAMinute() {
    String code = asked();
    confirmed(code).is(200);
    confirmed(code).is(409);
    confirmed("x").is(409);
    String other = asked();
    reset(
            admin.operator,
            "{'domain':'shop','descriptor':{'ip':'9.9.9.9'},'reason':'abc','confirm':'"
                + other
                + "'}")
        .is(409);
    String late = asked();
    admin.advance(Duration.ofSeconds(60));
    confirmed(late).is(409);
    String foreign = asked();
    String second = admin.token(Role.OPERATOR);
    admin.advance(Duration.ofSeconds(1));
    reset(second, "{" + DESCRIBED + ",'reason':'abc','confirm':'" + foreign + "'}").is(409);
    assertThat(admin.engine.resets()).isEqualTo(1);
  }

  @Test
  void editor_resetsNothing() {
    reset(admin.editor, "{" + DESCRIBED + ",'reason':'by mistake'}").is(403);
  }

  @Test
  void switchedOff_isForbidden() {
    AdminFixture off = fixture(builder -> builder.resets(false), new MemoryStore());
    off.send("POST", "/reset")
        .by(off.operator)
        .json("{" + DESCRIBED + ",'reason':'by mistake'}")
        .now()
        .is(403);
  }

  private static AdminFixture fixture(UnaryOperator<AdminApi.Builder> setting, Store store) {
    return new AdminFixture(config -> config, setting, store);
  }

  @Test
  void storeThatCannotForget_isAConflict() {
    ForwardingStore<MemoryStore> keeps =
        new ForwardingStore<>(new MemoryStore()) {
          @Override
          public void reset(
              Binding binding, long fingerprint, long nowNanos, Consumer<? super Boolean> done) {
            throw new UnsupportedOperationException("reset");
          }
        };
    AdminFixture other = fixture(builder -> builder, keeps);
    String code =
        other
            .send("POST", "/reset")
            .by(other.operator)
            .json("{" + DESCRIBED + ",'reason':'by mistake'}")
            .now()
            .text("confirm");
    Answer answer =
        other
            .send("POST", "/reset")
            .by(other.operator)
            .json("{" + DESCRIBED + ",'reason':'by mistake','confirm':'" + code + "'}")
            .now()
            .is(409);
    assertThat(answer.list("keys")).containsExactly("failed");
  }

  @Test
  void logThatCannotBeWritten_keepsTheKeyAsItIs() {
    FailingStore[] failing = new FailingStore[1];
    AdminFixture other =
        new AdminFixture(
            store -> failing[0] = new FailingStore(store), builder -> builder, new MemoryStore());
    String code =
        other
            .send("POST", "/reset")
            .by(other.operator)
            .json("{" + DESCRIBED + ",'reason':'by mistake'}")
            .now()
            .text("confirm");
    failing[0].full = true;
    other
        .send("POST", "/reset")
        .by(other.operator)
        .json("{" + DESCRIBED + ",'reason':'by mistake','confirm':'" + code + "'}")
        .now()
        .is(507);
    assertThat(other.engine.resets()).isZero();
  }
}
