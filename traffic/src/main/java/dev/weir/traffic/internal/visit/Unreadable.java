package dev.weir.traffic.internal.visit;

/** Says why one record cannot be read. The records after it can: the reader goes on. */
public final class Unreadable extends Exception {
  private static final long serialVersionUID = 1;

  public Unreadable(String reason) {
    super(reason, null, false, false); // Thrown per line of hostile input: no stack trace.
  }

  public String reason() {
    return String.valueOf(getMessage());
  }
}
