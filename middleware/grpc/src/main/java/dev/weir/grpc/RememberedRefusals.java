package dev.weir.grpc;

import dev.weir.rules.Descriptor;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Until when servers have refused calls. Keeps a bounded number of them; one that is forgotten
 * costs a call to the server. Safe for use by many threads.
 */
final class RememberedRefusals {
  /** Calls that a server counts together, as far as the client can tell. */
  record Key(@Nullable String authority, String method, List<Descriptor> descriptors) {}

  /** About 2 MB of them. */
  static final int MAX = 10_000;

  /** In the order in which they were refused. */
  private final Map<Key, Long> untilNanos = new LinkedHashMap<>();

  private volatile boolean empty = true;

  /** Returns whether there is none: the usual case. */
  boolean isEmpty() {
    return empty;
  }

  /** Returns for how long such a call would be refused, 0 if it may be sent. */
  synchronized long remainingNanos(Key key, long nowNanos) {
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

  synchronized void remember(Key key, long newUntilNanos) {
    untilNanos.remove(key);
    untilNanos.put(key, newUntilNanos);
    if (untilNanos.size() > MAX) {
      Iterator<Key> oldest = untilNanos.keySet().iterator();
      oldest.next();
      oldest.remove();
    }
    empty = false;
  }
}
