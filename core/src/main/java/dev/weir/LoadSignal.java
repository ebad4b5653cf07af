package dev.weir;

/**
 * Tells how much of what a system can do it is doing, for {@link Throttle#elastic} policies: the
 * load of its processors, its requests in flight, or whatever its owner measures. Must be safe for
 * use by many threads, and cheap: it is asked on every request. One that fails does not know.
 */
@FunctionalInterface
public interface LoadSignal {
  /** Not known, which is as good as full. */
  LoadSignal UNKNOWN = () -> Double.NaN;

  /** Returns the load now: 0 is idle, 1 can do no more; not a number where nobody knows. */
  double load();
}
