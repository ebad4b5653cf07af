package dev.weir.cluster.internal.log;

import java.nio.file.Path;
import java.time.Duration;

/**
 * The settings of a member's logs.
 *
 * @param folder of the logs and snapshots of its groups; used by one member alone
 * @param electionMin the time without a message of the leader, up to {@code electionMax}, after
 *     which a follower stands for election; at least 50 ms
 * @param electionMax more than {@code electionMin}
 * @param snapshotBytes a snapshot is taken when the log since the last one has more bytes than this
 *     and than twice the last snapshot
 * @param segmentBytes size of the log's files, at least 4 MB, or {@code snapshotBytes} if that is
 *     less; a file is deleted as a whole
 */
public record RatisSettings(
    Path folder, Duration electionMin, Duration electionMax, long snapshotBytes, int segmentBytes) {
  private static final Duration LEAST_ELECTION = Duration.ofMillis(50);

  public RatisSettings {
    if (electionMin.compareTo(LEAST_ELECTION) < 0 || electionMax.compareTo(electionMin) <= 0) {
      throw new IllegalArgumentException(
          "election after " + electionMin + ".." + electionMax + " (expected: 50 ms or more)");
    }
  }

  /** Returns the defaults: 1 to 2 s, 256 MB and 32 MB. */
  public static RatisSettings in(Path folder) {
    return new RatisSettings(
        folder, Duration.ofSeconds(1), Duration.ofSeconds(2), 256L << 20, 32 << 20);
  }

  public RatisSettings withElection(Duration min, Duration max) {
    return new RatisSettings(folder, min, max, snapshotBytes, segmentBytes);
  }

  public RatisSettings withSnapshots(long everyBytes, int fileBytes) {
    return new RatisSettings(folder, electionMin, electionMax, everyBytes, fileBytes);
  }
}
