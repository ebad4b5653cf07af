package dev.weir.cli.cluster;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import dev.weir.cli.command.CommandFailure;
import dev.weir.cli.command.JsonObject;
import dev.weir.cli.command.ServerClient;
import dev.weir.cli.command.ServerFlags;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** A client of a member's page about its cluster, which also changes the cluster. */
final class ClusterPage {
  /**
   * The exit status if the keys of a group cannot be answered, or the member itself does not
   * answer.
   */
  static final int UNANSWERED = 2;

  /** The time for a change: the leader makes it, and may have to be elected first. */
  private static final Duration CHANGE_TIMEOUT = Duration.ofSeconds(30);

  private static final String PATH = "/cluster";

  private static final String CHANGE = "/cluster/change";

  private static final String BACKUP = "/cluster/backup";

  private final ServerClient client;

  ClusterPage(ServerClient client) {
    this.client = client;
  }

  /**
   * Returns the answer, as JSON.
   *
   * @throws CommandFailure if there is no answer, with the status {@link #UNANSWERED}; or if the
   *     server is not a member
   */
  String call() throws InterruptedException {
    HttpResponse<String> response;
    try {
      response =
          client.send(
              client.request(PATH).header("Accept", "application/json").GET(),
              HttpResponse.BodyHandlers.ofString());
    } catch (CommandFailure e) {
      throw new CommandFailure(UNANSWERED, String.valueOf(e.getMessage()));
    }
    int status = response.statusCode();
    if (status == 404) {
      throw new CommandFailure(
          client.url()
              + ": this server is no member of a cluster (expected: 'weir serve --cluster ...')");
    }
    if (status != 200) {
      throw new CommandFailure(
          client.url() + ": " + ServerFlags.refusal(client, status, response.body()));
    }
    return response.body();
  }

  /**
   * Changes the cluster.
   *
   * @param change the change as JSON
   * @return a description of what was done, in lines
   * @throws CommandFailure if it was not done, with the reason
   */
  String change(String change) throws InterruptedException {
    HttpResponse<String> response =
        client.send(
            client
                .request(CHANGE, CHANGE_TIMEOUT)
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(change)),
            HttpResponse.BodyHandlers.ofString());
    int status = response.statusCode();
    if (status == 403 || status == 409) {
      throw new CommandFailure(
          client.url() + ": " + JsonObject.read(response.body()).text("detail"));
    }
    if (status != 200) {
      throw new CommandFailure(
          client.url() + ": " + ServerFlags.refusal(client, status, response.body()));
    }
    return response.body();
  }

  /**
   * Sends a question of a backup and returns the answer.
   *
   * @throws IOException if the member cannot answer, with the reason
   * @throws CommandFailure if there is no answer
   */
  byte[] backup(byte[] question) throws IOException, InterruptedException {
    HttpResponse<byte[]> response =
        client.send(
            client
                .request(BACKUP, CHANGE_TIMEOUT)
                .header("Content-Type", "application/octet-stream")
                .POST(HttpRequest.BodyPublishers.ofByteArray(question)),
            HttpResponse.BodyHandlers.ofByteArray());
    int status = response.statusCode();
    if (status == 200) {
      return response.body();
    }
    String body = new String(response.body(), StandardCharsets.UTF_8);
    if (status == 409) {
      throw new IOException(JsonObject.read(body).text("detail"));
    }
    throw new CommandFailure(
        client.url()
            + ": "
            + (status == 403
                ? JsonObject.read(body).text("detail")
                : ServerFlags.refusal(client, status, body)));
  }

  /** Returns a text as a JSON string. */
  static String quoted(String text) {
    return '"' + new String(JsonStringEncoder.getInstance().quoteAsString(text)) + '"';
  }
}
