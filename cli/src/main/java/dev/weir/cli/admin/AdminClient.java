package dev.weir.cli.admin;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.weir.cli.Main;
import dev.weir.cli.command.CommandFailure;
import dev.weir.cli.command.JsonObject;
import dev.weir.cli.command.ServerClient;
import dev.weir.cli.command.Version;
import dev.weir.config.Json;
import dev.weir.rules.ShownText;
import dev.weir.rules.ValueErrors;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A client of the administration interface of a server. Every answer other than a success is a
 * {@link CommandFailure} in the server's own words, unless the caller wants that status.
 */
public final class AdminClient {
  static final String ROOT = "/admin/v1";

  private static final int MAX_SHOWN = 2_000;

  /** The statuses by which a server refuses a request that it has understood. */
  private static final Set<Integer> REFUSALS = Set.of(400, 404, 409, 412, 413, 422, 428);

  private final ServerClient client;
  private final Duration timeout;
  private final String tokenSource;
  private final String root;

  /**
   * @param tokenSource the flag or the variable from which the token is, with its file if it has
   *     one
   */
  AdminClient(ServerClient client, Duration timeout, String tokenSource) {
    this.client = client;
    this.timeout = timeout;
    this.tokenSource = tokenSource;
    root = client.url().getPath().replaceFirst("/+$", "") + ROOT;
  }

  /**
   * An answer.
   *
   * @param etag the header field as it was sent, or empty
   */
  public record Answer(int status, String etag, String body) {
    public JsonObject json() {
      return JsonObject.read(body);
    }
  }

  /** Returns the address of a page beside the interface, on the same server. */
  URI page(String path, String fragment) {
    String before = root.substring(0, root.length() - ROOT.length());
    return client.url().resolve(before + path + "#" + fragment);
  }

  /** Returns an answer of status 200. */
  public Answer get(String path) throws InterruptedException {
    return call("GET", path, Map.of(), "", Set.of());
  }

  /**
   * Returns the answer to a request.
   *
   * @param fields the header fields beside the token
   * @param body the JSON of the request, or empty for none
   * @param wanted the statuses that are not failures, beside those of success
   */
  public Answer call(
      String method, String path, Map<String, String> fields, String body, Set<Integer> wanted)
      throws InterruptedException {
    HttpRequest.Builder request = request(path);
    if (!body.isEmpty()) {
      request.header("Content-Type", "application/json");
    }
    fields.forEach(request::header);
    request.method(
        method,
        body.isEmpty()
            ? HttpRequest.BodyPublishers.noBody()
            : HttpRequest.BodyPublishers.ofString(body, UTF_8));
    return answer(request, wanted);
  }

