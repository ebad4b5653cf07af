package dev.weir.admin.internal.http;

import dev.weir.admin.AdminRequest;
import java.util.List;
import java.util.Locale;

/** The refusal of requests that a browser sends for another site. */
public final class CrossSite {
  private CrossSite() {}

  /**
   * Checks a request that changes something and may come from a browser.
   *
   * @param cookie true if the request has a cookie of this server: then it must state that it comes
   *     from a page of this server. Without a cookie, a request that does not state its origin is
   *     not from a browser
   * @throws RequestException with 403
   */
  public static void check(AdminRequest request, boolean cookie) {
    List<String> sites = request.fields().getOrDefault("sec-fetch-site", List.of());
    List<String> origins = request.fields().getOrDefault("origin", List.of());
    boolean same;
    if (!sites.isEmpty()) {
      same = sites.equals(List.of("same-origin"));
    } else if (!origins.isEmpty()) {
      same =
          origins.size() == 1
              && host(origins.get(0)).equals(request.field("host").toLowerCase(Locale.ROOT));
    } else {
      same = !cookie;
    }
    if (!same) {
      throw new RequestException(
          403,
          "Sec-Fetch-Site, Origin: of another site or missing (expected: same-origin, for a"
              + " change by a browser)");
    }
  }

  private static String host(String origin) {
    int scheme = origin.indexOf("://");
    return scheme < 0 ? "" : origin.substring(scheme + 3).toLowerCase(Locale.ROOT);
  }
}
