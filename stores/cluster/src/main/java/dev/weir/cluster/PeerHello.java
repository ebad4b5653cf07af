package dev.weir.cluster;

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
 * @param purpose what the connection is for; empty in the answer
 */
record PeerHello(UUID cluster, String member, UUID boot, String purpose) {
  private static final int FORMAT = 1;

  static PeerHello of(PeerSelf self, String purpose) {
    return new PeerHello(self.cluster().get(), self.name(), self.boot(), purpose);
  }

  byte[] encode() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeInt(FORMAT);
      writeId(out, cluster);
      out.writeUTF(member);
      writeId(out, boot);
      out.writeUTF(purpose);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  /** Throws an {@link IOException} that says what is wrong with it. */
  static PeerHello decode(byte[] payload) throws IOException {
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(payload));
    int format = in.readInt();
    if (format != FORMAT) {
      throw new IOException("format " + format + " (expected: " + FORMAT + ")");
    }
    return new PeerHello(readId(in), in.readUTF(), readId(in), in.readUTF());
  }

  /** Returns why a member with that id of a cluster is to be refused, or null. */
  @Nullable String conflict(UUID ours) {
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
