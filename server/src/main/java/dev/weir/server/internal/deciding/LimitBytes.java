package dev.weir.server.internal.deciding;

import dev.weir.engine.CurrentLimit;
import java.util.IdentityHashMap;
import java.util.function.Function;

/**
 * The part of answers that describes a limit, written once for each. Confined to one event loop.
 */
public final class LimitBytes {
  /** The most limits that are kept; beyond it all are written anew from time to time. */
  private static final int MAX_LIMITS = 1_024;

  private final Function<CurrentLimit, byte[]> write;
  private final IdentityHashMap<CurrentLimit, byte[]> written = new IdentityHashMap<>();

  /**
   * @param write returns the part of answers that describes a limit
   */
  public LimitBytes(Function<CurrentLimit, byte[]> write) {
    this.write = write;
  }

  /** Returns the part of answers that describes a limit; not to be changed. */
  public byte[] of(CurrentLimit limit) {
    byte[] known = written.get(limit);
    if (known != null) {
      return known;
    }
    if (written.size() == MAX_LIMITS) {
      written.clear(); // Most of them are of rules that are not in force any more.
    }
    byte[] bytes = write.apply(limit);
    written.put(limit, bytes);
    return bytes;
  }
}
