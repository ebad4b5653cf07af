package dev.weir;

/**
 * A policy in force under a name, as a {@link Store} returns it. Bindings of the same name in the
 * same store count the same keys, whatever their policies. Immutable and safe to share.
 */
public interface Binding {
  /** Returns the name that the state belongs to, unique in the store. */
  String name();

  Policy policy();

  /**
   * Returns the store that keeps the state. A store that forwards to another returns the other's
   * bindings, so this may be another store than the one that returned the binding; {@link
   * Store#owns} returns whether a store can use it.
   */
  Store store();
}
