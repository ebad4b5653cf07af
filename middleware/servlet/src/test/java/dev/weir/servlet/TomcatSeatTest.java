package dev.weir.servlet;

import org.junit.jupiter.api.Test;

class TomcatSeatTest extends SeatContract {
  @Override
  Container start(Site site) {
    return TomcatContainer.start(site);
  }

  @Test
  void containersOwnRequestBecomesAsynchronous_isNoticed() {
    assertOwnRequestIsNoticed();
  }
}
