package dev.weir.cluster;

import dev.weir.Ticker;
import dev.weir.cluster.internal.log.GroupMarks;
import dev.weir.cluster.internal.log.RatisEngine;
import dev.weir.cluster.internal.log.RatisSnapshots;
import dev.weir.cluster.internal.map.Charter;
import dev.weir.cluster.internal.map.ClusterMap;
import dev.weir.cluster.internal.map.Roster;
import dev.weir.cluster.internal.peer.Identity;
import dev.weir.cluster.internal.peer.Levels;
import dev.weir.cluster.internal.peer.Member;
import dev.weir.cluster.internal.state.ClusterTime;
import dev.weir.cluster.internal.state.GroupSlots;
import dev.weir.cluster.internal.state.Replica;
import dev.weir.shared.ClusterMember;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;

/** Makes the folder of the first member of a new cluster of a {@link ClusterBackup}. */
public final class ClusterRestore {
  /*
   * Why one member, and the others join it? So there is one folder that somebody makes, and the
   * others are made by the members themselves, in the way in which a member is replaced: no two
   * folders can be exchanged, be of two restores, or be one incarnation twice.
   *
   * What was admitted after the backup and before the end of the cluster nobody knows; so each key
   * may have been charged as much as its rule allows, whether the backup has it or not. What the
   * backup counts is less than that, and no use then: the new cluster begins with no keys, at a time
   * before which everything is unknown (MemoryStore.unknownBefore), as a server with --state-dir
   * does after a kill. That time passes when the new cluster decides; so the old one must not
   * decide any more by then.
   *
   * Its time begins at the wall clock's, so that windows which are aligned follow the calendar again,
   * but not before what the group's calendar showed: a day that the old cluster had begun would be
   * that of a wall clock that is behind once more, and then begin anew.
   *
   * If the backup is trusted, the groups go on as if their members had been stopped when it was
   * taken: with its keys, at its time, and by its calendar.
   *
   * The new cluster has an id of its own. Members of the old one are refused by it and refuse it.
   */
  private static final long NANOS_PER_SECOND = 1_000_000_000L;

  private ClusterRestore() {}

  /**
   * Writes the folder. What is not whole is refused by a member that is started with it.
   *
   * @param folder does not exist, or is empty
   * @param self the member that it is to be of
   * @param zone what fails together with it; may be empty
   * @param trust whether keys have what they had at the time of the backup; else every key is
   *     refused until its window has passed
   * @return the id of the new cluster
   * @throws IOException if the folder is in use, or cannot be written; or a snapshot is damaged
   */
  public static String into(
      ClusterBackup backup,
      Path folder,
      ClusterMember self,
      String zone,
      boolean trust,
      Ticker ticker)
      throws IOException {
    Files.createDirectories(folder);
    try (Stream<Path> files = Files.list(folder)) {
      if (files.findAny().isPresent()) {
        throw new IOException(folder + ": is not empty (expected: an empty folder)");
      }
    }
    UUID incarnation = Identity.of(folder, self.name());
    Member first = new Member(self.name(), self.host(), self.port(), incarnation, zone);
    ClusterMap old = backup.map();
    Charter charter =
        new Charter(
            UUID.randomUUID(),
            List.of(first),
            old.groups(),
            old.copies(),
            backup.charter().seed0(),
            backup.charter().seed1(),
            true);
    ClusterMap map =
        new ClusterMap(
            trust ? backup.level() : Levels.FIRST,
            old.epoch() + 1,
            old.copies(),
            List.of(first),
            Roster.replicas(List.of(first), old.groups(), old.copies()),
            List.of(), // All groups are of its beginning.
            old.slots(),
            List.of());
    Path groups = Files.createDirectory(folder.resolve("groups"));
    GroupMarks marks = new GroupMarks(folder.resolve(GroupMarks.FILE));
    for (ClusterBackup.GroupBackup each : backup.groups()) {
      int number = each.group();
      Replica replica =
          trust ? trusted(backup, number) : unknown(backup, each, charter, map, ticker);
      if (number == 0) {
        replica.beginningWith(map);
      }
      RatisSnapshots.begin(
          RatisEngine.folderOf(groups, number), each.index(), image -> write(replica, image));
      marks.begin(number);
    }
    charter.save(folder); // Last: without it a member does not start.
    return charter.cluster().toString();
  }

  private static void write(Replica replica, Path image) throws IOException {
    try {
      Object unused = replica.image(image).toCompletableFuture().join();
    } catch (CompletionException e) {
      throw new IOException(image + ": " + e.getCause(), e);
    }
  }

  /** Returns a group as it was. */
  private static Replica trusted(ClusterBackup backup, int number) throws IOException {
    Replica replica =
        new Replica(
            backup.charter().fingerprint(),
            new ClusterTime(Ticker.system()),
            Runnable::run,
            line -> {});
    backup.read(number, replica::restore);
    return replica;
  }

  /** Returns a group of whose keys nothing is known. */
  private static Replica unknown(
      ClusterBackup backup,
      ClusterBackup.GroupBackup of,
      Charter charter,
      ClusterMap map,
      Ticker ticker)
      throws IOException {
    Instant then = of.time();
    long thenNanos = then.getEpochSecond() * NANOS_PER_SECOND + then.getNano();
    long shownNanos = thenNanos + trusted(backup, of.group()).store().calendarOffsetNanos();
    long now = Math.max(ticker.nanos(), shownNanos);
    ClusterTime time = new ClusterTime(ticker);
    time.restore(now);
    GroupSlots slots = new GroupSlots(slot -> map.groupOfSlot(slot) == of.group());
    Replica replica = new Replica(charter.fingerprint(), slots, time, Runnable::run, line -> {});
    replica.store().unknownBefore(now);
    return replica;
  }
}
