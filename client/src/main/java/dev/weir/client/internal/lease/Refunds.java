package dev.weir.client.internal.lease;

import dev.weir.client.internal.wire.Service;
import dev.weir.engine.Answer;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which answers the service can still be asked to refund. Bounded by the statuses that they have
 * together, as an answer has one for each descriptor. Safe for use by many threads.
 */
public final class Refunds {
  /** Statuses; some 200 bytes each. */
  public static final int MOST = 65_536;

  /** What the service charged for an answer. */
  public record Charge(Service by, long charge) {}

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

  /** In the order in which they were remembered. Guarded by itself. */
  private final Map<Same, Charge> charges = new LinkedHashMap<>();

  /** The statuses of all answers. */
  private int statuses;

  /** Whether there has been a refund: from then on the service is asked to remember charges. */
  private volatile boolean wanted;

  boolean wanted() {
    return wanted;
  }

  void want() {
    wanted = true;
  }

  public void remember(Answer answer, Service by, long charge) {
    synchronized (charges) {
      if (charges.put(new Same(answer), new Charge(by, charge)) == null) {
        statuses += answer.statuses().size();
      }
      Iterator<Same> oldest = charges.keySet().iterator();
      while (statuses > MOST && oldest.hasNext()) {
        statuses -= oldest.next().answer.statuses().size();
        oldest.remove();
      }
    }
  }

  /** Takes the charge of an answer, once. */
  @Nullable
  public Charge take(Answer answer) {
    synchronized (charges) {
      Charge known = charges.remove(new Same(answer));
      statuses -= known == null ? 0 : answer.statuses().size();
      return known;
    }
  }
}
