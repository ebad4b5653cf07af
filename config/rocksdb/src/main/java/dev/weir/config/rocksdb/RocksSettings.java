package dev.weir.config.rocksdb;

import dev.weir.config.StoreAddress;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The settings of a database in a folder.
 *
 * @param cacheBytes for blocks that were read
 * @param minFreeBytes the free space below which writes are refused, or 0 for 256 MiB and 5 % of
 *     the disk
 * @param recover whether to drop the unreadable end of a log
 */
record RocksSettings(Path folder, long cacheBytes, long minFreeBytes, boolean recover) {
  static final String FORM = "rocksdb:FOLDER[?cache=64MB&min-free=256MB&recover=true]";

  private static final long MB = 1L << 20;
  private static final Pattern MEGABYTES = Pattern.compile("([1-9][0-9]{0,5})MB");

  static RocksSettings of(StoreAddress address) {
    address.requireOptions(Set.of("cache", "min-free", "recover"));
    if (address.place().isBlank()) {
      throw new IllegalArgumentException("folder: none (expected: " + FORM + ")");
    }
    Path folder;
    try {
      folder = Path.of(address.place());
    } catch (InvalidPathException e) {
      throw new IllegalArgumentException(
          "folder: " + address.place() + " (expected: " + FORM + ")", e);
    }
    return new RocksSettings(
        folder,
        bytes(address, "cache", 64 * MB),
        bytes(address, "min-free", 0),
        flag(address.options().getOrDefault("recover", "false")));
  }

  private static long bytes(StoreAddress address, String name, long usual) {
    String value = address.options().get(name);
    if (value == null) {
      return usual;
    }
    Matcher megabytes = MEGABYTES.matcher(value);
    if (!megabytes.matches()) {
      throw new IllegalArgumentException(name + ": " + value + " (expected: such as 64MB)");
    }
    return Long.parseLong(megabytes.group(1)) * MB;
  }

  private static boolean flag(String value) {
    if (!value.equals("true") && !value.equals("false")) {
      throw new IllegalArgumentException("recover: " + value + " (expected: true or false)");
    }
    return value.equals("true");
  }
}
