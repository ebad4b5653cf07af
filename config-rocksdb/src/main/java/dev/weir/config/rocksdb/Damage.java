package dev.weir.config.rocksdb;

import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import java.nio.file.Path;
import org.rocksdb.RocksDBException;
import org.rocksdb.Status;

/** What an operator reads about a database that cannot be right, in one line with the remedy. */
final class Damage {
  private static final String REMEDY =
      "restore the folder from a backup, or open it once with ?recover=true, which drops what"
          + " cannot be read and logs how much";

  private Damage() {}

  static ConfigException atOpening(Folder folder, RocksDBException e) {
    Status status = e.getStatus();
    boolean disk = status != null && status.getSubCode() == Status.SubCode.NoSpace;
    return new ConfigException(
        disk ? Kind.FULL : Kind.DAMAGED,
        disk
            ? folder.database() + ": not opened, " + line(e) + " (expected: free space)"
            : folder.database() + ": not opened, " + line(e) + "; " + REMEDY,
        e);
  }

  static ConfigException atReading(Folder folder, RocksDBException e) {
    return new ConfigException(
        Kind.DAMAGED, folder.database() + ": " + line(e) + "; restore the folder from a backup", e);
  }

  static ConfigException missing(Folder folder) {
    return new ConfigException(
        Kind.DAMAGED,
        folder.database()
            + ": not opened, the file CURRENT is missing while others are there; restore the folder"
            + " from a backup, or empty it to begin anew");
  }

  static ConfigException found(Folder folder, String what) {
    return new ConfigException(
        Kind.DAMAGED, folder.database() + ": not opened, " + what + "; " + REMEDY);
  }

  /** Names the folder of what was found by another reader. */
  static ConfigException found(Path folder, ConfigException e) {
    return new ConfigException(
        e.kind(), folder + ": " + e.getMessage() + "; restore the folder from a backup", e);
  }

  static String line(Exception e) {
    return String.valueOf(e.getMessage()).replaceAll("\\s+", " ");
  }
}
