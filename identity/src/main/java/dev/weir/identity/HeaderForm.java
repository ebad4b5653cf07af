package dev.weir.identity;

import java.util.Locale;

/** The form in which a header names the client. */
public enum HeaderForm {
  /**
   * A list of addresses between commas; each proxy adds its peer at the right: {@code
   * X-Forwarded-For}.
   */
  LIST,
  /** A list of elements between commas as in RFC 7239: {@code Forwarded}. */
  FORWARDED,
  /** One address, with which the proxy overwrites any earlier value: {@code CF-Connecting-IP}. */
  SINGLE;

  /**
   * Returns the usual form of the header of that name, in any case: {@link #LIST} for {@code
   * X-Forwarded-For}, {@link #FORWARDED} for {@code Forwarded}, else {@link #SINGLE}.
   */
  public static HeaderForm of(String header) {
    return switch (header.toLowerCase(Locale.ROOT)) {
      case "x-forwarded-for" -> LIST;
      case "forwarded" -> FORWARDED;
      default -> SINGLE;
    };
  }
}
