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
import dev.weir.internal.IoCauses;
import dev.weir.shared.ClusterMember;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;

/** The restore of a {@link ClusterBackup} into the folder of the first member of a new cluster. */
public final class ClusterRestore {
  /*
   * Why one member, and the others join it? Then the restore makes only one folder, and the members
   * make the others themselves, like that of a replaced member: no two folders can be exchanged, be
   * of two restores, or be one incarnation twice.
   *
   * Permits that were admitted after the backup and before the end of the cluster are unknown; so
   * each key may have been charged as much as its rule allows, whether or not the backup has it.
   * The backup's counts are lower than that, and useless then: the new cluster begins without keys,
   * at a time before which everything is unknown (MemoryStore.unknownBefore), like a server with
   * --state-dir after a kill. That time passes when the new cluster decides; so the old one must
   * not decide any more by then.
   *
   * Its time begins at the wall clock's, so that aligned windows follow the calendar again, but not
   * before the time of the group's calendar: a day that the old cluster had begun would be that of
   * a wall clock that is behind once more, and then begin anew.
   *
   * If the backup is trusted, the groups go on as if their members had been stopped when it was
   * taken: with its keys, at its time, and by its calendar.
   *
   * The new cluster has an id of its own. It refuses members of the old one, and they refuse it.
   */
  private static final long NANOS_PER_SECOND = 1_000_000_000L;

  private ClusterRestore() {}

  /**
   * Writes the folder. A member refuses to start with an incomplete one.
   *
   * @param folder must not exist, or must be empty
   * @param self the member of the folder
   * @param zone the name of the machines that fail together with it; may be empty
   * @param trust true to give keys their counts at the time of the backup; otherwise every key is
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
    try {
      Files.createDirectories(folder);
    } catch (IOException e) {
      throw new IOException(IoCauses.folder(folder, e), e);
    }
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
        ClusterMap.builder(trust ? backup.level() : Levels.FIRST, old.epoch() + 1)
            .copies(old.copies())
            .members(List.of(first))
            .replicas(Roster.replicas(List.of(first), old.groups(), old.copies()))
            .slots(old.slots())
            .build();
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

  /** Returns a group with the state of the backup. */
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

  /** Returns a group without any known keys. */
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
