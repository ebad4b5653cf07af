package dev.weir.server.internal.resp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Fingerprint;
import dev.weir.MemoryStore;
import dev.weir.engine.CallerBuckets;
import dev.weir.engine.Engine;
import dev.weir.replay.RecordedTraffic;
import dev.weir.rules.RuleSet;
import dev.weir.rules.Rules;
import dev.weir.server.internal.access.Tokens;
import dev.weir.server.internal.deciding.GuardedDecider;
import dev.weir.server.internal.deciding.RequestRecorder;
import dev.weir.server.internal.guard.SystemLoad;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.Trials;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Tests that commands of one read that are decided together get the same replies as one by one,
 * byte for byte, and are counted in the same way.
 */
class CheckCallsTest {
  private static final int SEEDS = 100;
  private static final int READS = 20;
  private static final int MOST = 300; // The number of commands, more than are decided in one part.

  private static final RuleSet RULES =
      Objects.requireNonNull(
          Rules.parse(
                  "rules.yaml",
                  """
                  domain: d
                  descriptors:
                    - key: bucket
                      rate_limit: {unit: minute, requests_per_unit: 9, algorithm: token-bucket}
                    - key: exact
                      rate_limit: {unit: second, requests_per_unit: 5}
                    - key: lenient
                      rate_limit: {unit: minute, requests_per_unit: 5, on_failure: allow}
                    - key: watched
                      shadow_mode: true
                      rate_limit: {unit: minute, requests_per_unit: 5}
                    - key: known
                      rate_limit: {unit: minute, requests_per_unit: 7, by: known}
                    - key: free
                      rate_limit: {unlimited: true}
                    - key: tenant
                      descriptors:
                        - key: user
                          rate_limit: {unit: minute, requests_per_unit: 3, name: "\u00e4 name"}
                  """)
              .ruleSet());

  /** The commands of one event loop, and their replies. */
  private static final class Side {
    private final RespWriter out = new RespWriter(16);
    private final boolean together;
    private final Engine engine;
    private final RespCommands commands;
    private final RespSession session = new RespSession(1, true);
    private final RespParser parser = new RespParser(2_000, 10_000, 10_000);

    /**
     * @param together true if commands are decided together; otherwise each is recorded, and
     *     finished before the next
     */
    Side(FakeTicker ticker, boolean together) {
      this.together = together;
      engine =
          Engine.builder(new MemoryStore(25))
              .ticker(ticker)
              .fingerprint(Fingerprint.seeded(7, 9))
              .build();
      engine.apply(RULES);
      GuardedDecider decider =
          GuardedDecider.builder(engine, SystemLoad.of(ServerSettings.defaults(), ticker), ticker)
              .recorder(together ? RequestRecorder.NONE : new RecordedTraffic(ticker)::add)
              .build();
      commands =
          new RespCommands(
              decider,
              Tokens.notRequired(),
              new ThrottleCalls(new CallerBuckets(new MemoryStore(100), 0)),
              out);
    }

    void run(byte[] command, long nowNanos) throws RespError {
      assertThat(parser.parse(command, 0, command.length)).isEqualTo(command.length);
      RespArguments arguments = new RespArguments(parser).of(parser, command, 0, command.length);
      RespCommands.NextStep after = commands.run(session, arguments, nowNanos, Runnable::run);
      if (after == RespCommands.NextStep.AGAIN) { // The earlier ones have been replied to now.
        after = commands.run(session, arguments, nowNanos, Runnable::run);
      }
      assertThat(after).isNotEqualTo(RespCommands.NextStep.AGAIN);
      if (!together) {
        boolean unused = commands.finish(nowNanos, Runnable::run);
      }
    }

    String replies(long nowNanos) {
      boolean unused = commands.finish(nowNanos, Runnable::run);
      String replies = new String(out.bytes(), 0, out.size(), StandardCharsets.UTF_8);
      out.clear();
      return replies.replace("\r\n", "|");
    }
  }

  private static byte[] command(String... arguments) {
    StringBuilder text = new StringBuilder("*" + arguments.length + "\r\n");
    for (String argument : arguments) {
      // One byte for each character: a character that is not ASCII stands for its UTF-8 bytes, or
      // for none.
      text.append('$').append(argument.length()).append("\r\n").append(argument).append("\r\n");
    }
    return text.toString().getBytes(StandardCharsets.ISO_8859_1);
  }

  private static String utf8(String text) {
    return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
  }

  private static <T> T one(Random random, List<T> of) {
    return of.get(random.nextInt(of.size()));
  }

