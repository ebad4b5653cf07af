#!/usr/bin/env bash
# Tomcat 11.0.24, Jetty 12.1.5 and Undertow 2.3.23: how an asynchronous request ends that goes wrong.
#
# The guess: whatever happens, a listener of an AsyncContext hears onComplete exactly once, at the end (Servlet 6.1,
# AsyncListener: "completed"), behind the error page if there is one; and a servlet that throws is answered with 500.
# Seen, a case a line, with the events of the listener and the error page in their order:
#   senderror      the request is dispatched, and that pass calls sendError(503): Tomcat calls onComplete twice, the
#                  first time before the error page, and onError between
#   throw          the servlet throws after startAsync: Tomcat calls onError and never onComplete
#   completethrow  it throws after complete(): Jetty and Undertow answer 200
#   dispatchthrow  it throws after dispatch(): Jetty runs the dispatched pass and answers 200, Tomcat does not run it
# Why it matters here: a permit of a limit at the same time is given back at the end of a request, once, and a failed
# login is counted by its status. Weir takes the first of onComplete and onError, and gives a permit back once only.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

cat >Ends.java <<'JAVA'
import io.undertow.Undertow;
import io.undertow.servlet.Servlets;
import io.undertow.servlet.api.DeploymentManager;
import io.undertow.servlet.util.ImmediateInstanceFactory;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.logging.LogManager;
import org.apache.catalina.Context;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.descriptor.web.ErrorPage;
import org.eclipse.jetty.ee10.servlet.ErrorPageErrorHandler;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

public class Ends {
  static final List<String> EVENTS = Collections.synchronizedList(new ArrayList<>());
  static final int[] ERRORS = {500, 503};

  static final class Listener implements AsyncListener {
    public void onComplete(AsyncEvent event) {
      EVENTS.add("onComplete");
    }

    public void onTimeout(AsyncEvent event) {
      EVENTS.add("onTimeout");
    }

    public void onError(AsyncEvent event) {
      EVENTS.add("onError");
    }

    public void onStartAsync(AsyncEvent event) {
      EVENTS.add("onStartAsync");
    }
  }

  static final class Site extends HttpServlet {
    @Override
    protected void service(HttpServletRequest request, HttpServletResponse response)
        throws ServletException, IOException {
      String path = request.getPathInfo();
      if (path.equals("/error")) {
        EVENTS.add("page");
        return;
      }
      if (request.getDispatcherType() == DispatcherType.ASYNC) {
        EVENTS.add("dispatched");
        if (path.equals("/senderror")) {
          response.sendError(503);
        }
        return;
      }
      AsyncContext context = request.startAsync();
      context.setTimeout(60_000);
      context.addListener(new Listener());
      if (path.equals("/senderror") || path.equals("/dispatchthrow")) {
        context.dispatch();
      } else if (path.equals("/completethrow")) {
        context.complete();
      }
      if (path.endsWith("throw")) {
        throw new ServletException("thrown");
      }
    }
  }

  static int tomcat() throws Exception {
    Tomcat tomcat = new Tomcat();
    String folder = Path.of("tomcat").toAbsolutePath().toString();
    tomcat.setBaseDir(folder);
    Connector connector = new Connector();
    connector.setPort(0);
    connector.setProperty("address", "127.0.0.1");
    tomcat.setConnector(connector);
    Context context = tomcat.addContext("", Path.of(".").toAbsolutePath().toString());
    Tomcat.addServlet(context, "site", new Site()).setAsyncSupported(true);
    context.addServletMappingDecoded("/*", "site");
    for (int status : ERRORS) {
      ErrorPage page = new ErrorPage();
      page.setErrorCode(status);
      page.setLocation("/error");
      context.addErrorPage(page);
    }
    tomcat.start();
    return connector.getLocalPort();
  }

