package dev.weir.client.internal.wire;

import java.util.List;

/** The execution of callbacks that other code has passed in. */
public final class Callbacks {
  private static final System.Logger LOG = System.getLogger("dev.weir.client");

  private Callbacks() {}

  /** Runs all callbacks, even if one throws: they are independent of each other. */
  public static void run(List<Runnable> callbacks) {
    for (Runnable each : callbacks) {
      try {
        each.run();
      } catch (RuntimeException e) {
        LOG.log(System.Logger.Level.WARNING, "a callback failed", e);
      }
    }
  }
}
