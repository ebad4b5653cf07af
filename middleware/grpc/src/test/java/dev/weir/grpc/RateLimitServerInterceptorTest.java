package dev.weir.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.Any;
import com.google.protobuf.Duration;
import com.google.rpc.QuotaFailure;
import com.google.rpc.RetryInfo;
import dev.weir.engine.Answer;
import dev.weir.engine.Engine;
import dev.weir.identity.MissingValue;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.protobuf.StatusProto;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.FieldSource;

class RateLimitServerInterceptorTest {
  private static final Metadata.Key<String> USER =
      Metadata.Key.of("user", Metadata.ASCII_STRING_MARSHALLER);

  static final List<MethodDescriptor<String, String>> METHODS = Shop.ALL;

  private static final String BY_METHOD = "method={method}";

  private final Limits limits = new Limits(Limits.TWO_A_MINUTE);
  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();

  private static RateLimitServerInterceptor.Builder builder(Engine engine) {
    return RateLimitServerInterceptor.builder(engine).domain("shop").descriptor(BY_METHOD);
  }

  private static Metadata user(String name) {
    Metadata headers = new Metadata();
    headers.put(USER, name);
    return headers;
  }

  private static com.google.rpc.Status details(TestCall call) {
    return Objects.requireNonNull(StatusProto.fromStatusAndTrailers(call.status(), call.trailers));
  }

  @AfterEach
  void close() {
    timer.shutdownNow();
    limits.close();
  }

  @ParameterizedTest
  @FieldSource("METHODS")
  void callsOfEveryType_areDecidedOnceWhateverTheirMessages(MethodDescriptor<String, String> method)
      throws Exception {
    try (InProcess server = new InProcess(builder(limits.engine).build())) {
      int messages = method.getType().clientSendsOneMessage() ? 1 : 3;
      for (int call = 0; call < 2; call++) {
        TestCall admitted = TestCall.start(server.channel, method);
        for (int i = 0; i < messages; i++) {
          admitted.sendMessage("a");
        }
        admitted.end().ok();
        assertThat(admitted.messages).containsExactly("a".repeat(messages));
      }
      server.shop.log.clear();

      TestCall.start(server.channel, method).exhausted();

      assertThat(server.shop.log).isEmpty();
      assertThat(limits.left(method.getFullMethodName())).isZero();
    }
  }

  @Test
  void refusal_saysWhichPolicyAndWhen() throws Exception {
    try (InProcess server = new InProcess(builder(limits.engine).build())) {
      TestCall.send(server.channel, Shop.ADD).ok();
      limits.ticker.advance(10_000_000_000L);
      TestCall.send(server.channel, Shop.ADD).ok();
      limits.ticker.advance(500_000L);

      TestCall refused = TestCall.send(server.channel, Shop.ADD).exhausted();

      String message = "Policy calls allows 2 requests per 60 s. Retry in 50 s.";
      assertThat(refused.status().getDescription()).isEqualTo(message);
      com.google.rpc.Status details = details(refused);
      assertThat(details.getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED.value());
      assertThat(details.getMessage()).isEqualTo(message);
      RetryInfo retry = details.getDetails(0).unpack(RetryInfo.class);
      assertThat(retry.getRetryDelay()).isEqualTo(Duration.newBuilder().setSeconds(50).build());
      QuotaFailure failure = details.getDetails(1).unpack(QuotaFailure.class);
      assertThat(failure.getViolationsList())
          .singleElement()
          .satisfies(
              violation -> {
                assertThat(violation.getSubject()).isEqualTo("calls");
                assertThat(violation.getQuotaId()).isEqualTo("calls");
                assertThat(violation.getQuotaValue()).isEqualTo(2);
                assertThat(violation.getDescription()).isEqualTo(message);
              });
      assertThat(refused.trailers.get(Retry.PUSHBACK)).isEqualTo("50000");
    }
  }

  @Test
  void retryAfter_isRoundedUpToMillis() throws Exception {
    try (InProcess server = new InProcess(builder(limits.engine).build())) {
      TestCall.send(server.channel, Shop.ADD).ok();
      TestCall.send(server.channel, Shop.ADD).ok();
      limits.ticker.advance(59_998_999_999L);

      TestCall refused = TestCall.send(server.channel, Shop.ADD).exhausted();
      long said = Long.parseLong(Objects.requireNonNull(refused.trailers.get(Retry.PUSHBACK)));
      limits.ticker.advance((said - 1) * 1_000_000L);
      TestCall.send(server.channel, Shop.ADD).exhausted();
      limits.ticker.advance(1_000_000L);

      TestCall.send(server.channel, Shop.ADD).ok();
    }
  }

