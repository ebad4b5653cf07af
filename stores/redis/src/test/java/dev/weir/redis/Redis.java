package dev.weir.redis;

import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.ForwardingStore;
import dev.weir.Policy;
import dev.weir.Store;
import dev.weir.testkit.StoreKind;
import dev.weir.wire.testkit.RedisServer;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** One Redis for tests, with any number of empty stores in it. */
final class Redis {
  /**
   * The kind of store, decided by the caller's time: its instants are whole microseconds, and the
   * script's numbers hold 52 days in nanoseconds.
   */
  static final StoreKind KIND =
      StoreKind.of(Redis::emptyStore)
          .withTime(1_000, 1L << 52)
          .exactly()
          .withEffort(0.05)
          .withoutCounts();

  private static final long DEADLINE_NANOS = 60_000_000_000L;
  private static final AtomicLong SCOPES = new AtomicLong();

  private static final class Started {
    static final RedisServer SERVER = RedisServer.start();
    static final RedisStore STORE =
        RedisStore.builder("redis://127.0.0.1:" + SERVER.port())
            .timeout(java.time.Duration.ofSeconds(20))
            .log(System.err::println)
            .callersClock()
            .build();

    static {
      await(STORE::available);
    }
  }

  private Redis() {}

  /** Returns an empty store that decides by the caller's time. */
  static Store emptyStore() {
    return new Scoped(Started.STORE, "scope " + SCOPES.incrementAndGet() + " ");
  }

  /** Waits until a condition holds. */
  static void await(BooleanSupplier condition) {
    long deadline = System.nanoTime() + DEADLINE_NANOS;
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - deadline > 0) {
        throw new AssertionError("waited for too long");
      }
      LockSupport.parkNanos(1_000_000);
    }
  }

  /** A part of a store, by the names of its limits. */
  private static final class Scoped extends ForwardingStore<Store> {
    private final String scope;

    Scoped(Store store, String scope) {
      super(store);
      this.scope = scope;
    }

    @Override
    public Binding bind(String name, Policy policy, long nowNanos) {
      return super.bind(scope + name, policy, nowNanos);
    }

    @Override
    public void retire(String name, long nowNanos) {
      super.retire(scope + name, nowNanos);
    }

    @Override
    public void decide(Charges charges, long nowNanos, Consumer<? super Charges> done) {
      for (int i = 0; i < charges.size(); i++) {
        if (!charges.binding(i).name().startsWith(scope)) {
          throw new IllegalArgumentException(
              "limit: " + charges.binding(i) + " (expected: one of this store)");
        }
      }
      super.decide(charges, nowNanos, done);
    }

    @Override
    public void close() {}
  }
}
