#!/usr/bin/env bash
# Vert.x 5.0.7 and 5.2.3: answers that are given while a server shuts down do not say that their connection closes.
#
# The guess: after HttpServer.shutdown(timeout), an answer to a request in flight has "Connection: close", as a server
# should send in the last answer of a connection that it will close (RFC 9112, 9.6).
# Seen: it has none; the connection is closed behind it all the same.
# Why it matters here: a client that keeps its connections sends its next request into the one that is being closed,
# and then cannot know whether it was processed. A limiter's refusal invites just that: a retry. Weir sets the field
# itself, from the first moment of its stop.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

cat >Shutdown.java <<'JAVA'
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

public class Shutdown {
  public static void main(String[] none) throws Exception {
    Vertx vertx = Vertx.vertx();
    CompletableFuture<HttpServerRequest> arrived = new CompletableFuture<>();
    CountDownLatch told = new CountDownLatch(1);
    HttpServer server =
        vertx
            .createHttpServer()
            .connectionHandler(
                connection -> connection.shutdownHandler(begun -> told.countDown()))
            .requestHandler(arrived::complete)
            .listen(0, "127.0.0.1")
            .toCompletionStage()
            .toCompletableFuture()
            .get();
    try (Socket client = new Socket(InetAddress.getLoopbackAddress(), server.actualPort())) {
      client
          .getOutputStream()
          .write("GET / HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      HttpServerRequest request = arrived.get();
      server.shutdown(20, TimeUnit.SECONDS);
      told.await(); // The connection has heard of it.
      vertx.runOnContext(later -> request.response().end("done"));
      // Read up to the end: the connection is closed.
      String answer = new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      System.out.println(answer.contains("done") ? "answered, closed" : "not answered");
      String head = answer.toLowerCase(Locale.ROOT);
      System.out.println(head.contains("connection: close") ? "says close" : "does not say close");
    }
    vertx.close();
  }
}
JAVA

for version in 5.0.7 5.2.3; do
  cat >pom.xml <<XML
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>io.vertx</groupId><artifactId>vertx-core</artifactId><version>$version</version></dependency>
  </dependencies>
</project>
XML
  mvn -q -B dependency:build-classpath -Dmdep.outputFile=path >/dev/null
  mkdir -p "$version"
  javac -cp "$(cat path)" -d "$version" Shutdown.java
  seen=$(java -cp "$version:$(cat path)" Shutdown 2>/dev/null)
  printf 'Vert.x %s\n%s\n' "$version" "$seen"
  [ "$seen" = $'answered, closed\ndoes not say close' ] || { echo "changed" >&2; exit 1; }
done
