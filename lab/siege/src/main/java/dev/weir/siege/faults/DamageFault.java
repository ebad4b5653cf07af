package dev.weir.siege.faults;

import dev.weir.siege.ServerProcess;
import dev.weir.siege.cluster.MemberProcess;
import dev.weir.siege.cluster.Members;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/**
 * The faults in which files of a member are damaged while it is down. The member has to refuse to
 * start, and then gets its files back; or it has to go on with the data of the others.
 */
public enum DamageFault implements ClusterFault {
  LOG_TRUNCATED("a log is cut short", "log_", true),
  LOG_FLIPPED("a bit of a log is flipped", "log_", false),
  META_TRUNCATED("the vote is cut short", "raft-meta", true),
  META_FLIPPED("a bit of the vote is flipped", "raft-meta", false),
  CHARTER_TRUNCATED("the list of members is cut short", "cluster.properties", true),
  CHARTER_FLIPPED("a bit of the list of members is flipped", "cluster.properties", false);

  private static final Duration MOMENT = Duration.ofMillis(20);

  private final String label;
  private final String file;
  private final boolean truncated;

  DamageFault(String label, String file, boolean truncated) {
    this.label = label;
    this.file = file;
    this.truncated = truncated;
  }

  @Override
  public void strike(Members members, SplittableRandom random, long electionMillis)
      throws IOException, InterruptedException {
    MemberProcess victim = random.nextBoolean() ? members.leader() : members.any();
    victim.kill();
    Path kept = victim.folder().resolveSibling(victim.name() + "-kept");
    copy(victim.folder(), kept);
    Path damaged = damage(victim.folder(), random);
    ClusterFault.wait(random, electionMillis, 3 * electionMillis);
    victim.start();
    ServerProcess process = victim.process();
    while (!process.ready() && !process.endsWithin(MOMENT)) {
      // One of the two happens.
    }
    if (!process.ready()) {
      String log = process.log();
      System.out.println(this + ": " + damaged.getFileName() + ": " + log.trim());
      victim.kill();
      delete(victim.folder());
      copy(kept, victim.folder());
      victim.start();
    } else {
      System.out.println(this + ": " + damaged.getFileName() + ": it went on");
    }
    delete(kept);
  }

  private Path damage(Path folder, SplittableRandom random) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      Path found =
          files
              .filter(each -> Files.isRegularFile(each) && matches(name(each)))
              .max(Comparator.comparing(DamageFault::name))
              .orElseThrow(() -> new IOException(folder + ": no " + file));
      byte[] bytes = Files.readAllBytes(found);
      int used = bytes.length; // Without the reserved space.
      while (used > 1 && bytes[used - 1] == 0) {
        used--;
      }
      int at = random.nextInt(used);
      try (RandomAccessFile out = new RandomAccessFile(found.toFile(), "rw")) {
        if (truncated) {
          out.setLength(at);
        } else {
          out.seek(at);
          out.write(bytes[at] ^ 1 << random.nextInt(Byte.SIZE));
        }
      }
      return found;
    }
  }

  /** Returns whether a file is of the kind to damage. A log's name ends with its first index. */
  private boolean matches(String name) {
    return file.endsWith("_") ? name.startsWith(file) : name.equals(file);
  }

  private static String name(Path file) {
    return file.getFileName().toString();
  }

  /** Copies a folder. */
  public static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path each : files.toList()) {
        Files.copy(each, to.resolve(from.relativize(each)), StandardCopyOption.COPY_ATTRIBUTES);
      }
    }
  }

  /** Deletes a folder. */
  public static void delete(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      List<Path> all = files.sorted(Comparator.reverseOrder()).toList();
      for (Path each : all) {
        Files.delete(each);
      }
    }
  }

  @Override
  public String toString() {
    return label;
  }
}
