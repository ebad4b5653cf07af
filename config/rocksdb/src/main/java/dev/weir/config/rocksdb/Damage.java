package dev.weir.config.rocksdb;

import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import java.nio.file.Path;
import org.rocksdb.RocksDBException;
import org.rocksdb.Status;

/** The error messages for operators about a damaged database, in one line with the remedy. */
final class Damage {
  private static final String BACKUP = "restore the folder from a backup";
  private static final String REMEDY =
      BACKUP
          + ", or open it once with ?recover=true, which drops what cannot be read and logs how"
          + " much";

  private Damage() {}

  /** Returns the exception for RocksDB's error at opening; recovery is offered only for logs. */
  static ConfigException atOpening(Folder folder, RocksDBException e) {
    if (isFull(e)) {
      return new ConfigException(
          Kind.FULL, folder.database() + ": not opened, " + line(e) + " (expected: free space)", e);
    }
    boolean log = !line(e).contains(".sst") && !line(e).contains("MANIFEST");
    String remedy = log ? REMEDY : BACKUP;
    return new ConfigException(
        Kind.DAMAGED, folder.database() + ": not opened, " + line(e) + "; " + remedy, e);
  }

  static boolean isFull(RocksDBException e) {
    Status status = e.getStatus();
    return status != null && status.getSubCode() == Status.SubCode.NoSpace;
  }

  static ConfigException atReading(Folder folder, RocksDBException e) {
    return new ConfigException(Kind.DAMAGED, folder.database() + ": " + line(e) + "; " + BACKUP, e);
  }

  static ConfigException missing(Folder folder) {
    return new ConfigException(
        Kind.DAMAGED,
        folder.database()
            + ": not opened, the file CURRENT is missing while others are there; restore the folder"
            + " from a backup, or empty it to begin anew");
  }

  /** Returns the exception for damage that {@code ?recover=true} leaves out. */
  static ConfigException found(Folder folder, String what) {
    return new ConfigException(
        Kind.DAMAGED, folder.database() + ": not opened, " + what + "; " + REMEDY);
  }

  static ConfigException beyondRecovery(Folder folder, String what) {
    return new ConfigException(
        Kind.DAMAGED, folder.database() + ": not opened, " + what + "; " + BACKUP);
  }

  static String of(Path file, long at) {
    return file.getFileName() + " is damaged at byte " + at;
  }

  /** Adds the folder and the remedy to the error of another reader. */
  static ConfigException found(Path folder, ConfigException e) {
    String line = String.valueOf(e.getMessage());
    if (line.endsWith(BACKUP)) {
      return e;
    }
    // A backup is no remedy if this version of Weir is too old.
    String remedy = line.contains("a newer version of Weir") ? "" : "; " + BACKUP;
    return new ConfigException(e.kind(), folder + ": " + line + remedy, e);
  }

  static String line(Exception e) {
    return String.valueOf(e.getMessage()).replaceAll("\\s+", " ");
  }
}
