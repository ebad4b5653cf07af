package dev.weir;

/**
 * A policy in force under a name, as a {@link Store} hands it out. Limits of the same name count
 * the same keys, whatever their policies. Immutable and safe to share.
 */
public interface Limit {
  /** Returns the name that the state belongs to, unique in the store. */
  String name();

  Policy policy();
}
