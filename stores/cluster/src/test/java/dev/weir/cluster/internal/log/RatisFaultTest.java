package dev.weir.cluster.internal.log;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Ticker;
import dev.weir.cluster.Await;
import dev.weir.cluster.Trio;
import dev.weir.cluster.Trio.Node;
import dev.weir.cluster.internal.log.HashMachine.Applied;
import dev.weir.cluster.internal.log.LedgerException.Outcome;
import dev.weir.cluster.internal.peer.Wires;
import dev.weir.testkit.Trials;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Three members whose network fails. */
@Tag("live")
class RatisFaultTest {
  private static final Duration ELECTION_MIN = Duration.ofMillis(150);
  private static final Duration ELECTION_MAX = Duration.ofMillis(300);
  private static final Duration FAULTS = Duration.ofSeconds(9);

  /** The longest time until faults have caused the tested situation. */
  private static final Duration MOST_FAULTS = Duration.ofMinutes(2);

  private static final int ENOUGH_TERMS = 4;
  private static final int ENOUGH_ACKNOWLEDGED = 51;
  private static final int MOST_OPEN = 24;

  @TempDir Path folder;

  private final Map<Long, Long> acknowledged = new ConcurrentHashMap<>();
  private final Map<Long, Outcome> failed = new ConcurrentHashMap<>();
  private final AtomicLong open = new AtomicLong();
  private long ids;

  private static RatisSettings quick(RatisSettings settings) {
    return settings.withElection(ELECTION_MIN, ELECTION_MAX).withSnapshots(16 << 10, 64 << 10);
  }

  /** Appends at any member: the ledger itself has to report whether that one leads. */
  private void append(Node node) {
    long id = ++ids;
    open.incrementAndGet();
    Object unused =
        node.ledger()
            .append(HashMachine.entry(id, 64))
            .whenComplete(
                (reply, problem) -> {
                  open.decrementAndGet();
                  if (problem == null) {
                    acknowledged.put(id, ByteBuffer.wrap(reply).getLong());
                  } else {
                    failed.put(id, ((LedgerException) cause(problem)).outcome());
                  }
                });
  }

  private static Throwable cause(Throwable problem) {
    return problem instanceof CompletionException && problem.getCause() != null
        ? problem.getCause()
        : problem;
  }

  @Tag("once")
  @Test
  void faults_loseNothingAcknowledged_andApplyNothingRefused() throws Exception {
    long seed = Trials.random("faults of Ratis").nextLong();
    SplittableRandom random = new SplittableRandom(seed);
    Wires wires = new Wires();
    try (Trio trio = new Trio(folder, RatisFaultTest::quick, wires)) {
      trio.append(0, 64);
      Ticker ticker = Ticker.system();
      long begin = ticker.nanos();
      long next = begin;
      // Chance, or a slow machine, may leave a leader without faults for long.
      while (ticker.nanos() - begin < FAULTS.toNanos()
          || (ticker.nanos() - begin < MOST_FAULTS.toNanos() && !enough(trio))) {
        if (ticker.nanos() - next >= 0) {
          next = ticker.nanos() + random.nextLong(300, 900) * 1_000_000;
          fault(trio, wires, random);
        }
        if (open.get() < MOST_OPEN) {
          append(trio.node(random.nextInt(3)));
        }
        if (random.nextInt(4) == 0) {
          Await.pause(1);
        }
      }
      wires.heal();
      List<Applied> applied = trio.settle();
      Await.until("every append to be answered", () -> open.get() == 0);
      check(applied);
      System.out.println(
          "term " + term(trio) + ", acknowledged " + acknowledged.size() + ", failed " + counts());
      assertThat(term(trio)).as("terms, seed %d", seed).isGreaterThanOrEqualTo(ENOUGH_TERMS);
      assertThat(acknowledged).as("seed %d", seed).hasSizeGreaterThanOrEqualTo(ENOUGH_ACKNOWLEDGED);
    }
  }

  private boolean enough(Trio trio) {
    return acknowledged.size() >= ENOUGH_ACKNOWLEDGED && term(trio) >= ENOUGH_TERMS;
  }

  private static long term(Trio trio) {
    return trio.running().stream()
        .mapToLong(node -> node.ledger().status().term())
        .max()
        .orElseThrow();
  }