  private static byte[] command(Random random) {
    String value =
        one(random, List.of("a", "b", "c", "d", "", utf8("\u00e4\u20ac"), "long".repeat(30)));
    return switch (random.nextInt(24)) {
      case 0 -> command("PING");
      case 1 -> command("CL.THROTTLE", value, "3", "1", "60");
      case 2 -> command("THROTTLE", value, "3", "1", "60");
      case 3 -> command("WEIR.CHECK", "d", "1", "bucket");
      case 4 -> command("WEIR.CHECK", "d", "-1", "bucket", value);
      case 5 -> command("WEIR.CHECK", "d", "1", "bucket", "\u00e4");
      case 6 -> command("WEIR.CHECK", "d", "1", "\u00e4", value);
      case 7 -> command("weir.check", one(random, List.of("", "other")), "1", "bucket", value);
      case 8 -> command("WEIR.CHECK", "d", "1", "tenant", "t", "user", value);
      case 9 -> command("WEIR.CHECK", "d", "1", "bucket", "x".repeat(5_000));
      case 10 -> command("WEIR.LEASE", "d", "1", "0", "bucket", value);
      default -> {
        String key =
            one(
                random,
                List.of("bucket", "exact", "lenient", "watched", "known", "free", utf8("\u00e4")));
        String permits = Integer.toString(random.nextInt(8) == 0 ? random.nextInt(9) : 1);
        yield command("WEIR.CHECK", "d", permits, key, value);
      }
    };
  }

  @Test
  void commandsOfOneRead_areRepliedAsOneByOne() throws Exception {
    List<String> all = new ArrayList<>();
    Trials.unseeded("commands of one read", SEEDS);
    for (long seed = 0; seed < SEEDS; seed++) {
      Random random = new Random(seed);
      FakeTicker ticker = new FakeTicker();
      Side together = new Side(ticker, true);
      Side single = new Side(ticker, false);
      for (int read = 0; read < READS; read++) {
        int count = 1 + random.nextInt(random.nextInt(10) == 0 ? MOST : 20);
        for (int i = 0; i < count; i++) {
          byte[] command = command(random);
          together.run(command, ticker.nanos());
          single.run(command, ticker.nanos());
        }
        String replies = together.replies(ticker.nanos());
        assertThat(replies)
            .as("seed %s, read %s", seed, read)
            .isEqualTo(single.replies(ticker.nanos()));
        assertThat(together.commands.decisions()).isEqualTo(single.commands.decisions());
        all.add(replies);
        ticker.advance(random.nextInt(3) * 400_000_000L);
      }
      assertThat(together.engine.metrics()).as("seed %s", seed).isEqualTo(single.engine.metrics());
      together.engine.close();
      single.engine.close();
    }
    assertThat(String.join("", all))
        .contains("WITHIN_LIMIT", "OVER_LIMIT", "KEY_SPACE_FULL", "SHADOW", "NO_LIMIT")
        .contains("not UTF-8", "must not be empty", "entry length: 5000");
  }

  @Test
  void commandsThatFailed_leaveNoReplyBehind() throws Exception {
    FakeTicker ticker = new FakeTicker();
    Side side = new Side(ticker, true);
    side.run(command("WEIR.CHECK", "d", "1", "bucket", "a"), 0);
    side.commands.forget();
    assertThat(side.replies(0)).isEmpty();
    side.run(command("WEIR.CHECK", "d", "0", "bucket", "a"), 0);
    assertThat(side.replies(0)).isEqualTo("*7|:1|:9|:9|:0|:0|$8|d.bucket|$12|WITHIN_LIMIT|");
    side.engine.close();
  }

  @Test
  void partOfAMillisecond_isRoundedUpToAWholeOne() throws Exception {
    for (boolean together : new boolean[] {true, false}) {
      FakeTicker ticker = new FakeTicker();
      Side side = new Side(ticker, together);
      side.run(command("WEIR.CHECK", "d", "5", "exact", "a"), ticker.nanos());
      ticker.advance(1);
      side.run(command("WEIR.CHECK", "d", "1", "exact", "a"), ticker.nanos());
      assertThat(side.replies(ticker.nanos()))
          .as("together: %s", together)
          .isEqualTo(
              "*7|:1|:5|:0|:0|:1000|$7|d.exact|$12|WITHIN_LIMIT|"
                  + "*7|:0|:5|:0|:1000|:1000|$7|d.exact|$10|OVER_LIMIT|");
      side.engine.close();
    }
  }
}
