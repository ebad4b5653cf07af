package dev.weir.http;

/** The body of a refusal. Immutable. */
public final class Refusal {
  private final String contentType;
  private final byte[] bytes;

  Refusal(String contentType, byte[] bytes) {
    this.contentType = contentType;
    this.bytes = bytes;
  }

  /** Returns the type, with its charset where the type has one. */
  public String contentType() {
    return contentType;
  }

  /** Returns the length, in bytes. */
  public int length() {
    return bytes.length;
  }

  /** Returns a copy of the bytes. The answer to {@code HEAD} leaves them out. */
  public byte[] bytes() {
    return bytes.clone();
  }
}
