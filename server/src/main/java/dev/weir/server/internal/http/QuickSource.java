package dev.weir.server.internal.http;

import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** A factory of a {@link Quick} for each event loop. */
@FunctionalInterface
public interface QuickSource {
  /**
   * Returns a quick path, or null if there is none.
   *
   * @param off returns true while every request is for the codec
   */
  @Nullable Quick open(BooleanSupplier off);
}
