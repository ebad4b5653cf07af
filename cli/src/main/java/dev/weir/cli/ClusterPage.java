package dev.weir.cli;

import java.net.http.HttpResponse;

/** Asks a member of a cluster how the cluster is. */
final class ClusterPage {
  /** Exit status: the keys of a group are not answered, or the member that was asked is not. */
  static final int UNANSWERED = 2;

  private static final String PATH = "/cluster";

  private final ServerClient client;

  ClusterPage(ServerClient client) {
    this.client = client;
  }

  /**
   * Returns the answer, as JSON.
   *
   * @throws CommandFailure if there is none, with the status {@link #UNANSWERED}; or if the server
   *     is no member
   */
  String ask() throws InterruptedException {
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
}
