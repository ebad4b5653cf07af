package dev.weir.servlet;

import dev.weir.engine.Ticket;
import dev.weir.http.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A request that waits for its turn, once for each filter that would have refused it. */
final class WaitingRequest {
  /*
   * How does a request wait? RateLimitFilter joins the queue (add) and calls the chain, so that the
   * time until authentication is over is not lost. WaitingFilter, the last in the chain, takes the
   * request and holds it. The request ends in one of two ways, once. It is released, because all of
   * its turns have come. Or it has ended, because one was refused, the client has gone, or the
   * chain did not reach WaitingFilter. A request that has ended leaves its queues, and the charge
   * of a turn that comes nevertheless is given back.
   *
   * Two threads must not use a response at once. So if a request is held without a thread, the
   * response is not used before the chain has returned to the first RateLimitFilter (unwound).
   */

  /** One filter's place in the queue. */
  record Turn(
      Verdict early, RefusalHandler refusals, CompletableFuture<Verdict> verdict, Ticket ticket) {

    static Turn join(Verdict refused, RefusalHandler refusals) {
      CompletableFuture<Verdict> verdict = new CompletableFuture<>();
      Ticket ticket = refused.enqueue(Long.MAX_VALUE, verdict::complete);
      return new Turn(refused, refusals, verdict, ticket);
    }

    /** Returns the verdict that counts, null if the request still waits for it. */
    @Nullable Verdict known() {
      return verdict.getNow(null);
    }

    /** Returns the refusal to answer with. */
    Verdict refusal() {
      Verdict known = known();
      return known == null || known.passes() ? early : known;
    }

    private void leave() {
      ticket.leave();
      CompletableFuture<Void> unused = verdict.thenAccept(Verdict::abandoned);
    }
  }

  private enum Stage {
    WAITING,
    RELEASED,
    ENDED
  }

  private final List<Turn> turns = new ArrayList<>(1);
  private final List<Verdict> charged = new ArrayList<>(1);
  private final AtomicReference<Stage> stage = new AtomicReference<>(Stage.WAITING);
  private final CompletableFuture<Optional<Turn>> outcome = new CompletableFuture<>();
  private final CompletableFuture<Boolean> unwound = new CompletableFuture<>();
  private volatile @Nullable Thread unwinding;
  private boolean taken;

  void add(Turn turn) {
    turns.add(turn);
  }

  /** Adds the charge of another filter, which is given back if the request is refused late. */
  void addCharged(Verdict verdict) {
    charged.add(verdict);
  }

  /**
   * Takes the request, which WaitingFilter holds from now on.
   *
   * @return completed with the refused turn, or with none if all have come; null if another filter
   *     has taken the request
   */
  @Nullable CompletableFuture<Optional<Turn>> take() {
    if (taken) {
      return null;
    }
    taken = true;
    AtomicInteger missing = new AtomicInteger(turns.size());
    for (Turn turn : turns) {
      CompletableFuture<Void> unused =
          turn.verdict.thenAccept(
              verdict -> {
                if (!verdict.passes()) {
                  outcome.complete(Optional.of(turn));
                } else if (missing.decrementAndGet() == 0) {
                  outcome.complete(Optional.empty());
                }
              });
    }
    return outcome;
  }

  /** Runs an action when the outcome is known and the chain has returned. */
  void whenUnwound(Consumer<? super Optional<Turn>> action) {
    CompletableFuture<Void> unused =
        outcome.thenAcceptBoth(unwound, (known, yes) -> action.accept(known));
  }

  /** Records that the chain has returned to the filter that first queued the request. */
  void unwound() {
    if (!taken) {
      end();
    }
    unwinding = Thread.currentThread();
    unwound.complete(true);
    unwinding = null;
  }

  /** Returns whether the caller is the container's thread, in {@link #unwound}. */
  boolean isUnwinding() {
    return Thread.currentThread() == unwinding;
  }

  /** Returns whether the request may go on: it has not ended. */
  boolean release() {
    return stage.compareAndSet(Stage.WAITING, Stage.RELEASED);
  }

  /** Leaves all queues. Returns false if the request was released or had ended. */
  boolean end() {
    if (!stage.compareAndSet(Stage.WAITING, Stage.ENDED)) {
      return false;
    }
    turns.forEach(Turn::leave);
    return true;
  }

  /** Ends a request that is refused now. See {@link #end}. */
  boolean refuse() {
    if (!end()) {
      return false;
    }
    charged.forEach(Verdict::abandoned);
    return true;
  }

  /** Gives back the charges of a released request that cannot be served. */
  void abandon() {
    turns.forEach(Turn::leave);
    charged.forEach(Verdict::abandoned);
  }

  /** Returns whether the turns of a released request hold seats. */
  boolean holdsSeats() {
    for (Turn turn : turns) {
      Verdict verdict = turn.known();
      if (verdict != null && verdict.holdsSeat()) {
        return true;
      }
    }
    return false;
  }

  /** Gives back the seats of a released request, which has ended. */
  void ended() {
    for (Turn turn : turns) {
      Verdict verdict = turn.known();
      if (verdict != null) {
        verdict.ended();
      }
    }
  }

  /** Returns the turn that the request still waits for, or the first. */
  Turn pending() {
    for (Turn turn : turns) {
      if (turn.known() == null) {
        return turn;
      }
    }
    return turns.get(0);
  }

  /** Adds the fields of the verdicts that released the request. */
  void fields(BiConsumer<String, String> add) {
    for (Turn turn : turns) {
      Verdict verdict = turn.known();
      if (verdict != null) {
        verdict.fields(add);
      }
    }
  }
}
