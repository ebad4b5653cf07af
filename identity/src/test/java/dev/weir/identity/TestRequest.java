package dev.weir.identity;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A request for tests; it counts how often each header is read. */
final class TestRequest implements RequestView {
  final Map<String, List<String>> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
  final List<String> asked = new ArrayList<>();
  @Nullable String peer = "10.0.0.1";
  boolean unixSocket;
  @Nullable String finalAddress;
  String method = "GET";
  String path = "/";
  @Nullable String query;
  @Nullable String login;
  @Nullable String route;

  static TestRequest from(@Nullable String peer) {
    TestRequest request = new TestRequest();
    request.peer = peer;
    return request;
  }

  TestRequest header(String name, String... lines) {
    headers.put(name, Arrays.asList(lines));
    return this;
  }

  @Override
  public @Nullable String peer() {
    return peer;
  }

  @Override
  public boolean unixSocket() {
    return unixSocket;
  }

  @Override
  public @Nullable String finalAddress() {
    return finalAddress;
  }

  @Override
  public List<String> headers(String name) {
    asked.add(name.toLowerCase(Locale.ROOT));
    return headers.getOrDefault(name, List.of());
  }

  @Override
  public String method() {
    return method;
  }

  @Override
  public String path() {
    return path;
  }

  @Override
  public @Nullable String queryText() {
    return query;
  }

  @Override
  public @Nullable String login() {
    return login;
  }

  @Override
  public @Nullable String route() {
    return route;
  }
}
