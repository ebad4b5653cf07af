package dev.weir.cluster.internal.operating;

import dev.weir.cluster.ClusterSettings;
import dev.weir.cluster.internal.log.RatisEngine;
import dev.weir.cluster.internal.peer.ClusterLevel;
import dev.weir.cluster.internal.peer.Identity;
import dev.weir.cluster.internal.peer.Levels;
import dev.weir.internal.IoCauses;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.UUID;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The folder of a member, locked for one process: the member's identity, its level, and the room
 * for its logs. Safe for use by many threads.
 *
 * @param incarnation this member's
 * @param level the levels that it understands, and the one in force
 */
public record MemberFolder(
    Path path, FileChannel lock, UUID incarnation, ClusterLevel level, DiskRoom room)
    implements AutoCloseable {
  /**
   * Takes the folder.
   *
   * @param groups returns the number of groups of this member; given the number of logs that will
   *     be in the folder, for the time before the groups are open
   * @throws IOException if another process has it, or one of its files cannot be used
   */
  public static MemberFolder open(ClusterSettings settings, IntUnaryOperator groups)
      throws IOException {
    Path folder = settings.folder();
    FileChannel lock;
    try {
      Files.createDirectories(folder);
      lock =
          FileChannel.open(
              folder.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    } catch (IOException e) {
      throw new IOException(IoCauses.folder(folder, e), e);
    }
    try {
      if (tried(lock) == null) {
        throw new IOException(folder + ": in use by another member (expected: a folder for each)");
      }
      Set<Integer> kept = RatisEngine.kept(logs(folder));
      int begun = kept.isEmpty() ? settings.groups() : kept.size();
      DiskRoom room = new DiskRoom(folder, () -> groups.applyAsInt(begun), settings.log());
      room.begin();
      UUID incarnation = Identity.of(folder, settings.name());
      Levels able = Levels.upTo(settings.levelMost());
      ClusterLevel level = new ClusterLevel(able, Identity.level(folder, able));
      return new MemberFolder(folder, lock, incarnation, level, room);
    } catch (IOException | RuntimeException e) {
      lock.close();
      throw e;
    }
  }

  private static @Nullable FileLock tried(FileChannel channel) throws IOException {
    try {
      return channel.tryLock();
    } catch (OverlappingFileLockException e) {
      return null;
    }
  }

  /** Returns the folder of the groups' logs. */
  public Path logs() {
    return logs(path);
  }

  private static Path logs(Path folder) {
    return folder.resolve("groups");
  }

  /** Writes down that a level is in force. */
  public void raise(int now) throws IOException {
    Identity.raise(path, now);
  }

  /** Unlocks the folder. */
  @Override
  public void close() throws IOException {
    lock.close();
  }
}
