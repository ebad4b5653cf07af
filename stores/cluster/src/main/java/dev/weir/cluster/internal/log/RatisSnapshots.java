package dev.weir.cluster.internal.log;

import dev.weir.cluster.internal.log.Ledger.Machine;
import java.io.File;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.ratis.io.MD5Hash;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.segmented.LogSegmentPath;
import org.apache.ratis.server.storage.FileInfo;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.server.storage.RaftStorage.StartupOption;
import org.apache.ratis.statemachine.impl.SimpleStateMachineStorage;
import org.apache.ratis.statemachine.impl.SingleFileSnapshotInfo;
import org.apache.ratis.util.MD5FileUtil;
import org.apache.ratis.util.SizeInBytes;
import org.jspecify.annotations.Nullable;

/**
 * The snapshots of one group on disk: {@code snapshot.<term>_<index>} and an MD5 beside each, under
 * the names that Ratis expects. Guarded by its user.
 */
public final class RatisSnapshots {
  private static final int KEPT = 2;
  private static final String BAD = ".bad";
  private static final String IMAGE = "image-";

  private static final Pattern SEGMENT = Pattern.compile("log_(?:inprogress_)?(\\d+).*");

  private final RaftStorage raft;
  private final Path folder;
  private final Path scratch;
  private final SimpleStateMachineStorage storage;
  private final Consumer<? super String> log;
  private long images;

  RatisSnapshots(
      RaftStorage raft, SimpleStateMachineStorage storage, Consumer<? super String> log) {
    this.raft = raft;
    this.storage = storage;
    this.log = log;
    folder = raft.getStorageDir().getStateMachineDir().toPath();
    scratch = raft.getStorageDir().getTmpDir().toPath();
  }

  /** A writer of an image into a file that does not exist. */
  public interface Writer {
    void write(Path image) throws IOException;
  }

  /**
   * Creates a group's folder with an image. The folder must not exist yet; no member has voted in
   * it, and its log begins with the entry after {@code index}. When this returns, it is on disk.
   */
  public static void begin(Path folder, long index, Writer image) throws IOException {
    RatisEngine.quiet();
    RaftStorage raft =
        RaftStorage.newBuilder()
            .setDirectory(folder.toFile())
            .setOption(StartupOption.FORMAT)
            .setStorageFreeSpaceMin(SizeInBytes.ZERO)
            .build();
    raft.initialize();
    try {
      SimpleStateMachineStorage storage = new SimpleStateMachineStorage();
      storage.init(raft);
      RatisSnapshots begun = new RatisSnapshots(raft, storage, line -> {});
      Files.createDirectories(begun.scratch);
      Path file = begun.image();
      image.write(file);
      // In term 0, which every leader's follows: the new log has no terms yet.
      Path unused = begun.publish(file, seal(file), TermIndex.valueOf(0, index));
      syncFolder(raft.getStorageDir().getCurrentDir().toPath());
      syncFolder(folder);
      syncFolder(folder.resolveSibling("."));
    } finally {
      raft.close();
    }
  }

  /** A snapshot's file and its last entry. */
  private record StoredSnapshot(Path file, TermIndex at) {}

  /**
   * Restores the newest good snapshot, at the start of a member. Damaged ones are renamed.
   *
   * @return the restored snapshot's last entry; null if the machine starts empty
   * @throws IOException if the log lacks the entries after it
   */
  @Nullable TermIndex start(Machine machine) throws IOException {
    Files.createDirectories(folder);
    Files.createDirectories(scratch);
    for (Path image : list(scratch)) {
      if (image.getFileName().toString().startsWith(IMAGE)) {
        Files.delete(image);
      }
    }
    TermIndex restored = null;
    for (StoredSnapshot stored : stored()) {
      if (restored == null && restored(stored, machine)) {
        restored = stored.at();
      }
    }
    checkComplete(restored);
    storage.init(raft);
    return restored;
  }

  private boolean restored(StoredSnapshot stored, Machine machine) throws IOException {
    try {
      check(stored.file());
      machine.restore(stored.file());
      return true;
    } catch (IOException e) {
      log.accept("snapshot " + stored.file() + " is damaged: " + e.getMessage());
      move(stored.file(), stored.file().resolveSibling(stored.file().getFileName() + BAD));
      Files.deleteIfExists(digest(stored.file()));
      return false;
    }
  }

  private static void check(Path file) throws IOException {
    MD5Hash expected = MD5FileUtil.readStoredMd5ForFile(file.toFile());
    if (expected == null) {
      throw new IOException("it has no checksum");
    }
    if (!expected.equals(MD5FileUtil.computeMd5ForFile(file.toFile()))) {
      throw new IOException("checksum");
    }
  }

