package dev.weir.servlet;

class UndertowTest extends ServletContract {
  @Override
  Container start(Site site) {
    return UndertowContainer.start(site);
  }
}
