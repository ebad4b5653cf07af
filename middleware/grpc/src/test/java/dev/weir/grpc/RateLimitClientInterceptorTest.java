package dev.weir.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.internal.RememberedRefusals;
import dev.weir.rules.Descriptor;
import dev.weir.testkit.FakeTicker;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.Metadata;
import io.grpc.Status;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests of the refusals that a client keeps. The server admits two calls a minute. */
class RateLimitClientInterceptorTest {
  /** The most garbage collections in which weak references must be cleared. */
  private static final int COLLECTIONS = 20;

  private static final Metadata.Key<String> TENANT =
      Metadata.Key.of("tenant", Metadata.ASCII_STRING_MARSHALLER);

  private final Limits limits = new Limits(Limits.TWO_A_MINUTE);
  private final FakeTicker time = limits.ticker;
  private final CountingInterceptor sent = new CountingInterceptor();
  private InProcess server;

  private RateLimitClientInterceptor.Builder builder() {
    return RateLimitClientInterceptor.builder().ticker(time).executor(Runnable::run);
  }

  @BeforeEach
  void start() throws Exception {
    server =
        new InProcess(
            sent,
            RateLimitServerInterceptor.builder(limits.engine)
                .domain("shop")
                .descriptor("method={method}")
                .build());
  }

  @AfterEach
  void close() {
    server.close();
    limits.close();
  }

  /** Exhausts the limit: the server refuses the third call that reaches it. */
  private void exhaust(Channel channel) {
    for (int i = 0; i < 2; i++) {
      TestCall.send(channel, Shop.ADD).ok();
    }
    TestCall.send(channel, Shop.ADD).exhausted();
    assertThat(sent.calls()).isEqualTo(3);
  }

  @Test
  void serverHasRefused_nextCallIsNotSentUntilItMayCome() {
    Channel channel = server.with(builder().maxRemembered(Duration.ofHours(1)).build());
    exhaust(channel);

    time.advance(Duration.ofSeconds(20));
    TestCall refused = TestCall.send(channel, Shop.ADD).exhausted();

    assertThat(sent.calls()).isEqualTo(3);
    assertThat(refused.status().getDescription())
        .isEqualTo(
            "Not sent: the server has refused shop.Cart/Add, and lets it come again in 40000 ms.");
    assertThat(refused.trailers.get(Retry.PUSHBACK)).isEqualTo("40000");
    assertThat(Retry.nanos(refused.trailers)).isEqualTo(40_000_000_000L);
    time.advance(Duration.ofSeconds(40));
    TestCall.send(channel, Shop.ADD).ok();
    assertThat(sent.calls()).isEqualTo(4);
  }

  @Test
  void longRefusal_isForgottenAfterHalfAMinute() {
    Channel channel = server.with(builder().build());
    exhaust(channel);

    time.advance(Duration.ofSeconds(30).minusNanos(1));
    TestCall refused = TestCall.send(channel, Shop.ADD).exhausted();
    assertThat(refused.trailers.get(Retry.PUSHBACK)).isEqualTo("30001"); // Of the server's minute.
    assertThat(sent.calls()).isEqualTo(3);
    time.advance(1);
    TestCall.send(channel, Shop.ADD).exhausted();

    assertThat(sent.calls()).isEqualTo(4);
  }

  @Test
  void otherMethods_areSent() {
    Channel channel = server.with(builder().build());
    exhaust(channel);

    TestCall.send(channel, Shop.LIST).ok();
  }

  @Test
  void otherDescriptors_areSent() {
    Channel channel = server.with(builder().descriptor("tenant={header:tenant}").build());
    exhaust(channel);
    Metadata headers = new Metadata();
    headers.put(TENANT, "other");

    TestCall.send(channel, Shop.ADD).exhausted();
    assertThat(sent.calls()).isEqualTo(3);
    TestCall.send(channel, Shop.ADD, headers).exhausted();
    assertThat(sent.calls()).isEqualTo(4);
  }

