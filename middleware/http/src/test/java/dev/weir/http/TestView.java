package dev.weir.http;

import dev.weir.identity.RequestView;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A request without a server. */
final class TestView implements RequestView {
  private final Map<String, List<String>> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
  private @Nullable String peer = "203.0.113.7";
  private @Nullable String login;
  private String method = "GET";
  private String path = "/";

  static TestView of(String method, String path) {
    TestView view = new TestView();
    view.method = method;
    view.path = path;
    return view;
  }

  static TestView get(String path) {
    return of("GET", path);
  }

  TestView header(String name, String... lines) {
    headers.put(name, Arrays.asList(lines));
    return this;
  }

  TestView peer(@Nullable String address) {
    peer = address;
    return this;
  }

  TestView login(@Nullable String name) {
    login = name;
    return this;
  }

  @Override
  public @Nullable String peer() {
    return peer;
  }

  @Override
  public List<String> headers(String name) {
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
  public @Nullable String login() {
    return login;
  }
}
