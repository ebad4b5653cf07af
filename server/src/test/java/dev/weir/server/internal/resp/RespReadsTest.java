package dev.weir.server.internal.resp;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator.ExtendedHandle;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RespReadsTest {
  private static final int COMMAND_BYTES = 70;

  /** The bytes of 128 commands, which are the most that are decided together. */
  private static final int PIPELINE_BYTES = 128 * COMMAND_BYTES;

  private final EmbeddedChannel channel = new EmbeddedChannel();

  private static ExtendedHandle open(RecvByteBufAllocator reads) {
    return (ExtendedHandle) reads.newHandle();
  }

  /** Returns the sizes of the reads for this number of bytes that are there at once. */
  private List<Integer> read(ExtendedHandle reads, int bytes) {
    List<Integer> sizes = new ArrayList<>();
    for (int left = bytes; left > 0; ) {
      reads.reset(channel.config());
      int size = Math.min(left, reads.guess());
      reads.attemptedBytesRead(reads.guess());
      reads.lastBytesRead(size);
      reads.readComplete();
      sizes.add(size);
      left -= size;
    }
    return sizes;
  }

  private void readCommandsOneByOne(ExtendedHandle reads) {
    for (int i = 0; i < 1_000; i++) {
      read(reads, COMMAND_BYTES);
    }
  }

  @Test
  void commandsThatAreSentAtOnce_areReadAtOnce_alsoAfterSingleOnes() {
    ExtendedHandle reads = open(RespDoor.reads(false));

    assertThat(read(reads, PIPELINE_BYTES)).containsExactly(PIPELINE_BYTES);
    readCommandsOneByOne(reads);
    assertThat(read(reads, PIPELINE_BYTES)).containsExactly(PIPELINE_BYTES);
  }

  @Test
  void noReadIsLarger_howeverMuchComes() {
    ExtendedHandle reads = open(RespDoor.reads(false));

    assertThat(read(reads, 10 << 20))
        .allSatisfy(size -> assertThat(size).isLessThanOrEqualTo(64 << 10));
  }

  /** TLS keeps the bytes of a read until its record is complete. */
  @Test
  void readsOfTls_areAsSmallAsWhatComes() {
    ExtendedHandle reads = open(RespDoor.reads(true));

    readCommandsOneByOne(reads);
    assertThat(reads.guess()).isBetween(COMMAND_BYTES, 2 * COMMAND_BYTES);
  }
}
