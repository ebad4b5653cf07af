package dev.weir.server.internal.http;

/** The refusal of input before it is a complete request, with the answer to its client. */
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