  /**
   * Checks that the log has all entries after the snapshot: a member must not start with less than
   * it has acknowledged, or it would vote for a leader that lacks committed entries.
   */
  private void checkComplete(@Nullable TermIndex restored) throws IOException {
    long next = restored == null ? 0 : restored.getIndex() + 1;
    // Ratis deletes empty files here; the log is not open yet.
    List<LogSegmentPath> segments = LogSegmentPath.getLogSegmentPaths(raft);
    boolean lost;
    if (segments.isEmpty()) {
      lost = restored == null && list(folder).stream().anyMatch(file -> has(file, BAD));
    } else {
      lost = segments.stream().mapToLong(RatisSnapshots::first).min().orElse(0) > next;
    }
    if (lost) {
      throw new IOException(
          "no good snapshot is left in "
              + folder
              + " and the log does not go back far enough. Put the snapshot back, or empty "
              + raft.getStorageDir().getRoot()
              + " and have the member join as a new one");
    }
  }

  /** Returns the index of the first entry in a file of the log, which is in its name. */
  private static long first(LogSegmentPath segment) {
    Matcher name = SEGMENT.matcher(segment.getPath().getFileName().toString());
    if (!name.matches()) {
      throw new IllegalStateException("file of a log: " + segment);
    }
    return Long.parseLong(name.group(1));
  }

  private static boolean has(Path file, String ending) {
    return file.getFileName().toString().endsWith(ending);
  }

  /** Restores a snapshot that the leader has sent, in place of the whole state. */
  TermIndex installed(Machine machine) throws IOException {
    SingleFileSnapshotInfo latest = storage.loadLatestSnapshot();
    if (latest == null) {
      throw new IOException("no snapshot in " + folder);
    }
    syncFolder(folder);
    syncFolder(raft.getStorageDir().getRoot().toPath());
    machine.restore(latest.getFile().getPath());
    return latest.getTermIndex();
  }

  /** Forces the received files to disk, before they are put into place. */
  void syncReceived() throws IOException {
    try (Stream<Path> received = Files.walk(scratch)) {
      for (Path file : received.filter(Files::isRegularFile).toList()) {
        sync(file);
      }
    }
  }

  /** Returns a file for an image, which does not exist. */
  Path image() {
    return scratch.resolve(IMAGE + ++images);
  }

  /** Makes a complete image durable. Reads all of it; changes nothing else. */
  static MD5Hash seal(Path image) throws IOException {
    sync(image);
    return MD5FileUtil.computeMd5ForFile(image.toFile());
  }

  /**
   * Makes a sealed image the newest snapshot, and deletes those older than the one before.
   *
   * @return the snapshot's file
   */
  Path publish(Path image, MD5Hash md5, TermIndex at) throws IOException {
    File file = storage.getSnapshotFile(at.getTerm(), at.getIndex());
    MD5FileUtil.saveMD5File(file, md5);
    move(image, file.toPath());
    syncFolder(folder);
    storage.updateLatestSnapshot(new SingleFileSnapshotInfo(new FileInfo(file.toPath(), md5), at));
    List<StoredSnapshot> all = stored();
    for (StoredSnapshot old : all.subList(Math.min(KEPT, all.size()), all.size())) {
      Files.deleteIfExists(old.file());
      Files.deleteIfExists(digest(old.file()));
    }
    return file.toPath();
  }

  /**
   * Returns the index up to which the log is not needed: that of the snapshot before the newest,
   * which is used if the newest is damaged; -1 if there is none.
   */
  long purgeable() throws IOException {
    List<StoredSnapshot> all = stored();
    return all.size() < KEPT ? -1 : all.get(KEPT - 1).at().getIndex();
  }

  /** Returns the snapshots, the newest first. */
  private List<StoredSnapshot> stored() throws IOException {
    List<StoredSnapshot> found = new ArrayList<>();
    for (Path file : list(folder)) {
      Matcher name =
          SimpleStateMachineStorage.SNAPSHOT_REGEX.matcher(file.getFileName().toString());
      if (name.matches()) {
        found.add(
            new StoredSnapshot(
                file,
                TermIndex.valueOf(Long.parseLong(name.group(1)), Long.parseLong(name.group(2)))));
      }
    }
    found.sort(Comparator.comparing((StoredSnapshot stored) -> stored.at().getIndex()).reversed());
    return found;
  }

  private static List<Path> list(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.toList();
    }
  }

  private static Path digest(Path file) {
    return MD5FileUtil.getDigestFileForFile(file.toFile()).toPath();
  }

  private static void move(Path from, Path to) throws IOException {
    Files.move(from, to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  private static void sync(Path file) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.force(true);
    }
  }

  private static void syncFolder(Path folder) throws IOException {
    try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }
}
