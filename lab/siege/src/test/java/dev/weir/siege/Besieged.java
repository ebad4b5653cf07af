package dev.weir.siege;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.siege.cluster.Ration;
import dev.weir.siege.guests.Attack;
import dev.weir.siege.guests.Guest;
import dev.weir.siege.guests.HttpGuest;
import dev.weir.siege.guests.Protocol;
import dev.weir.siege.soak.Resources;
import dev.weir.siege.soak.Tally;
import dev.weir.siege.soak.Visitors;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** A server under attacks, one after the other, with the checks of what must hold for each. */
final class Besieged implements AutoCloseable {
  static final String RULES =
      """
      domain: siege
      descriptors:
        - key: ration
          rate_limit: {unit: day, requests_per_unit: %d}
      """
          .formatted(Ration.PERMITS);

  /** The longest time until a server is as it was before, on a machine that has stood still. */
  static final Duration RECOVERY = Duration.ofSeconds(60);

  private static final Duration DRAIN = Duration.ofSeconds(4);

  /** The time for ending a process beside the draining, on a busy machine. */
  private static final Duration EXIT = Duration.ofSeconds(30);

  /**
   * The longest attack: five times the request timeout, after which the server has to have ended
   * it.
   */
  private static final Duration ATTACK = Duration.ofSeconds(20);

  private static final Duration EVERY = Duration.ofMillis(10);
  private static final int WARM = 200;

  private final Path folder;
  private final @Nullable String token;
  private final String[] flags;
  private @Nullable ServerProcess server;
  private int starts;

  Besieged(Path folder, @Nullable String token, String... flags) {
    this.folder = folder;
    this.token = token;
    this.flags = flags;
  }

  /** Returns the server; a new one if it did not survive the last attack. */
  ServerProcess server() throws IOException {
    if (server == null || !server.running()) {
      Path rules = Files.writeString(folder.resolve("rules.yaml"), RULES);
      String[] all = new String[flags.length + 8];
      System.arraycopy(flags, 0, all, 0, flags.length);
      String[] mine = {
        "--rules",
        rules.toString(),
        "--drain-timeout",
        DRAIN.toSeconds() + "s",
        "--request-timeout",
        "4s",
        "--max-wait",
        "5m" // The machine's speed must not decide.
      };
      System.arraycopy(mine, 0, all, flags.length, mine.length);
      server = ServerProcess.start(folder.resolve("log" + starts++), token, all);
      warm(server.target());
    }
    return server;
  }

  /** Sends requests by every protocol for a while, so that everything needed once is loaded. */
  private static void warm(Target target) throws IOException {
    for (Protocol protocol : Protocol.values()) {
      Ration ration = new Ration(false);
      try (Guest guest = protocol.connect(target)) {
        for (int i = 0; i < WARM; i++) {
          assertThat(ration.judge(guest.request(ration.rule(), ration.key()), 0, 0)).isNull();
        }
      }
    }
  }

  /**
   * Attacks the server, while an ordinary client of every protocol sends requests.
   *
   * @return the outcome of the attack
   */
  Attack.Outcome endures(Attack attack) throws IOException {
    return endures(attack, ATTACK);
  }

  Attack.Outcome endures(Attack attack, Duration atMost) throws IOException {
    ServerProcess server = server();
    Resources before = server.resources();
    Visitors visitors = Visitors.start(server.target(), EVERY);
    Attack.Outcome outcome;
    try {
      assertThat(visitors.awaitAnswers()).as("everybody is served before the attack").isTrue();
      outcome = attack.run(server.target(), atMost);
    } finally {
      visitors.close();
    }
    Map<Protocol, Tally.Heard> heard = visitors.next();
    System.out.printf("%s: %s%n%s", attack, outcome, Visitors.text(heard));
    assertThat(server.running()).as("running after %s%n%s", attack, tail(server)).isTrue();
    assertThat(visitors.complaints().list()).as("what clients met during %s", attack).isEmpty();
    assertThat(heard.values()).allMatch(each -> each.answers() > 0);
    Resources after = server.resources();
    long deadline = System.nanoTime() + RECOVERY.toNanos();
    while (!after.backTo(before) && System.nanoTime() - deadline < 0) {
      after = server.resources();
    }
    System.out.printf("  before: %s%n  after:  %s%n", before, after);
    assertThat(after.backTo(before)).as("before: %s, after: %s", before, after).isTrue();
    assertThat(server.log()).doesNotContain("OutOfMemoryError", "\tat ");
    return outcome;
  }

  private static String tail(ServerProcess server) {
    String log = server.log();
    return log.substring(Math.max(0, log.length() - 2_000));
  }

  /** Sends one request by HTTP with a token; returns whether the token is valid. */
  boolean accepts(String anyToken) throws IOException {
    Target target = server().target();
    Target mine = target.withToken(anyToken);
    Ration ration = new Ration(false);
    try (HttpGuest guest = new HttpGuest(mine)) {
      return guest.request(ration.rule(), ration.key()).allowed();
    } catch (IOException e) {
      if (String.valueOf(e.getMessage()).startsWith("status 401")) {
        return false;
      }
      throw e;
    }
  }

  /** Stops the server while it has requests, and checks that it ends in its time. */
  void stops() throws IOException {
    ServerProcess server = server();
    server.terminate();
    boolean ended = server.endsWithin(DRAIN.plus(EXIT));
    assertThat(ended).as("ended within its drain timeout%n%s", tail(server)).isTrue();
    assertThat(server.exitStatus()).isZero();
  }

  /** Waits until a condition holds, for as long as a change of a file may take. */
  static void await(String what, BooleanSupplier condition) {
    long deadline = System.nanoTime() + RECOVERY.toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime() - deadline).as(what).isNegative();
      LockSupport.parkNanos(20_000_000);
    }
  }

  @Override
  public void close() {
    if (server != null) {
      Objects.requireNonNull(server).close();
    }
  }
}
