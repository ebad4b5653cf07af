package dev.weir.engine;

import java.util.Collections;
import java.util.List;

/**
 * The answer to a {@link LoanRequest}.
 *
 * @param answer the answer to the request
 * @param loans one for each descriptor, in order; none if the request could not be decided
 * @param charge the number by which the request's charges can be given back; 0 if that is not
 *     possible
 */
public record Grant(Answer answer, List<Loan> loans, long charge) {
  public Grant {
    loans = List.copyOf(loans);
  }

  /** Returns an answer without any loan. */
  public static Grant nothing(Answer answer) {
    return new Grant(answer, Collections.nCopies(answer.statuses().size(), Loan.NONE), 0);
  }
}