  /** Causes a fault, half of the times at the leader. */
  private static void fault(Trio trio, Wires wires, SplittableRandom random) {
    if (random.nextInt(3) > 0) {
      wires.heal();
    }
    int victim = random.nextInt(3);
    if (random.nextBoolean()) {
      for (int i = 0; i < 3; i++) {
        victim = trio.node(i).ledger().leads() ? i : victim;
      }
    }
    int other = (victim + random.nextInt(1, 3)) % 3;
    int third = 3 - victim - other;
    switch (random.nextInt(8)) {
      case 0, 1, 6 -> wires.isolate(victim);
      case 7 -> handOver(trio.node(victim).ledger());
      case 2 -> {
        // The others hear it, and it receives nothing.
        wires.wire(victim, other).set(false, true, 0);
        wires.wire(victim, third).set(false, true, 0);
      }
      case 3 -> wires.wire(victim, other).set(true, false, 0);
      case 4 -> wires.wire(victim, other).set(false, false, random.nextInt(1, 50));
      default -> {
        wires.wire(victim, other).cut();
        wires.wire(victim, third).cut();
      }
    }
  }

  private static void handOver(Ledger ledger) {
    Object unused =
        CompletableFuture.runAsync(
            () -> {
              try {
                ledger.transfer(null);
              } catch (IOException e) {
                // The other one cannot be reached either.
              }
            });
  }

  private Map<Outcome, Integer> counts() {
    Map<Outcome, Integer> counts = new HashMap<>();
    failed.values().forEach(outcome -> counts.merge(outcome, 1, Integer::sum));
    return counts;
  }

  private void check(List<Applied> applied) {
    Map<Long, Long> at = new HashMap<>();
    for (Applied one : applied) {
      Long before = one.id() <= 0 ? null : at.put(one.id(), one.index());
      assertThat(before).as("entry %d applied twice", one.id()).isNull();
    }
    acknowledged.forEach(
        (id, index) -> assertThat(at.get(id)).as("acknowledged %d", id).isEqualTo(index));
    failed.forEach(
        (id, outcome) -> {
          if (outcome != Outcome.UNKNOWN) {
            assertThat(at).as("%s %d", outcome, id).doesNotContainKey(id);
          }
        });
  }

  @Tag("once")
  @Test
  void aLeaderThatIsCutOff_acknowledgesNothing_andWhatItHadAppendedIsUnknown() throws Exception {
    Wires wires = new Wires();
    try (Trio trio = new Trio(folder, RatisFaultTest::quick, wires)) {
      trio.append(1, 64);
      Node[] cutOff = new Node[1];
      Await.until(
          "an entry in the log of a leader that is cut off",
          () -> {
            cutOff[0] = cutOff(trio, wires);
            Outcome outcome =
                outcome(cutOff[0].ledger().append(HashMachine.entry(2, 64)).toCompletableFuture());
            // On a slow machine it may have noticed before.
            boolean appended = cutOff[0].machine().appended(2);
            assertThat(outcome).isEqualTo(appended ? Outcome.UNKNOWN : Outcome.NOT_LEADER);
            return appended;
          });
      Ledger stale = cutOff[0].ledger();
      Await.until("it to notice", () -> !stale.leads());
      // Now the same error of Ratis means that the entry was refused.
      assertThat(outcome(stale.append(HashMachine.entry(3, 64)).toCompletableFuture()))
          .isEqualTo(Outcome.NOT_LEADER);
      trio.append(4, 64); // By another leader.
      wires.heal();
      assertThat(trio.settle().stream().map(Applied::id)).contains(1L, 4L).doesNotContain(2L, 3L);
    }
  }

  /** Cuts the leader off from all messages, and returns it. It has not noticed yet. */
  private static Node cutOff(Trio trio, Wires wires) throws Exception {
    wires.heal();
    int leader = trio.leader();
    wires.isolate(leader);
    return trio.node(leader);
  }

  private static Outcome outcome(CompletableFuture<byte[]> result)
      throws InterruptedException, TimeoutException {
    try {
      result.get(60, TimeUnit.SECONDS);
      throw new AssertionError("it was acknowledged");
    } catch (ExecutionException e) {
      return Objects.requireNonNull((LedgerException) e.getCause()).outcome();
    }
  }

  @Test
  void moreThanAMajorityCanTake_isOverloaded_andNotApplied() throws Exception {
    Wires wires = new Wires();
    try (Trio trio =
        new Trio(
            folder,
            settings -> settings.withElection(Duration.ofSeconds(2), Duration.ofSeconds(4)),
            wires)) {
      trio.append(0, 64);
      while (counts().getOrDefault(Outcome.OVERLOADED, 0) < RatisEngine.MOST_PENDING) {
        wires.heal();
        int leader = trio.leader(); // Another one, if the machine stood still.
        wires.isolate(leader);
        for (int i = 0; i < 3 * RatisEngine.MOST_PENDING; i++) {
          append(trio.node(leader));
        }
        Await.until("answers to all but those", () -> open.get() <= RatisEngine.MOST_PENDING);
      }
      wires.heal();
      List<Applied> applied = trio.settle();
      Await.until("every append to be answered", () -> open.get() == 0);
      check(applied);
      assertThat(counts().get(Outcome.OVERLOADED)).isGreaterThanOrEqualTo(RatisEngine.MOST_PENDING);
    }
  }
}
