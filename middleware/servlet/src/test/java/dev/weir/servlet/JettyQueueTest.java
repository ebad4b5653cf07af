package dev.weir.servlet;

class JettyQueueTest extends QueueContract {
  @Override
  Container start(Site site) {
    return JettyContainer.start(site);
  }
}
