package dev.weir.servlet;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.CompletableFuture;
import org.apache.coyote.http2.Http2Protocol;
import org.junit.jupiter.api.Test;

class TomcatQueueTest extends QueueContract {
  @Override
  Container start(Site site) {
    return TomcatContainer.start(site);
  }

  @Test
  void streamCancelled_leavesTheQueue() throws Exception {
    try (Container http2 =
        TomcatContainer.start(
            site(limits, new App(), new WaitingFilter()),
            (connector, context) -> connector.addUpgradeProtocol(new Http2Protocol()))) {
      HttpRequest.Builder request =
          request(http2.port(), "/app/ok", "stream").version(HttpClient.Version.HTTP_2);
      assertThat(answer(send(request)).version()).isEqualTo(HttpClient.Version.HTTP_2);
      CompletableFuture<HttpResponse<String>> waiting = send(request);
      limits.awaitWaiting(1);
      waiting.cancel(true);
      limits.awaitWaiting(0);
    }
  }
}
