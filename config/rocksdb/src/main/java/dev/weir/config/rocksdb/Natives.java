package dev.weir.config.rocksdb;

import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.rocksdb.NativeLibraryLoader;

/** The loader of RocksDB's native library, which is loaded once per process. */
final class Natives {
  private Natives() {}

  /**
   * Loads the library, unpacked to this folder: the usual one for temporary files may be read-only
   * or may forbid programs.
   *
   * @throws ConfigException if that fails
   */
  static void load(Path folder) {
    try {
      Files.createDirectories(folder);
      NativeLibraryLoader.getInstance().loadLibrary(folder.toString());
    } catch (IOException | RuntimeException | UnsatisfiedLinkError e) {
      throw new ConfigException(
          Kind.UNAVAILABLE,
          folder
              + ": RocksDB's library does not load, "
              + String.valueOf(e.getMessage()).lines().findFirst().orElse("")
              + " (expected: a folder for programs, on a system that rocksdbjni has one for)",
          e);
    }
  }
}
