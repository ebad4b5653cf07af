package dev.weir.admin;

import dev.weir.admin.internal.limits.ShownText;
import dev.weir.internal.Choice;

/** The permissions of a token; each role includes those before it. */
public enum Role {
  /** The permission to read everything but tokens. */
  VIEWER,
  /** The permission to change rules and limits. */
  EDITOR,
  /** The permission to make and revoke tokens, reset keys, import and export. */
  OPERATOR;

  /**
   * Returns the role of a name.
   *
   * @throws IllegalArgumentException if there is no role of this name
   */
  public static Role of(String name) {
    for (Role role : values()) {
      if (role.text().equals(name)) {
        return role;
      }
    }
    throw new IllegalArgumentException(
        "role: " + ShownText.brief(name) + " (expected: viewer, editor or operator)");
  }

  public boolean includes(Role other) {
    return compareTo(other) >= 0;
  }

  /** Returns the name, in small letters. */
  public String text() {
    return Choice.text(this);
  }
}
