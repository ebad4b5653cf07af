package dev.weir.siege;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.siege.guests.Attack;
import dev.weir.siege.soak.Calls;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A test of a server that requires a token, with a heap of 256 MiB, and hostile clients without
 * one.
 */
@Tag("siege")
class GuardedServerTest {
  private static final String TOKEN = "token-of-ordinary-clients";

  /** The log bytes that one kind of client error may cause, however often it happens. */
  private static final long LOG_BYTES = 10_000;

  @TempDir private static Path folder;
  private static Path tokens;
  private static Besieged besieged;

  @BeforeAll
  static void start() throws IOException {
    tokens = Files.writeString(folder.resolve("tokens"), TOKEN + "\n");
    besieged = new Besieged(folder, TOKEN, "--token-file", tokens.toString());
  }

  @AfterAll
  static void stop() {
    besieged.close();
  }

  /** Replaces the file in one step. */
  private static void replace(Path file, String text, FileTime time) throws IOException {
    Path next = Files.writeString(folder.resolve("next"), text);
    Files.setLastModifiedTime(next, time);
    Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  private static boolean accepts(String token) {
    try {
      return besieged.accepts(token);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static long revision() {
    try {
      return besieged.server().metrics().value("weir_rule_revision");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void longHealthNames_areRefused() throws Exception {
    Attack.Outcome outcome = besieged.endures(Calls.LONG_HEALTH_NAMES);
    assertThat(outcome.left()).as("watches that are still open").isZero();
  }

  @Test
  void messagesToHealth_areSmallOrRefused() throws Exception {
    Attack.Outcome outcome = besieged.endures(Calls.ALMOST_SENT_HEALTH);
    assertThat(outcome.heard()).noneMatch(text -> text.contains("direct buffer memory"));
    assertThat(outcome.left()).as("calls that outlived the request timeout").isZero();
  }

  @Test
  void malformedMessages_leaveTheLogAlone() throws Exception {
    long before = besieged.server().logBytes();
    besieged.endures(Calls.MALFORMED);
    assertThat(besieged.server().logBytes() - before).isLessThan(LOG_BYTES);
  }

  @Test
  void tokenFileWithTheOldTime_isRead() throws Exception {
    besieged.server();
    FileTime time = Files.getLastModifiedTime(tokens);
    String taken = "token-that-is-taken-back";
    String given = "token-that-is-given-next";
    replace(tokens, TOKEN + "\n" + taken + "\n", FileTime.fromMillis(time.toMillis() + 2_000));
    Besieged.await("a new token is good", () -> accepts(taken));
    replace(tokens, TOKEN + "\n" + given + "\n", Files.getLastModifiedTime(tokens));
    Besieged.await("a token that was taken back is refused", () -> !accepts(taken));
    assertThat(accepts(given)).isTrue();
  }

  @Test
  void serverThatWasAttacked_stillReadsItsFilesAndStopsInTime() throws Exception {
    besieged.endures(Calls.LONG_HEALTH_NAMES);
    String other = "token-of-somebody-else";
    replace(tokens, TOKEN + "\n" + other + "\n", FileTime.from(Instant.now()));
    Besieged.await("a new token is good", () -> accepts(other));
    replace(tokens, TOKEN + "\n", FileTime.from(Instant.now()));
    Besieged.await("a token that was taken back is refused", () -> !accepts(other));
    long revision = revision();
    Path rules = folder.resolve("rules.yaml");
    Files.writeString(rules, Besieged.RULES + "  - key: more\n    rate_limit: {unlimited: true}\n");
    Besieged.await("new rules are in force", () -> revision() > revision);
    besieged.stops();
  }
}
