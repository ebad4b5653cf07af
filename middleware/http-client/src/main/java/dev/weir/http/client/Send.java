package dev.weir.http.client;

import dev.weir.engine.Ticket;
import dev.weir.http.outgoing.Admission;
import dev.weir.http.outgoing.LocalRefusal;
import java.net.http.HttpResponse;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One request that is sent without a thread that waits for it: it waits first for its admission,
 * then for its response. It can be cancelled at any time. Safe for use by many threads.
 */
final class Send<T> {
  private final Function<Admission, CompletableFuture<HttpResponse<T>>> exchanger;
  private final Function<LocalRefusal, CompletionStage<HttpResponse<T>>> refuser;
  private final SendFuture<HttpResponse<T>> result = new SendFuture<>(this::cancel);
  private final ReentrantLock lock = new ReentrantLock();

  // The ticket and the exchange to be cancelled, and the state. Guarded by the lock.
  private Ticket ticket = Ticket.USED;
  private @Nullable CompletableFuture<?> exchange;
  private boolean cancelled;

  /**
   * Makes a request that is not yet admitted.
   *
   * @param exchanger sends it
   * @param refuser answers it in place of the service
   */
  @SuppressWarnings("FutureReturnValueIgnored") // The action of leave() completes nothing.
  Send(
      Function<Admission, CompletableFuture<HttpResponse<T>>> exchanger,
      Function<LocalRefusal, CompletionStage<HttpResponse<T>>> refuser) {
    this.exchanger = exchanger;
    this.refuser = refuser;
    // However the future is completed, for example by orTimeout: a request that still waits is not
    // sent.
    result.whenComplete((response, failure) -> leave());
  }

  CompletableFuture<HttpResponse<T>> result() {
    return result;
  }

  /** Sets the place in a queue, which is known only after the request may have left it. */
  void waitsWith(Ticket ticket) {
    lock.lock();
    try {
      this.ticket = ticket;
    } finally {
      lock.unlock();
    }
    if (result.isDone()) {
      ticket.leave();
    }
  }

  /** Sends the request, or answers it. */
  void admitted(Admission admission) {
    if (result.isDone()) {
      admission.notSent();
      return;
    }
    LocalRefusal refusal = admission.refusal();
    CompletionStage<HttpResponse<T>> answer;
    try {
      answer = refusal == null ? exchange(admission) : refuser.apply(refusal);
    } catch (RuntimeException e) {
      admission.notSent(); // The request cannot be sent.
      result.completeExceptionally(e);
      return;
    }
    answer.whenComplete(
        (response, failure) -> {
          if (failure == null) {
            result.complete(response);
          } else {
            result.completeExceptionally(cause(failure));
          }
        });
  }

  private CompletionStage<HttpResponse<T>> exchange(Admission admission) {
    CompletableFuture<HttpResponse<T>> begun = exchanger.apply(admission);
    boolean late;
    lock.lock();
    try {
      exchange = begun;
      late = cancelled;
    } finally {
      lock.unlock();
    }
    if (late) {
      begun.cancel(true); // It was cancelled before there was an exchange to cancel.
    }
    return begun
        .whenComplete(
            (response, failure) -> {
              if (failure != null) { // Otherwise the body's end is the end.
                RateLimitedHttpClient.failed(admission, cause(failure));
              }
            })
        .thenApply(
            response -> {
              RateLimitedHttpClient.received(admission, response);
              return response;
            });
  }

  private void leave() {
    Ticket left;
    lock.lock();
    try {
      left = ticket;
    } finally {
      lock.unlock();
    }
    left.leave();
  }

  private void cancel() {
    CompletableFuture<?> running;
    lock.lock();
    try {
      cancelled = true;
      running = exchange;
    } finally {
      lock.unlock();
    }
    leave();
    if (running != null) {
      running.cancel(true);
    }
    result.cancel(false); // If a derived future was cancelled.
  }

  private static Throwable cause(Throwable failure) {
    Throwable cause = failure instanceof CompletionException ? failure.getCause() : null;
    return cause == null ? failure : cause;
  }
}
