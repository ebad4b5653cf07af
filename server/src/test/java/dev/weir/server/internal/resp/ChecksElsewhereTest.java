package dev.weir.server.internal.resp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Charges;
import dev.weir.ForwardingStore;
import dev.weir.MemoryStore;
import dev.weir.engine.CallerBuckets;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.engine.RoutedStore;
import dev.weir.rules.RuleSet;
import dev.weir.rules.Rules;
import dev.weir.server.internal.access.Tokens;
import dev.weir.server.internal.deciding.GuardedDecider;
import dev.weir.server.internal.guard.DoorCounters;
import dev.weir.server.internal.guard.PendingBytes;
import dev.weir.server.internal.guard.SystemLoad;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.testkit.FakeTicker;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests that commands {@code WEIR.CHECK} of one read that another store decides are sent to it
 * together.
 */
class ChecksElsewhereTest {
  private static final RuleSet RULES =
      Objects.requireNonNull(
          Rules.parse(
                  "rules.yaml",
                  """
                  domain: d
                  descriptors:
                    - key: user
                      rate_limit: {unit: day, requests_per_unit: 9}
                    - key: here
                      rate_limit: {unit: day, requests_per_unit: 9, store: local}
                  """)
              .ruleSet());

  /** The lines of a decision: five numbers, a line each, and two texts with their lengths. */
  private static final int DECISION_LINES = 9;

  private final FakeTicker ticker = new FakeTicker();
  private final Elsewhere elsewhere = new Elsewhere();
  private final Engine engine =
      Engine.create(RoutedStore.of(new MemoryStore(), elsewhere), ticker, EngineSettings.DEFAULTS);
  private final DoorCounters counters = new DoorCounters(10, new PendingBytes(1 << 20, ticker));
  private final RespLoop loop = loop();

  /** A store that answers at the test's command, and counts the requests of each message. */
  private static final class Elsewhere extends ForwardingStore<MemoryStore> {
    private final List<Integer> messages = new ArrayList<>();
    private final Queue<Runnable> answers = new ArrayDeque<>();
    private boolean together;
    private int asked;
    private int untilFailure;

    Elsewhere() {
      super(new MemoryStore());
    }

    @Override
    public void together(Runnable asks) {
      assertThat(together).isFalse();
      together = true;
      try {
        asks.run();
      } finally {
        together = false;
        send();
      }
    }

    @Override
    public void decide(Charges charges, long nowNanos, Consumer<? super Charges> done) {
      if (--untilFailure == 0) {
        throw new IllegalArgumentException(
            "a request that fails"); // The same as for a malformed command.
      }
      asked++;
      delegate.decide(charges, nowNanos, decided -> answers.add(() -> done.accept(decided)));
      if (!together) {
        send();
      }
    }

    private void send() {
      if (asked > 0) {
        messages.add(asked);
        asked = 0;
      }
    }

    void answer() {
      List<Runnable> due = new ArrayList<>(answers);
      answers.clear();
      Collections.reverse(due);
      due.forEach(Runnable::run);
    }
  }

