package dev.weir.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Seed;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class VarintTest {
  private static final int RUNS = 10_000;

  private static String hex(long value) {
    byte[] bytes = new byte[Varint.MAX_BYTES];
    return HexFormat.of().formatHex(bytes, 0, Varint.put(bytes, 0, value));
  }

  @Test
  void goldenBytes_areThoseOfTheFormat() {
    assertThat(hex(0)).isEqualTo("00");
    assertThat(hex(127)).isEqualTo("7f");
    assertThat(hex(128)).isEqualTo("8001");
    assertThat(hex(300)).isEqualTo("ac02");
    assertThat(hex(-1)).isEqualTo("ffffffffffffffffff01");
  }

  @Test
  void anyNumbers_areReadAsWritten() {
    SplittableRandom random = Seed.random("varint", RUNS);
    long[] values = new long[RUNS];
    byte[] bytes = new byte[RUNS * Varint.MAX_BYTES];
    int end = 0;
    for (int i = 0; i < RUNS; i++) {
      values[i] = random.nextLong() >>> random.nextInt(64);
      int from = end;
      end = Varint.put(bytes, end, values[i]);
      assertThat(end - from).isEqualTo(Varint.size(values[i]));
    }

    VarintReader in = new VarintReader(bytes, 0, end, "bytes");
    for (long value : values) {
      assertThat(in.atEnd()).isFalse();
      assertThat(in.next()).isEqualTo(value);
    }
    assertThat(in.atEnd()).isTrue();
    assertThat(in.position()).isEqualTo(end);
  }

  @Test
  void cutOffOrEndless_isRefused() {
    byte[] marks = new byte[11];
    Arrays.fill(marks, (byte) 0x80);

    assertThatThrownBy(() -> new VarintReader(marks, 0, 5, "bytes").next())
        .hasMessage("bytes: cut off (expected: more bytes)");
    assertThatThrownBy(() -> new VarintReader(marks, 0, 11, "bytes").next())
        .hasMessage("bytes: a number of more than 10 bytes (expected: fewer)");
  }
}
