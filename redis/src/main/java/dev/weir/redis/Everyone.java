package dev.weir.redis;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Those who wait for the same answer. */
final class Everyone {
  private Everyone() {}

  /** Tells each of them, also after one who failed on it; what he threw is thrown at the end. */
  static <T> void tell(Iterable<T> everyone, Consumer<? super T> tell) {
    @Nullable RuntimeException failed = null;
    for (T each : everyone) {
      try {
        tell.accept(each);
      } catch (RuntimeException e) {
        if (failed == null) {
          failed = e;
        } else {
          failed.addSuppressed(e);
        }
      }
    }
    if (failed != null) {
      throw failed;
    }
  }
}
