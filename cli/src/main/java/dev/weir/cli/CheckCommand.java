package dev.weir.cli;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.weir.rules.Entry;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

@Command(
    name = "check",
    mixinStandardHelpOptions = true,
    description = {
      "Asks a running server for a decision, and is charged for it.",
      "",
      "Exit status: 0 if allowed, 1 if denied, 3 if the server gave no decision.",
      ""
    })
final class CheckCommand implements Callable<Integer> {
  private static final List<String> SHOWN = List.of("RateLimit-Policy", "RateLimit", "Retry-After");

  @Option(
      names = "--url",
      defaultValue = "http://127.0.0.1:8080",
      description = "The server. Default: ${DEFAULT-VALUE}")
  private URI url = URI.create("http://127.0.0.1:8080");

  @Option(names = "--domain", required = true, description = "The request's domain.")
  private String domain = "";

  @Option(
      names = "--descriptor",
      required = true,
      paramLabel = "k=v,k2=v2",
      description = "A descriptor's entries, in order. Several: all are decided as one request.")
  private List<String> descriptors = List.of();

  @Option(
      names = "--permits",
      defaultValue = "1",
      paramLabel = "N",
      description = "What the request costs; 0 looks without charging. Default: ${DEFAULT-VALUE}")
  private long permits = 1;

  @Option(
      names = "--timeout",
      defaultValue = "5",
      paramLabel = "SECONDS",
      description = "How long to wait for the answer. Default: ${DEFAULT-VALUE}")
  private int timeoutSeconds = 5;

  @Option(names = "--json", description = "Show the answer's body and nothing else.")
  private boolean json;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws InterruptedException, IOException {
    HttpResponse<String> response = ask(body());
    boolean allowed = response.statusCode() == 200;
    if (!allowed && response.statusCode() != 429) {
      throw new Failure(
          url + ": answered " + response.statusCode() + " " + response.body().strip());
    }
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      out.println(response.body());
    } else {
      out.println(allowed ? "ALLOWED" : "DENIED");
      for (String name : SHOWN) {
        response.headers().firstValue(name).ifPresent(value -> out.println(name + ": " + value));
      }
    }
    return allowed ? 0 : Main.FOUND;
  }

  private HttpResponse<String> ask(String body) throws InterruptedException {
    Duration timeout = Duration.ofSeconds(timeoutSeconds);
    try {
      return HttpClient.newBuilder()
          .connectTimeout(timeout)
          .build()
          .send(
              HttpRequest.newBuilder(url.resolve("/v1/check"))
                  .timeout(timeout)
                  .header("Content-Type", "application/json")
                  .POST(HttpRequest.BodyPublishers.ofString(body))
                  .build(),
              HttpResponse.BodyHandlers.ofString());
    } catch (IOException e) {
      String why = e.getMessage() == null ? "no connection" : e.getMessage();
      throw new Failure(url + ": " + why + " (expected: a running 'weir serve')", e);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(
          spec.commandLine(), "--url: " + url + " (expected: http://host:port)", e);
    }
  }

  private String body() throws IOException {
    StringWriter text = new StringWriter();
    try (JsonGenerator out = new JsonFactory().createGenerator(text)) {
      out.writeStartObject();
      out.writeStringField("domain", domain);
      out.writeArrayFieldStart("descriptors");
      for (String descriptor : descriptors) {
        out.writeStartObject();
        out.writeArrayFieldStart("entries");
        for (Entry entry : entries(descriptor)) {
          out.writeStartObject();
          out.writeStringField("key", entry.key());
          out.writeStringField("value", entry.value());
          out.writeEndObject();
        }
        out.writeEndArray();
        out.writeNumberField("permits", permits);
        out.writeEndObject();
      }
      out.writeEndArray();
      out.writeEndObject();
    }
    return text.toString();
  }

  private List<Entry> entries(String descriptor) {
    try {
      return Text.entries(descriptor);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), "--" + e.getMessage(), e);
    }
  }
}
