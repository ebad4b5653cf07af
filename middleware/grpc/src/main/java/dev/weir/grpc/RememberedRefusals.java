package dev.weir.grpc;

import dev.weir.Fingerprint;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The times until which servers refuse calls. It keeps a bounded number of them, by the
 * fingerprints of the calls, because a call's values may come from a client of the application. If
 * one is removed early, a call to the server is wasted; two calls with one fingerprint by chance
 * share a refusal. Safe for use by many threads.
 */
final class RememberedRefusals {
  /** The most refusals, about 2 MB. */
  static final int MAX = 10_000;

  private final Fingerprint fingerprint = Fingerprint.random();

  /** The times by the fingerprints of calls, in the order of the refusals. */
  private final Map<Long, Long> untilNanos = new LinkedHashMap<>();

  private volatile boolean empty = true;

  /** Returns the fingerprint of calls that a server counts together, from the view of a client. */
  long key(@Nullable String authority, String method, List<Descriptor> descriptors) {
    long key = fingerprint.add(authority == null ? 0 : fingerprint.of(authority), method);
    for (Descriptor descriptor : descriptors) {
      key = fingerprint.add(key, String.valueOf(descriptor.permits()));
      key = fingerprint.add(key, String.valueOf(descriptor.limitOverride()));
      for (Entry entry : descriptor.entries()) {
        key = fingerprint.add(fingerprint.add(key, entry.key()), entry.value());
      }
    }
    return key;
  }

  /** Returns whether there is no refusal, which is the usual case. */
  boolean isEmpty() {
    return empty;
  }

  /** Returns the nanoseconds for which such a call would be refused, 0 if it may be sent. */
  synchronized long remainingNanos(long key, long nowNanos) {
    Long until = untilNanos.get(key);
    if (until == null) {
      return 0;
    }
    long remaining = until - nowNanos;
    if (remaining <= 0) {
      untilNanos.remove(key);
      empty = untilNanos.isEmpty();
    }
    return Math.max(0, remaining);
  }

  synchronized void remember(long key, long newUntilNanos) {
    untilNanos.remove(key);
    untilNanos.put(key, newUntilNanos);
    if (untilNanos.size() > MAX) {
      Iterator<Long> oldest = untilNanos.keySet().iterator();
      oldest.next();
      oldest.remove();
    }
    empty = false;
  }
}
