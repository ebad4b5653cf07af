package dev.weir.server.internal.http;

import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Makes a {@link Quick} for each event loop. */
@FunctionalInterface
public interface QuickSource {
  /**
   * Returns null if nothing is answered so.
   *
   * @param off whether everything is for the codec for now
   */
  @Nullable Quick open(BooleanSupplier off);
}
