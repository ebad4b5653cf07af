package dev.weir.cluster.internal.peer;

import java.util.UUID;

/**
 * A server that takes part in the cluster.
 *
 * @param name unique in the cluster, and the name in the member's certificate
 * @param host a name or an address; a name is resolved at each connection
 * @param port the port for other members, 1 to 65535
 * @param incarnation drawn with an empty folder and kept there: another one of the same name has
 *     lost the promises of this one; {@link #NONE} if only the address matters
 * @param zone the name of the machines that fail together; may be empty
 */
public record Member(String name, String host, int port, UUID incarnation, String zone) {
  public static final UUID NONE = new UUID(0, 0);

  public Member {
    if (name.isEmpty() || host.isEmpty()) {
      throw new IllegalArgumentException("a member needs a name and a host: " + name + " " + host);
    }
    if (port < 1 || port > 65_535) {
      throw new IllegalArgumentException("port of " + name + ": " + port + " (expected: 1..65535)");
    }
  }

  /** Creates a member of which only the address matters. */
  public Member(String name, String host, int port) {
    this(name, host, port, NONE, "");
  }

  /** Returns an id that distinguishes it from all others, including others of its name. */
  public String id() {
    return name + "@" + incarnation;
  }

  /** Returns the name in an {@link #id}. */
  public static String nameOf(String id) {
    return id.substring(0, id.lastIndexOf('@'));
  }

  /** Returns the incarnation in an {@link #id}. */
  public static UUID incarnationOf(String id) {
    return UUID.fromString(id.substring(id.lastIndexOf('@') + 1));
  }

  public void write(ByteWriter out) {
    out.writeText(name).writeText(host).writeNumber(port).writeId(incarnation).writeText(zone);
  }

  /** Reads a member. Throws {@link IllegalArgumentException} if the bytes are invalid. */
  public static Member read(ByteReader in) {
    return new Member(
        in.readText(), in.readText(), in.readNumber(1, 65_535), in.readId(), in.readText());
  }
}