  @Test
  void otherAuthorities_areSent() {
    Channel channel = server.with(builder().build());
    exhaust(channel);

    TestCall.start(
            channel, Shop.ADD, CallOptions.DEFAULT.withAuthority("elsewhere"), new Metadata())
        .sendMessage("a")
        .end()
        .exhausted();
    assertThat(sent.calls()).isEqualTo(4);
  }

  @Test
  void shortWait_callIsSentWhenItsTimeHasCome() {
    Channel channel = server.with(builder().maxWait(Duration.ofMinutes(1)).build());
    exhaust(channel);

    TestCall call = TestCall.send(channel, Shop.ADD);
    time.advance(Duration.ofSeconds(29));
    assertThat(call.over()).isFalse();
    assertThat(sent.calls()).isEqualTo(3);
    limits.engine.apply(limits.engine.rules());
    time.advance(Duration.ofSeconds(31));

    call.ok();
    assertThat(call.messages).containsExactly("a");
    assertThat(sent.calls()).isEqualTo(4);
  }

  @Test
  void waitLongerThanAllowed_isRefusedAtOnce() {
    Channel channel = server.with(builder().maxWait(Duration.ofSeconds(29)).build());
    exhaust(channel);

    TestCall.send(channel, Shop.ADD).exhausted();
    assertThat(sent.calls()).isEqualTo(3);
  }

  @Test
  void waitBeyondTheDeadline_isRefusedAtOnce() {
    Channel channel = server.with(builder().maxWait(Duration.ofMinutes(1)).build());
    exhaust(channel);

    TestCall call =
        TestCall.start(
            channel,
            Shop.ADD,
            CallOptions.DEFAULT.withDeadline(limits.deadline(29_000)),
            new Metadata());

    call.exhausted();
    assertThat(sent.calls()).isEqualTo(3);
  }

  @Test
  void streamThatIsNeverHalfClosed_isSentAfterItsWait() {
    Channel channel = server.with(builder().maxWait(Duration.ofMinutes(1)).build());
    for (int i = 0; i < 2; i++) {
      TestCall.send(channel, Shop.CHAT).ok();
    }
    TestCall.send(channel, Shop.CHAT).exhausted();
    server.shop.log.clear();

    TestCall call = TestCall.start(channel, Shop.CHAT).sendMessage("a").sendMessage("b");
    assertThat(call.call.isReady()).isFalse();
    assertThat(call.readies).hasValue(0);
    time.advance(Duration.ofSeconds(60));

    assertThat(server.shop.log).contains("start", "message a", "message b");
    assertThat(call.call.isReady()).isTrue();
    assertThat(call.readies).hasValueGreaterThan(0);
    call.sendMessage("c").end().ok();
    assertThat(call.messages).containsExactly("abc");
  }

  @Test
  void cancelledWhileItWaits_isNeverSent() {
    Channel channel = server.with(builder().maxWait(Duration.ofMinutes(1)).build());
    exhaust(channel);

    TestCall call = TestCall.send(channel, Shop.ADD);
    call.call.cancel("changed my mind", null);
    time.advance(Duration.ofMinutes(2));

    assertThat(call.code()).isEqualTo(Status.Code.CANCELLED);
    assertThat(call.status().getDescription()).isEqualTo("changed my mind");
    assertThat(sent.calls()).isEqualTo(3);
  }

  @Test
  void refusalWithoutATime_isNotRemembered() {
    Channel channel = server.with(builder().build());
    server.shop.end = Status.RESOURCE_EXHAUSTED.withDescription("disk full");

    TestCall.send(channel, Shop.ADD).exhausted();
    TestCall.send(channel, Shop.ADD).exhausted();

    assertThat(sent.calls()).isEqualTo(2);
  }

  @Test
  void neverFits_isNotRemembered() {
    Limits.apply(limits.engine, Limits.TWO_A_MINUTE.replace("unit: 2", "unit: 0"));
    Channel channel = server.with(builder().build());

    TestCall.send(channel, Shop.ADD).exhausted();
    TestCall.send(channel, Shop.ADD).exhausted();

    assertThat(sent.calls()).isEqualTo(2);
  }

