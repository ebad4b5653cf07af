package dev.weir.admin.internal.access;

import dev.weir.Ticker;
import dev.weir.internal.Sha256;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Values for one use within a short time, each under a secret of which only the hash is kept. If
 * there are too many, the oldest is removed. Safe for use by many threads.
 */
public final class OneTimeCodes<T> {
  private record HeldValue<T>(T value, long untilNanos) {}

  private final Ticker ticker;
  private final long lifeNanos;
  private final int most;
  private final Map<String, HeldValue<T>> values = new LinkedHashMap<>();

  public OneTimeCodes(Ticker ticker, long lifeNanos, int most) {
    this.ticker = ticker;
    this.lifeNanos = lifeNanos;
    this.most = most;
  }

  /** Keeps a value, and returns the secret under which it can be taken once. */
  public synchronized String put(T value) {
    drop();
    String secret = Secrets.secret();
    values.put(Sha256.hex(secret), new HeldValue<>(value, ticker.nanos() + lifeNanos));
    return secret;
  }

  /** Returns and removes the value, or returns null if there is none any more. */
  public synchronized @Nullable T take(String secret) {
    HeldValue<T> held = values.remove(Sha256.hex(secret));
    return held == null || held.untilNanos() - ticker.nanos() <= 0 ? null : held.value();
  }

  private void drop() {
    Iterator<HeldValue<T>> oldest = values.values().iterator();
    while (oldest.hasNext()) {
      HeldValue<T> held = oldest.next();
      if (held.untilNanos() - ticker.nanos() > 0 && values.size() < most) {
        return;
      }
      oldest.remove();
    }
  }
}
