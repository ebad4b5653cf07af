package dev.weir.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SimulatedTest {
  private static final double WAKE = 10;
  private static final double MILLI = 1e6;

  private final Simulated time = new Simulated(WAKE);
  private final List<String> done = new ArrayList<>();

  private Runnable says(String name) {
    return () -> done.add(name + "@" + Math.round(time.now()));
  }

  @Test
  void idleProcessor_takesAMomentToWake() {
    time.new Worker(time.new Machine(1)).does(100, says("a"));
    time.runUntil(MILLI);

    assertThat(done).containsExactly("a@110");
  }

  @Test
  void busyProcessor_goesOnWithTheNextThreadAtOnce() {
    Simulated.Machine machine = time.new Machine(1);
    time.new Worker(machine).does(100, says("a"));
    time.new Worker(machine).does(50, says("b"));
    time.runUntil(MILLI);

    assertThat(done).containsExactly("a@110", "b@160");
    assertThat(machine.usedNanos()).isEqualTo(150);
  }

  @Test
  void twoProcessors_runTwoThreads() {
    Simulated.Machine machine = time.new Machine(2);
    time.new Worker(machine).does(100, says("a"));
    time.new Worker(machine).does(50, says("b"));
    time.runUntil(MILLI);

    assertThat(done).containsExactly("b@60", "a@110");
  }

  @Test
  void longWork_takesTurnsWithOthers() {
    Simulated.Machine machine = time.new Machine(1);
    time.new Worker(machine).does(4 * MILLI, says("long"));
    time.new Worker(machine).does(MILLI, says("short"));
    time.runUntil(10 * MILLI);

    assertThat(done).containsExactly("short@2500010", "long@5000010");
  }

  @Test
  void thread_goesOnWithItsNextWorkWhileItsTurnLasts() {
    Simulated.Machine machine = time.new Machine(1);
    Simulated.Worker first = time.new Worker(machine);
    first.does(100, says("a"));
    first.does(100, says("b"));
    time.new Worker(machine).does(100, says("c"));
    time.runUntil(MILLI);

    assertThat(done).containsExactly("a@110", "b@210", "c@310");
  }

  @Test
  void workBegins_withWhatHasComeByThen() {
    Simulated.Machine machine = time.new Machine(1);
    List<String> came = new ArrayList<>();
    time.new Worker(machine).does(100, () -> came.add("x"));
    time.new Worker(machine).does(() -> 10 * came.size(), says("b"));
    time.runUntil(MILLI);

    assertThat(done).containsExactly("b@120");
  }

  @Test
  void thread_thatWaitsForADevice_needsNoProcessor() {
    Simulated.Machine machine = time.new Machine(1);
    time.new Worker(machine).doesAndWaits(100, () -> 1_000, says("written"));
    time.new Worker(machine).does(100, says("other"));
    time.runUntil(MILLI);

    assertThat(done).containsExactly("other@210", "written@1110");
    assertThat(machine.usedNanos()).isEqualTo(200);
  }

  @Test
  void stoppedProgram_getsNoProcessor() {
    Simulated.Machine machine = time.new Machine(2);
    Simulated.Program program = new Simulated.Program();
    Simulated.Worker one = time.new Worker(machine, program);
    program.stopsFor(time.new Worker(machine), 1_000);
    one.does(100, says("one"));
    time.new Worker(machine).does(100, says("other"));
    time.runUntil(MILLI);

    assertThat(done).containsExactly("other@110", "one@1120");
    assertThat(program.stopped()).isFalse();
  }
}
