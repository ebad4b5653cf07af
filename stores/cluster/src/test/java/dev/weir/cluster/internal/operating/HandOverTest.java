package dev.weir.cluster.internal.operating;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.cluster.internal.log.Ledger;
import dev.weir.cluster.internal.log.Seats;
import dev.weir.cluster.internal.peer.Member;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class HandOverTest {
  private final Queue<String> log = new ConcurrentLinkedQueue<>();
  private final Queue<String> told = new ConcurrentLinkedQueue<>();

  /** A log of three members, which this one may lead. */
  private class Led implements Ledger {
    private final boolean leads;

    Led(boolean leads) {
      this.leads = leads;
    }

    @Override
    public boolean leads() {
      return leads;
    }

    @Override
    public Seats seats() {
      return new Seats(
          Stream.of("a", "b", "c").map(name -> new Member(name, "h", 1)).toList(), List.of(), true);
    }

    @Override
    public void transfer(@Nullable String member) throws IOException {
      told.add(String.valueOf(member));
    }

    @Override
    public CompletionStage<byte[]> append(byte[] entry) {
      throw new AssertionError("append");
    }

    @Override
    public @Nullable String leader() {
      throw new AssertionError("leader");
    }

    @Override
    public CompletionStage<Snapshot> snapshot() {
      throw new IllegalStateException("no snapshot is needed");
    }

    @Override
    public Status status() {
      throw new AssertionError("status");
    }

    @Override
    public void seat(Seats next) {
      throw new AssertionError("seat");
    }

    @Override
    public void leave() {
      throw new AssertionError("leave");
    }

    @Override
    public void close() {
      throw new AssertionError("close");
    }
  }

  private void run(Executor executor, long mostMillis, List<String> willing, Led ledger) {
    new HandOver(
            "a",
            name -> CompletableFuture.completedStage(willing.contains(name)),
            executor,
            log::add)
        .run(Map.of(0, ledger), mostMillis);
  }

  @Test
  void memberThatIsClosingToo_isNotAsked() {
    run(Runnable::run, 60_000, List.of("c"), new Led(true));
    assertThat(told).containsExactly("c");
    assertThat(log).isEmpty();
  }

  @Test
  void allAreClosing_nobodyIsWaitedFor() {
    run(Runnable::run, 60_000, List.of(), new Led(true));
    assertThat(told).isEmpty();
    assertThat(log)
        .containsExactly("cluster: group 0 was not handed over: no other member can lead it now");
  }

  @Test
  void memberThatFails_isFollowedByTheNext() {
    Led ledger =
        new Led(true) {
          @Override
          public void transfer(@Nullable String member) throws IOException {
            super.transfer(member);
            if ("b".equals(member)) {
              throw new IOException("b did not take over");
            }
          }
        };
    run(Runnable::run, 60_000, List.of("b", "c"), ledger);
    assertThat(told).containsExactly("b", "c");
    assertThat(log).isEmpty();
  }

  @Test
  void groupThatIsLedElsewhere_isLeftAlone() {
    run(Runnable::run, 60_000, List.of("b"), new Led(false));
    assertThat(told).isEmpty();
  }

  @Test
  void memberTakesLong_closingGoesOnWithoutIt() throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    Led stuck =
        new Led(true) {
          @Override
          public void transfer(@Nullable String member) throws IOException {
            try {
              end.await();
            } catch (InterruptedException e) {
              throw new IOException(e);
            }
          }
        };
    Queue<Thread> threads = new ArrayDeque<>();
    run(
        task -> {
          Thread thread = new Thread(task, "hand-over " + UUID.randomUUID());
          threads.add(thread);
          thread.start();
        },
        10,
        List.of("b"),
        stuck);
    assertThat(log).containsExactly("cluster: 1 groups were not handed over within 10 ms");
    end.countDown();
    threads.remove().join();
  }
}
