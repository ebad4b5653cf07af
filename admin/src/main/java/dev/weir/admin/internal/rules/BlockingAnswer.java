package dev.weir.admin.internal.rules;

import dev.weir.admin.internal.http.RequestException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/** The wait on the caller's thread for an answer that comes by callback. */
public final class BlockingAnswer {
  private static final long SECONDS = 5;

  private BlockingAnswer() {}

  /**
   * Returns the answer that a callback brings.
   *
   * @param asking is given the callback
   * @throws RequestException with 504 if there is no answer within 5 s
   */
  public static <T> T answer(Consumer<Consumer<T>> asking) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    asking.accept(answer::complete);
    try {
      return answer.get(SECONDS, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      throw new RequestException(504, "store of the limit: no answer (expected: within 5 s)");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new RequestException(503, "the server is ending (expected: that it runs)");
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }
}
