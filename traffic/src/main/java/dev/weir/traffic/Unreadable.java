package dev.weir.traffic;

/** Says why one record cannot be read. The records after it can: the reader goes on. */
final class Unreadable extends Exception {
  private static final long serialVersionUID = 1;

  Unreadable(String reason) {
    super(reason, null, false, false); // Thrown per line of hostile input: no stack trace.
  }

  String reason() {
    return String.valueOf(getMessage());
  }
}
