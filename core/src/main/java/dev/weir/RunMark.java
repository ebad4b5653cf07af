package dev.weir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * The mark of a run that uses a folder, or has ended without saving its counts: a file with the
 * names of its stores. Used by one thread at a time.
 */
final class RunMark {
  private static final String TEXT =
      "A process uses this folder, or has ended without saving its counts.";

  /** The stores of servers of version 0.1, which left no names. */
  private static final Set<String> USUAL = Set.of("rules", "throttle");

  private final Path folder;

  /** The stores whose last process has ended without saving, unless their journals have it all. */
  private final Set<String> crashed;

  /** True if the names of those stores are not known. */
  private final boolean anyCrashed;

  private RunMark(Path folder, Set<String> crashed, boolean anyCrashed) {
    this.folder = folder;
    this.crashed = crashed;
    this.anyCrashed = anyCrashed;
  }

  /** Reads the mark that the last run has left in a folder, if any. */
  static RunMark read(Path folder) throws IOException {
    List<String> lines;
    try {
      lines = Files.readAllLines(file(folder));
    } catch (NoSuchFileException e) {
      return new RunMark(folder, new TreeSet<>(), false);
    }
    boolean named = lines.size() > 1;
    return new RunMark(
        folder, new TreeSet<>(named ? lines.subList(1, lines.size()) : List.of()), !named);
  }

  private static Path file(Path folder) {
    return folder.resolve("running");
  }

  /** Returns whether the last process with a store has ended without saving. */
  boolean crashed(String store) {
    return anyCrashed || crashed.contains(store);
  }

  /** Returns the names of the stores of runs that crashed; if those left none, the usual ones. */
  Set<String> crashed() {
    return anyCrashed ? USUAL : crashed;
  }

  /** Records that a store's past is not known, even if this start fails. */
  void crash(String store) throws IOException {
    crashed.add(store);
    write(crashed);
  }

  /** Marks that a run with some stores has begun. */
  void begin(Set<String> stores) throws IOException {
    Set<String> names = new TreeSet<>(stores);
    names.addAll(crashed);
    write(names);
  }

  private void write(Set<String> names) throws IOException {
    Path file = file(folder);
    Files.writeString(file, TEXT + "\n" + (anyCrashed ? "" : String.join("\n", names) + "\n"));
    StoreFiles.sync(file);
    StoreFiles.sync(folder);
  }

  /** Removes the mark: everything is saved. */
  void end() throws IOException {
    Files.deleteIfExists(file(folder));
    StoreFiles.sync(folder);
  }
}
