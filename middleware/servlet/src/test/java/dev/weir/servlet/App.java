package dev.weir.servlet;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;

/** A servlet whose actions are named by its path. */
final class App extends HttpServlet {
  private static final long serialVersionUID = 1;

  private static final String SEEN = "dev.weir.servlet.App.seen";

  /** The parameter {@code n} of the requests served, in their order. */
  final transient Queue<String> served = new ConcurrentLinkedQueue<>();

  /** The requests at work, each until its permit is released. */
  final transient Semaphore atWork = new Semaphore(0);

  /** The requests that stay open, once they have written all that they write. */
  final transient Queue<AsyncContext> open = new ConcurrentLinkedQueue<>();

  @Override
  protected void service(HttpServletRequest request, HttpServletResponse response)
      throws ServletException, IOException {
    String own = request.getPathInfo() == null ? "/" : request.getPathInfo();
    // An included resource sees the path of the including one.
    String path = request.getDispatcherType() == DispatcherType.INCLUDE ? "/ok" : own;
    switch (path.split("/", 3)[1]) {
      case "status" -> response.setStatus(Integer.parseInt(request.getParameter("code")));
      case "senderror" -> response.sendError(Integer.parseInt(request.getParameter("code")));
      case "throw" -> throw new ServletException("thrown by the test");
      case "async" -> async(request, response, false);
      case "asyncdispatch" -> async(request, response, true);
      case "asynctwice" -> twice(request, response);
      case "asyncthrow" -> {
        request.startAsync().setTimeout(200); // Jetty waits for that.
        throw new ServletException("thrown by the test");
      }
      case "forward" ->
          request.getRequestDispatcher(Site.SERVLET + "/ok").forward(request, response);
      case "include" ->
          request.getRequestDispatcher(Site.SERVLET + "/ok").include(request, response);
      case "events" -> events(response);
      case "open" -> open(request, response);
      case "work" -> atWork.acquireUninterruptibly();
      case "silent" -> {
        AsyncContext context = request.startAsync();
        context.setTimeout(0);
        open.add(context);
      }
      case "timeout" -> request.startAsync().setTimeout(100);
      case "late" -> late(request, response);
      case "printed" -> {
        response.setContentType("text/plain;charset=UTF-8");
        response.getOutputStream().print("\u00e9");
        response.getOutputStream().println(7);
      }
      case "reencoded" -> {
        response.getWriter().print("x");
        response.reset();
        response.setContentType("text/plain;charset=UTF-8");
        response.getWriter().print("\u00e9");
      }
      case "long" -> {
        for (int i = 0; i < 100; i++) {
          response.getWriter().print("x".repeat(1_000));
        }
        open.add(request.startAsync());
      }
      case "body" -> {
        int length = request.getInputStream().readAllBytes().length;
        write(response, Integer.toString(length));
      }
      case "login", "asynclogin" -> login(request, response, path.startsWith("/async"));
      case "costs" -> RateLimitFilter.charge(request, 300);
      case "asynccosts" -> {
        AsyncContext context = request.startAsync();
        context.start(
            () -> {
              RateLimitFilter.charge(context.getRequest(), 300);
              context.complete();
            });
      }
      case "form" -> form(request, response);
      case "asyncform" -> {
        AsyncContext context = request.startAsync();
        context.start(
            () -> {
              form(request, response);
              context.complete();
            });
      }
      case "whoami" -> write(response, String.valueOf(request.getUserPrincipal()));
      default -> {
        String n = request.getParameter("n");
        if (n != null) {
          served.add(n);
        }
        write(response, request.getServletPath() + path);
      }
    }
  }

  private static void write(HttpServletResponse response, String text) throws IOException {
    response.setContentType("text/plain");
    response.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
  }

  /** Returns whether the servlet has handled this request before. */
  private static boolean again(HttpServletRequest request) {
    boolean again = request.getAttribute(SEEN) != null;
    request.setAttribute(SEEN, true);
    return again;
  }

  private static void async(
      HttpServletRequest request, HttpServletResponse response, boolean dispatch)
      throws IOException {
    if (again(request)) {
      write(response, "dispatched");
      return;
    }
    AsyncContext context = request.startAsync();
    if (dispatch) {
      context.dispatch();
    } else {
      context.start(
          () -> {
            try {
              write(response, "late");
            } catch (IOException e) {
              throw new IllegalStateException(e);
            }
            context.complete();
          });
    }
  }

  /** Makes the request asynchronous, dispatches it, and makes it asynchronous once more. */
  private static void twice(HttpServletRequest request, HttpServletResponse response) {
    boolean again = again(request);
    AsyncContext context = request.startAsync();
    if (again) {
      context.start(
          () -> {
            response.setStatus(code(request));
            context.complete();
          });
    } else {
      context.start(context::dispatch);
    }
  }

  /** Answers with an error after a timeout, by a dispatch, as Spring's DeferredResult does. */
  private static void late(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    if (again(request)) {
      response.sendError(HttpServletResponse.SC_SERVICE_UNAVAILABLE);
      return;
    }
    AsyncContext context = request.startAsync();
    context.setTimeout(100);
    context.addListener(
        new AsyncListener() {
          @Override
          public void onTimeout(AsyncEvent event) {
            context.dispatch();
          }

          @Override
          public void onComplete(AsyncEvent event) {}

          @Override
          public void onError(AsyncEvent event) {}

          @Override
          public void onStartAsync(AsyncEvent event) {}
        });
  }

  private static int code(HttpServletRequest request) {
    return Integer.parseInt(request.getParameter("code"));
  }

  private static void events(HttpServletResponse response) throws IOException {
    response.setContentType("text/event-stream");
    for (int i = 0; i < 3; i++) {
      response.getOutputStream().write("data: x\n\n".getBytes(StandardCharsets.UTF_8));
      response.flushBuffer();
    }
  }

  /** Sends an event from another thread, by the stream or the writer, and stays open. */
  private void open(HttpServletRequest request, HttpServletResponse response) {
    AsyncContext context = request.startAsync();
    context.setTimeout(0);
    boolean writes = "writer".equals(request.getParameter("by"));
    context.start(
        () -> {
          try {
            context.getResponse().setContentType("text/event-stream");
            if (writes) {
              response.getWriter().write("data: x\n\n");
              response.getWriter().flush();
            } else {
              response.getOutputStream().write("data: x\n\n".getBytes(StandardCharsets.UTF_8));
              response.getOutputStream().flush();
            }
          } catch (IOException e) {
            throw new IllegalStateException(e);
          }
          open.add(context);
        });
  }

  /** Redirects, as the login of a form does after a right password and after a wrong one. */
  private static void form(HttpServletRequest request, HttpServletResponse response) {
    boolean right = "right".equals(request.getParameter("password"));
    response.setStatus(HttpServletResponse.SC_FOUND);
    response.setHeader("Location", right ? "/" : "/login?error");
  }

  private static void login(HttpServletRequest request, HttpServletResponse response, boolean async)
      throws IOException {
    if (async && !again(request)) {
      request.startAsync().dispatch();
    } else if ("right".equals(request.getParameter("password"))) {
      write(response, "welcome");
    } else {
      response.sendError(HttpServletResponse.SC_UNAUTHORIZED);
    }
  }
}
