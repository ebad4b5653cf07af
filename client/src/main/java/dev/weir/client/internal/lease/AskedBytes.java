package dev.weir.client.internal.lease;

import dev.weir.engine.Answer;
import dev.weir.rules.Request;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The memory of requests that the service has not answered yet. Safe for use by many threads. */
public final class AskedBytes {
  /** The part of the heap (an eighth) that these requests may take. */
  private static final int HEAP_PART = 8;

  private final long most;
  private final AtomicLong bytes = new AtomicLong();

  AskedBytes(long most) {
    this.most = most;
  }

  /** Returns the most bytes that these requests may take in this process. */
  public static long most() {
    return Runtime.getRuntime().maxMemory() / HEAP_PART;
  }

  /** Returns the bytes that are counted now. */
  long bytes() {
    return bytes.get();
  }

  /**
   * Counts a request until it is answered.
   *
   * @return the receiver of its answer, which passes it on; null if there is no room for the
   *     request
   */
  @Nullable Consumer<Answer> until(Request request, Consumer<? super Answer> done) {
    long own = request.memoryBytes();
    if (bytes.addAndGet(own) > most) {
      bytes.addAndGet(-own);
      return null;
    }
    return answer -> {
      bytes.addAndGet(-own);
      done.accept(answer);
    };
  }
}
