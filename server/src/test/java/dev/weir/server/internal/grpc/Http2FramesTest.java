package dev.weir.server.internal.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.testkit.Trials;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class Http2FramesTest {
  private static final int PREFACE = 24;

  private static byte[] frame(int type, int flags, int length) {
    return ByteBuffer.allocate(9 + length)
        .put((byte) (length >>> 16))
        .putShort((short) length)
        .put((byte) type)
        .put((byte) flags)
        .putInt(1)
        .array();
  }

  @Test
  void wholeFrames_leaveNothing_whereverTheyAreCut() {
    int runs = 200;
    SplittableRandom random = Trials.random("frames", runs);
    for (int trial = 0; trial < runs; trial++) {
      ByteArrayOutputStream all = new ByteArrayOutputStream();
      all.writeBytes(new byte[PREFACE]);
      int small = 0;
      int[] lefts = new int[40_000];
      for (int i = 0; i < 20; i++) {
        int begin = all.size();
        int length = random.nextInt(3) == 0 ? random.nextInt(20) : random.nextInt(1_500);
        int type = random.nextInt(9); // All types but CONTINUATION, which has a test of its own.
        int flags = type == 1 ? 4 : random.nextInt(2);
        all.writeBytes(frame(type, flags, length));
        small += type == 0 && flags == 0 && length < 16 ? 1 : 0;
        for (int at = begin; at < all.size(); at++) {
          lefts[at] = at - begin;
        }
      }
      byte[] bytes = all.toByteArray();
      Http2Frames frames = new Http2Frames();
      for (int at = 0; at < bytes.length; ) {
        int size = Math.min(bytes.length - at, 1 + random.nextInt(700));
        frames.read(ByteBuffer.wrap(bytes, at, size));
        at += size;
        assertThat(frames.unfinished()).isEqualTo(lefts[at]);
      }
      assertThat(frames.unfinished()).isZero();
      assertThat(frames.small()).isEqualTo(small);
      frames.forget(1);
      assertThat(frames.small()).isEqualTo(Math.max(0, small - 1));
    }
  }

  @Test
  void headerFields_stay_untilTheirLastFrame() {
    Http2Frames frames = new Http2Frames();
    frames.read(ByteBuffer.allocate(PREFACE));
    frames.read(ByteBuffer.wrap(frame(1, 0, 100)));
    assertThat(frames.unfinished()).isEqualTo(109);
    assertThat(frames.inHeaders()).isTrue();
    frames.read(ByteBuffer.wrap(frame(9, 0, 50)));
    assertThat(frames.unfinished()).isEqualTo(168);
    frames.read(ByteBuffer.wrap(frame(9, 4, 50)));
    assertThat(frames.unfinished()).isZero();
    assertThat(frames.inHeaders()).isFalse();
  }
}
