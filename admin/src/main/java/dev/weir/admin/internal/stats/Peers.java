package dev.weir.admin.internal.stats;

import java.util.concurrent.CompletableFuture;

/** The connection to other servers of the installation. Must be safe for use by many threads. */
public interface Peers {
  /** The longest that another server may take to answer. */
  long MOST_MILLIS = 1_000;

  /**
   * Gets a document.
   *
   * @param address the address of the other server's interface for administration, without a path:
   *     {@code http://10.0.0.5:8090}
   * @param path with the query
   * @param authorization the value of that field
   * @return the body of an answer of status 200, within {@link #MOST_MILLIS}; fails with a readable
   *     message otherwise
   */
  CompletableFuture<String> get(String address, String path, String authorization);
}
