package dev.weir.engine;

import dev.weir.Decision;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The verdict on one request: the overall code and one status for each descriptor, in order.
 *
 * @param error why the request could not be judged, or null; there are no statuses then
 * @param revision of the rules that judged it
 */
public record Answer(Code code, List<Status> statuses, @Nullable String error, long revision) {

  static Answer error(String message, long revision) {
    return new Answer(Code.OVER_LIMIT, List.of(), message, revision);
  }

  public boolean allowed() {
    return code == Code.OK;
  }

  /**
   * Returns the status that decided: of those that refuse, the one with the longest retry-after; if
   * the request may pass, the limited one with the least remaining. The first on ties; null if no
   * limit matched.
   */
  public @Nullable Status deciding() {
    Status best = null;
    for (Status status : statuses) {
      if (status.decision() != null && (best == null || before(status, best))) {
        best = status;
      }
    }
    return best;
  }

  private static boolean before(Status a, Status b) {
    if (a.code() != b.code()) {
      return a.code() == Code.OVER_LIMIT;
    }
    return a.code() == Code.OVER_LIMIT
        ? retryAfterNanos(a) > retryAfterNanos(b)
        : a.limitRemaining() < b.limitRemaining();
  }

  private static long retryAfterNanos(Status status) {
    Decision decision = status.decision();
    return decision == null ? 0 : decision.retryAfterNanos();
  }
}
