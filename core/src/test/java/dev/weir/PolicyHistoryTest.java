package dev.weir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class PolicyHistoryTest {
  private static final long W = 1_000_000;

  /** The time for which the states of a window of one millisecond can matter. */
  private static final long MEMORY = 2 * W;

  private final Budget whole = new Budget(1_000, 1 << 20);
  private final PolicyHistory history =
      new PolicyHistory("rule", whole, new Calendar(), Meter.LONG_AGO);

  private static Policy policy(Algorithm algorithm, long permits, long windowNanos) {
    return Policy.builder(new Quota(permits, windowNanos)).algorithm(algorithm).build();
  }

  private static Policy log(long permits) {
    return policy(Algorithm.SLIDING_WINDOW_LOG, permits, W);
  }

  private static Policy bucket(long permits) {
    return policy(Algorithm.TOKEN_BUCKET, permits, W);
  }

  /** Puts a key into a table, at a time. */
  private static void put(Table table, long nowNanos) {
    Segment segment = table.segment(7);
    assertThat(table.budget().take(1, segment.bytesToAdd())).isTrue();
    segment.addFresh(7, nowNanos);
    segment.wrote(table, nowNanos);
  }

  @Test
  void otherLimit_keepsTheTable() {
    history.putInForce(log(10), 0);
    Table table = history.tables()[0].table();
    history.putInForce(log(20), 1);

    assertThat(history.tables()).hasSize(1);
    assertThat(history.tables()[0].table()).isSameAs(table);
    assertThat(history.tables()[0].last().quota().permits()).isEqualTo(20);
  }

  @Test
  void smallerLimit_theLargerOneIsRememberedForAsLongAsItMatters() {
    history.putInForce(log(20), 0);
    history.putInForce(log(10), 100);
    ShapeTable table = history.tables()[0];

    assertThat(table.widest(100 + MEMORY).quota().permits()).isEqualTo(20);
    assertThat(table.widest(101 + MEMORY).quota().permits()).isEqualTo(10);
  }

  @Test
  void otherShape_theOldTableIsAWitnessForAsLongAsItMatters() {
    history.putInForce(log(10), 0);
    Table old = history.tables()[0].table();
    history.putInForce(bucket(10), 100);
    assertThat(history.tables()).hasSize(2);

    assertThat(history.expire(100 + MEMORY)).isFalse();
    assertThat(history.tables()).extracting(ShapeTable::table).contains(old);
    assertThat(history.expire(101 + MEMORY)).isFalse();
    assertThat(history.tables()).hasSize(1);
    assertThat(history.tables()[0].table().shape.algorithm()).isEqualTo(Algorithm.TOKEN_BUCKET);
  }

  @Test
  void witnessThatStillRecords_mattersFromItsLastRecordOn_andLeavesNothingBehind() {
    history.putInForce(log(10), 0);
    Table old = history.tables()[0].table();
    history.putInForce(bucket(10), 100);
    put(old, 500);
    assertThat(whole.keys()).isEqualTo(1);

    history.expire(500 + MEMORY);
    assertThat(history.tables()).hasSize(2);
    history.expire(501 + MEMORY);
    assertThat(history.tables()).hasSize(1);
    assertThat(whole.keys()).isZero();
    assertThat(history.verify()).containsExactly(0, whole.bytes());
  }

  @Test
  void shapeThatComesBack_findsItsTable() {
    history.putInForce(log(10), 0);
    Table table = history.tables()[0].table();
    history.putInForce(bucket(10), 100);
    history.putInForce(log(10), 200);

    assertThat(history.tables()).hasSize(2);
    assertThat(history.tables()[0].table()).isSameAs(table);
    history.expire(201 + bucket(10).shape().memoryNanos());
    assertThat(history.tables()).extracting(ShapeTable::table).containsExactly(table);
  }

  @Test
  void tooManyShapes_areRefused_butARequestUnderWayIsNot() {
    for (int i = 0; i < PolicyHistory.MAX_TABLES; i++) {
      history.putInForce(policy(Algorithm.SLIDING_WINDOW_LOG, 10, W + i), 0);
    }
    assertThatThrownBy(() -> history.putInForce(bucket(10), 0))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage(
            "rule: changed its algorithm or window 8 times within its windows"
                + " (expected: at most 7)");
    assertThat(history.tables()).hasSize(PolicyHistory.MAX_TABLES);

    history.reopen(bucket(10), 0);
    assertThat(history.tables()).hasSize(PolicyHistory.MAX_TABLES + 1);
  }

  @Test
  void retiredName_isOverWhenNothingMattersAnyMore() {
    history.putInForce(log(10), 0);
    history.retire(100);
    history.retire(900);

    assertThat(history.expire(100 + MEMORY)).isFalse();
    assertThat(history.expire(101 + MEMORY)).isTrue();
    assertThat(history.tables()).isEmpty();
  }
}
