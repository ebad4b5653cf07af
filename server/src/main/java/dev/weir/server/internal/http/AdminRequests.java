package dev.weir.server.internal.http;

import dev.weir.Ticker;
import dev.weir.admin.AdminHandler;
import dev.weir.admin.AdminRequest;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.SocketAddress;
import java.io.ByteArrayInputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The requests of the port for administration, answered on threads that may wait. Safe for use by
 * many threads.
 */
public final class AdminRequests implements Requests {
  private final AdminHandler handler;
  private final AdminWorkers workers;
  private final Ticker ticker;

  /**
   * @param ticker measures the time for which a client has not read
   */
  public AdminRequests(AdminHandler handler, AdminWorkers workers, Ticker ticker) {
    this.handler = handler;
    this.workers = workers;
    this.ticker = ticker;
  }

  @Override
  public void answer(HttpServerRequest request, byte[] body, Wait wait) {
    new AdminExchange(request, handler, workers, wait, ticker)
        .begin(toAdminRequest(request, body), body.length);
  }

  /**
   * Returns a request for the handler. HEAD becomes GET: it has the same fields, but the body is
   * not sent.
   */
  private static AdminRequest toAdminRequest(HttpServerRequest request, byte[] body) {
    HttpMethod method = request.method();
    Map<String, List<String>> fields = new HashMap<>();
    for (Map.Entry<String, String> field : request.headers()) {
      fields
          .computeIfAbsent(field.getKey().toLowerCase(Locale.ROOT), name -> new ArrayList<>(1))
          .add(field.getValue());
    }
    fields.replaceAll((name, values) -> List.copyOf(values));
    String path = request.path();
    String query = request.query();
    SocketAddress source = request.remoteAddress();
    return new AdminRequest(
        method.equals(HttpMethod.HEAD) ? "GET" : method.name(),
        path == null ? "" : path,
        query == null ? "" : query,
        fields,
        new ByteArrayInputStream(body),
        source == null || source.hostAddress() == null ? "" : source.hostAddress(),
        request.isSSL());
  }
}
