package dev.weir.admin;

import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The answer to a request of the administration interface.
 *
 * @param fields header fields, in the order in which they are sent; the transport adds the length
 * @param body its pieces, most often one. They are read one after the other on a thread that may
 *     wait, each when the one before it was taken. If a piece cannot be read, the iterator throws,
 *     and the transport cuts the answer off
 * @param events the stream that is sent instead of a body, without an end; null for all other
 *     answers
 */
public record AdminResponse(
    int status, Map<String, String> fields, Iterator<byte[]> body, @Nullable EventStream events) {
  public AdminResponse(int status, Map<String, String> fields, Iterator<byte[]> body) {
    this(status, fields, body, null);
  }

  /** Returns an answer whose body is complete. */
  public static AdminResponse of(int status, Map<String, String> fields, byte[] body) {
    return new AdminResponse(status, fields, List.of(body).iterator());
  }

  /** Returns an answer whose body has no end. */
  public static AdminResponse of(Map<String, String> fields, EventStream events) {
    return new AdminResponse(200, fields, Collections.emptyIterator(), events);
  }
}
