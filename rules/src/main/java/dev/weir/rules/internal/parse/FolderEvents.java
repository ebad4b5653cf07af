package dev.weir.rules.internal.parse;

import java.io.IOException;
import java.nio.file.ClosedWatchServiceException;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * A file system's events in a set of folders. Only {@link #await} is certain to return in a bounded
 * time: the JDK passes the other calls to a thread of its own and waits for it, for ever if that
 * thread has died. Used by one thread at a time.
 */
public interface FolderEvents {
  /** Follows the events of these folders, and no longer those of others. */
  void follow(Set<Path> folders);

  /** Returns whether the events of exactly these folders are followed already. */
  boolean follows(Set<Path> folders);

  /**
   * Waits until something happens in the folders and then takes all events, or for the time.
   *
   * @throws RuntimeException if there will be no more events
   */
  void await(long millis) throws InterruptedException;

  /** Ends a wait, and follows no events any more. */
  void close() throws IOException;

  /** Opens the events of the machine's own file system. */
  static FolderEvents open() throws IOException {
    return new JdkFolderEvents(FileSystems.getDefault().newWatchService());
  }

  /** The JDK's watch service. */
  final class JdkFolderEvents implements FolderEvents {
    private static final System.Logger LOG = System.getLogger(FolderEvents.class.getName());

    private final WatchService service;
    private final Map<Path, WatchKey> keys = new HashMap<>();

    JdkFolderEvents(WatchService service) {
      this.service = service;
    }

    @Override
    public void follow(Set<Path> folders) {
      keys.entrySet()
          .removeIf(
              each -> {
                boolean over = !folders.contains(each.getKey());
                if (over) {
                  each.getValue().cancel();
                }
                return over;
              });
      for (Path folder : folders) {
        WatchKey key = keys.get(folder);
        if (key == null || !key.isValid()) {
          register(folder);
        }
      }
    }

    private void register(Path folder) {
      try {
        keys.put(
            folder,
            folder.register(
                service,
                StandardWatchEventKinds.ENTRY_CREATE,
                StandardWatchEventKinds.ENTRY_MODIFY,
                StandardWatchEventKinds.ENTRY_DELETE));
      } catch (IOException | ClosedWatchServiceException e) {
        // The folder was deleted meanwhile, or there are no watches left: the slow poll remains.
        LOG.log(System.Logger.Level.DEBUG, "rules: no events from " + folder, e);
      }
    }

    @Override
    public boolean follows(Set<Path> folders) {
      return keys.keySet().equals(folders) && keys.values().stream().allMatch(WatchKey::isValid);
    }

    @Override
    public void await(long millis) throws InterruptedException {
      WatchKey key = service.poll(millis, TimeUnit.MILLISECONDS);
      while (key != null) {
        key.pollEvents();
        key.reset();
        key = service.poll();
      }
    }

    @Override
    public void close() throws IOException {
      service.close();
    }
  }
}
