package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Batch;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.MemoryStore;
import dev.weir.PackedDecision;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Reason;
import dev.weir.Store;
import dev.weir.Ticker;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ClusterWarmUpTest {
  /** The time by which the clock advances at each reading. */
  private static final long STEP_NANOS = 1_000_000;

  private final AtomicLong now = new AtomicLong();
  private final Ticker ticker =
      new Ticker() {
        @Override
        public long nanos() {
          return now.addAndGet(STEP_NANOS);
        }

        @Override
        public void sleep(long nanos) {
          now.addAndGet(nanos);
        }
      };

  private static Binding rule(MemoryStore store) {
    return store.bind("rule", Policy.of(new Quota(1_000_000, Duration.ofHours(1).toNanos())), 0);
  }

  @Test
  void warmedUp_keysOfRulesAreAsBeforeAndItsOwnAreForgotten() throws Exception {
    try (MemoryStore store = new MemoryStore(10_000, 1 << 24)) {
      Binding rule = rule(store);

      assertThat(ClusterWarmUp.run(store, ticker)).startsWith("warmed up the cluster in 2.0 s");
      assertThat(store.keys()).isPositive();

      Charges charges = new Charges().add(rule, 0, 1);
      store.decide(charges, ticker.nanos());
      assertThat(charges.remaining(0)).isEqualTo(999_999);
      long later = now.addAndGet(Duration.ofMinutes(1).toNanos());
      for (int i = 0; i < 1_000; i++) {
        store.expire(later);
      }
      assertThat(store.keys()).isEqualTo(1);
    }
  }

  @Test
  void noRoomForNewKeys_warmsUpAllTheSame() throws Exception {
    try (MemoryStore store = new MemoryStore(1, 1 << 24)) {
      store.decide(new Charges().add(rule(store), 1, 1), ticker.nanos());

      assertThat(ClusterWarmUp.run(store, ticker)).startsWith("warmed up the cluster in 2.0 s");
    }
  }

  @Test
  void nobodyDecides_givesUpAndSaysSo() throws Exception {
    try (MemoryStore bindings = new MemoryStore(1, 1 << 24)) {
      Store undecided =
          (Store)
              Proxy.newProxyInstance(
                  Store.class.getClassLoader(),
                  new Class<?>[] {Store.class},
                  (proxy, method, arguments) ->
                      method.getName().equals("decide")
                          ? undecided(arguments)
                          : method.invoke(bindings, arguments));

      assertThat(ClusterWarmUp.run(undecided, ticker)).contains("does not decide");
      assertThat(now.get()).isLessThan(Duration.ofSeconds(1).toNanos());
    }
  }

  @SuppressWarnings("unchecked")
  private static @Nullable Object undecided(Object[] arguments) {
    if (arguments[0] instanceof Charges charges) {
      charges.result(0, Reason.UNCERTAIN, 0, 0, 0, 0);
    } else if (arguments[0] instanceof Batch batch) {
      batch.decision(0, PackedDecision.UNCERTAIN);
    }
    ((Consumer<Object>) arguments[2]).accept(arguments[0]);
    return null;
  }
}
