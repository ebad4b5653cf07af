package dev.weir.protocol.http;

import dev.weir.engine.Grant;
import dev.weir.engine.LoanRequest;
import dev.weir.rules.Request;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The contents of one call for leases, in any protocol: the permits that a client gives back, and
 * its requests with the permits it wants in advance. A malformed request is answered with an error
 * and does not affect the others. Not safe for use by several threads.
 */
public final class LeaseCall {
  /** The most returns, and the most refunds, in one call: each needs a look-up. */
  public static final int MAX_RETURNS = 10_000;

  /** The unspent rest of a lease. */
  public record Return(long lease, long permits) {}

  /**
   * The result of one lease request: either the request and its grant, or the error for which it
   * was not decided.
   *
   * @param id the client's own number
   */
  public record Result(
      long id, @Nullable LoanRequest ask, @Nullable Grant grant, @Nullable String error) {}

  /**
   * The results of all lease requests.
   *
   * @param takenBack permits that returns and refunds have made free again
   */
  public record Results(long revision, List<Result> results, long takenBack) {}

  private final CheckBatch checks = new CheckBatch();
  private final List<LoanRequest> asks = new ArrayList<>();

  /** The error of each lease request, or null if the next of the asks belongs to it. */
  private final List<@Nullable String> errors = new ArrayList<>();

  private final List<Long> ids = new ArrayList<>();
  private final List<Return> returns = new ArrayList<>();
  private final List<Long> refunds = new ArrayList<>();

  /**
   * Adds a lease request.
   *
   * @param ahead see {@link LoanRequest#ahead}
   * @throws BadRequest if there are too many for one call
   */
  public void add(long id, Request request, List<Long> ahead, boolean refundable)
      throws BadRequest {
    if (ahead.size() > request.descriptors().size()) {
      addInvalid(
          id,
          "asks["
              + errors.size()
              + "].ahead: "
              + ahead.size()
              + " numbers (expected: at most one for each descriptor, "
              + request.descriptors().size()
              + ")");
      return;
    }
    room();
    checks.add(request);
    ids.add(id);
    errors.add(null);
    asks.add(new LoanRequest(request, ahead, refundable));
  }

  /**
   * Adds a malformed lease request.
   *
   * @throws BadRequest if there are too many for one call
   */
  public void addInvalid(long id, String error) throws BadRequest {
    room();
    ids.add(id);
    errors.add(error);
  }

  private void room() throws BadRequest {
    if (errors.size() == CheckBatch.MAX_CHECKS) {
      throw new BadRequest(
          "asks: more than "
              + CheckBatch.MAX_CHECKS
              + " (expected: at most "
              + CheckBatch.MAX_CHECKS
              + ")");
    }
  }

  /**
   * Adds a return: the unspent rest of a lease.
   *
   * @throws BadRequest if there are too many for one call
   */
  public void addReturn(long lease, long permits) throws BadRequest {
    few("returns", returns.size());
    returns.add(new Return(lease, permits));
  }

  /**
   * Adds a charge to be refunded.
   *
   * @throws BadRequest if there are too many for one call
   */
  public void addRefund(long charge) throws BadRequest {
    few("refunds", refunds.size());
    refunds.add(charge);
  }

  private static void few(String what, int size) throws BadRequest {
    if (size == MAX_RETURNS) {
      throw new BadRequest(
          what + ": more than " + MAX_RETURNS + " (expected: at most " + MAX_RETURNS + ")");
    }
  }

  /** Returns the lease requests to decide, in the order in which they were added. */
  public List<LoanRequest> requests() {
    return Collections.unmodifiableList(asks);
  }

  public List<Return> returns() {
    return Collections.unmodifiableList(returns);
  }

  public List<Long> refunds() {
    return Collections.unmodifiableList(refunds);
  }

  /**
   * Returns the results in the order in which the lease requests were added.
   *
   * @param grants one for each of {@link #requests()}
   * @param current the revision of the rules in force, for a call without a lease request
   */
  public Results results(List<Grant> grants, long current, long takenBack) {
    long revision = grants.isEmpty() ? current : grants.get(0).answer().revision();
    List<Result> results = new ArrayList<>(errors.size());
    int next = 0;
    for (int i = 0; i < errors.size(); i++) {
      String error = errors.get(i);
      if (error != null) {
        results.add(new Result(ids.get(i), null, null, error));
        continue;
      }
      Grant grant = grants.get(next);
      LoanRequest ask = asks.get(next++);
      error = grant.answer().error();
      results.add(
          error == null
              ? new Result(ids.get(i), ask, grant, null)
              : new Result(ids.get(i), null, null, error));
    }
    return new Results(revision, results, takenBack);
  }
}
