package dev.weir;

/**
 * A measure of how much of its capacity a system uses, for {@link Throttle#elastic} policies: the
 * load of its processors, its requests in flight, or whatever its owner measures. Must be safe for
 * use by many threads, and cheap: it is polled on every request. If it throws, the load counts as
 * not known.
 */
@FunctionalInterface
public interface LoadSignal {
  /** The signal of a load that is not known, which counts as full. */
  LoadSignal UNKNOWN = () -> Double.NaN;

  /** Returns the load now: 0 if idle, 1 at full capacity, NaN if the load is not known. */
  double load();
}
