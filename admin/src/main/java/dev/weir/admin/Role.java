package dev.weir.admin;

import dev.weir.admin.internal.limits.Shown;
import java.util.Locale;

/** What a token may do; each role may do what those before it may. */
public enum Role {
  /** Reads everything but tokens. */
  VIEWER,
  /** Changes rules and limits. */
  EDITOR,
  /** Makes and revokes tokens, resets keys, imports and exports. */
  OPERATOR;

  /**
   * Returns the role of a name.
   *
   * @throws IllegalArgumentException if there is none of this name
   */
  public static Role of(String name) {
    for (Role role : values()) {
      if (role.text().equals(name)) {
        return role;
      }
    }
    throw new IllegalArgumentException(
        "role: " + Shown.brief(name) + " (expected: viewer, editor or operator)");
  }

  public boolean includes(Role other) {
    return compareTo(other) >= 0;
  }

  /** Returns the name, in small letters. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
