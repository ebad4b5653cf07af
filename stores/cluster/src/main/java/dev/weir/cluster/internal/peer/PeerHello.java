package dev.weir.cluster.internal.peer;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The payload of a hello and of its answer.
 *
 * @param name of its sender
 * @param purpose of the connection; empty in the answer
 * @param member false for a process that only sends requests
 */
public record PeerHello(
    UUID cluster, String name, UUID boot, String purpose, boolean member, Levels levels) {
  /**
   * The format, which must never change: otherwise an older version could not answer that it is too
   * old.
   */
  private static final int FORMAT = 2;

  static PeerHello of(PeerSelf self, String purpose) {
    return new PeerHello(
        self.cluster().get(), self.name(), self.boot(), purpose, self.member(), self.levels());
  }

  public byte[] encode() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeInt(FORMAT);
      writeId(out, cluster);
      out.writeUTF(name);
      writeId(out, boot);
      out.writeUTF(purpose);
      out.writeBoolean(member);
      out.writeInt(levels.least());
      out.writeInt(levels.most());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  /** Decodes a hello. Throws an {@link IOException} whose message describes the error. */
  public static PeerHello decode(byte[] payload) throws IOException {
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(payload));
    int format = in.readInt();
    if (format != FORMAT) {
      throw new IOException("format " + format + " (expected: " + FORMAT + ")");
    }
    try {
      return new PeerHello(
          readId(in),
          in.readUTF(),
          readId(in),
          in.readUTF(),
          in.readBoolean(),
          new Levels(in.readInt(), in.readInt()));
    } catch (IllegalArgumentException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  /** Returns the reason to refuse the sender of this, or null. */
  @Nullable String conflict(PeerSelf self) {
    String unlike = levels.conflict(self.levels());
    if (unlike != null) {
      return unlike;
    }
    UUID ours = self.cluster().get();
    if (cluster.equals(ours) || cluster.equals(PeerSelf.FORMING) || ours.equals(PeerSelf.FORMING)) {
      return null;
    }
    return "cluster " + cluster + " (expected: " + ours + ")";
  }

  private static void writeId(DataOutputStream out, UUID id) throws IOException {
    out.writeLong(id.getMostSignificantBits());
    out.writeLong(id.getLeastSignificantBits());
  }

  private static UUID readId(DataInputStream in) throws IOException {
    return new UUID(in.readLong(), in.readLong());
  }
}
