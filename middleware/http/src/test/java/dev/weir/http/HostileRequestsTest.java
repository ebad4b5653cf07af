package dev.weir.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.weir.identity.ClientAddress;
import dev.weir.identity.MissingValue;
import dev.weir.protocol.http.OlderFields;
import dev.weir.testkit.Trials;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Tests with requests that no honest client sends. */
class HostileRequestsTest {
  private static final int ROUNDS = 20_000;

  private static final List<String> PIECES =
      List.of(
          "",
          "/",
          "//",
          ".",
          "..",
          "%",
          "%2e",
          "%2F",
          "%00",
          ";",
          "\\",
          "*",
          "**",
          "a",
          "login",
          "static",
          "\r\n",
          "\u0000",
          "\ud800",
          "\udc00",
          "\u202e",
          "\u00e9",
          " ",
          "\t",
          ",",
          ",,",
          "q=0",
          ";q=NaN",
          ";q=1",
          "text/html",
          "application/json",
          "*/*",
          "null",
          "https://a.example",
          "\"",
          "[",
          "]:80",
          "::1",
          "10.0.0.1",
          "203.0.113.7",
          "for=",
          "unknown",
          "=",
          "&",
          "sha256:",
          "Basic ",
          "YTpi",
          "Bearer x");

  private static final List<String> HEADERS =
      List.of(
          "Accept",
          "Origin",
          "Access-Control-Request-Method",
          "Host",
          "Cookie",
          "Authorization",
          "X-Forwarded-For",
          "X-Key");

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private final LimitedEngine limits = new LimitedEngine();

  private List<RequestLimiter> limiters() {
    ClientAddress behindProxy =
        ClientAddress.builder().trusted("10.0.0.0/8").header("X-Forwarded-For").build();
    List<RequestLimiter> limiters = new ArrayList<>();
    for (MissingValue missing : MissingValue.values()) {
      limiters.add(
          limits
              .limiter("ip={ip},path={path}")
              .descriptor("user={login|cookie:id|query:q|ip/24/48}")
              .descriptor("odd={header:X-Key}-{secret:Authorization}-{host}-{method}-{route}")
              .descriptor("turn={secret:cookie:id}")
              .address(behindProxy)
              .missing(missing)
              .paths("/login", "/a/**", "/*/a")
              .exempt("/static/**", "/a/health")
              .methods("GET", "OPTIONS")
              .olderFields(OlderFields.ENVOY)
              .allowOrigins("https://a.example")
              .refundUnless(401)
              .build());
      limiters.add(limits.limiter("never={ip}").missing(missing).allowOrigins("*").build());
    }
    return limiters;
  }

  private static String text(SplittableRandom random, int most) {
    StringBuilder text = new StringBuilder();
    int pieces = random.nextInt(most);
    for (int i = 0; i < pieces; i++) {
      text.append(PIECES.get(random.nextInt(PIECES.size())));
    }
    return text.toString();
  }

  private static TestView view(SplittableRandom random) {
    List<String> methods = List.of("GET", "get", "HEAD", "OPTIONS", "", "\r\n", "POST");
    TestView view =
        TestView.of(
            methods.get(random.nextInt(methods.size())),
            (random.nextInt(4) == 0 ? "" : "/") + text(random, 8));
    view.peer(random.nextInt(3) == 0 ? text(random, 4) : "10.0.0.1");
    view.login(random.nextInt(2) == 0 ? null : text(random, 4));
    for (String header : HEADERS) {
      String[] lines = new String[random.nextInt(4)];
      for (int i = 0; i < lines.length; i++) {
        lines[i] = text(random, random.nextInt(50) == 0 ? 2_000 : 8);
      }
      view.header(header, lines);
    }
    return view;
  }

  @Test
  void anyRequest_hasAnAnswerWithPlainFields() {
    SplittableRandom random = Trials.random("hostile requests", ROUNDS);
    List<RequestLimiter> limiters = limiters();
    int[] statuses = new int[600];
    for (int i = 0; i < ROUNDS; i++) {
      RequestLimiter limiter = limiters.get(random.nextInt(limiters.size()));
      Verdict verdict = LimitedEngine.decide(limiter, view(random));
      statuses[verdict.status()]++;
      VerdictFieldsTest.assertPlain(LimitedEngine.fields(verdict));
      if (verdict.passes()) {
        verdict.responded(random.nextBoolean() ? 200 : 401);
      } else {
        assertThat(verdict.status()).isIn(400, 429);
        assertThat(verdict.refusal().length()).isBetween(1, 4_096);
      }
      if (random.nextInt(100) == 0) {
        limits.ticker.advance(1_000_000_000L);
      }
    }
    assertThat(statuses[200]).isGreaterThan(ROUNDS / 20);
    assertThat(statuses[400]).isPositive();
    assertThat(statuses[429]).isGreaterThan(ROUNDS / 20);
  }

  /**
   * Allocated bytes are a measure of work: texts that are searched again and again are copied too.
   */
  @Test
  void work_growsNoFasterThanTheRequest() {
    List<RequestLimiter> limiters = limiters();
    for (String piece : PIECES) {
      if (!piece.isEmpty()) {
        for (RequestLimiter limiter : limiters) {
          long small = allocated(limiter, piece, 1 << 12);
          long large = allocated(limiter, piece, 1 << 16);
          assertThat(large).as("%s, after %d", piece, small).isLessThan(40 * small + 100_000);
        }
      }
    }
  }

  private static long allocated(RequestLimiter limiter, String piece, int length) {
    String text = piece.repeat(length / piece.length());
    TestView view = TestView.get("/a/" + text).login(text);
    HEADERS.forEach(header -> view.header(header, text));
    run(limiter, view); // This loads the classes.
    long before = THREADS.getThreadAllocatedBytes(Thread.currentThread().getId());
    run(limiter, view);
    return THREADS.getThreadAllocatedBytes(Thread.currentThread().getId()) - before;
  }

  private static void run(RequestLimiter limiter, TestView view) {
    Verdict verdict = LimitedEngine.decide(limiter, view);
    verdict.fields((name, value) -> assertThat(value.length()).isLessThan(1_000));
    if (!verdict.passes()) {
      assertThat(verdict.refusal().length()).isPositive();
    }
  }
}
