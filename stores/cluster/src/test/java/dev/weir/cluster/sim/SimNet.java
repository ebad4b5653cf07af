package dev.weir.cluster.sim;

import dev.weir.cluster.Policies;
import java.util.HashSet;
import java.util.Set;

/** A network that delays, loses, and cuts. */
final class SimNet {
  private static final long MICRO = Policies.MICRO;
  private static final long MILLI = Policies.MILLI;

  private record Way(SimNode from, SimNode to) {}

  private final Scheduler scheduler;
  private final Set<Way> cuts = new HashSet<>();

  /** The number of messages of which one is lost, 0 for none. */
  int lossOneIn;

  /** The number of messages of which one comes very late, 0 for none. */
  int lateOneIn;

  SimNet(Scheduler scheduler) {
    this.scheduler = scheduler;
  }

  void cut(SimNode from, SimNode to) {
    cuts.add(new Way(from, to));
  }

  void heal(SimNode from, SimNode to) {
    cuts.remove(new Way(from, to));
  }

  void heal() {
    cuts.clear();
  }

  boolean reaches(SimNode from, SimNode to) {
    return !cuts.contains(new Way(from, to));
  }

  /** Sends a message whose task runs there, or is lost. */
  void send(SimNode from, SimNode to, Runnable task) {
    boolean lost = lossOneIn > 0 && scheduler.oneIn(lossOneIn);
    if (reaches(from, to) && !lost) {
      to.run(delayNanos(), task);
    }
  }

  private long delayNanos() {
    if (lateOneIn > 0 && scheduler.oneIn(lateOneIn)) {
      return scheduler.between(100 * MILLI, 8_000 * MILLI);
    }
    return scheduler.oneIn(100)
        ? scheduler.between(2 * MILLI, 100 * MILLI)
        : scheduler.between(50 * MICRO, 2 * MILLI);
  }
}
