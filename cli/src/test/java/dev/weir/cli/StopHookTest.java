package dev.weir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.testkit.ChildProcess;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class StopHookTest {
  private final BlockingQueue<Integer> halted = new LinkedBlockingQueue<>();

  private int status(StopHook.Drain drain, Duration longest) throws InterruptedException {
    StopHook hook = StopHook.of(Duration.ofHours(1), halted::add);
    hook.setWork(drain, () -> longest);
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
  void serverThatLeavesAPartBehind_endsTheProcessWithAStatusOfItsOwn() throws Exception {
    StopHook hook = StopHook.of(Duration.ofHours(1), halted::add);
    AtomicReference<Boolean> whole = new AtomicReference<>(true);
    hook.setWork(() -> whole.set(false), () -> Duration.ofHours(1), whole::get);
    hook.start();
    assertThat(halted.take()).isEqualTo(Main.NOT_WHOLE).isEqualTo(4);
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
  void signalDuringTheStart_drainsWhatHasBegunMeanwhile() throws Exception {
    StopHook hook = StopHook.of(Duration.ofHours(1), halted::add);
    CountDownLatch drained = new CountDownLatch(1);
    hook.start();
    hook.setWork(drained::countDown, () -> Duration.ofHours(1));
    assertThat(halted.take()).isZero();
    assertThat(drained.getCount()).isZero();
  }

  @Test
  @Timeout(60)
  void noticeThatHangs_doesNotHoldUpTheDrain() throws Exception {
    CountDownLatch noticed = new CountDownLatch(1);
    CountDownLatch never = new CountDownLatch(1);
    StopHook hook = StopHook.of(Duration.ofHours(1), halted::add);
    hook.setNotice(
        () -> {
          noticed.countDown();
          await(never);
        });
    hook.setWork(noticed::await, () -> Duration.ofHours(1));
    hook.start();
    assertThat(halted.take()).isZero();
    never.countDown();
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** The tables of a server grow after its start, and with them the time to save them. */
  @Test
  @Timeout(60)
  void boundOfTheDrain_isThatOfTheSignal() throws Exception {
    AtomicReference<Duration> longest = new AtomicReference<>(Duration.ZERO);
    CountDownLatch drained = new CountDownLatch(1);
    StopHook hook = StopHook.of(Duration.ofHours(1), halted::add);
    hook.setWork(drained::await, longest::get);
    longest.set(Duration.ofHours(1));
    hook.start();
    drained.countDown();
    assertThat(halted.take()).isZero();
  }

  @Test
  @Timeout(60)
  void startThatDoesNotEnd_isStopped() throws Exception {
    StopHook.of(Duration.ofMillis(50), halted::add).start();
    assertThat(halted.take()).isEqualTo(StopHook.STOPPED);
  }

  /** A pipe that no process reads takes a few lines, and then blocks for ever. */
  @Test
  @Timeout(60)
  void standardErrorThatBlocks_doesNotKeepTheProcess() throws Exception {
    PrintStream before = System.err;
    CountDownLatch never = new CountDownLatch(1);
    OutputStream blocked =
        new OutputStream() {
          @Override
          public void write(int each) {
            await(never);
          }
        };
    System.setErr(new PrintStream(blocked, true, StandardCharsets.UTF_8));
    try {
      assertThat(status(never::await, Duration.ofMillis(50))).isEqualTo(Main.FAILED);
    } finally {
      never.countDown();
      System.setErr(before);
    }
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

  /** A server process that does not drain, as if its threads had died. */
  static final class HangingServe {
    private HangingServe() {}

    public static void main(String[] arguments) throws InterruptedException {
      CountDownLatch never = new CountDownLatch(1);
      StopHook.install().setWork(never::await, () -> Duration.ofMillis(200));
      System.err.println("hangs when it is asked to stop");
      never.await();
    }
  }
}
