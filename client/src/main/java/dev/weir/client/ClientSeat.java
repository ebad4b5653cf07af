package dev.weir.client;

import dev.weir.client.internal.seat.KeptSeat;
import dev.weir.engine.Answer;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A seat of a limit at the same time, taken at a service; or the refusal to give it out. The client
 * renews it in the background until it is given back. Safe for use by many threads.
 *
 * <pre>{@code
 * try (ClientSeat seat = client.acquire(Request.of("shop", "export_user", user)).join()) {
 *   if (seat.granted()) {
 *     export();
 *   }
 * }
 * }</pre>
 */
public final class ClientSeat implements AutoCloseable {
  private final Answer answer;
  private final @Nullable KeptSeat seat;

  ClientSeat(Answer answer, @Nullable KeptSeat seat) {
    this.answer = answer;
    this.seat = seat;
  }

  /** Returns whether the request was admitted, so that the work may begin. */
  public boolean granted() {
    return answer.allowed();
  }

  /** Returns the decision on the request. */
  public Answer answer() {
    return answer;
  }

  /**
   * Returns whether the seat is still held: granted, not given back and not lost. Work whose seat
   * is lost should end. Of a request that passed although no service answered, always false.
   */
  public boolean isHeld() {
    return seat != null && seat.isHeld();
  }

  /**
   * Returns a future that completes when the seat is lost: the services could not be reached for
   * the hold, or no longer have it. On a thread of a connection, which must not be blocked.
   */
  public CompletableFuture<Void> lost() {
    return seat == null ? new CompletableFuture<>() : seat.lost();
  }

  /**
   * Gives the seat back, once.
   *
   * @return completes with whether this call gave it back; never fails
   */
  public CompletableFuture<Boolean> release() {
    return seat == null ? CompletableFuture.completedFuture(false) : seat.release();
  }

  /** Gives the seat back, without waiting for the service. */
  @Override
  public void close() {
    CompletableFuture<Boolean> unused = release();
  }
}
