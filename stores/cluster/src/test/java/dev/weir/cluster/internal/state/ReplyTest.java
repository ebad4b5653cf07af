package dev.weir.cluster.internal.state;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Reason;
import dev.weir.shared.Result;
import dev.weir.testkit.Trials;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Replies that are read as they were written; damaged ones are refused or valid. */
class ReplyTest {
  private static final Reason[] REASONS = Reason.values();

  private static Result random(SplittableRandom random) {
    return new Result(
        REASONS[random.nextInt(REASONS.length)],
        random.nextLong() >> random.nextInt(64),
        random.nextLong() >> random.nextInt(64),
        random.nextLong() >> random.nextInt(64),
        random.nextLong() >> 2);
  }

  private static void write(ReplyWriter out, Result each) {
    out.result(
        each.reason(),
        each.remaining(),
        each.retryAfterNanos(),
        each.resetAfterNanos(),
        each.atNanos());
  }

  @Test
  void randomResults_areReadAsWritten() {
    int runs = 2_000;
    SplittableRandom random = Trials.random("replies round trip", runs);
    for (int i = 0; i < runs; i++) {
      long now = random.nextLong() >> 2;
      ReplyWriter out = new ReplyWriter(now);
      List<Result> results = new ArrayList<>();
      for (int n = random.nextInt(6); n > 0; n--) {
        Result each = random(random);
        results.add(each);
        write(out.number(n), each);
      }
      ClusterReply reply = new ClusterReply(out.toBytes());
      assertThat(reply.nowNanos()).isEqualTo(now);
      for (int n = 0; n < results.size(); n++) {
        assertThat(reply.number()).isEqualTo(results.size() - n);
        assertThat(reply.result()).isEqualTo(results.get(n));
      }
      assertThat(reply.position()).isEqualTo(out.toBytes().length);
    }
  }

  @Test
  void damagedReplies_areRefusedOrMakeSense() {
    int runs = 500;
    SplittableRandom random = Trials.random("damaged replies", runs);
    for (int i = 0; i < runs; i++) {
      ReplyWriter out = new ReplyWriter(random.nextLong() >> 2);
      write(out.number(1), random(random));
      write(out.number(2), random(random));
      byte[] reply = out.toBytes();
      for (int at = 0; at < reply.length; at++) {
        read(Arrays.copyOf(reply, at));
        byte[] flipped = reply.clone();
        flipped[at] ^= (byte) (1 << random.nextInt(Byte.SIZE));
        read(flipped);
      }
    }
  }

  private static void read(byte[] bytes) {
    try {
      ClusterReply reply = new ClusterReply(bytes);
      for (int n = 0; n < 2; n++) {
        long number = reply.number();
        Result result = reply.result();
        assertThat(result.reason()).as("of %d", number).isNotNull();
      }
    } catch (IllegalArgumentException e) {
      assertThat(e).hasMessageMatching("(?s)(message|reason): .*");
    }
  }

  @Test
  void replyThatWasOvertaken_showsNoEarlierTime_andDecidesByItsOwn() {
    AtomicLong latest = new AtomicLong(Long.MIN_VALUE);
    byte[] first = new ReplyWriter(1_000).result(Reason.WITHIN_LIMIT, 1, 0, 5, 1_000).toBytes();
    byte[] second = new ReplyWriter(9_000).toBytes();
    assertThat(new ClusterReply(second).after(latest).nowNanos()).isEqualTo(9_000);
    ClusterReply overtaken = new ClusterReply(first).after(latest);
    assertThat(overtaken.nowNanos()).isEqualTo(9_000);
    assertThat(overtaken.result().atNanos()).isEqualTo(1_000);
  }
}
