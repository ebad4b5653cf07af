package dev.weir.servlet;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("matrix")
class JettySeatTest extends SeatContract {
  @Override
  Container start(Site site) {
    return JettyContainer.start(site);
  }

  @Test
  void containersOwnRequestBecomesAsynchronous_isNoticed() {
    assertOwnRequestIsNoticed();
  }
}
