package dev.weir.config.etcd;

import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The etcd of the contract tests: one in this process, or the real one that {@code
 * -Dweir.etcd=HOST} names. Each store has a prefix of its own.
 */
final class Etcd {
  private static final AtomicInteger STORES = new AtomicInteger();
  private static @Nullable FakeEtcd started;

  private Etcd() {}

  private static synchronized String host() {
    String real = System.getProperty("weir.etcd", "");
    if (!real.isEmpty()) {
      return real;
    }
    FakeEtcd running = started;
    if (running == null) {
      running = FakeEtcd.start();
      started = running;
    }
    return running.host();
  }

  /** Returns the address of a new store, with a timeout that is long enough for a busy machine. */
  static String newAddress() {
    return "etcd://"
        + host()
        + "?timeout=60s&prefix=/weir-"
        + ProcessHandle.current().pid()
        + "/"
        + STORES.incrementAndGet()
        + "/";
  }
}
