package dev.weir.client.internal.lease;

import dev.weir.client.internal.wire.Service;
import dev.weir.engine.Answer;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The answers whose charges the service can still refund. Bounded by the number of all their
 * statuses, as an answer has one for each descriptor. Safe for use by many threads.
 */
public final class Refunds {
  /** The most statuses; some 200 bytes each. */
  public static final int MOST = 65_536;

  /** The service's charge for an answer. */
  public record Charge(Service by, long charge) {}

  /** An answer compared by identity, not by its contents. */
  private record SameAnswer(Answer answer) {
    @Override
    @SuppressWarnings("ReferenceEquality") // Different requests may have equal answers.
    public boolean equals(@Nullable Object other) {
      return other instanceof SameAnswer same && same.answer == answer;
    }

    @Override
    public int hashCode() {
      return System.identityHashCode(answer);
    }
  }

  /** The charges, in the order in which they were added. Guarded by itself. */
  private final Map<SameAnswer, Charge> charges = new LinkedHashMap<>();

  /** The number of statuses of all answers. */
  private int statuses;

  /** True after the first refund: from then on the service is requested to keep charges. */
  private volatile boolean wanted;

  boolean wanted() {
    return wanted;
  }

  void enable() {
    wanted = true;
  }

  public void add(Answer answer, Service by, long charge) {
    synchronized (charges) {
      if (charges.put(new SameAnswer(answer), new Charge(by, charge)) == null) {
        statuses += answer.statuses().size();
      }
      Iterator<SameAnswer> oldest = charges.keySet().iterator();
      while (statuses > MOST && oldest.hasNext()) {
        statuses -= oldest.next().answer.statuses().size();
        oldest.remove();
      }
    }
  }

  /** Removes and returns the charge of an answer. */
  @Nullable
  public Charge take(Answer answer) {
    synchronized (charges) {
      Charge known = charges.remove(new SameAnswer(answer));
      statuses -= known == null ? 0 : answer.statuses().size();
      return known;
    }
  }
}
