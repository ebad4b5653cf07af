package dev.weir.traffic.internal.values;

/** The reason why one record cannot be read. The reader goes on with the records after it. */
public final class UnreadableException extends Exception {
  private static final long serialVersionUID = 1;

  public UnreadableException(String reason) {
    super(reason, null, false, false); // Hostile input throws many: no stack trace.
  }

  public String reason() {
    return String.valueOf(getMessage());
  }
}
