package dev.weir.cluster;

import dev.weir.Fingerprint;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What the members agreed on when they formed the cluster; each has it in its folder. Immutable.
 *
 * @param cluster drawn by chance
 * @param members by name
 * @param groups how many logs there are, 1..256
 * @param seed0 the first half of the secret under which all members know keys
 * @param seed1 the second half
 * @param complete whether all members had it on disk; until then none of them has decided anything
 */
record Charter(
    UUID cluster, List<Member> members, int groups, long seed0, long seed1, boolean complete) {
  private static final String FILE = "cluster.properties";
  private static final int MOST_GROUPS = 256;

  Charter {
    members = members.stream().sorted(Comparator.comparing(Member::name)).toList();
    if (groups < 1 || groups > MOST_GROUPS) {
      throw new IllegalArgumentException(
          "groups: " + groups + " (expected: 1.." + MOST_GROUPS + ")");
    }
  }

  /** Draws one for a new cluster. */
  static Charter draw(List<Member> members, int groups) {
    SecureRandom random = new SecureRandom();
    return new Charter(
        UUID.randomUUID(), members, groups, random.nextLong(), random.nextLong(), false);
  }

  Charter completed() {
    return new Charter(cluster, members, groups, seed0, seed1, true);
  }

  Fingerprint fingerprint() {
    return Fingerprint.seeded(seed0, seed1);
  }

  List<String> names() {
    return members.stream().map(Member::name).toList();
  }

  void write(ByteWriter out) {
    out.writeLong(cluster.getMostSignificantBits()).writeLong(cluster.getLeastSignificantBits());
    out.writeNumber(groups).writeLong(seed0).writeLong(seed1).writeByte(complete ? 1 : 0);
    out.writeNumber(members.size());
    for (Member each : members) {
      out.writeText(each.name()).writeText(each.host()).writeNumber(each.port());
    }
  }

  static Charter read(ByteReader in) {
    UUID cluster = new UUID(in.readLong(), in.readLong());
    int groups = (int) in.readNumber();
    long seed0 = in.readLong();
    long seed1 = in.readLong();
    boolean complete = in.readByte() == 1;
    int count = in.readCount();
    List<Member> members = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      members.add(new Member(in.readText(), in.readText(), (int) in.readNumber()));
    }
    return new Charter(cluster, members, groups, seed0, seed1, complete);
  }

  /**
   * Returns the one in a folder, or null if there is none.
   *
   * @throws IOException if it cannot be read
   */
  static @Nullable Charter load(Path folder) throws IOException {
    Properties p = new Properties();
    try (InputStream in = Files.newInputStream(folder.resolve(FILE))) {
      p.load(in);
    } catch (NoSuchFileException e) {
      return null;
    }
    try {
      List<Member> members = new ArrayList<>();
      for (String each : p.getProperty("members").split(",", -1)) {
        String[] parts = each.split(" ", -1);
        members.add(new Member(parts[0], parts[1], Integer.parseInt(parts[2])));
      }
      return new Charter(
          UUID.fromString(p.getProperty("cluster")),
          members,
          Integer.parseInt(p.getProperty("groups")),
          Long.parseUnsignedLong(p.getProperty("seed0"), 16),
          Long.parseUnsignedLong(p.getProperty("seed1"), 16),
          Boolean.parseBoolean(p.getProperty("complete")));
    } catch (RuntimeException e) {
      throw new IOException(
          folder.resolve(FILE) + ": damaged (expected: as a member wrote it): " + e.getMessage(),
          e);
    }
  }

  /** Writes it into a folder, readable by its owner alone; when this returns it is on disk. */
  void save(Path folder) throws IOException {
    Properties p = new Properties();
    p.setProperty("cluster", cluster.toString());
    p.setProperty("groups", Integer.toString(groups));
    p.setProperty("seed0", Long.toHexString(seed0));
    p.setProperty("seed1", Long.toHexString(seed1));
    p.setProperty("complete", Boolean.toString(complete));
    p.setProperty(
        "members",
        String.join(
            ",",
            members.stream()
                .map(each -> each.name() + " " + each.host() + " " + each.port())
                .toList()));
    Path next = folder.resolve(FILE + ".next");
    Files.deleteIfExists(next);
    Set<StandardOpenOption> options =
        Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    if (next.getFileSystem().supportedFileAttributeViews().contains("posix")) {
      Files.newByteChannel(
              next,
              options,
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))
          .close();
    }
    try (OutputStream out = Files.newOutputStream(next)) {
      p.store(out, "What the members of this cluster agreed on, and its secret. Do not change it.");
    }
    force(next);
    Files.move(next, folder.resolve(FILE), StandardCopyOption.ATOMIC_MOVE);
    force(folder);
  }

  private static void force(Path path) throws IOException {
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }
}
