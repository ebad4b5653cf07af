package dev.weir.servlet;

class UndertowQueueTest extends QueueContract {
  @Override
  Container start(Site site) {
    return UndertowContainer.start(site);
  }
}
