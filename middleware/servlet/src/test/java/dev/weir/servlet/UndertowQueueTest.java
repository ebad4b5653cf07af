package dev.weir.servlet;

import org.junit.jupiter.api.Tag;

@Tag("matrix")
class UndertowQueueTest extends QueueContract {
  @Override
  Container start(Site site) {
    return UndertowContainer.start(site);
  }
}
