package dev.weir.examples.jetty;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** A servlet that answers with a line of text. */
final class TextServlet extends HttpServlet {
  private static final long serialVersionUID = 1;

  private final String line;

  TextServlet(String line) {
    this.line = line;
  }

  @Override
  protected void doGet(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    response.setContentType("text/plain;charset=utf-8");
    response.getWriter().println(line);
  }
}
