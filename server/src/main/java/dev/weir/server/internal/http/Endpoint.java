package dev.weir.server.internal.http;

import io.vertx.core.http.HttpServerRequest;

/**
 * A path of the HTTP port.
 *
 * @param method {@code GET}, which includes HEAD, or {@code POST}
 * @param about its purpose, in a few words
 * @param typed true if a body of another declared type than JSON is refused
 * @param anyMethod true if a request of any other method is answered in the same way
 * @param handler answers a request whose body is complete
 */
public record Endpoint(
    String method, String path, String about, boolean typed, boolean anyMethod, Handler handler) {
  public interface Handler {
    void handle(HttpServerRequest request, byte[] body, Requests.Wait wait);
  }

  /** A handler that answers within the request timeout. */
  interface Prompt {
    void handle(HttpServerRequest request, byte[] body);
  }

  static Endpoint get(String path, String about, Prompt handler) {
    return new Endpoint("GET", path, about, false, false, prompt(handler));
  }

  static Endpoint post(String path, String about, boolean typed, Prompt handler) {
    return new Endpoint("POST", path, about, typed, false, prompt(handler));
  }

  /**
   * Makes an endpoint whose handler may take longer than the request timeout, if it announces this.
   */
  static Endpoint patient(String path, String about, boolean typed, Handler handler) {
    return new Endpoint("POST", path, about, typed, false, handler);
  }

  /** Returns the same endpoint for requests of every method. */
  Endpoint ofAnyMethod() {
    return new Endpoint(method, path, about, typed, true, handler);
  }

  private static Handler prompt(Prompt handler) {
    return (request, body, wait) -> handler.handle(request, body);
  }

  /** Returns the value of an {@code Allow} field. */
  String allow() {
    return method.equals("GET") ? "GET, HEAD" : method;
  }

  boolean accepts(String requestMethod) {
    return anyMethod
        || method.equals(requestMethod)
        || (method.equals("GET") && requestMethod.equals("HEAD"));
  }
}
