package dev.weir.cli;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.weir.cli.command.CommandFailure;
import dev.weir.cli.command.ServerClient;
import dev.weir.cli.command.ServerFlags;
import dev.weir.cli.command.Text;
import dev.weir.rules.Entry;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

@Command(
    name = "check",
    mixinStandardHelpOptions = true,
    description = {
      "Asks a running server for a decision; the permits are charged.",
      "",
      "Exit status: 0 if allowed, 1 if refused, 3 if the server gave no decision.",
      ""
    })
final class CheckCommand implements Callable<Integer> {
  private static final List<String> SHOWN = List.of("RateLimit-Policy", "RateLimit", "Retry-After");

  @Mixin private final ServerFlags server = new ServerFlags();

  @Option(names = "--domain", required = true, description = "The request's domain.")
  private String domain = "";

  @Option(
      names = "--descriptor",
      required = true,
      paramLabel = "k=v,k2=v2",
      description =
          "A descriptor's entries, in order. May be given several times: all"
              + " are decided as one request.")
  private List<String> descriptors = List.of();

  @Option(
      names = "--permits",
      paramLabel = "N",
      description =
          "Permits that the request asks for; 0 peeks without charging."
              + " Default: ${DEFAULT-VALUE}")
  private long permits = 1;

  @Option(names = "--json", description = "Show only the body of the answer.")
  private boolean json;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws InterruptedException, IOException {
    HttpResponse<String> response = post(server.client(), body());
    boolean allowed = response.statusCode() == 200;
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      out.println(response.body());
    } else {
      out.println(allowed ? "ALLOWED" + because(response.body()) : "DENIED");
      for (String name : SHOWN) {
        response.headers().firstValue(name).ifPresent(value -> out.println(name + ": " + value));
      }
    }
    return allowed ? 0 : Main.FOUND;
  }

  /** Sends the request and returns the answer, which is a decision. */
  private static HttpResponse<String> post(ServerClient client, String body)
      throws InterruptedException {
    HttpResponse<String> response =
        client.send(
            client
                .request("/v1/check")
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body)),
            HttpResponse.BodyHandlers.ofString());
    int status = response.statusCode();
    if (status != 200 && status != 429) {
      throw new CommandFailure(
          client.url() + ": " + ServerFlags.refusal(client, status, response.body()));
    }
    return response;
  }

  /** Returns the reason for which a request passes, if that is not the usual reason. */
  private static String because(String body) {
    String reason = "";
    String cause = "";
    String detail = "";
    try (JsonParser answer = new JsonFactory().createParser(body)) {
      answer.nextToken();
      while (answer.nextToken() == JsonToken.FIELD_NAME) {
        String field = answer.currentName();
        answer.nextToken();
        if (field.equals("reason")) {
          reason = answer.getText();
        } else if (field.equals("cause")) {
          cause = ": " + answer.getText();
        } else if (field.equals("detail")) {
          detail = answer.getText();
        } else {
          answer.skipChildren();
        }
      }
    } catch (IOException e) {
      return ""; // The status decides; if the body cannot be read, only the reason is missing.
    }
    String more = detail.isEmpty() ? "" : ": " + detail;
    return reason.isEmpty() || reason.equals("WITHIN_LIMIT")
        ? ""
        : " (" + reason + cause + ")" + more;
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
