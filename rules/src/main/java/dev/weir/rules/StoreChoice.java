package dev.weir.rules;

import dev.weir.internal.Choice;
import java.util.List;
import java.util.Map;

/** The choice of the store in which a rule is counted. */
public enum StoreChoice {
  /** The server's default: the shared store if it has one, else its own. */
  DEFAULT,

  /** The server's own store: each server counts separately. */
  LOCAL,

  /** The store that servers share, of whatever kind: all servers count together. */
  SHARED;

  /** The choices that a rule can name. */
  public static final List<StoreChoice> NAMED = List.of(LOCAL, SHARED);

  /** Other names that a rule can use: the kinds of shared stores. */
  public static final Map<String, StoreChoice> ALIASES = Map.of("redis", SHARED, "cluster", SHARED);

  /** Returns the name used in rule files. */
  public String text() {
    return Choice.text(this);
  }
}
