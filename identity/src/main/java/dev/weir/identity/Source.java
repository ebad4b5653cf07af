package dev.weir.identity;

/** What a value of a descriptor is read from. */
public enum Source {
  /** {@code {ip}}, {@code {ip/48}}, {@code {ip/24/48}}: the client's address. */
  IP,
  /** {@code {login}}: the authenticated user. */
  LOGIN,
  /** {@code {path}}. */
  PATH,
  /** {@code {route}}: the pattern that the path matched, known only after routing. */
  ROUTE,
  /** {@code {method}}. */
  METHOD,
  /** {@code {host}}: in lower case and without a port. */
  HOST,
  /** {@code {header:X}}. */
  HEADER,
  /** {@code {cookie:X}}. */
  COOKIE,
  /** {@code {query:X}}. */
  QUERY,
  /**
   * {@code {secret:X}}: a header, or {@code {secret:cookie:X}} or {@code {secret:query:X}}, hashed.
   */
  SECRET
}
