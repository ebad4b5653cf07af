package dev.weir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.testkit.ChildProcess;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class StopHookTest {
  private final BlockingQueue<Integer> halted = new LinkedBlockingQueue<>();

  private int status(StopHook.Drain drain, Duration longest) throws InterruptedException {
    Thread hook = StopHook.of(drain, longest, halted::add);
    hook.start();
    return halted.take();
  }

  @Test
  @Timeout(60)
  void serverThatDrains_endsTheProcessWithZero() throws Exception {
    assertThat(status(() -> {}, Duration.ofHours(1))).isZero();
  }

  @Test
  @Timeout(60)
  void serverThatFailsToDrain_endsTheProcessAtOnce() throws Exception {
    StopHook.Drain failing =
        () -> {
          throw new IllegalStateException("pretended");
        };
    assertThat(status(failing, Duration.ofHours(1))).isEqualTo(Main.FAILED);
  }

  @Test
  @Timeout(60)
  void serverThatHangs_doesNotKeepTheProcess() throws Exception {
    CountDownLatch never = new CountDownLatch(1);
    assertThat(status(never::await, Duration.ofMillis(50))).isEqualTo(Main.FAILED);
    never.countDown();
  }

  @Test
  @Timeout(60)
  void signal_endsAProcessThatHangs() throws Exception {
    try (ChildProcess served = ChildProcess.java(HangingServe.class).errorsOnly().start()) {
      served.await("hangs when it is asked to stop");
      served.terminate();
      assertThat(served.endsWithin(Duration.ofSeconds(30))).isTrue();
      assertThat(served.exitStatus()).isEqualTo(Main.FAILED);
      served.await("weir: not stopped within 0 s, ended");
    }
  }

  /** A process whose server does not drain, as if its threads had died. */
  static final class HangingServe {
    private HangingServe() {}

    public static void main(String[] arguments) throws InterruptedException {
      CountDownLatch never = new CountDownLatch(1);
      Runtime.getRuntime()
          .addShutdownHook(
              StopHook.of(
                  never::await,
                  Duration.ofMillis(200),
                  status -> Runtime.getRuntime().halt(status)));
      System.err.println("hangs when it is asked to stop");
      never.await();
    }
  }
}
