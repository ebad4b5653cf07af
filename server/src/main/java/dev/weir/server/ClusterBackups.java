package dev.weir.server;

import dev.weir.shared.ClusterMember;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;

/** Backups of clusters, as files. */
public interface ClusterBackups {
  /**
   * A group in a backup.
   *
   * @param number the number of the group
   * @param index the index of the last entry of the group's log that the backup contains
   * @param time the group's time at that entry
   * @param bytes the bytes of the group's snapshot
   */
  record Group(int number, long index, Instant time, long bytes) {}

  /**
   * The contents of a backup.
   *
   * @param cluster the id of the cluster
   * @param taken the time at which it was complete, by the clock of the machine that wrote it
   * @param groups the groups in the order of their numbers
   */
  record Contents(String cluster, Instant taken, List<Group> groups) {
    public Contents {
      groups = List.copyOf(groups);
    }
  }

  /**
   * A new cluster, made from a backup.
   *
   * @param cluster the id of the new cluster
   * @param from the backup
   */
  record RestoredCluster(String cluster, Contents from) {}

  /** A member of the cluster that answers the requests of a backup. */
  interface Source {
    /**
     * Returns the answer to a request.
     *
     * @throws IOException if there is none; the message states the reason
     */
    byte[] call(byte[] question) throws IOException, InterruptedException;
  }

  /** A listener for the progress of a backup. */
  interface Progress {
    /**
     * Receives the progress of a group's snapshot.
     *
     * @param groups the number of groups
     * @param bytes the number of bytes that have arrived
     * @param of the number of bytes in all; 0 while it is not known
     */
    void received(int group, int groups, long bytes, long of);
  }

  /**
   * Writes a backup into a file that only its owner can read.
   *
   * @param to a file that does not exist
   * @param version Weir's version, for the backup
   * @throws IOException if the member does not answer, or the file cannot be written
   */
  Contents take(Path to, Source source, String version, Progress progress)
      throws IOException, InterruptedException;

  /**
   * Makes the folder of the first member of a new cluster.
   *
   * @param from a backup
   * @param folder does not exist, or is empty
   * @param self the member that the folder is for
   * @param zone the name of the zone whose members fail together; may be empty
   * @param trust true if keys keep the charges that the backup contains; false if every key is
   *     refused until its window has passed
   * @throws IOException if the backup is not whole, or the folder is in use or cannot be written
   */
  RestoredCluster restore(Path from, Path folder, ClusterMember self, String zone, boolean trust)
      throws IOException;
}
