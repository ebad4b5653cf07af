package dev.weir.server.internal.deciding;

import dev.weir.rules.MatchBudget;
import java.util.function.Consumer;

/**
 * A receiver of the answers to a call whose requests share one {@link MatchBudget}. The call ends
 * when it is answered or when the caller ends it, whichever is first.
 */
final class BudgetedCall<T> implements Consumer<T> {
  private final Consumer<? super T> done;
  private final MatchBudget budget = MatchBudget.ofThread();

  /** True until the end of the call; used by the thread of the budget alone. */
  private boolean open = true;

  /** Begins a call on this thread. */
  BudgetedCall(Consumer<? super T> done) {
    this.done = done;
    budget.begin();
  }

  @Override
  public void accept(T answers) {
    if (budget == MatchBudget.ofThread()) {
      end();
    }
    done.accept(answers);
  }

  /** Ends the call, on the thread that has begun it. */
  void end() {
    if (open) {
      open = false;
      budget.end();
    }
  }
}
