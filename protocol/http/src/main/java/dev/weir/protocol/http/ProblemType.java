package dev.weir.protocol.http;

/** The problem types in answers (RFC 9457). */
public enum ProblemType {
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

  /** Returns the identifier of the type: {@code type} of a problem document. */
  public String uri() {
    return uri;
  }

  /** Returns the name of the type for readers: {@code title} of a problem document. */
  public String title() {
    return title;
  }

  /**
   * Returns a problem document of type {@code about:blank}, as UTF-8 JSON, for problems that the
   * status describes well enough.
   *
   * @param status the HTTP status
   * @param title the same for all problems of that status
   * @param detail the problem with this request
   */
  public static byte[] document(int status, String title, String detail) {
    return JsonBytes.of(
        json -> {
          json.writeStartObject();
          json.writeStringField("type", "about:blank");
          json.writeStringField("title", title);
          json.writeNumberField("status", status);
          json.writeStringField("detail", detail);
          json.writeEndObject();
        });
  }
}
