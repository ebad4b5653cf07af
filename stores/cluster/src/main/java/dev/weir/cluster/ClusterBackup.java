package dev.weir.cluster;

import dev.weir.Ticker;
import dev.weir.cluster.internal.map.Charter;
import dev.weir.cluster.internal.map.ClusterMap;
import dev.weir.cluster.internal.operating.BackupPart;
import dev.weir.cluster.internal.operating.Backups;
import dev.weir.cluster.internal.peer.ByteReader;
import dev.weir.cluster.internal.peer.CheckedFile;
import dev.weir.cluster.internal.peer.Levels;
import dev.weir.cluster.internal.state.GroupSlots;
import dev.weir.cluster.internal.state.ReplicaHead;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.zip.Deflater;
import java.util.zip.ZipEntry;
import java.util.zip.ZipException;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;

/**
 * A snapshot of each group of a cluster, in one file, from which {@link ClusterRestore} makes a new
 * cluster. Immutable.
 *
 * <p>It has the cluster's secret for the fingerprints of keys, so the file is readable by its owner
 * alone. Each group's snapshot is of one place in its own log; snapshots of two groups are of
 * different moments.
 */
public final class ClusterBackup {
  /*
   * The file is a ZIP archive:
   *
   *   group-0, group-1, ...   the snapshots, as the leaders have them on their disks
   *   cluster.properties      the charter of the cluster
   *   backup.properties       the manifest of the backup: written last, of the received parts
   *
   * Each part has a checksum: for a snapshot it is the one that the member keeps beside its own
   * (MD5, in backup.properties), for the properties one within the file. A file that is cut short
   * has no directory, which a ZIP archive has at its end.
   */
  static final int FORMAT = 1;

  private static final String MANIFEST = "backup.properties";
  private static final String GROUP = "group-";
  private static final long PAUSE_NANOS = 50_000_000L;

  /** The longest wait for a group without a leader. */
  private static final long LEADER_NANOS = 30_000_000_000L;

  private final Path file;
  private final Charter charter;
  private final ClusterMap map;
  private final Origin origin;
  private final List<GroupBackup> groups;

  /**
   * The origin of a backup.
   *
   * @param version of Weir that wrote it
   * @param level of group 0
   */
  private record Origin(String version, Instant taken, int level) {}

  /**
   * A group's part of a backup.
   *
   * @param group its number
   * @param term of the last entry in it
   * @param index of that entry in the group's log
   * @param time the group's, at that entry
   * @param bytes of the snapshot
   * @param md5 of the snapshot, in hex
   */
  public record GroupBackup(
      int group, long term, long index, Instant time, long bytes, String md5) {}

  /** A member of the cluster that answers requests, by {@link Cluster#backup}. */
  public interface BackupSource {
    /**
     * Returns the answer to a request.
     *
     * @throws IOException if there is none; the message gives the reason
     */
    byte[] call(byte[] question) throws IOException, InterruptedException;
  }

  /** A receiver of the progress of a backup. */
  public interface Progress {
    /**
     * Called when a part of a group was received.
     *
     * @param of the size of the group's snapshot in bytes; 0 while it is not known
     */
    void received(int group, int groups, long bytes, long of);
  }

  private ClusterBackup(
      Path file, Charter charter, ClusterMap map, Origin origin, List<GroupBackup> groups) {
    this.file = file;
    this.charter = charter;
    this.map = map;
    this.origin = origin;
    this.groups = List.copyOf(groups);
  }

  /** Returns the id of the cluster in the backup. */
  public String cluster() {
    return charter.cluster().toString();
  }

  /** Returns the version of Weir that wrote the backup. */
  public String version() {
    return origin.version();
  }

  /** Returns the time of its completion, by the clock of the machine that wrote it. */
  public Instant taken() {
    return origin.taken();
  }

  /** Returns the parts of the groups, by number. */
  public List<GroupBackup> groups() {
    return groups;
  }

  Charter charter() {
    return charter;
  }

  ClusterMap map() {
    return map;
  }

  /** Returns the level of group 0, see {@link Levels}. */
  int level() {
    return origin.level();
  }

  /** Returns the snapshot of a group. */
  void read(int group, Reader reader) throws IOException {
    try (ZipFile zip = new ZipFile(file.toFile())) {
      reader.read(new BufferedInputStream(part(zip, file, GROUP + group)));
    }
  }

  /** A reader of a snapshot. */
  interface Reader {
    void read(InputStream snapshot) throws IOException;
  }

