package dev.weir.config.internal.bytes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.weir.config.OwnLimit;
import dev.weir.config.Subject;
import dev.weir.config.SubjectRecord;
import dev.weir.config.internal.rows.Keys;
import dev.weir.testkit.Trials;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RecordCodecTest {
  private static final Subject ALICE = new Subject("shop", "user", "alice");

  @Test
  void randomRecords_areReadAsTheyWereWritten() {
    int runs = Trials.unseeded("records", 2_000);
    for (long seed = 0; seed < runs; seed++) {
      SubjectRecord record = random(new SplittableRandom(seed));
      assertThat(RecordCodec.read(ALICE, RecordCodec.write(record)))
          .as("seed %d", seed)
          .isEqualTo(record);
      assertThat(RecordCodec.version(RecordCodec.write(record))).isEqualTo(record.version());
    }
  }

  @Test
  void anyOtherBytes_areRefusedOrTheOnlyWritingOfWhatTheySay() {
    int accepted = 0;
    int runs = Trials.unseeded("bytes of records", 20_000);
    for (long seed = 0; seed < runs; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      byte[] bytes = RecordCodec.write(random(random));
      int changes = random.nextInt(3);
      for (int i = 0; i < changes; i++) {
        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
      }
      if (random.nextBoolean()) {
        bytes = Arrays.copyOf(bytes, random.nextInt(bytes.length + 4));
      }
      SubjectRecord read;
      try {
        read = RecordCodec.read(ALICE, bytes);
      } catch (IllegalArgumentException e) {
        assertThat(e).as("seed %d", seed).hasMessageContaining("(expected: ");
        continue;
      }
      accepted++;
      assertThat(RecordCodec.write(read)).as("seed %d", seed).isEqualTo(bytes);
    }
    assertThat(accepted).isPositive();
  }

  private static SubjectRecord random(SplittableRandom random) {
    List<OwnLimit> limits = new ArrayList<>();
    int count = random.nextInt(4);
    for (int i = 0; i < count; i++) {
      @Nullable Long burst = random.nextBoolean() ? null : (Long) random.nextLong(1L << 32);
      limits.add(
          new OwnLimit(
              "rule-" + i,
              random.nextLong(1L << (1 + random.nextInt(32))),
              random.nextBoolean() ? null : Duration.ofMillis(1 + random.nextLong(86_400_000)),
              burst,
              random.nextBoolean() ? null : Instant.ofEpochSecond(random.nextLong(1L << 37))));
    }
    return new SubjectRecord(
        ALICE,
        random.nextBoolean() ? "" : "gold",
        limits,
        random.nextBoolean() ? "" : "note ✓",
        random.nextLong(1L << (1 + random.nextInt(62))));
  }

  @Test
  void unknownFieldsAndParts_areRefused() {
    refused(new ByteWriter().number(1).number(4), "field: 4 (expected: 1..3;");
    refused(new ByteWriter().number(1).number(0), "field: 0 (expected: after 0)");
    refused(
        new ByteWriter().number(1).number(2).text("r").number(5).number(8),
        "parts of a limit: 8 (expected: 0..7;");
    refused(new ByteWriter().number(1).number(3).text("n").number(1).text("p"), "field: 1");
    refused(new ByteWriter().number(1).number(1).text("p").number(1).text("p"), "field: 1");
    refused(new ByteWriter().number(1).number(1).text(""), "plan: empty");
    refused(
        new ByteWriter().number(1).number(2).text("r").number(1L << 32).number(0),
        "requests_per_unit: 4294967296");
  }

  private static void refused(ByteWriter bytes, String message) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> RecordCodec.read(ALICE, bytes.toBytes()))
        .withMessageStartingWith(message);
  }

  @Test
  void commonRecords_areSmall() {
    SubjectRecord plan = new SubjectRecord(ALICE, "gold", List.of(), "", 1_000_000);
    assertThat(RecordCodec.write(plan)).hasSize(9);
    SubjectRecord own =
        new SubjectRecord(ALICE, "", List.of(OwnLimit.of("user-minute", 10_000)), "", 1_000_000);
    assertThat(RecordCodec.write(own)).hasSize(19);
    assertThat(Keys.subject(ALICE)).hasSize(15);
  }
}
