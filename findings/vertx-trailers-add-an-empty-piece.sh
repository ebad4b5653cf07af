#!/usr/bin/env bash
# Vert.x 5.0.7 and 5.2.3: a chunked request body with a trailer field has one piece more, and it is empty.
#
# The guess: the handler of a request receives the pieces of its body, each with at least one byte; trailer fields are
# no part of the body, so they change nothing (RFC 9112, 7.1.2).
# Seen: with a trailer the handler is called once more, with a buffer of 0 bytes; without one it is not.
# Why it matters here: a server that takes a piece as long as the announced length for the whole body takes the empty
# one for it, because a chunked body announces none. Weir lost such bodies: "body: empty", always.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

cat >Pieces.java <<'JAVA'
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;

public class Pieces {
  public static void main(String[] none) throws Exception {
    Vertx vertx = Vertx.vertx();
    LinkedBlockingQueue<String> seen = new LinkedBlockingQueue<>();
    HttpServer server =
        vertx
            .createHttpServer()
            .requestHandler(
                request -> {
                  List<Integer> lengths = new ArrayList<>();
                  request.handler(piece -> lengths.add(piece.length()));
                  request.endHandler(
                      end -> {
                        seen.add(lengths.toString());
                        request.response().end();
                      });
                })
            .listen(0, "127.0.0.1")
            .toCompletionStage()
            .toCompletableFuture()
            .get();
    for (String trailer : List.of("", "X-Sum: 1\r\n")) {
      try (Socket client = new Socket(InetAddress.getLoopbackAddress(), server.actualPort())) {
        String request =
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n"
                + trailer
                + "\r\n";
        client.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
        System.out.println((trailer.isEmpty() ? "without: " : "with: ") + seen.take());
      }
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
  javac -cp "$(cat path)" -d "$version" Pieces.java
  seen=$(java -cp "$version:$(cat path)" Pieces 2>/dev/null)
  printf 'Vert.x %s\n%s\n' "$version" "$seen"
  [ "$seen" = $'without: [5]\nwith: [5, 0]' ] || { echo "changed" >&2; exit 1; }
done
