package dev.weir.client;

import dev.weir.engine.Answer;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which answers the service can still be asked to refund, a bounded number of them. Safe for use by
 * many threads.
 */
final class Refunds {
  private static final int MOST = 65_536;

  /** What the service charged for an answer. */
  record Charge(Service by, long charge) {}

  /** An answer itself, whatever it equals. */
  private record Same(Answer answer) {
    @Override
    @SuppressWarnings("ReferenceEquality") // Requests have equal answers.
    public boolean equals(@Nullable Object other) {
      return other instanceof Same same && same.answer == answer;
    }

    @Override
    public int hashCode() {
      return System.identityHashCode(answer);
    }
  }

  private final Map<Same, Charge> charges =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Same, Charge> eldest) {
          return size() > MOST;
        }
      };

  /** Whether there has been a refund: from then on the service is asked to remember charges. */
  private volatile boolean wanted;

  boolean wanted() {
    return wanted;
  }

  void want() {
    wanted = true;
  }

  void remember(Answer answer, Service by, long charge) {
    synchronized (charges) {
      charges.put(new Same(answer), new Charge(by, charge));
    }
  }

  /** Takes the charge of an answer, once. */
  @Nullable Charge take(Answer answer) {
    synchronized (charges) {
      return charges.remove(new Same(answer));
    }
  }
}
