package dev.weir.client.internal.lease;

import dev.weir.engine.Answer;
import dev.weir.rules.Request;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The memory of requests that a client has asked for and that are not answered yet. Safe for use by
 * many threads.
 */
public final class AskedBytes {
  /** They take at most this part (an eighth) of the heap. */
  private static final int HEAP_PART = 8;

  private final long most;
  private final AtomicLong bytes = new AtomicLong();

  AskedBytes(long most) {
    this.most = most;
  }

  /** Returns how many bytes they may take in this process. */
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
   * @return what takes its answer, and hands it on; null if there is no room for the request
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
