package dev.weir.admin;

import java.io.InputStream;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * A request of the administration interface, as a transport has received it.
 *
 * @param method in capital letters
 * @param path as it was sent, without the query: percent signs are not decoded yet
 * @param query the part behind the question mark, as it was sent; empty if there is none
 * @param fields header fields by their name in small letters, each with its values in their order
 * @param body complete, so that reading it does not wait; read by one thread
 * @param source the client's address, without the port
 * @param secure true if it came over TLS
 */
public record AdminRequest(
    String method,
    String path,
    String query,
    Map<String, List<String>> fields,
    InputStream body,
    String source,
    boolean secure) {
  public AdminRequest {
    fields = Map.copyOf(fields);
  }

  /** Returns the values of a header field, joined by commas, or an empty text. [RFC 9110, 5.3] */
  public String field(String name) {
    return String.join(", ", fields.getOrDefault(name.toLowerCase(Locale.ROOT), List.of()));
  }

  /** Returns the request without the parts that may be secret. */
  @Override
  public String toString() {
    return method + " " + path + " from " + source;
  }
}