  /**
   * Takes a backup, and reads all of it again.
   *
   * @param to a file that does not exist: afterwards either the whole backup is there, or nothing
   * @param version of Weir, which makes it
   * @throws IOException if a member does not answer, or the file cannot be written; the message
   *     gives the reason
   */
  public static ClusterBackup take(
      Path to, BackupSource member, String version, Ticker ticker, Progress progress)
      throws IOException, InterruptedException {
    if (Files.exists(to)) {
      throw new IOException(to + ": exists (expected: a file that does not)");
    }
    Path part = to.resolveSibling(to.getFileName() + ".part");
    try {
      try (FileChannel channel = created(part)) {
        write(channel, member, version, ticker, progress);
        channel.force(true);
      }
      ClusterBackup whole = open(part);
      Files.move(part, to, StandardCopyOption.ATOMIC_MOVE);
      try (FileChannel folder = FileChannel.open(to.toAbsolutePath().resolveSibling("."))) {
        folder.force(true);
      }
      return new ClusterBackup(to, whole.charter, whole.map, whole.origin, whole.groups);
    } finally {
      Files.deleteIfExists(part);
    }
  }

  /** Creates a file for writing, readable by its owner alone; replaces an existing one. */
  private static FileChannel created(Path part) throws IOException {
    Files.deleteIfExists(part);
    boolean posix = part.getFileSystem().supportedFileAttributeViews().contains("posix");
    FileAttribute<?>[] owned = new FileAttribute<?>[posix ? 1 : 0];
    if (posix) {
      owned[0] = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
    }
    return FileChannel.open(
        part, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), owned);
  }

  private static void write(
      FileChannel to, BackupSource member, String version, Ticker ticker, Progress progress)
      throws IOException, InterruptedException {
    // It must not close the channel, which is forced to disk after it.
    ZipOutputStream zip =
        new ZipOutputStream(new BufferedOutputStream(Channels.newOutputStream(to)));
    zip.setLevel(Deflater.BEST_SPEED);
    ByteReader formed = new ByteReader(member.call(new byte[] {Backups.CHARTER}), 0);
    Charter charter = Charter.read(formed);
    ClusterMap map = ClusterMap.read(formed);
    Properties manifest = new Properties();
    manifest.setProperty("format", Integer.toString(FORMAT));
    manifest.setProperty("level", Integer.toString(Levels.HERE.most()));
    manifest.setProperty("weir", version);
    manifest.setProperty("cluster", charter.cluster().toString());
    manifest.setProperty("groups", Integer.toString(map.groups()));
    for (int group = 0; group < map.groups(); group++) {
      zip.putNextEntry(new ZipEntry(GROUP + group));
      BackupPart part = new BackupPart(member, group, ticker);
      int number = group;
      BackupPart.ReceivedSnapshot copied =
          part.copy(
              zip,
              LEADER_NANOS,
              PAUSE_NANOS,
              (bytes, of) -> progress.received(number, map.groups(), bytes, of));
      zip.closeEntry();
      manifest.setProperty(
          GROUP + group,
          "%d %d %d %s".formatted(copied.term(), copied.index(), copied.bytes(), copied.md5()));
    }
    put(zip, Charter.FILE, charter.properties());
    manifest.setProperty("taken", Instant.ofEpochSecond(0, Ticker.wall().nanos()).toString());
    put(zip, MANIFEST, manifest);
    zip.finish();
    zip.flush();
  }

  private static void put(ZipOutputStream zip, String name, Properties p) throws IOException {
    CheckedFile.sign(p);
    zip.putNextEntry(new ZipEntry(name));
    p.store(zip, null);
    zip.closeEntry();
  }

  /**
   * Opens a backup, and checks all of it; the keys in its snapshots are only compared with their
   * checksums.
   *
   * @throws IOException if it is not whole, or this version cannot use it; the message gives the
   *     reason
   */
  public static ClusterBackup open(Path file) throws IOException {
    if (!Files.isRegularFile(file)) {
      throw new IOException(file + ": is no file (expected: one by 'weir cluster backup')");
    }
    try (ZipFile zip = new ZipFile(file.toFile())) {
      return checked(file, zip);
    } catch (ZipException e) {
      throw new IOException(
          file + ": no whole backup (expected: a file by 'weir cluster backup'): " + e.getMessage(),
          e);
    }
  }

  private static InputStream part(ZipFile zip, Path file, String name) throws IOException {
    ZipEntry entry = zip.getEntry(name);
    if (entry == null) {
      throw new IOException(
          file + ": has no " + name + " (expected: a whole file by 'weir cluster backup')");
    }
    return zip.getInputStream(entry);
  }

  private static Properties properties(ZipFile zip, Path file, String name) throws IOException {
    try (InputStream in = part(zip, file, name)) {
      return CheckedFile.load(in, file.resolve(name));
    }
  }

  private static ClusterBackup checked(Path file, ZipFile zip) throws IOException {
    Properties p = properties(zip, file, MANIFEST);
    String format = p.getProperty("format");
    if (!String.valueOf(FORMAT).equals(format)) {
      throw new IOException(
          file + ": format " + format + " (expected: " + FORMAT + ", by this version of Weir)");
    }
    Charter charter = Charter.of(properties(zip, file, Charter.FILE), file.resolve(Charter.FILE));
    List<GroupBackup> groups = new ArrayList<>();
    List<GroupSlots> slots = new ArrayList<>();
    ClusterMap map = null;
    int inForce = Levels.FIRST;
    try {
      int level = Integer.parseInt(p.getProperty("level"));
      if (level < Levels.HERE.least() || level > Levels.HERE.most()) {
        throw new IOException(
            file + ": level " + level + " (expected: one of " + Levels.HERE + ")");
      }
      int count = Integer.parseInt(p.getProperty("groups"));
      for (int group = 0; group < count; group++) {
        String[] parts = p.getProperty(GROUP + group).split(" ", -1);
        ReplicaHead head = head(zip, file, group, Long.parseLong(parts[2]), parts[3]);
        map = group == 0 ? head.map() : map;
        inForce = group == 0 ? head.level() : inForce;
        slots.add(head.slots());
        groups.add(
            new GroupBackup(
                group,
                Long.parseLong(parts[0]),
                Long.parseLong(parts[1]),
                Instant.ofEpochSecond(0, head.nowNanos()),
                Long.parseLong(parts[2]),
                parts[3]));
      }
      if (!p.getProperty("cluster").equals(charter.cluster().toString()) || map == null) {
        throw new IOException(file + ": of two clusters (expected: all of one)");
      }
      ClusterMap of = map;
      checkSlots(file, of, slots);
      return new ClusterBackup(
          file,
          charter,
          of,
          new Origin(p.getProperty("weir"), Instant.parse(p.getProperty("taken")), inForce),
          groups);
    } catch (RuntimeException e) { // No member wrote this, yet its checksum is right.
      throw new IOException(file.resolve(MANIFEST) + ": makes no sense: " + e.getMessage(), e);
    }
  }

  /** Reads the whole of a snapshot, and compares its checksum. */
  private static ReplicaHead head(ZipFile zip, Path file, int group, long bytes, String md5)
      throws IOException {
    String name = GROUP + group;
    MessageDigest digest = BackupPart.md5();
    long read = 0;
    try (InputStream in = part(zip, file, name);
        DigestInputStream summed = new DigestInputStream(in, digest)) {
      byte[] buffer = new byte[Backups.MOST_READ];
      for (int some = summed.read(buffer); some >= 0; some = summed.read(buffer)) {
        read += some;
      }
    } catch (IOException e) {
      throw new IOException(file.resolve(name) + ": damaged: " + e.getMessage(), e);
    }
    String found = HexFormat.of().formatHex(digest.digest());
    if (read != bytes || !found.equals(md5)) {
      throw new IOException(
          "%s: damaged: %d bytes, MD5 %s (expected: %d bytes, MD5 %s)"
              .formatted(file.resolve(name), read, found, bytes, md5));
    }
    try (DataInputStream in = new DataInputStream(new BufferedInputStream(part(zip, file, name)))) {
      return ReplicaHead.read(in, Levels.HERE);
    }
  }

  /**
   * Checks that each slot is in one group's snapshot, which must be that of its group in the map:
   * groups are of different moments, and a slot that moved between these may be in none.
   */
  private static void checkSlots(Path file, ClusterMap map, List<GroupSlots> groups)
      throws IOException {
    int moving = map.moves().size();
    for (int slot = 0; slot < ClusterMap.SLOTS; slot++) {
      for (int group = 0; group < groups.size(); group++) {
        GroupSlots.Phase phase = groups.get(group).phaseOf(slot);
        GroupSlots.Phase right =
            map.groupOfSlot(slot) == group ? GroupSlots.Phase.OWNED : GroupSlots.Phase.AWAY;
        moving += phase == right ? 0 : 1;
      }
    }
    if (moving > 0 || map.groups() != groups.size()) {
      throw new IOException(
          file
              + ": slots were on their way from a group to another while it was taken (expected:"
              + " one that is taken when none is)");
    }
  }
}
