package dev.weir.admin.internal.http;

import dev.weir.admin.AdminResponse;
import java.util.LinkedHashMap;
import java.util.Map;

/** A refused request with its answer. The message states the problem, and what was expected. */
public final class RequestException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final int status;
  private final transient Map<String, String> fields = new LinkedHashMap<>();
  private final transient Map<String, Object> members = new LinkedHashMap<>();

  public RequestException(int status, String detail) {
    super(detail, null, false, false);
    this.status = status;
  }

  /** Adds a header field. */
  public RequestException field(String name, String value) {
    fields.put(name, value);
    return this;
  }

  /** Adds a member to the problem document. */
  public RequestException member(String name, Object value) {
    members.put(name, value);
    return this;
  }

  public int status() {
    return status;
  }

  public AdminResponse answer() {
    return Reply.problem(status, String.valueOf(getMessage()), fields, members);
  }
}