  @ParameterizedTest
  @CsvSource({"49000, -1", "50000, -1", "50001, 50000", "90000, 50000"})
  void deadlineBeforeTheRetry_pushbackIsMinusOneAndRetryInfoStays(long deadline, String pushback)
      throws Exception {
    ServerInterceptor timed =
        new ServerInterceptor() {
          @Override
          public <A, B> io.grpc.ServerCall.Listener<A> interceptCall(
              io.grpc.ServerCall<A, B> call,
              Metadata headers,
              io.grpc.ServerCallHandler<A, B> next) {
            Context.CancellableContext context =
                Context.current().withDeadline(limits.deadline(deadline), timer);
            return Contexts.interceptCall(context, call, headers, next);
          }
        };
    try (InProcess server = new InProcess(timed, builder(limits.engine).build())) {
      TestCall.send(server.channel, Shop.ADD).ok();
      TestCall.send(server.channel, Shop.ADD).ok();
      limits.ticker.advance(10_000_000_000L);

      TestCall refused = TestCall.send(server.channel, Shop.ADD).exhausted();

      assertThat(refused.trailers.get(Retry.PUSHBACK)).isEqualTo(pushback);
      assertThat(Retry.nanos(refused.trailers)).isEqualTo(50_000_000_000L);
    }
  }

  @Test
  void neverFits_pushbackIsMinusOneAndThereIsNoRetryInfo() throws Exception {
    Limits.apply(limits.engine, Limits.TWO_A_MINUTE.replace("unit: 2", "unit: 0"));
    try (InProcess server = new InProcess(builder(limits.engine).build())) {
      TestCall refused = TestCall.send(server.channel, Shop.ADD).exhausted();

      assertThat(refused.trailers.get(Retry.PUSHBACK)).isEqualTo("-1");
      assertThat(details(refused).getDetailsList())
          .noneMatch(detail -> detail.is(RetryInfo.class))
          .anyMatch(detail -> detail.is(QuotaFailure.class));
      assertThat(refused.status().getDescription()).endsWith("A request of 1 permit never fits.");
    }
  }

  @Test
  void retryBeyond24Days_pushbackIsMinusOneAndRetryInfoSaysIt() {
    assertThat(Retry.pushback(Integer.MAX_VALUE)).isEqualTo("2147483647");
    assertThat(Retry.pushback(Integer.MAX_VALUE + 1L)).isEqualTo("-1");
    assertThat(Retry.info(Integer.MAX_VALUE + 1L).getRetryDelay().getSeconds()).isEqualTo(2147483);
  }

  @Test
  void severalPoliciesRefuse_allAreNamed() throws Exception {
    Limits.apply(
        limits.engine,
        """
        domain: shop
        descriptors:
          - key: method
            rate_limit: {name: calls, unit: minute, requests_per_unit: 1}
          - key: user
            rate_limit: {name: users, unit: hour, requests_per_unit: 1}
          - key: host
            rate_limit: {name: hosts, unit: hour, requests_per_unit: 9}
        """);
    try (InProcess server =
        new InProcess(
            builder(limits.engine)
                .descriptor("user={header:user}")
                .descriptor("host={host}")
                .build())) {
      TestCall.send(server.channel, Shop.ADD, user("ann")).ok();

      TestCall refused = TestCall.send(server.channel, Shop.ADD, user("ann")).exhausted();

      QuotaFailure failure = details(refused).getDetails(1).unpack(QuotaFailure.class);
      assertThat(failure.getViolationsList())
          .extracting(QuotaFailure.Violation::getQuotaId)
          .containsExactly("calls", "users");
      assertThat(failure.getViolations(0).getDescription())
          .isEqualTo("Policy calls allows 1 request per 60 s. Retry in 60 s.");
      assertThat(details(refused).getDetails(0).unpack(RetryInfo.class).getRetryDelay())
          .satisfies(delay -> assertThat(delay.getSeconds()).isEqualTo(3600));
    }
  }

