package dev.weir.server.internal.deciding;

import dev.weir.engine.CurrentLimit;
import java.util.IdentityHashMap;
import java.util.function.Function;

/** What answers say of limits, written once for each. Confined to one event loop. */
public final class LimitBytes {
  /** More than that are written anew from time to time. */
  private static final int MAX_LIMITS = 1_024;

  private final Function<CurrentLimit, byte[]> write;
  private final IdentityHashMap<CurrentLimit, byte[]> written = new IdentityHashMap<>();

  /**
   * @param write returns what answers say of a limit
   */
  public LimitBytes(Function<CurrentLimit, byte[]> write) {
    this.write = write;
  }

  /** Returns what answers say of a limit; not to be changed. */
  public byte[] of(CurrentLimit limit) {
    byte[] known = written.get(limit);
    if (known != null) {
      return known;
    }
    if (written.size() == MAX_LIMITS) {
      written.clear(); // Of rules that are not in force any more, mostly.
    }
    byte[] bytes = write.apply(limit);
    written.put(limit, bytes);
    return bytes;
  }
}
