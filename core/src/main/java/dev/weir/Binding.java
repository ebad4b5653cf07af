package dev.weir;

/**
 * A policy in force under a name, as a {@link Store} hands it out. Bindings of the same name in the
 * same store count the same keys, whatever their policies. Immutable and safe to share.
 */
public interface Binding {
  /** Returns the name that the state belongs to, unique in the store. */
  String name();

  Policy policy();

  /**
   * Returns the store that keeps the state. A store that forwards to another hands out the other's
   * bindings, so this need not be the store that was asked for the binding; {@link Store#owns} says
   * where it can be used.
   */
  Store store();
}
