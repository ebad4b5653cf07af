package dev.weir.servlet;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterRegistration;
import jakarta.servlet.Servlet;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletRegistration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;

/** An application to be run in a container: one servlet behind filters. */
final class Site {
  /** The servlet's path; the rest is its path info. */
  static final String SERVLET = "/app";

  /** The path that every error is dispatched to. */
  static final String ERROR_PAGE = SERVLET + "/errorpage";

  /** The statuses that have an error page. */
  static final List<Integer> ERRORS = List.of(401, 404, 500);

  private record Placed(Filter filter, EnumSet<DispatcherType> types) {}

  private final Servlet servlet;
  private final List<Placed> filters = new ArrayList<>();
  private int threads = 10;
  private boolean async = true;

  Site(Servlet servlet) {
    this.servlet = servlet;
  }

  /** Adds a filter for requests as they arrive. */
  Site filter(Filter filter) {
    filters.add(new Placed(filter, EnumSet.of(DispatcherType.REQUEST)));
    return this;
  }

  /** Adds a filter for every kind of dispatch. */
  Site everywhere(Filter filter) {
    filters.add(new Placed(filter, EnumSet.allOf(DispatcherType.class)));
    return this;
  }

  /** Sets the number of requests that run at a time. */
  Site threads(int most) {
    threads = most;
    return this;
  }

  /** Sets whether the filters support asynchronous requests. */
  Site async(boolean supported) {
    async = supported;
    return this;
  }

  int threads() {
    return threads;
  }

  /** Registers the same filters and servlet in any container. */
  void register(ServletContext context) {
    for (int i = 0; i < filters.size(); i++) {
      FilterRegistration.Dynamic filter = context.addFilter("filter" + i, filters.get(i).filter);
      filter.setAsyncSupported(async);
      filter.addMappingForUrlPatterns(filters.get(i).types, true, "/*");
    }
    ServletRegistration.Dynamic registration = context.addServlet("app", servlet);
    registration.setAsyncSupported(true);
    registration.addMapping(SERVLET + "/*");
  }
}
