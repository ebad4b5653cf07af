package dev.weir.spring.web;

/** A client could choose the address that it is counted by, so the application does not start. */
final class UnsafeAddressException extends IllegalStateException {
  private static final long serialVersionUID = 1;

  UnsafeAddressException(String found) {
    super(
        found
            + " (expected: none, where a filter counts by {ip}: this server would take the address"
            + " that the client itself has written)");
  }
}
