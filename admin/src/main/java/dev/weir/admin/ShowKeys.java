package dev.weir.admin;

import dev.weir.internal.Choice;

/** The form in which values of keys are shown to users who may not see everything. */
public enum ShowKeys {
  /** Recognizable but not readable: {@code al…e·3f9c}. */
  MASKED,
  /** As a hash alone: {@code #9f2c61d0a4b81e37}. */
  HASHED,
  /** In full. */
  PLAIN;

  /** Returns the name, in small letters. */
  public String text() {
    return Choice.text(this);
  }
}
