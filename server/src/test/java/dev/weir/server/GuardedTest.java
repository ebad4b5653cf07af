package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.weir.MemoryStore;
import dev.weir.server.internal.guard.GuardedTask;
import dev.weir.server.internal.guard.Loop;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that no error ends the periodic work of the server, and that none is silent. */
class GuardedTest {
  @TempDir private Path folder;
  private LogCapture log;

  @BeforeEach
  void listen() {
    log = new LogCapture();
  }

  @AfterEach
  void stopListening() {
    log.close();
  }

  @Test
  void turnThatFails_isLoggedAndCountedAndGoesNoFurther() throws Exception {
    long before = GuardedTask.errors(Loop.EXPIRY);
    GuardedTask turn =
        new GuardedTask(
            Loop.EXPIRY,
            () -> {
              throw new StackOverflowError("pretended");
            });
    turn.run();
    assertThat(log.await("expiry: "))
        .isEqualTo("expiry: a run failed, the next one follows as usual");
    new GuardedTask(
            Loop.EXPIRY,
            () -> {
              throw new OutOfMemoryError("pretended");
            })
        .run();
    assertThat(log.await("expiry: "))
        .endsWith("other parts of the process may be damaged as well, restart it");
    assertThat(GuardedTask.errors(Loop.EXPIRY) - before).isEqualTo(2);
  }

  /** Without the guard, an executor drops the task after its first turn. */
  @Test
  void periodicTask_hasItsNextTurn() throws Exception {
    ScheduledExecutorService executor = Executors.newSingleThreadScheduledExecutor();
    CountDownLatch turns = new CountDownLatch(3);
    try {
      var unused =
          executor.scheduleWithFixedDelay(
              new GuardedTask(
                  Loop.LATENESS,
                  () -> {
                    turns.countDown();
                    throw new OutOfMemoryError("pretended");
                  }),
              0,
              1,
              TimeUnit.MILLISECONDS);
      assertThat(turns.await(30, TimeUnit.SECONDS)).isTrue();
    } finally {
      executor.shutdownNow();
    }
  }

  @Test
  void errorThatCannotEvenBeLogged_isCounted() {
    long before = GuardedTask.errors(Loop.LOAD);
    Error unprintable =
        new Error() {
          private static final long serialVersionUID = 1;

          @Override
          public void printStackTrace(java.io.PrintWriter writer) {
            throw new OutOfMemoryError("pretended, while it is logged");
          }
        };
    assertThatCode(() -> GuardedTask.failed(Loop.LOAD, "failed", unprintable))
        .doesNotThrowAnyException();
    assertThat(GuardedTask.errors(Loop.LOAD) - before).isOne();
  }

  @Test
  void threadThatEnds_isNamed() throws Exception {
    long before = GuardedTask.errors(Loop.THREAD);
    Thread thread =
        new Thread(
            () -> {
              throw new IllegalStateException("pretended");
            },
            "a-thread");
    thread.setUncaughtExceptionHandler(WeirServer.uncaught());
    thread.start();
    thread.join();
    assertThat(log.await("thread: ")).isEqualTo("thread: a-thread has ended");
    assertThat(GuardedTask.errors(Loop.THREAD) - before).isOne();
  }

  /** The check of the store fails at every turn, but tokens are still reloaded. */
  @Test
  void partOfTheHousekeepingThatFails_doesNotKeepTheOthersFromTheirTurns() throws Exception {
    CountDownLatch started = new CountDownLatch(1);
    SharedStoreConnection shared =
        SharedStores.of(
            new MemoryStore(),
            () -> {
              if (started.getCount() == 0 && Thread.currentThread().getName().contains("keeping")) {
                throw new OutOfMemoryError("pretended");
              }
              return SharedStores.METRICS;
            });
    Path tokens = Files.writeString(folder.resolve("tokens"), "first-token-0123456789\n");
    try (RunningServer running =
        RunningServer.start(folder, shared, "token-file", tokens.toString())) {
      started.countDown();
      log.await("store: a run failed");
      Files.writeString(tokens, "other-token-0123456789\n");
      log.await("--token-file: changed, in force");
      String[] bearer = {"Authorization", "Bearer other-token-0123456789"};
      String page = running.send(request(running, bearer)).body();
      assertThat(page)
          .contains("weir_internal_errors_total{loop=\"tokens\"} 0.0\n")
          .containsPattern("weir_internal_errors_total\\{loop=\"store\"} [1-9]");
    }
  }

  private static java.net.http.HttpRequest.Builder request(
      RunningServer running, String... headers) {
    return java.net.http.HttpRequest.newBuilder(running.uri("/metrics")).headers(headers).GET();
  }
}