  @Test
  void longPolicyNames_trailersStaySmall() {
    String policy = "é".repeat(5000);
    Refusal refusal = ByHand.refusal(policy, 40);

    int bytes = 0;
    for (String key : refusal.trailers().keys()) {
      bytes += key.equals(Retry.DETAILS.name()) ? size(refusal) : 100;
    }
    // The details in base64, with the percent-encoded message besides.
    assertThat(bytes * 4 / 3 + refusal.status().getDescription().length() * 6).isLessThan(8192);
    assertThat(refusal.status().getDescription()).startsWith("Policy é");
  }

  private static int size(Refusal refusal) {
    return Objects.requireNonNull(refusal.trailers().get(Retry.DETAILS)).getSerializedSize();
  }

  @Test
  void storeCannotTell_isUnavailable() throws Exception {
    try (Limits away = new Limits(Limits.TWO_A_MINUTE, new AwayStore());
        InProcess server = new InProcess(builder(away.engine).build())) {
      TestCall refused = TestCall.send(server.channel, Shop.ADD);

      assertThat(refused.code()).isEqualTo(Status.Code.UNAVAILABLE);
      assertThat(refused.status().getDescription())
          .isEqualTo("Policy calls cannot be checked now (UNCERTAIN). Retry in 1 s.");
      assertThat(refused.trailers.get(Retry.PUSHBACK)).isEqualTo("250");
      assertThat(details(refused).getDetailsList())
          .singleElement()
          .matches((Any detail) -> detail.is(RetryInfo.class));
    }
  }

  @Test
  void requestThatNobodyCanDecide_isInternal() throws Exception {
    ByHand decider = new ByHand();
    try (InProcess server =
        new InProcess(
            RateLimitServerInterceptor.builder(decider)
                .domain("shop")
                .descriptor(BY_METHOD)
                .executor(Runnable::run)
                .build())) {
      TestCall refused = TestCall.send(server.channel, Shop.ADD);
      decider.answer(Answer.of(false, List.of(), "descriptors: 33 (expected: 1..32)", 1));

      assertThat(refused.code()).isEqualTo(Status.Code.INTERNAL);
      assertThat(refused.status().getDescription())
          .isEqualTo("The rate limit cannot be decided: descriptors: 33 (expected: 1..32)");
    }
  }

  @Test
  void exemptMethods_areNotLimited() throws Exception {
    Limits.apply(limits.engine, Limits.TWO_A_MINUTE.replace("unit: 2", "unit: 0"));
    MethodDescriptor<String, String> health =
        Shop.ADD.toBuilder().setFullMethodName("grpc.health.v1.Health/Check").build();
    try (InProcess server = new InProcess(builder(limits.engine).build());
        InProcess other = new InProcess(builder(limits.engine).exempt("shop.Cart/Add").build())) {
      TestCall.send(server.channel, health).ok();
      TestCall.send(server.channel, Shop.ADD).exhausted();

      TestCall.send(other.channel, health).exhausted();
      TestCall.send(other.channel, Shop.ADD).ok();
      TestCall.send(other.channel, Shop.LIST).exhausted();
    }
  }

  @Test
  void missingValue_sharesOrSkipsOrRefuses() throws Exception {
    try (InProcess shared = server(MissingValue.SHARED);
        InProcess skipped = server(MissingValue.SKIP);
        InProcess refused = server(MissingValue.REFUSE)) {
      TestCall.send(shared.channel, Shop.ADD).ok();
      TestCall.send(shared.channel, Shop.ADD).ok();
      TestCall.send(shared.channel, Shop.ADD).exhausted();
      TestCall.send(skipped.channel, Shop.ADD).ok();
      TestCall bad = TestCall.send(refused.channel, Shop.ADD);

      assertThat(bad.code()).isEqualTo(Status.Code.INVALID_ARGUMENT);
      assertThat(bad.status().getDescription())
          .isEqualTo(
              "header:user: missing (expected: a value, which the call's rate limit depends on)");
    }
  }

  private InProcess server(MissingValue missing) throws Exception {
    return new InProcess(
        RateLimitServerInterceptor.builder(limits.engine)
            .domain("shop")
            .descriptor("method={header:user}")
            .missing(missing)
            .build());
  }

