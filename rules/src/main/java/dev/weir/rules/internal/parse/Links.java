package dev.weir.rules.internal.parse;

import dev.weir.rules.RuleFiles;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The folders in which a change may change the content of rule files: those of the files, and those
 * of all links on the way to them. Used by one thread, once.
 */
public final class Links {
  /** The most links one after the other, as many as Linux follows. */
  private static final int MAX_LINKS = 40;

  /**
   * The most folders; any more are left to the slow poll, since each takes one of the system's
   * watches.
   */
  static final int MAX_FOLDERS = 1_000;

  private static final System.Logger LOG = System.getLogger(Links.class.getName());

  private final Set<Path> folders = new HashSet<>();

  private Links() {}

  /** Returns the real folders that matter to rule files and folders of them. */
  public static Set<Path> folders(List<Path> paths) {
    Links links = new Links();
    for (Path path : paths) {
      links.follow(path.toAbsolutePath());
      if (Files.isDirectory(path)) {
        links.entries(path);
      }
    }
    return links.folders;
  }

  private void entries(Path folder) {
    try (DirectoryStream<Path> entries =
        Files.newDirectoryStream(folder.toRealPath(), RuleFiles::isRuleFile)) {
      int seen = 0;
      for (Path entry : entries) {
        if (++seen > RuleFiles.MAX_FILES) {
          return;
        }
        if (Files.isSymbolicLink(entry)) {
          follow(entry);
        }
      }
    } catch (IOException | DirectoryIteratorException e) {
      LOG.log(System.Logger.Level.DEBUG, "rules: no events from " + folder, e);
    }
  }

  /** Follows a path to its target, link by link, and records the folder of each link. */
  private void follow(Path path) {
    try {
      Path parent = path.getParent();
      Path name = path.getFileName();
      if (parent == null || name == null) {
        add(path);
        return;
      }
      Path at = parent.toRealPath();
      add(at);
      Deque<Path> rest = new ArrayDeque<>(List.of(name));
      for (int links = 0; !rest.isEmpty() && links <= MAX_LINKS; ) {
        String next = rest.removeFirst().toString();
        if (next.equals("..")) {
          at = at.getParent() == null ? at : at.getParent();
        } else if (Files.isSymbolicLink(at.resolve(next))) {
          add(at);
          links++;
          Path target = Files.readSymbolicLink(at.resolve(next));
          at = target.isAbsolute() ? target.getRoot() : at;
          for (int i = target.getNameCount() - 1; i >= 0; i--) {
            rest.addFirst(target.getName(i));
          }
        } else if (!next.equals(".")) {
          at = at.resolve(next);
        }
      }
      add(Files.isDirectory(at) || at.getParent() == null ? at : at.getParent());
    } catch (IOException e) {
      // The path was deleted meanwhile: the slow poll will find its target then.
      LOG.log(System.Logger.Level.DEBUG, "rules: no events from " + path, e);
    }
  }

  private void add(Path folder) {
    if (folders.size() < MAX_FOLDERS && Files.isDirectory(folder)) {
      folders.add(folder);
    }
  }
}
