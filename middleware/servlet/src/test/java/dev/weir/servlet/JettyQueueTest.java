package dev.weir.servlet;

import org.junit.jupiter.api.Tag;

@Tag("matrix")
class JettyQueueTest extends QueueContract {
  @Override
  Container start(Site site) {
    return JettyContainer.start(site);
  }
}
