package dev.weir.engine;

import dev.weir.rules.Request;
import java.util.List;

/**
 * A request to be decided now, together with further permits that its client would spend on its own
 * later.
 *
 * @param request decided as by {@link Engine#decide}
 * @param ahead for each descriptor, in order, how many more permits are wanted; may be shorter than
 *     the descriptors, and none are wanted for the rest. Negative ones count as 0
 * @param refundable true if the client may want to give the request's charges back
 */
public record LoanRequest(Request request, List<Long> ahead, boolean refundable) {
  public LoanRequest {
    ahead = List.copyOf(ahead);
  }

  long ahead(int descriptor) {
    return descriptor < ahead.size() ? Math.max(0, ahead.get(descriptor)) : 0;
  }
}
