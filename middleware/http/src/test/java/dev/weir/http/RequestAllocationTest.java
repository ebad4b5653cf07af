package dev.weir.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Request;
import java.lang.management.ManagementFactory;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests of the bytes that an admitted request allocates besides those of its engine. */
class RequestAllocationTest {
  private static final int WARM_UP = 20_000;
  private static final int ROUNDS = 5_000;

  /**
   * The most bytes for the request with two descriptors, the verdict, and the text of {@code
   * RateLimit}: about 400 with compressed pointers.
   */
  private static final long MOST_BYTES = 512;

  private static final String RULES =
      """
      domain: app
      descriptors:
        - key: ip
          rate_limit: {unit: hour, requests_per_unit: 1000000, algorithm: token-bucket}
        - key: user
          rate_limit: {unit: hour, requests_per_unit: 1000000, algorithm: token-bucket}
      """;

  private final LimitedEngine limits = new LimitedEngine();
  private final TestView view = TestView.get("/").login("alice");
  private long characters;

  private static long bytesEach(Runnable task) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    for (int i = 0; i < WARM_UP; i++) {
      task.run();
    }
    long before = threads.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < ROUNDS; i++) {
      task.run();
    }
    return (threads.getCurrentThreadAllocatedBytes() - before) / ROUNDS;
  }

  @Test
  void admittedRequest_addsItsTextsAndLittleElse() {
    limits.engine.apply(LimitedEngine.rules(RULES));
    RequestLimiter limiter = limits.limiter("ip={ip}").descriptor("user={login}").build();
    Request request =
        new Request(
            "app", List.of(Descriptor.of("ip", "203.0.113.7"), Descriptor.of("user", "alice")), 1);
    long engine =
        bytesEach(() -> limits.engine.decide(request, answer -> characters += answer.revision()));
    long all =
        bytesEach(
            () ->
                limiter.decide(
                    view,
                    verdict ->
                        verdict.fields(
                            (name, value) -> characters += name.length() + value.length())));
    assertThat(characters).isPositive();
    assertThat(all - engine).isBetween(1L, MOST_BYTES);
  }
}
