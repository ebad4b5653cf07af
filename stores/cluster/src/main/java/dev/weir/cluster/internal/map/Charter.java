package dev.weir.cluster.internal.map;

import dev.weir.Fingerprint;
import dev.weir.cluster.internal.peer.ByteReader;
import dev.weir.cluster.internal.peer.ByteWriter;
import dev.weir.cluster.internal.peer.CheckedFile;
import dev.weir.cluster.internal.peer.Identity;
import dev.weir.cluster.internal.peer.Member;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Properties;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The agreement of the members when they formed the cluster; each has it in its folder. Immutable.
 *
 * @param cluster drawn by chance
 * @param members by name
 * @param groups the number of logs, 1..256
 * @param copies the number of replicas of a group, if there are that many members
 * @param seed0 the first half of the secret for the fingerprints of keys
 * @param seed1 the second half
 * @param complete whether all members had it on disk; until then none of them has decided anything
 */
public record Charter(
    UUID cluster,
    List<Member> members,
    int groups,
    int copies,
    long seed0,
    long seed1,
    boolean complete) {
  public static final String FILE = "cluster.properties";
  private static final int MOST_GROUPS = ClusterMap.MOST_GROUPS;

  public Charter {
    members = members.stream().sorted(Comparator.comparing(Member::name)).toList();
    if (groups < 1 || groups > MOST_GROUPS) {
      throw new IllegalArgumentException(
          "groups: " + groups + " (expected: 1.." + MOST_GROUPS + ")");
    }
  }

  /** Draws a charter for a new cluster. */
  public static Charter draw(List<Member> members, int groups, int copies) {
    SecureRandom random = new SecureRandom();
    return new Charter(
        UUID.randomUUID(), members, groups, copies, random.nextLong(), random.nextLong(), false);
  }

  public Charter completed() {
    return new Charter(cluster, members, groups, copies, seed0, seed1, true);
  }

  public Fingerprint fingerprint() {
    return Fingerprint.seeded(seed0, seed1);
  }

  /** Returns whether that incarnation was a member when the cluster was formed. */
  public boolean founded(String name, UUID incarnation) {
    return members.stream()
        .anyMatch(each -> each.name().equals(name) && each.incarnation().equals(incarnation));
  }

  public List<String> names() {
    return members.stream().map(Member::name).toList();
  }

  public void write(ByteWriter out) {
    out.writeId(cluster)
        .writeNumber(groups)
        .writeNumber(copies)
        .writeLong(seed0)
        .writeLong(seed1)
        .writeByte(complete ? 1 : 0);
    out.writeNumber(members.size());
    members.forEach(each -> each.write(out));
  }

  public static Charter read(ByteReader in) {
    UUID cluster = in.readId();
    int groups = in.readNumber(1, MOST_GROUPS);
    int copies = in.readNumber(1, ClusterMap.MOST_MEMBERS);
    long seed0 = in.readLong();
    long seed1 = in.readLong();
    boolean complete = in.readByte() == 1;
    int count = in.readCount();
    List<Member> members = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      members.add(Member.read(in));
    }
    return new Charter(cluster, members, groups, copies, seed0, seed1, complete);
  }

  /** Deletes the charter in a folder; when this returns the deletion is on disk. */
  public static void forget(Path folder) throws IOException {
    Files.deleteIfExists(folder.resolve(FILE));
    Identity.force(folder);
  }

  /**
   * Returns the charter in a folder, or null if there is none.
   *
   * @throws IOException if it cannot be read
   */
  public static @Nullable Charter load(Path folder) throws IOException {
    Properties p = CheckedFile.load(folder.resolve(FILE));
    return p == null ? null : of(p, folder.resolve(FILE));
  }

  /**
   * Returns the charter in some properties.
   *
   * @param name of their file, for messages
   */
  public static Charter of(Properties p, Path name) throws IOException {
    try {
      List<Member> members = new ArrayList<>();
      for (String each : p.getProperty("members").split(",", -1)) {
        String[] parts = each.split(" ", -1);
        members.add(
            new Member(
                parts[0],
                parts[1],
                Integer.parseInt(parts[2]),
                UUID.fromString(parts[3]),
                parts[4]));
      }
      return new Charter(
          UUID.fromString(p.getProperty("cluster")),
          members,
          Integer.parseInt(p.getProperty("groups")),
          Integer.parseInt(p.getProperty("copies")),
          Long.parseUnsignedLong(p.getProperty("seed0"), 16),
          Long.parseUnsignedLong(p.getProperty("seed1"), 16),
          Boolean.parseBoolean(p.getProperty("complete")));
    } catch (RuntimeException e) {
      throw CheckedFile.damaged(name, e);
    }
  }

  /**
   * Writes it into a folder, readable by its owner alone; when this returns it is on disk. If a bit
   * of the secret were wrong, a member would count keys under fingerprints of its own, and each
   * limit could be used twice: so it has a checksum.
   */
  public void save(Path folder) throws IOException {
    CheckedFile.save(
        properties(),
        folder.resolve(FILE),
        "What the members of this cluster agreed on, and its secret. Do not change it.");
  }

  public Properties properties() {
    Properties p = new Properties();
    p.setProperty("cluster", cluster.toString());
    p.setProperty("groups", Integer.toString(groups));
    p.setProperty("copies", Integer.toString(copies));
    p.setProperty("seed0", Long.toHexString(seed0));
    p.setProperty("seed1", Long.toHexString(seed1));
    p.setProperty("complete", Boolean.toString(complete));
    p.setProperty(
        "members",
        String.join(
            ",",
            members.stream()
                .map(
                    each ->
                        String.join(
                            " ",
                            each.name(),
                            each.host(),
                            Integer.toString(each.port()),
                            each.incarnation().toString(),
                            each.zone()))
                .toList()));
    return p;
  }
}
