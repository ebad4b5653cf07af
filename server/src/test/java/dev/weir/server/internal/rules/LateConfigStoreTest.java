package dev.weir.server.internal.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import dev.weir.config.ConfigStores;
import dev.weir.testkit.FakeTicker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class LateConfigStoreTest {
  private final FakeTicker ticker = new FakeTicker();
  private final AtomicInteger tried = new AtomicInteger();
  private boolean away = true;
  private final LateConfigStore store =
      new LateConfigStore(
          () -> {
            tried.incrementAndGet();
            if (away) {
              throw new ConfigException(Kind.UNAVAILABLE, "away");
            }
            return ConfigStores.inMemory(ticker);
          },
          ticker);

  @Test
  void storeThatIsAskedAllTheTime_isTriedAgainAfterThePause() {
    for (int i = 0; i < 20; i++) {
      assertThatThrownBy(store::head).isInstanceOf(ConfigException.class);
      ticker.advance(Duration.ofMillis(100));
    }
    assertThat(tried.get()).isBetween(3, 5);
    away = false;
    ticker.advance(Duration.ofMillis(500));
    assertThat(store.head().position()).isZero();
  }

  /** A pool's threads, for example, have the system's class loader, which may find no adapter. */
  @Test
  void threadThatNeedsTheStore_opensItByTheLoaderOfTheThreadThatMadeIt() throws Exception {
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    List<ClassLoader> opened = new ArrayList<>();
    ClassLoader own = new ClassLoader(before) {};
    LateConfigStore made;
    thread.setContextClassLoader(own);
    try {
      made =
          new LateConfigStore(
              () -> {
                opened.add(Thread.currentThread().getContextClassLoader());
                return ConfigStores.inMemory(ticker);
              },
              ticker);
    } finally {
      thread.setContextClassLoader(before);
    }
    made.open();
    assertThat(opened).containsExactly(own);
    assertThat(thread.getContextClassLoader()).isSameAs(before);
  }
}
