package dev.weir.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class WaitingBodyTest {
  private static final int PART = 8192;

  private final WaitingBody.Total total = new WaitingBody.Total(4 * WaitingBody.MOST_BYTES);

  private static int parts(WaitingBody body, int bytes) {
    int parts = 1;
    while (body.add(bytes)) {
      parts++;
    }
    return parts;
  }

  @Test
  void oneRequest_isReadUpToItsBound() {
    int parts = parts(new WaitingBody(total), PART);
    assertThat((long) parts * PART).isBetween(1L << 20, WaitingBody.MOST_BYTES);
    assertThat(total.held())
        .isBetween(WaitingBody.MOST_BYTES, WaitingBody.MOST_BYTES + PART + WaitingBody.PART_BYTES);
  }

  @Test
  void emptyParts_countToo() {
    assertThat(parts(new WaitingBody(total), 0))
        .isEqualTo((int) (WaitingBody.MOST_BYTES / WaitingBody.PART_BYTES));
  }

  @Test
  void manyRequests_shareABound() {
    List<WaitingBody> bodies = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      WaitingBody body = new WaitingBody(total);
      parts(body, PART);
      bodies.add(body);
    }
    assertThat(total.held())
        .as("beyond the bound each of them has one part")
        .isLessThan(4 * WaitingBody.MOST_BYTES + 101 * (PART + WaitingBody.PART_BYTES));
    assertThat(new WaitingBody(total).add(1)).isFalse();
    bodies.forEach(WaitingBody::release);
    bodies.forEach(WaitingBody::release);
    assertThat(new WaitingBody(total).add(1)).isTrue();
  }

  @Test
  void released_countsNoMore() {
    WaitingBody body = new WaitingBody(total);
    body.add(PART);
    body.release();
    assertThat(body.add(PART)).isTrue();
    assertThat(total.held()).isZero();
  }
}
