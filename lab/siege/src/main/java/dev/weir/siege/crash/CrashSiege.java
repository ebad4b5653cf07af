package dev.weir.siege.crash;

import dev.weir.siege.Complaints;
import dev.weir.siege.ServerProcess;
import dev.weir.siege.Target;
import dev.weir.siege.guests.Guest;
import dev.weir.siege.guests.Protocol;
import dev.weir.siege.soak.Visitor;
import dev.weir.siege.soak.Visitors;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A siege of one server that keeps its counts in a folder: clients of every protocol send requests
 * as fast as they are answered, the server is killed at a random moment and starts again on the
 * same folder, and all answers of all its lives must be those of one server. Not safe for use by
 * several threads.
 */
final class CrashSiege implements AutoCloseable {
  /** The moment of a kill. */
  enum Moment {
    /** Any moment of a life. */
    ANY,

    /** While an image is written. */
    IMAGE,

    /** Soon after the rules have changed. */
    RULES,

    /** While the server starts, or right after; no client is there. */
    START
  }

  /**
   * The result of a round.
   *
   * @param inImage whether an image was not complete at the kill
   * @param repeated the changes that the journals had, beside their images
   * @param readyNanos the time from the start of the process until it said that it was ready
   * @param answerNanos the same until the first answer
   * @param balance what all answers so far prove
   */
  record Round(
      Moment moment,
      boolean inImage,
      long repeated,
      long readyNanos,
      long answerNanos,
      Ledger.Balance balance) {}

  /** Those of a small server, with journals so small that an image follows nearly every look. */
  private static final List<String> OPTIONS =
      Stream.concat(ServerProcess.SMALL.stream(), Stream.of("-Dweir.state.journal-bytes=4096"))
          .toList();

  private static final Visitor.Pace PACE =
      Visitor.Pace.resting(Duration.ZERO, Duration.ofMillis(5));
  private static final List<Protocol> CLIENTS =
      List.of(
          Protocol.HTTP,
          Protocol.HTTP,
          Protocol.GRPC,
          Protocol.GRPC,
          Protocol.CHECK,
          Protocol.CHECK,
          Protocol.THROTTLE);

  private static final long LIFE_MILLIS = 1_500;

  /** The longest wait for the next image. */
  private static final long IMAGE_MILLIS = 5_000;

  /** The time between two looks for an image: shorter than one is written. */
  private static final long MOMENT_NANOS = 200_000;

  /** One key in so many is drained after each start. */
  private static final int DRAINED = 4;

  private static final Pattern REPEATED = Pattern.compile("(\\d+) changes since their image");
  private static final long MILLI = 1_000_000;

  private final Path folder;
  private final SplittableRandom random;
  private final String[] flags;
  private final Ledger ledger = new Ledger();
  private final Visitors visitors = new Visitors(new Complaints());
  private volatile @Nullable Target target;
  private ServerProcess server;
  private long startedNanos;
  private long readyNanos;
  private int starts;

  /**
   * Starts a server on a new folder.
   *
   * @param flags the flags of the server that say what its counts outlive
   */
  CrashSiege(Path folder, SplittableRandom random, String... flags) throws IOException {
    this.folder = folder;
    this.random = random;
    this.flags = flags;
    rules();
    server = launch();
    for (Protocol each : CLIENTS) {
      SplittableRandom own = random.split();
      visitors.add(each, () -> target, PACE, () -> ledger.next(each, own));
    }
    ready();
    target = server.target();
  }

  private void rules() throws IOException {
    Path next = folder.resolve("rules.next");
    Files.writeString(next, CrashRules.file(random.nextBoolean(), random.nextBoolean()));
    Files.move(
        next,
        folder.resolve("rules.yaml"),
        StandardCopyOption.ATOMIC_MOVE,
        StandardCopyOption.REPLACE_EXISTING);
  }

  private Path state() {
    return folder.resolve("state");
  }

  private ServerProcess launch() throws IOException {
    String[] all = new String[flags.length + 7];
    String[] mine = {
      "--no-warmup",
      "--rules",
      folder.resolve("rules.yaml").toString(),
      "--state-dir",
      state().toString(),
      "--max-wait",
      "5m" // The machine's speed must not decide.
    };
    System.arraycopy(mine, 0, all, 0, mine.length);
    System.arraycopy(flags, 0, all, mine.length, flags.length);
    startedNanos = System.nanoTime();
    return ServerProcess.launch(
        new ServerProcess.Launch(List.of(), OPTIONS, Map.of(), "127.0.0.1"),
        folder.resolve("log-" + starts++),
        null,
        all);
  }

  private void ready() throws IOException {
    server.awaitReady();
    readyNanos = System.nanoTime() - startedNanos;
  }

  /** Kills the server at a moment, starts it again, and drains some of the keys. */
  Round round() throws IOException {
    Moment[] moments = Moment.values();
    Moment moment = moments[random.nextInt(moments.length)];
    switch (moment) {
      case ANY -> pass(random.nextLong(LIFE_MILLIS));
      case IMAGE -> {
        pass(random.nextLong(LIFE_MILLIS / 4));
        awaitImage();
      }
      case RULES -> {
        pass(random.nextLong(LIFE_MILLIS / 2));
        rules();
        pass(random.nextLong(LIFE_MILLIS));
      }
      case START -> {
        kill();
        server = launch();
        pass(random.nextLong(readyNanos / MILLI));
      }
    }
    kill();
    boolean inImage = imaging();
    server = launch();
    ready();
    Target ready = server.target();
    long answer = drain(ready, DRAINED);
    target = ready;
    return new Round(moment, inImage, repeated(), readyNanos, answer, ledger.balance());
  }

  /** Kills the server, and drains every key after another start. */
  Ledger.Balance end() throws IOException {
    kill();
    server = launch();
    ready();
    long unused = drain(server.target(), 1);
    return ledger.balance();
  }

  private void kill() {
    server.close(); // kill -9
    target = null;
  }

  /** Passes time in the life of the server. */
  private void pass(long millis) throws IOException {
    if (server.endsWithin(Duration.ofMillis(millis))) {
      throw new IOException("has ended by itself\n" + server.log());
    }
  }

  private boolean imaging() {
    return Files.exists(state().resolve("rules.image.next"))
        || Files.exists(state().resolve("throttle.image.next"));
  }

  private void awaitImage() {
    long deadline = System.nanoTime() + IMAGE_MILLIS * MILLI;
    while (!imaging() && System.nanoTime() - deadline < 0) {
      LockSupport.parkNanos(this, MOMENT_NANOS); // Spinning would leave the server less.
    }
  }

  /** Returns the time from the start of the process until the first answer. */
  private long drain(Target ready, int share) throws IOException {
    long answer = 0;
    try (Guest checks = Protocol.CHECK.connect(ready);
        Guest throttles = Protocol.THROTTLE.connect(ready)) {
      for (Ledger.Drain each : ledger.drains(share, random)) {
        each.run(each.throttle() ? throttles : checks);
        answer = answer == 0 ? System.nanoTime() - startedNanos : answer;
      }
    }
    return answer;
  }

  private long repeated() {
    long repeated = 0;
    Matcher found = REPEATED.matcher(server.log());
    while (found.find()) {
      repeated += Long.parseLong(found.group(1));
    }
    return repeated;
  }

  /** Returns the output of the server's last life. */
  String log() {
    return server.log();
  }

  @Override
  public void close() {
    kill(); // Clients closed first would wait for answers.
    visitors.close();
  }
}
