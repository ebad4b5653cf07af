package dev.weir.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.testkit.Trials;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class MessageTest {
  private static List<Long> readBack(List<Long> numbers) {
    MessageWriter writer = new MessageWriter();
    numbers.forEach(writer::add);
    MessageReader reader = new MessageReader(writer.toBytes());
    assertThat(reader.left()).isEqualTo(numbers.size());
    List<Long> read = new ArrayList<>();
    while (reader.left() > 0) {
      read.add(reader.number());
    }
    return read;
  }

  @Test
  void numbersAroundEveryPowerOfTwo_areReadBack() {
    List<Long> numbers = new ArrayList<>();
    for (int bit = 0; bit < 63; bit++) {
      for (long near = -2; near <= 2; near++) {
        numbers.add((1L << bit) + near);
        numbers.add(-(1L << bit) + near);
      }
    }
    numbers.add(Long.MAX_VALUE);
    numbers.add(Long.MIN_VALUE);

    assertThat(readBack(numbers)).isEqualTo(numbers);
  }

  @Test
  void randomNumbers_areReadBack() {
    SplittableRandom random = Trials.random("messages");
    List<Long> numbers = new ArrayList<>();
    for (int i = 0; i < 70_000; i++) {
      numbers.add(random.nextLong() >> random.nextInt(64));
    }

    assertThat(readBack(numbers)).isEqualTo(numbers);
  }

  @Test
  void joinedMessages_areOneAfterTheOther() {
    MessageWriter more = new MessageWriter();
    List<Long> expected = new ArrayList<>(List.of(1L));
    for (long i = 0; i < 1_000; i++) {
      more.add(i << 40);
      expected.add(i << 40);
    }
    MessageReader reader = new MessageReader(new MessageWriter().add(1).addAll(more).toBytes());

    assertThat(expected).allSatisfy(number -> assertThat(reader.number()).isEqualTo(number));
    assertThat(reader.left()).isZero();
  }

  private static byte[] bytes(int... values) {
    byte[] bytes = new byte[values.length];
    for (int i = 0; i < values.length; i++) {
      bytes[i] = (byte) values[i];
    }
    return bytes;
  }

  @Test
  void everyKindOfNumberAndArray_isRead() {
    byte[] signed = bytes(0x94, 0xd0, 0x80, 0xd1, 0xff, 0x00, 0xd2, 0xff, 0xff, 0, 0, 0xcc, 0xff);
    MessageReader reader = new MessageReader(signed);
    assertThat(List.of(reader.number(), reader.number(), reader.number(), reader.number()))
        .containsExactly(-128L, -256L, -65_536L, 255L);

    assertThat(new MessageReader(bytes(0xdc, 1, 0)).left()).isEqualTo(256);
    assertThat(new MessageReader(bytes(0xdd, 0xff, 0xff, 0xff, 0xff)).left())
        .isEqualTo(4_294_967_295L);
  }

  @Test
  void whatIsNoArrayOfNumbers_isRefused() {
    assertThatThrownBy(() -> new MessageReader(bytes(0xc0)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("reply: 0xc0 at byte 0 (expected: an array)");
    assertThatThrownBy(() -> new MessageReader(bytes()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("reply: 0 bytes (expected: more)");
    assertThatThrownBy(() -> new MessageReader(bytes(0x91, 0xcb)).number())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("reply: 0xcb at byte 1 (expected: a number)");
    assertThatThrownBy(() -> new MessageReader(bytes(0x91, 0xcd, 1)).number())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("reply: 3 bytes (expected: more)");
    assertThatThrownBy(() -> new MessageReader(bytes(0x90, 1)).number())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("reply: ends early (expected: another number)");
  }
}
