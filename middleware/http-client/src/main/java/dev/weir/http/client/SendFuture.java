package dev.weir.http.client;

import java.util.concurrent.CompletableFuture;

/**
 * The future of a request, and of all futures derived from it. As with the JDK's own client, {@code
 * cancel(true)} on any of them cancels the request.
 */
final class SendFuture<T> extends CompletableFuture<T> {
  private final Runnable canceller;

  /**
   * Makes a future.
   *
   * @param canceller cancels the request unless it is over
   */
  SendFuture(Runnable canceller) {
    this.canceller = canceller;
  }

  @Override
  public <U> CompletableFuture<U> newIncompleteFuture() {
    return new SendFuture<>(canceller);
  }

  @Override
  public boolean cancel(boolean mayInterruptIfRunning) {
    boolean pending = !isDone();
    boolean cancelled = super.cancel(mayInterruptIfRunning);
    if (pending && mayInterruptIfRunning) {
      canceller.run();
    }
    return cancelled;
  }
}
