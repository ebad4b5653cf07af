package dev.weir.rules;

import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Which store a rule is counted in. */
public enum StoreChoice {
  /** The server's default: the shared store if it has one, else its own. */
  DEFAULT,

  /** The server's own store: each server counts for itself. */
  LOCAL,

  /** The store that servers share, whichever it is: all servers count together. */
  SHARED;

  /** Those that a rule can name. */
  public static final List<StoreChoice> NAMED = List.of(LOCAL, SHARED);

  /** Other names that a rule can use: what the shared store may be. */
  public static final Map<String, StoreChoice> ALIASES = Map.of("redis", SHARED, "cluster", SHARED);

  /** Returns the name used in rule files. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
