package dev.weir.admin;

import java.util.Locale;

/** How the values of keys are shown to those who may not see everything. */
public enum ShowKeys {
  /** So that they are recognized and not read: {@code al…e·3f9c}. */
  MASKED,
  /** As a hash alone: {@code #9f2c61d0a4b81e37}. */
  HASHED,
  /** As they are. */
  PLAIN;

  /** Returns the name, in small letters. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
