package dev.weir.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Decision;
import dev.weir.Fingerprint;
import dev.weir.LocalStore;
import dev.weir.Policy;
import dev.weir.Store;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.AfterEach;

/** The stores of a contract suite: it opens and closes them, and waits for their answers. */
public abstract class StoreFixture {
  /** The time that a store may take to answer before a suite fails. */
  private static final long DEADLINE_SECONDS = 120;

  private static final Fingerprint FINGERPRINT = Fingerprint.seeded(1, 2);

  private final List<Store> opened = new ArrayList<>();

  /** Returns the kind of store that is tested. */
  protected abstract StoreKind kind();

  final Store store() {
    return opened(kind().empty().get());
  }

  /** Registers a store to be verified and closed after the test. */
  final Store opened(Store store) {
    opened.add(store);
    return store;
  }

  final long resolutionNanos() {
    return kind().resolutionNanos();
  }

  /** Returns an oracle that counts time as the store does. */
  final Oracle oracle(Policy policy) {
    long resolution = resolutionNanos();
    long mostFine = kind().mostFineNanos();
    return kind().exact()
        ? Oracle.exact(policy, resolution, mostFine)
        : Oracle.of(policy, resolution, mostFine);
  }

  /** Returns {@code count} steps in nanoseconds. */
  final long steps(long count) {
    return count * resolutionNanos();
  }

  /** Returns the last instant at or before {@code nanos} that the store can count. */
  final long grid(long nanos) {
    return nanos - Math.floorMod(nanos, resolutionNanos());
  }

  /**
   * Returns how often to repeat a step that is done {@code count} times with full effort and at
   * full length, at least once; an eighth of it in a sample.
   */
  final int times(int count) {
    int full = Math.max(1, (int) Math.round(count * kind().effort()));
    return Trials.runs(Math.max(1, full / 8), full);
  }

  final void assertKeys(Store store, long count) {
    if (kind().countsState()) {
      assertThat(store.keys()).as("keys").isEqualTo(count);
    }
  }

  final void assertBytes(Store store, long most) {
    if (kind().countsState()) {
      assertThat(store.bytes()).as("bytes").isBetween(0L, most);
    }
  }

  @AfterEach
  final void closeStores() {
    opened.forEach(kind().check());
    opened.forEach(Store::close);
  }

  static long key(String text) {
    return FINGERPRINT.of(text);
  }

  /** Decides, and waits for the answer. */
  static Charges decide(Store store, Charges charges, long nowNanos) {
    CompletableFuture<Charges> answer = new CompletableFuture<>();
    store.decide(
        charges,
        nowNanos,
        done -> {
          if (!answer.complete(done)) {
            throw new AssertionError("done was called twice");
          }
        });
    return await(answer);
  }

  /** Requests permits; if the store answers on the caller's thread, through {@link LocalStore}. */
  static Decision request(Store store, Binding binding, String key, long nowNanos, long permits) {
    Charges charges = new Charges().add(binding, key(key), permits);
    if (store instanceof LocalStore local) {
      local.decide(charges, nowNanos);
      return charges.decision(0);
    }
    return decide(store, charges, nowNanos).decision(0);
  }

  static Decision peek(Store store, Binding binding, String key, long nowNanos, long permits) {
    return decide(store, new Charges().add(binding, key(key), permits).peek(), nowNanos)
        .decision(0);
  }

  static long refund(
      Store store, Binding binding, String key, long permits, Decision charged, long nowNanos) {
    CompletableFuture<Long> answer = new CompletableFuture<>();
    store.refund(binding, key(key), permits, charged, nowNanos, answer::complete);
    return await(answer);
  }

  static <T> T await(CompletableFuture<T> answer) {
    try {
      return answer.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
    } catch (Exception e) {
      throw new AssertionError("the store did not answer", e);
    }
  }

  /**
   * Runs a task on several threads that begin at one moment, and returns when all have ended.
   *
   * @param threads how many, at least 1
   * @param task receives the thread's number, from 0
   * @throws Exception the first exception of a thread
   */
  public static void inParallel(int threads, IntConsumer task) throws Exception {
    CyclicBarrier start = new CyclicBarrier(threads);
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        int number = i;
        running.add(
            pool.submit(
                () -> {
                  start.await();
                  task.accept(number);
                  return null;
                }));
      }
      for (Future<?> each : running) {
        each.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
      }
    } finally {
      pool.shutdownNow();
    }
  }
}
