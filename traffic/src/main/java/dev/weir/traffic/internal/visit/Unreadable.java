package dev.weir.traffic.internal.visit;

/** The reason why one record cannot be read. The reader goes on with the records after it. */
public final class Unreadable extends Exception {
  private static final long serialVersionUID = 1;

  public Unreadable(String reason) {
    super(reason, null, false, false); // Hostile input throws many: no stack trace.
  }

  public String reason() {
    return String.valueOf(getMessage());
  }
}