  static int jetty() throws Exception {
    Server jetty = new Server();
    ServerConnector connector = new ServerConnector(jetty);
    connector.setHost("127.0.0.1");
    jetty.addConnector(connector);
    ServletContextHandler context = new ServletContextHandler("/");
    ServletHolder site = new ServletHolder(new Site());
    site.setAsyncSupported(true);
    context.addServlet(site, "/*");
    ErrorPageErrorHandler pages = new ErrorPageErrorHandler();
    for (int status : ERRORS) {
      pages.addErrorPage(status, "/error");
    }
    context.setErrorHandler(pages);
    jetty.setHandler(context);
    jetty.start();
    return connector.getLocalPort();
  }

  static int undertow() throws Exception {
    var info =
        Servlets.deployment()
            .setClassLoader(Ends.class.getClassLoader())
            .setContextPath("/")
            .setDeploymentName("site")
            .addServlet(
                Servlets.servlet("site", Site.class, new ImmediateInstanceFactory<>(new Site()))
                    .setAsyncSupported(true)
                    .addMapping("/*"));
    for (int status : ERRORS) {
      info.addErrorPage(Servlets.errorPage("/error", status));
    }
    DeploymentManager deployment = Servlets.newContainer().addDeployment(info);
    deployment.deploy();
    Undertow undertow =
        Undertow.builder().addHttpListener(0, "127.0.0.1", deployment.start()).build();
    undertow.start();
    return ((InetSocketAddress) undertow.getListenerInfo().get(0).getAddress()).getPort();
  }

  static String status(int port, String path) throws IOException {
    try (Socket client = new Socket(InetAddress.getLoopbackAddress(), port)) {
      String head = "GET " + path + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
      client.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
      byte[] answer = client.getInputStream().readAllBytes();
      return new String(answer, StandardCharsets.ISO_8859_1).substring(9, 12);
    }
  }

  public static void main(String[] none) throws Exception {
    LogManager.getLogManager().reset();
    Map<String, Integer> ports = new LinkedHashMap<>();
    ports.put("Tomcat", tomcat());
    ports.put("Jetty", jetty());
    ports.put("Undertow", undertow());
    for (String path : List.of("/senderror", "/throw", "/completethrow", "/dispatchthrow")) {
      for (Map.Entry<String, Integer> each : ports.entrySet()) {
        EVENTS.clear();
        String status = status(each.getValue(), path);
        Thread.sleep(1_000); // An event may come behind the answer.
        System.out.println(
            path.substring(1) + " " + each.getKey() + " " + status + " " + String.join(",", EVENTS));
      }
    }
    System.exit(0);
  }
}
JAVA
cat >pom.xml <<'XML'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.apache.tomcat.embed</groupId><artifactId>tomcat-embed-core</artifactId><version>11.0.24</version>
    </dependency>
    <dependency>
      <groupId>org.eclipse.jetty.ee10</groupId><artifactId>jetty-ee10-servlet</artifactId><version>12.1.5</version>
    </dependency>
    <dependency>
      <groupId>io.undertow</groupId><artifactId>undertow-servlet</artifactId><version>2.3.23.Final</version>
    </dependency>
  </dependencies>
</project>
XML
mvn -q -B dependency:build-classpath -Dmdep.outputFile=path >/dev/null
javac -cp "$(cat path)" -d classes Ends.java 2>/dev/null
seen=$(java -cp "classes:$(cat path)" Ends 2>/dev/null)
printf '%s\n' "$seen"
expected='senderror Tomcat 503 dispatched,onComplete,page,onError,onComplete
senderror Jetty 503 dispatched,page,onComplete
senderror Undertow 503 dispatched,page,onComplete
throw Tomcat 500 page,onError
throw Jetty 500 onError,page,onComplete
throw Undertow 500 onError,onComplete
completethrow Tomcat 500 page,onComplete
completethrow Jetty 200 onError,onComplete
completethrow Undertow 200 onComplete
dispatchthrow Tomcat 500 page,onError,onComplete
dispatchthrow Jetty 200 onError,dispatched,onComplete
dispatchthrow Undertow 500 onError,dispatched,onComplete'
[ "$seen" = "$expected" ] || { echo "changed" >&2; exit 1; }
