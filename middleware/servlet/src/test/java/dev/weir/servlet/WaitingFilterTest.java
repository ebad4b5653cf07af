package dev.weir.servlet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import jakarta.servlet.AsyncEvent;
import jakarta.servlet.FilterConfig;
import jakarta.servlet.ServletException;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests of the two filters together, without a container. */
@Timeout(120)
class WaitingFilterTest {
  private static final int MANY = 10_000;
  private static final Duration TURN = Duration.ofMillis(1);
  private static final String KEY = "203.0.113.9";

  private final Limits limits = new Limits();
  private final WaitingFilter waiting = new WaitingFilter();
  private final RateLimitFilter limit =
      RateLimitFilter.builder(limits.limiter("turn={ip}").build()).waiting(waiting).build();
  private final AtomicInteger served = new AtomicInteger();

  @BeforeEach
  void register() {
    waiting.init(
        (FilterConfig)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {FilterConfig.class},
                (proxy, method, arguments) -> null));
  }

  @AfterEach
  void close() {
    limits.close();
  }

  private Stubs send() {
    return send(new Stubs(served::incrementAndGet));
  }

  private Stubs send(Stubs stubs) {
    try {
      limit.doFilter(
          stubs.request(),
          stubs.response(),
          (request, response) ->
              waiting.doFilter(request, response, (q, s) -> served.incrementAndGet()));
    } catch (IOException | ServletException e) {
      throw new AssertionError(e);
    }
    return stubs;
  }

  /**
   * Returns an executor with a virtual thread for each task if Java has them, else with ten
   * threads.
   */
  private static ExecutorService threads() throws ReflectiveOperationException {
    for (Method method : Executors.class.getMethods()) {
      if (method.getName().equals("newVirtualThreadPerTaskExecutor")) {
        return (ExecutorService) method.invoke(null);
      }
    }
    return Executors.newFixedThreadPool(10);
  }

  @Test
  void tenThousandWait_noThreadIsHeld(@TempDir Path folder) throws Exception {
    limits.use("turn", KEY);
    try (Recording recording = new Recording()) {
      recording.enable("jdk.VirtualThreadPinned").withThreshold(Duration.ZERO);
      recording.start();
      ExecutorService threads = threads();
      for (int i = 0; i < MANY; i++) {
        threads.execute(this::send);
      }
      limits.awaitWaiting(MANY);
      while (limits.waiting() > 0) {
        limits.advance(TURN);
      }
      Awaiting.until(() -> served.get() == MANY, () -> "served: " + served.get());
      threads.shutdown();
      Path file = folder.resolve("pinned.jfr");
      recording.stop();
      recording.dump(file);
      assertThat(Files.size(file)).isPositive();
      assertThat(RecordingFile.readAllEvents(file))
          .noneMatch(
              event ->
                  event.getStackTrace() != null
                      && event.getStackTrace().toString().contains("dev.weir"));
    }
  }

  @Test
  void error_leavesTheQueue() throws IOException {
    limits.use("turn", KEY);
    Stubs stubs = send();
    AsyncEvent event = new AsyncEvent(stubs.context());
    assertThat(limits.waiting()).isEqualTo(1);
    stubs.listeners.get(0).onError(event);
    stubs.listeners.get(0).onComplete(event);
    assertThat(limits.waiting()).isZero();
    limits.advance(TURN);
    limits.use("turn", KEY);
    assertThat(served).hasValue(0);
  }

  @Test
  void containersTimeout_isARefusal() throws IOException {
    limits.use("turn", KEY);
    Stubs stubs = send();
    stubs.listeners.get(0).onTimeout(new AsyncEvent(stubs.context()));
    assertThat(stubs.status()).isEqualTo(429);
    assertThat(stubs.completed()).isTrue();
    assertThat(limits.waiting()).isZero();
  }

  @Test
  void dispatchFails_permitsAreGivenBack() {
    limits.use("turn", KEY);
    Stubs stubs =
        new Stubs(
            () -> {
              throw new IllegalStateException("complete");
            });
    send(stubs);
    limits.advance(TURN);
    assertThat(limits.waiting()).isZero();
    limits.use("turn", KEY);
  }

  @Test
  void chainThrows_leavesTheQueue() {
    limits.use("turn", KEY);
    Stubs stubs = new Stubs(() -> {});
    assertThatThrownBy(
            () ->
                limit.doFilter(
                    stubs.request(),
                    stubs.response(),
                    (request, response) -> {
                      throw new ServletException("thrown by the test");
                    }))
        .isInstanceOf(ServletException.class);
    assertThat(limits.waiting()).isZero();
  }

  @Test
  void limitByStatus_neverWaits() throws Exception {
    limits.use("turn", KEY);
    RateLimitFilter byStatus =
        RateLimitFilter.builder(limits.limiter("turn={ip}").refundUnless(401).build())
            .waiting(waiting)
            .build();
    Stubs stubs = new Stubs(() -> {});
    byStatus.doFilter(
        stubs.request(), stubs.response(), (request, response) -> served.incrementAndGet());
    assertThat(stubs.status()).isEqualTo(429);
    assertThat(served).hasValue(0);
  }

  @Test
  void blockedThreads_atLeastNone() {
    assertThatThrownBy(() -> new WaitingFilter(-1))
        .hasMessage("maxBlockedThreads: -1 (expected: at least 0)");
  }
}
