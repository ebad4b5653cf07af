package dev.weir.servlet;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A request without a container. */
final class Stubs {
  final Map<Object, Object> attributes = new HashMap<>();
  final List<AsyncListener> listeners = new ArrayList<>();
  final List<Runnable> started = new ArrayList<>();
  private final Runnable dispatched;
  private volatile int status = HttpServletResponse.SC_OK;
  private volatile boolean completed;

  /**
   * @param dispatched is run when the request is dispatched again
   */
  Stubs(Runnable dispatched) {
    this.dispatched = dispatched;
  }

  int status() {
    return status;
  }

  boolean completed() {
    return completed;
  }

  HttpServletRequest request() {
    return stub(
        HttpServletRequest.class,
        (name, arguments) ->
            switch (name) {
              case "getDispatcherType" -> DispatcherType.REQUEST;
              case "getAttribute" -> attributes.get(arguments[0]);
              case "setAttribute" -> attributes.put(arguments[0], arguments[1]);
              case "getMethod" -> "HEAD";
              case "getRemoteAddr" -> "203.0.113.9";
              case "getHeaders" -> Collections.emptyEnumeration();
              case "isAsyncSupported" -> true;
              case "startAsync" -> context();
              default -> null;
            });
  }

  HttpServletResponse response() {
    return stub(
        HttpServletResponse.class,
        (name, arguments) -> {
          if (name.equals("setStatus")) {
            status = (int) arguments[0];
          }
          return name.equals("getStatus") ? status : null;
        });
  }

  AsyncContext context() {
    return stub(
        AsyncContext.class,
        (name, arguments) -> {
          switch (name) {
            case "addListener" -> listeners.add((AsyncListener) arguments[0]);
            case "dispatch" -> dispatched.run();
            case "start" -> started.add((Runnable) arguments[0]);
            case "complete" -> completed = true;
            default -> {}
          }
          return null;
        });
  }

  private interface Answers {
    @Nullable Object of(String name, Object[] arguments);
  }

  private static <T> T stub(Class<T> type, Answers answers) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> {
              Object answer = answers.of(method.getName(), arguments);
              Class<?> returned = method.getReturnType();
              if (returned == void.class) {
                return null;
              }
              if (answer == null && returned.isPrimitive()) {
                return returned == boolean.class ? (Object) false : (Object) zero(returned);
              }
              return answer;
            }));
  }

  private static Number zero(Class<?> type) {
    return type == long.class ? (Number) 0L : (Number) 0;
  }
}
