package dev.weir.server;

import io.vertx.core.buffer.Buffer;

/** The kinds of trouble that have a name of their own in answers (RFC 9457). */
enum ProblemType {
  QUOTA_EXCEEDED(
      "https://iana.org/assignments/http-problem-types#quota-exceeded", "Quota exceeded"),
  TEMPORARY_REDUCED_CAPACITY(
      "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity",
      "Temporarily reduced capacity");

  private final String uri;
  private final String title;

  ProblemType(String uri, String title) {
    this.uri = uri;
    this.title = title;
  }

  String uri() {
    return uri;
  }

  String title() {
    return title;
  }

  /** Returns the document of a trouble that its status says all about. */
  static Buffer document(int status, String title, String detail) {
    return new JsonText()
        .object()
        .field("type", "about:blank")
        .field("title", title)
        .field("status", status)
        .field("detail", detail)
        .end()
        .buffer();
  }
}
