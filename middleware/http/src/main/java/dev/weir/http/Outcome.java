package dev.weir.http;

import org.jspecify.annotations.Nullable;

/**
 * The outcome of a request, as the head of its response shows it. Immutable and safe for use by
 * many threads.
 *
 * @param status the status, normally from 100 to 599
 * @param location the value of the field {@code Location} as the server wrote it, absolute or
 *     relative, for example {@code /login?error}; null if there is none
 */
public record Outcome(int status, @Nullable String location) {
  /**
   * Returns whether the response sends the client to a location that ends with this text: for
   * example {@code ?error}, to which the login of a form redirects after a wrong password.
   *
   * @param end compared letter by letter
   */
  public boolean redirectsTo(String end) {
    return status / 100 == 3 && location != null && location.endsWith(end);
  }
}
