package dev.weir.spring.web;

/**
 * The failure of an application in which a client could choose the address that it is counted by;
 * it does not start.
 */
final class UnsafeAddressException extends IllegalStateException {
  private static final long serialVersionUID = 1;

  UnsafeAddressException(String found) {
    super(
        found
            + " (expected: none, where a filter counts by {ip}: this server would take the address"
            + " that the client itself has written)");
  }
}