  @Test
  void binaryHeader_isNotRead() throws Exception {
    Metadata headers = new Metadata();
    headers.put(
        Metadata.Key.of("user-bin", Metadata.BINARY_BYTE_MARSHALLER), new byte[] {'a', 'n', 'n'});
    try (InProcess server =
        new InProcess(
            RateLimitServerInterceptor.builder(limits.engine)
                .domain("shop")
                .descriptor("method={header:user-bin}")
                .missing(MissingValue.REFUSE)
                .build())) {
      assertThat(TestCall.send(server.channel, Shop.ADD, headers).code())
          .isEqualTo(Status.Code.INVALID_ARGUMENT);
    }
  }

  @Test
  void login_isAskedOfTheContextThatAnEarlierInterceptorMade() throws Exception {
    Context.Key<String> login = Context.key("login");
    ServerInterceptor security =
        new ServerInterceptor() {
          @Override
          public <A, B> io.grpc.ServerCall.Listener<A> interceptCall(
              io.grpc.ServerCall<A, B> call,
              Metadata headers,
              io.grpc.ServerCallHandler<A, B> next) {
            Context named = Context.current().withValue(login, "" + headers.get(USER));
            return Contexts.interceptCall(named, call, headers, next);
          }
        };
    try (InProcess server =
        new InProcess(
            security,
            RateLimitServerInterceptor.builder(limits.engine)
                .domain("shop")
                .descriptor("method={login}")
                .login((context, headers) -> login.get(context))
                .build())) {
      TestCall.send(server.channel, Shop.ADD, user("ann")).ok();
      TestCall.send(server.channel, Shop.LIST, user("ann")).ok();
      TestCall.send(server.channel, Shop.ADD, user("ann")).exhausted();
      TestCall.send(server.channel, Shop.ADD, user("bob")).ok();
    }
  }

  @Test
  void refundUnless_onlyThoseCodesStayCharged() throws Exception {
    try (InProcess server =
        new InProcess(builder(limits.engine).refundUnless(Status.Code.UNAUTHENTICATED).build())) {
      TestCall open = TestCall.start(server.channel, Shop.ADD).sendMessage("a");
      assertThat(limits.left("shop.Cart/Add")).as("charged until it ends").isEqualTo(1);
      open.end().ok();
      assertThat(limits.left("shop.Cart/Add")).isEqualTo(2);

      server.shop.end = Status.UNAUTHENTICATED;
      TestCall.send(server.channel, Shop.ADD).status();
      assertThat(limits.left("shop.Cart/Add")).isEqualTo(1);

      TestCall.start(server.channel, Shop.ADD).call.cancel("gone", null);
      assertThat(limits.left("shop.Cart/Add")).as("a cancelled call").isZero();
    }
  }

  @Test
  void shadowMode_letsCallsPass() throws Exception {
    Limits.apply(
        limits.engine,
        Limits.TWO_A_MINUTE.replace("    rate_limit:", "    shadow_mode: true\n    rate_limit:"));
    try (InProcess server = new InProcess(builder(limits.engine).build())) {
      for (int i = 0; i < 5; i++) {
        TestCall.send(server.channel, Shop.ADD).ok();
      }
    }
  }

  @Test
  void wrongSettings_areAllNamed() {
    assertThatThrownBy(
            () ->
                RateLimitServerInterceptor.builder(limits.engine)
                    .descriptor("user={login}")
                    .descriptor("q={query:q}")
                    .build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            """
            domain: not set (expected: the domain of the rules)
            descriptor: "q={query:q}" (expected: no {query:x}: a gRPC call has no query)
            descriptor: "user={login}" (expected: no {login}, as no login is set)\
            """);
    assertThatThrownBy(() -> RateLimitServerInterceptor.builder(limits.engine).build())
        .hasMessageContaining("descriptor: none (expected: at least one");
    assertThatThrownBy(() -> builder(limits.engine).exempt("/shop.Cart"))
        .hasMessage(
            "exempt: \"/shop.Cart\" (expected: a service such as shop.Cart, or a method such as"
                + " shop.Cart/Add)");
    assertThatThrownBy(() -> builder(limits.engine).maxWait(java.time.Duration.ofMillis(-1)))
        .hasMessage("maxWait: PT-0.001S (expected: at least 0)");
  }
}