  private RespLoop loop() {
    engine.apply(RULES);
    ServerSettings settings = ServerSettings.defaults();
    GuardedDecider decider = new GuardedDecider(engine, SystemLoad.of(settings, ticker), ticker);
    CallerBuckets buckets = new CallerBuckets(new MemoryStore(), 0);
    return new RespLoop(
        settings, new RespDoor.Parts(decider, buckets, Tokens.notRequired(), ticker), counters);
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private EmbeddedChannel connect() {
    return new EmbeddedChannel(new RespConnection(loop, new RespSession(1, true), 1 << 20));
  }

  private static String check(String key, String value, int permits) {
    return "WEIR.CHECK d " + permits + " " + key + " " + value + "\r\n";
  }

  /** Passes all of these commands to the connection at once. */
  private static void read(EmbeddedChannel channel, String commands) {
    channel.writeInbound(Unpooled.copiedBuffer(commands, StandardCharsets.ISO_8859_1));
  }

  /** Answers the requests that the store has received. */
  private void answer(EmbeddedChannel channel) {
    elsewhere.answer();
    channel.runPendingTasks();
  }

  /** Returns the sent replies; of decisions the first three numbers. */
  private static List<String> replies(EmbeddedChannel channel) {
    StringBuilder all = new StringBuilder();
    for (ByteBuf each = channel.readOutbound(); each != null; each = channel.readOutbound()) {
      all.append(each.toString(StandardCharsets.UTF_8));
      each.release();
    }
    List<String> replies = new ArrayList<>();
    List<String> lines = all.toString().lines().toList();
    for (int i = 0; i < lines.size(); ) {
      boolean decision = lines.get(i).equals("*7");
      replies.add(decision ? String.join("", lines.subList(i + 1, i + 4)) : lines.get(i));
      i += decision ? 1 + DECISION_LINES : 1;
    }
    return replies;
  }

  @Test
  void commandsOfOneRead_areOneMessage_andRepliedInTheirOrder() {
    EmbeddedChannel channel = connect();
    StringBuilder commands = new StringBuilder();
    List<String> expected = new ArrayList<>();
    for (int i = 0; i < 64; i++) {
      commands.append(check("user", "u" + i, i % 10));
      expected.add(":1:9:" + (9 - i % 10));
    }
    read(channel, commands.toString());
    assertThat(elsewhere.messages).containsExactly(64);
    assertThat(replies(channel)).isEmpty();

    answer(channel);

    assertThat(replies(channel)).isEqualTo(expected);
  }

  @Test
  void commandAlone_isAskedAtOnce() {
    EmbeddedChannel channel = connect();
    read(channel, check("user", "a", 1));
    assertThat(elsewhere.messages).containsExactly(1);
    answer(channel);
    assertThat(replies(channel)).containsExactly(":1:9:8");
  }

  @Test
  void commandsForOneKey_areDecidedInTheirOrder() {
    EmbeddedChannel channel = connect();
    read(
        channel,
        check("user", "a", 5)
            + check("user", "a", 3)
            + check("user", "a", 2)
            + check("user", "a", 1));
    answer(channel);
    assertThat(elsewhere.messages).containsExactly(4);
    assertThat(replies(channel)).containsExactly(":1:9:4", ":1:9:1", ":0:9:1", ":1:9:0");
  }

  @Test
  void commandsThatCannotBeDecided_disturbNoOther() {
    EmbeddedChannel channel = connect();
    read(
        channel,
        check("user", "a", 1)
            + check("user", "x".repeat(5_000), 1)
            + check("user", "c", 1)
            + check("user", "d", -1)
            + check("user", "\u00ff", 1)
            + check("user", "e", 1)
            + "NONE\r\n"
            + check("user", "f", 1)
            + "*1\r\n!");
    for (int i = 0; i < 3; i++) {
      answer(channel);
    }
    assertThat(elsewhere.messages).containsExactly(2, 1, 1);
    List<String> replies = replies(channel);
    assertThat(replies).hasSize(9);
    for (int i : new int[] {0, 2, 5, 7}) {
      assertThat(replies.get(i)).as("reply %s", i).isEqualTo(":1:9:8");
    }
    for (int i : new int[] {1, 3, 4, 6, 8}) {
      assertThat(replies.get(i)).as("reply %s", i).startsWith("-ERR ");
    }
    assertThat(channel.isActive()).as("nothing can follow bytes that are no command").isFalse();
  }

  @Test
  void commandsDecidedHere_areRepliedAtOnce_butForThoseBehindOthers() {
    EmbeddedChannel channel = connect();
    read(
        channel,
        check("here", "a", 1)
            + check("here", "a", 1)
            + check("user", "a", 1)
            + check("here", "a", 1)
            + check("user", "b", 2)
            + check("unknown", "b", 2));
    assertThat(replies(channel)).containsExactly(":1:9:8", ":1:9:7");
    assertThat(elsewhere.messages).containsExactly(2);
    answer(channel);
    assertThat(replies(channel)).containsExactly(":1:9:8", ":1:9:6", ":1:9:7", ":1:-1:-1");
  }

  @Test
  void moreThanAreDecidedTogether_areSeveralMessages() {
    EmbeddedChannel channel = connect();
    read(channel, check("user", "a", 0).repeat(300) + "PING\r\n");
    for (int i = 0; i < 3; i++) {
      assertThat(elsewhere.messages).hasSize(i + 1);
      answer(channel);
    }
    assertThat(elsewhere.messages).containsExactly(128, 128, 44);
    assertThat(replies(channel)).hasSize(301).endsWith("+PONG");
  }

  @Test
  void whatIsReadMeanwhile_waits() {
    EmbeddedChannel channel = connect();
    read(channel, check("user", "a", 1));
    assertThat(channel.config().isAutoRead()).isFalse();
    read(channel, check("user", "a", 1) + check("user", "a", 1));
    assertThat(elsewhere.messages).containsExactly(1);
    answer(channel);
    assertThat(channel.config().isAutoRead()).isFalse();
    answer(channel);
    assertThat(elsewhere.messages).containsExactly(1, 2);
    assertThat(replies(channel)).containsExactly(":1:9:8", ":1:9:7", ":1:9:6");
    assertThat(channel.config().isAutoRead()).isTrue();
  }

  @Test
  void commandsThatAreBeingDecided_countInTheBudget() {
    EmbeddedChannel channel = connect();
    String commands = check("user", "x".repeat(100), 0).repeat(100);
    read(channel, commands);
    assertThat(counters.pending().bytes()).isEqualTo(commands.length());
    answer(channel);
    replies(channel);
    channel.runPendingTasks();
    assertThat(counters.pending().bytes()).isZero();
  }

  @Test
  void clientThatIsGone_disturbsNoOther() {
    EmbeddedChannel gone = connect();
    read(gone, check("user", "a", 1).repeat(64));
    ChannelFuture unused = gone.close();
    EmbeddedChannel other = connect();
    read(other, check("user", "b", 1));
    answer(other);
    gone.runPendingTasks();
    assertThat(replies(other)).containsExactly(":1:9:8");
    assertThat(counters.pending().bytes()).isZero();
  }

  /** Such a failure is a defect, and closes its connection. */
  @Test
  void requestThatFails_disturbsNoOtherConnection() {
    EmbeddedChannel failing = connect();
    EmbeddedChannel other = connect();
    elsewhere.untilFailure = 2;
    read(failing, check("user", "a", 1).repeat(3) + "PING\r\n");
    assertThat(failing.isActive()).isFalse();
    read(other, check("user", "b", 1));
    answer(other);
    failing.runPendingTasks();
    assertThat(replies(other)).containsExactly(":1:9:8");
    assertThat(elsewhere.messages).containsExactly(1, 1);
  }
}
