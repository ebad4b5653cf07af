package dev.weir.bench.wire;

import dev.weir.MemoryStore;
import dev.weir.Ticker;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.http.RequestLimiter;
import dev.weir.rules.RuleSet;
import dev.weir.rules.Rules;
import dev.weir.servlet.RateLimitFilter;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.apache.catalina.Context;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;

/**
 * A Tomcat that serves the same page three times: under {@value #PLAIN} without a limit, under
 * {@value #LIMITED} behind a filter with two limits, by address and by user, that are never
 * reached, and under {@value #QUIET} behind the same filter that adds no header fields.
 */
final class TomcatServer {
  static final String PLAIN = "/plain";
  static final String LIMITED = "/limited";
  static final String QUIET = "/limited-without-fields";

  private static final byte[] PAGE = "{\"answer\": 42}\n".getBytes(StandardCharsets.UTF_8);

  private static final String RULES =
      """
      domain: shop
      descriptors:
        - key: ip
          rate_limit: { requests_per_unit: 4000000000, unit: second, algorithm: token-bucket }
        - key: user
          rate_limit: { requests_per_unit: 4000000000, unit: second, algorithm: token-bucket }
      """;

  private TomcatServer() {}

  private static final class Page extends HttpServlet {
    private static final long serialVersionUID = 1;

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response)
        throws IOException {
      response.setContentType("application/json");
      response.setContentLength(PAGE.length);
      response.getOutputStream().write(PAGE);
    }
  }

  /** Prints the port, and serves until it is killed. */
  public static void main(String[] arguments) throws Exception {
    Path folder = Files.createTempDirectory("weir-tomcat");
    Tomcat tomcat = new Tomcat();
    tomcat.setBaseDir(folder.toString());
    Connector connector = new Connector();
    connector.setPort(0);
    connector.setProperty("address", "127.0.0.1");
    connector.setProperty("maxKeepAliveRequests", "-1");
    tomcat.setConnector(connector);
    context(tomcat, folder, PLAIN);
    filter(context(tomcat, folder, LIMITED), limit(true));
    filter(context(tomcat, folder, QUIET), limit(false));
    tomcat.start();
    System.out.println("ready " + connector.getLocalPort());
    tomcat.getServer().await();
  }

  private static Context context(Tomcat tomcat, Path folder, String path) {
    Context context = tomcat.addContext(path, folder.toString());
    Tomcat.addServlet(context, "page", new Page()).setAsyncSupported(true);
    context.addServletMappingDecoded("/*", "page");
    return context;
  }

  private static void filter(Context context, Filter filter) {
    FilterDef definition = new FilterDef();
    definition.setFilterName("limit");
    definition.setFilter(filter);
    definition.setAsyncSupported("true");
    context.addFilterDef(definition);
    FilterMap map = new FilterMap();
    map.setFilterName("limit");
    map.addURLPattern("/*");
    context.addFilterMap(map);
  }

  private static Filter limit(boolean fields) {
    Engine engine = Engine.create(new MemoryStore(), Ticker.system(), EngineSettings.DEFAULTS);
    RuleSet rules = Objects.requireNonNull(Rules.parse("rules.yaml", RULES).ruleSet());
    long unused = engine.apply(rules);
    return RateLimitFilter.builder(
            RequestLimiter.builder(engine)
                .domain("shop")
                .descriptor("ip={ip}")
                .descriptor("user={header:X-User}")
                .fields(fields)
                .build())
        .build();
  }
}
