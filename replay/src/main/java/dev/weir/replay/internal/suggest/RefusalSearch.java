package dev.weir.replay.internal.suggest;

import dev.weir.replay.internal.suggest.LimitSearch.StoppedException;
import dev.weir.replay.internal.suggest.LimitSearch.TriedLimit;
import dev.weir.traffic.TrafficException;
import java.util.function.Predicate;

/** A search over a trace for the refusals by limits of one kind. */
public interface RefusalSearch {
  /** Returns the refusals by that limit. */
  TriedLimit refused(long limit) throws TrafficException, StoppedException;

  /**
   * Returns a limit that is enough while one less is not.
   *
   * @throws TrafficException if even the highest limit is not enough
   */
  TriedLimit smallest(Predicate<TriedLimit> enough) throws TrafficException, StoppedException;
}
