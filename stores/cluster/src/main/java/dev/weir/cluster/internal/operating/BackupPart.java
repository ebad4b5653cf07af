package dev.weir.cluster.internal.operating;

import dev.weir.Ticker;
import dev.weir.cluster.ClusterBackup.BackupSource;
import dev.weir.cluster.ClusterBackup.GroupBackup;
import dev.weir.cluster.internal.peer.ByteReader;
import dev.weir.cluster.internal.peer.ByteWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** The transfer of one group's snapshot, by the requests of {@link Backups}. */
public final class BackupPart {
  private final BackupSource member;
  private final int group;
  private final Ticker ticker;

  public BackupPart(BackupSource member, int group, Ticker ticker) {
    this.member = member;
    this.group = group;
    this.ticker = ticker;
  }

  /** A receiver of the progress of the transfer. */
  public interface Progress {
    void received(long bytes, long of);
  }

  /** The received snapshot, with the values of {@link GroupBackup}. */
  public record ReceivedSnapshot(long term, long index, long bytes, String md5) {}

  /** The place of a snapshot, from the answer to {@link Backups#TAKE}. */
  private record Place(String member, long id) {
    ByteWriter question(int verb) {
      return new ByteWriter().writeByte(verb).writeText(member).writeLong(id);
    }
  }

  /**
   * Writes the snapshot.
   *
   * @param leaderNanos the longest wait for a leader
   * @throws IOException if it cannot be fetched, or the received bytes differ from the member's
   */
  public ReceivedSnapshot copy(
      OutputStream out, long leaderNanos, long pauseNanos, Progress progress)
      throws IOException, InterruptedException {
    Place place = taken(leaderNanos, pauseNanos);
    progress.received(0, 0);
    ByteReader is = new ByteReader(looked(place, pauseNanos), 1);
    long term = is.readLong();
    long index = is.readLong();
    long bytes = is.readLong();
    String md5 = is.readText();
    MessageDigest sum = md5();
    for (long offset = 0; offset < bytes; ) {
      byte[] part = member.call(place.question(Backups.READ).writeLong(offset).toBytes());
      if (part.length == 0) {
        throw new IOException("group " + group + ": ends at " + offset + " of " + bytes + " bytes");
      }
      out.write(part);
      sum.update(part);
      offset += part.length;
      progress.received(offset, bytes);
    }
    byte[] unused = member.call(place.question(Backups.DONE).toBytes());
    String received = HexFormat.of().formatHex(sum.digest());
    if (!received.equals(md5)) {
      throw new IOException(
          "group " + group + ": MD5 " + received + " was received (expected: " + md5 + ")");
    }
    return new ReceivedSnapshot(term, index, bytes, md5);
  }

  private Place taken(long leaderNanos, long pauseNanos) throws IOException, InterruptedException {
    byte[] question = new ByteWriter().writeByte(Backups.TAKE).writeNumber(group).toBytes();
    long begun = ticker.nanos();
    while (true) {
      try {
        ByteReader in = new ByteReader(member.call(question.clone()), 0);
        return new Place(in.readText(), in.readLong());
      } catch (IOException e) {
        if (ticker.nanos() - begun > leaderNanos) {
          throw new IOException("group " + group + ": " + e.getMessage(), e);
        }
      }
      ticker.sleep(pauseNanos);
    }
  }

  private byte[] looked(Place place, long pauseNanos) throws IOException, InterruptedException {
    while (true) {
      byte[] answer = member.call(place.question(Backups.LOOK).toBytes());
      if (answer[0] != 0) {
        return answer;
      }
      ticker.sleep(pauseNanos);
    }
  }

  public static MessageDigest md5() {
    try {
      return MessageDigest.getInstance("MD5");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // Every Java platform has MD5.
    }
  }
}
