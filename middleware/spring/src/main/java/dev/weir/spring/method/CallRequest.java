package dev.weir.spring.method;

import dev.weir.engine.Answer;
import dev.weir.engine.Status;
import dev.weir.rules.Request;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The request of one call.
 *
 * @param limits the limits of this call, in the order of the request's descriptors
 */
record CallRequest(Request request, List<MethodLimit> limits) {
  /** Returns the longest wait that every refusing limit allows the call, in nanoseconds, or 0. */
  long maxWaitNanos(Answer refused) {
    long least = refused.maxWaitNanos();
    List<Status> refusing = refused.refusing();
    for (int i = 0; i < limits.size(); i++) {
      if (refusing.contains(refused.statuses().get(i))) {
        least = Math.min(least, limits.get(i).maxWaitNanos());
      }
    }
    return least;
  }

  /** Returns the fallback method of the first limit that refuses and has one, or null. */
  @Nullable Fallback fallback(Answer refused) {
    List<Status> refusing = refused.refusing();
    for (int i = 0; i < limits.size(); i++) {
      Fallback fallback = limits.get(i).fallback();
      if (fallback != null && refusing.contains(refused.statuses().get(i))) {
        return fallback;
      }
    }
    return null;
  }
}
