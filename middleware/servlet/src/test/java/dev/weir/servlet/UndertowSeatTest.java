package dev.weir.servlet;

import org.junit.jupiter.api.Tag;

@Tag("matrix")
class UndertowSeatTest extends SeatContract {
  @Override
  Container start(Site site) {
    return UndertowContainer.start(site);
  }
}
