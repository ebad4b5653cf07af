package dev.weir.testkit;

import dev.weir.Charges;
import dev.weir.Decision;
import dev.weir.Fingerprint;
import dev.weir.Limit;
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

/** What the contract suites need of a store, whether it answers at once or by callback. */
public abstract class StoreFixture {
  /** How long a store may take to answer before a suite calls it silent. */
  private static final long DEADLINE_SECONDS = 30;

  private static final Fingerprint FINGERPRINT = Fingerprint.seeded(1, 2);

  private final List<Store> opened = new ArrayList<>();

  /** Creates an empty store with room for so many keys. */
  protected abstract Store createStore(long maxKeys);

  final Store store() {
    return store(1 << 20);
  }

  final Store store(long maxKeys) {
    Store store = createStore(maxKeys);
    opened.add(store);
    return store;
  }

  /**
   * Checks what a store must keep true within itself; called after each test, when all is quiet.
   */
  protected void verify(Store store) {}

  @AfterEach
  final void closeStores() {
    opened.forEach(this::verify);
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

  static Decision ask(Store store, Limit limit, String key, long nowNanos, long permits) {
    return decide(store, new Charges().add(limit, key(key), permits), nowNanos).decision(0);
  }

  static Decision peek(Store store, Limit limit, String key, long nowNanos, long permits) {
    return decide(store, new Charges().add(limit, key(key), permits).peek(), nowNanos).decision(0);
  }

  static long refund(
      Store store, Limit limit, String key, long permits, Decision charged, long nowNanos) {
    CompletableFuture<Long> answer = new CompletableFuture<>();
    store.refund(limit, key(key), permits, charged, nowNanos, answer::complete);
    return await(answer);
  }

  private static <T> T await(CompletableFuture<T> answer) {
    try {
      return answer.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
    } catch (Exception e) {
      throw new AssertionError("the store did not answer", e);
    }
  }

  /** Runs the task on so many threads, all from one moment on, and returns when all are done. */
  static void inParallel(int threads, IntConsumer task) throws Exception {
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
