package dev.weir.rules;

import java.util.List;
import java.util.Locale;

/** Which store a rule is counted in. */
public enum StoreChoice {
  /** The server's default: the shared store if it has one, else its own. */
  DEFAULT,

  /** The server's own store: each server counts for itself. */
  LOCAL,

  /** The shared store: all servers count together. */
  REDIS;

  /** Those that a rule can name. */
  static final List<StoreChoice> NAMED = List.of(LOCAL, REDIS);

  /** Returns the name used in rule files. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
