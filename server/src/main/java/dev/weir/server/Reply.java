package dev.weir.server;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.util.Locale;

/** Sends HTTP answers. */
final class Reply {
  static final String JSON = "application/json";
  static final String PROBLEM = "application/problem+json";
  static final String TEXT = "text/plain; charset=utf-8";

  private Reply() {}

  static void send(HttpServerRequest request, int status, String type, String body) {
    HttpServerResponse response = request.response();
    if (response.closed() || response.ended()) {
      return;
    }
    Buffer bytes = Buffer.buffer(body);
    response.setStatusCode(status).putHeader(HttpHeaders.CONTENT_TYPE, type);
    if (request.method() == HttpMethod.HEAD) {
      response.putHeader(HttpHeaders.CONTENT_LENGTH, Integer.toString(bytes.length())).end();
    } else {
      response.end(bytes);
    }
  }

  /** Says what is wrong: a problem document, or its detail where the client only takes text. */
  static void problem(HttpServerRequest request, int status, String title, String detail) {
    request.response().putHeader(HttpHeaders.CACHE_CONTROL, "no-store");
    if (wantsText(request)) {
      send(request, status, TEXT, detail + "\n");
    } else {
      send(request, status, PROBLEM, ProblemType.document(status, title, detail));
    }
  }

  /** Returns whether the client takes plain text and no JSON. */
  static boolean wantsText(HttpServerRequest request) {
    String accept = request.getHeader(HttpHeaders.ACCEPT);
    if (accept == null) {
      return false;
    }
    boolean text = false;
    for (String each : accept.toLowerCase(Locale.ROOT).split(",", 32)) {
      String type = each.split(";", 2)[0].strip();
      if (type.equals("*/*") || type.equals("application/*") || type.endsWith("json")) {
        return false;
      }
      text |= type.equals("text/plain") || type.equals("text/*");
    }
    return text;
  }
}