  /** Refuses calls of one method for 100 ns. */
  private static void refuse(
      RateLimitClientInterceptor limits, String method, List<Descriptor> descriptors) {
    limits.refusals.add(limits.keys.key("shop", method, descriptors), 0, 100);
  }

  /** Returns for how long such a call is refused. */
  private static long refusedNanos(
      RateLimitClientInterceptor limits, String method, List<Descriptor> descriptors) {
    RememberedRefusals.Refusal refusal =
        limits.refusals.find(limits.keys.key("shop", method, descriptors));
    return refusal == null ? 0 : refusal.untilNanos() - limits.ticker.nanos();
  }

  @Test
  void manyRefusals_theOldestAreForgotten() {
    RateLimitClientInterceptor limits = builder().build();
    for (int i = 0; i <= RateLimitClientInterceptor.MAX_REFUSALS; i++) {
      refuse(limits, "m" + i, List.of());
    }

    assertThat(refusedNanos(limits, "m0", List.of())).isZero();
    assertThat(refusedNanos(limits, "m1", List.of())).isEqualTo(100);
    assertThat(limits.refusals.size()).isEqualTo(RateLimitClientInterceptor.MAX_REFUSALS);
  }

  private static WeakReference<String> remembered(RateLimitClientInterceptor limits, int i) {
    String value = String.format("%08192d", i);
    refuse(limits, "m", List.of(Descriptor.of("tenant", value)));
    return new WeakReference<>(value);
  }

  /** The longest values, of headers that a client of the application may choose. */
  @Test
  void refusalsOfLongValues_keepNoTexts() {
    RateLimitClientInterceptor limits = builder().build();
    List<WeakReference<String>> texts = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      texts.add(remembered(limits, i));
    }
    for (int i = 0; i < COLLECTIONS && !texts.isEmpty(); i++) {
      System.gc();
      texts.removeIf(text -> text.get() == null);
    }
    assertThat(texts.size()).as("texts still in memory").isZero();
    for (int i = 0; i < 1_000; i++) {
      Descriptor same = Descriptor.of("tenant", String.format("%08192d", i));
      assertThat(refusedNanos(limits, "m", List.of(same))).isEqualTo(100);
    }
  }

  @Test
  void callsThatDiffer_haveRefusalsOfTheirOwn() {
    CallKeys keys = new CallKeys();
    Descriptor one = Descriptor.of("a", "b", "c", "d");
    assertThat(
            Set.of(
                keys.key("shop", "m", List.of(one)),
                keys.key("shop", "n", List.of(one)),
                keys.key("other", "m", List.of(one)),
                keys.key(null, "m", List.of(one)),
                keys.key("shop", "m", List.of()),
                keys.key("shop", "m", List.of(one, one)),
                keys.key("shop", "m", List.of(Descriptor.of("a", "b"), Descriptor.of("c", "d"))),
                keys.key("shop", "m", List.of(Descriptor.of("a", "b", "cd", ""))),
                keys.key("shop", "m", List.of(new Descriptor(one.entries(), null, 2L)))))
        .hasSize(9);
  }

  @Test
  void lastRefusalIsOver_noneIsLookedFor() {
    RateLimitClientInterceptor limits = builder().build();
    refuse(limits, "m", List.of());
    time.advance(100);

    assertThat(refusedNanos(limits, "m", List.of())).isZero();
    assertThat(limits.refusals.size()).isZero();
  }

  @Test
  void wrongSettings_areAllNamed() {
    assertThatThrownBy(
            () -> RateLimitClientInterceptor.builder(limits.engine).descriptor("peer={ip}").build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            """
            domain: not set (expected: the domain of the rules)
            descriptor: "peer={ip}" (expected: no {ip}: a client knows no peer)\
            """);
  }
}
