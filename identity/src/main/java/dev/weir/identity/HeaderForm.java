package dev.weir.identity;

import java.util.Locale;

/** How a header says who the client is. */
public enum HeaderForm {
  /** Addresses between commas; each proxy adds its peer at the right: {@code X-Forwarded-For}. */
  LIST,
  /** Elements between commas as in RFC 7239: {@code Forwarded}. */
  FORWARDED,
  /** One address, which the proxy writes over whatever was there: {@code CF-Connecting-IP}. */
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
