package dev.weir.server.internal.http;

import dev.weir.admin.AdminHandler;
import dev.weir.server.settings.ServerSettings;
import dev.weir.server.settings.Settings;

/**
 * How large the requests of a port may be, in bytes.
 *
 * @param lineBytes of the request line
 * @param headBytes of the whole head
 * @param bodyBytes of the body
 * @param paceBytes each time that so much of a body has arrived, the request timeout begins anew; 0
 *     if it is for the whole body
 */
record HttpLimits(int lineBytes, int headBytes, int bodyBytes, int paceBytes) {
  /** No path for decisions is longer than 20 characters; a query is of no use there. */
  static HttpLimits ofDecisions(ServerSettings settings) {
    return new HttpLimits(4_096, 16 << 10, settings.value(Settings.MAX_BODY_BYTES), 0);
  }

  /** A path may have a subject of 6 KiB in it, with three characters for each byte. */
  static HttpLimits ofAdministration() {
    return new HttpLimits(20 << 10, 36 << 10, AdminHandler.MAX_BODY_BYTES, 1 << 20);
  }
}
