package dev.weir.identity;

/** The source of a value of a descriptor. */
public enum Source {
  /** {@code {ip}}, {@code {ip/48}}, {@code {ip/24/48}}: the client's address. */
  IP,
  /** {@code {login}}: the authenticated user. */
  LOGIN,
  /** {@code {path}}: the path. */
  PATH,
  /** {@code {route}}: the pattern that the path matched, known only after routing. */
  ROUTE,
  /** {@code {method}}: the method. */
  METHOD,
  /** {@code {host}}: in lower case and without a port. */
  HOST,
  /** {@code {header:X}}: a header. */
  HEADER,
  /** {@code {cookie:X}}: a cookie. */
  COOKIE,
  /** {@code {query:X}}: a query parameter. */
  QUERY,
  /**
   * {@code {secret:X}}: a header, or {@code {secret:cookie:X}} or {@code {secret:query:X}}, hashed.
   */
  SECRET
}