  private Answer answer(HttpRequest.Builder request, Set<Integer> wanted)
      throws InterruptedException {
    HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString(UTF_8));
    Answer answer =
        new Answer(
            response.statusCode(),
            response.headers().firstValue("ETag").orElse(""),
            response.body());
    boolean success = answer.status() >= 200 && answer.status() < 300;
    if (success || wanted.contains(answer.status())) {
      requireAdmin(answer);
      return answer;
    }
    throw failure(answer);
  }

  /** Posts bytes and returns the object of the answer. */
  public JsonObject post(String path, String type, byte[] body) throws InterruptedException {
    HttpRequest.Builder request =
        request(path)
            .header("Content-Type", type)
            .POST(HttpRequest.BodyPublishers.ofByteArray(body));
    return answer(request, Set.of()).json();
  }

  /** Returns the body of an answer of status 200 as a stream, which the caller closes. */
  public InputStream stream(String path) throws InterruptedException, IOException {
    HttpResponse<InputStream> response =
        client.send(request(path).GET(), HttpResponse.BodyHandlers.ofInputStream());
    if (response.statusCode() == 200) {
      return response.body();
    }
    try (InputStream body = response.body()) {
      throw failure(
          new Answer(response.statusCode(), "", new String(body.readNBytes(1 << 20), UTF_8)));
    }
  }

  /** Returns a failure with the reason for which a stream ended early. */
  public CommandFailure cut(IOException e) {
    return client.noAnswer(e);
  }

  /** Returns the longest time that an answer may take, in whole seconds. */
  public long timeoutSeconds() {
    return timeout.toSeconds();
  }

  private HttpRequest.Builder request(String path) {
    // A request may wait for other servers as long as for an answer; the time for the answer itself
    // comes on top.
    boolean waits = path.contains("wait=applied");
    return client
        .request(root + path, waits ? timeout.multipliedBy(2) : timeout)
        .header("User-Agent", "weir-cli/" + Version.number())
        .header("Accept", "application/json, application/problem+json, */*;q=0.5");
  }

  /**
   * Fails if the answer is not from an administration interface: another server's page may have any
   * status.
   */
  private void requireAdmin(Answer answer) {
    if (answer.status() == 404 && !isProblem(answer.body())) {
      throw notAdmin(answer);
    }
  }

  private CommandFailure failure(Answer answer) throws InterruptedException {
    if (!isProblem(answer.body()) || (answer.status() == 404 && !isAdmin())) {
      return notAdmin(answer);
    }
    JsonObject problem = answer.json();
    StringBuilder text = new StringBuilder();
    if (answer.status() == 401) {
      text.append(
          ValueErrors.line(
              tokenSource,
              "not accepted by the server",
              "a token of 'weir tokens create' that has neither expired nor been revoked"));
    } else {
      text.append(detail(problem));
    }
    for (String line : Problems.lines(problem)) {
      text.append(System.lineSeparator()).append(line);
    }
    return new CommandFailure(
        REFUSALS.contains(answer.status()) ? Main.FOUND : Main.FAILED, text.toString());
  }

  /** Returns whether the server has the list of paths, which every administration interface has. */
  private boolean isAdmin() throws InterruptedException {
    HttpResponse<Void> index =
        client.send(request("").GET(), HttpResponse.BodyHandlers.discarding());
    return index.statusCode() != 404;
  }

  private CommandFailure notAdmin(Answer answer) {
    String body = ShownText.plain(ShownText.cut(answer.body().strip(), 200));
    return new CommandFailure(
        client.url()
            + ": answered "
            + answer.status()
            + (body.isEmpty() ? "" : " " + body)
            + "; this is no administration interface"
            + " (expected: --server with the --admin-port of 'weir serve')");
  }

  private static boolean isProblem(String body) {
    try {
      Json.Members members = Json.readWithNulls(body);
      return members.has("title") || members.has("detail");
    } catch (IOException e) {
      return false;
    }
  }

  static String detail(JsonObject problem) {
    String detail = problem.text("detail");
    return ShownText.plain(
        ShownText.cut(detail.isEmpty() ? problem.text("title") : detail, MAX_SHOWN));
  }

  /** The lines of a problem document: each names a problem and its place. */
  public static final class Problems {
    private Problems() {}

    public static List<String> lines(JsonObject problem) {
      return problem.list("problems").stream().map(Problems::line).toList();
    }

    private static String line(Object problem) {
      if (!(problem instanceof Map<?, ?>)) {
        return ShownText.plain(String.valueOf(problem));
      }
      JsonObject at = JsonObject.of(problem);
      StringBuilder line = new StringBuilder(at.text("file"));
      for (String number : List.of("line", "column")) {
        if (at.has(number)) {
          line.append(line.length() == 0 ? number + " " : ":").append(at.number(number));
        }
      }
      String message = at.has("message") ? at.text("message") : at.text("detail");
      boolean warning = at.has("severity") && at.text("severity").equals("warning");
      String before = warning ? ": warning: " : " ";
      return ShownText.plain(
          line.append(line.length() == 0 ? "" : before).append(message).toString());
    }
  }
}
