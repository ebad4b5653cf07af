package dev.weir.server.internal.http;

/** Input that is refused before it is a complete request, and the answer to its client. */
final class HttpProblem extends Exception {
  private static final long serialVersionUID = 1;

  private final int status;
  private final String title;

  HttpProblem(int status, String title, String detail) {
    super(detail, null, false, false);
    this.status = status;
    this.title = title;
  }

  static HttpProblem badRequest(String detail) {
    return new HttpProblem(400, "Bad request", detail);
  }

  int status() {
    return status;
  }

  String title() {
    return title;
  }
}
