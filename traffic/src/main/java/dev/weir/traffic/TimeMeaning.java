package dev.weir.traffic;

import dev.weir.internal.Choice;
import dev.weir.rules.ValueErrors;

/** The instant of a request that the time in its record is: servers log one or the other. */
public enum TimeMeaning {
  /** The time at which the request came, as Apache, Envoy and HAProxy log it. */
  BEGIN,
  /** The time at which the request had been answered, as nginx, IIS and CloudFront log it. */
  END;

  /** Returns the name used in flags and reports, for example {@code begin}. */
  public String text() {
    return Choice.text(this);
  }

  /**
   * Returns the meaning of that name.
   *
   * @throws IllegalArgumentException if there is none; the message lists all
   */
  public static TimeMeaning of(String text) {
    return ValueErrors.choice(TimeMeaning.class, "time-is", text);
  }

  @Override
  public String toString() {
    return text();
  }
}
