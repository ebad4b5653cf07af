package dev.weir;

/** A policy in force in a {@link MemoryStore}. */
final class MemoryBinding implements Binding {
  final PolicyHistory history;
  private final MemoryStore store;
  private final Policy policy;

  /**
   * The policy that was put in force under the name, whose tables are used: this binding's own, if
   * it is no variant.
   */
  private final Policy inForce;

  /** Racy on purpose: an outdated view fails {@link #isCurrent} and is then read again. */
  private TableView view = TableView.NONE;

  MemoryBinding(MemoryStore store, PolicyHistory history, Policy policy) {
    this(store, history, policy, policy);
  }

  private MemoryBinding(MemoryStore store, PolicyHistory history, Policy policy, Policy inForce) {
    this.store = store;
    this.history = history;
    this.policy = policy;
    this.inForce = inForce;
  }

  MemoryBinding variant(Policy other) {
    return new MemoryBinding(store, history, other, inForce);
  }

  /** Returns the shape of the table that counts. */
  Shape shape() {
    return inForce.shape();
  }

  @Override
  public String name() {
    return history.name();
  }

  @Override
  public Policy policy() {
    return policy;
  }

  @Override
  public MemoryStore store() {
    return store;
  }

  /** Returns which tables count now. */
  TableView view() {
    ShapeTable[] tables = history.tables();
    TableView last = view;
    if (last.tables != tables) {
      last = TableView.of(tables, shape());
      view = last;
    }
    return last;
  }

  /** Returns whether those tables still are the ones that count. */
  boolean isCurrent(TableView seen) {
    return seen.tables == history.tables();
  }

  PolicyHistory reopened(PolicyHistory left, long now) {
    boolean wider = policy.quota().permits() > inForce.quota().permits();
    return store.reopened(left, wider && policy.shape().equals(shape()) ? policy : inForce, now);
  }

  @Override
  public String toString() {
    return name() + ": " + policy;
  }
}
