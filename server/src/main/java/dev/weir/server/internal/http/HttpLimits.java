package dev.weir.server.internal.http;

import dev.weir.admin.AdminHandler;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.server.internal.settings.Settings;

/**
 * The largest sizes of the requests of a port, in bytes.
 *
 * @param lineBytes the request line
 * @param headBytes the whole head
 * @param bodyBytes the body
 * @param paceBytes the part of a body after whose arrival the request timeout begins anew; 0 if the
 *     timeout is for the whole body
 */
record HttpLimits(int lineBytes, int headBytes, int bodyBytes, int paceBytes) {
  /**
   * Returns the sizes for decisions. No path there is longer than 20 characters; a query is of no
   * use there.
   */
  static HttpLimits ofDecisions(ServerSettings settings) {
    return new HttpLimits(4_096, 16 << 10, settings.value(Settings.MAX_BODY_BYTES), 0);
  }

  /**
   * Returns the sizes for administration. A path may contain a subject of 6 KiB, with three
   * characters for each byte.
   */
  static HttpLimits ofAdministration() {
    return new HttpLimits(20 << 10, 36 << 10, AdminHandler.MAX_BODY_BYTES, 1 << 20);
  }
}
