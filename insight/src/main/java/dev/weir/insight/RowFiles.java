package dev.weir.insight;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The rows of one width in a folder, in a file for each span of time. Safe for many threads. */
final class RowFiles {
  /*
   * Which files are there, and what becomes of them? A file has the rows of a fixed span of time,
   * and the beginning of the span in its name. It is deleted when all of its rows are older than
   * the time for which rows are kept, or when the folder's share is used up. Nothing is forced to
   * the disk: a power loss may cost the last rows. Every file is read completely when the server
   * starts. A file that is not as it was written is set aside under another name for inspection,
   * and its span begins anew. Of such files only the newest is kept.
   *
   * If the disk cannot be written to, rows are lost and the problem is reported; a minute later the
   * file is tried again.
   */
  private static final System.Logger LOG = System.getLogger("dev.weir.insight");
  private static final String ASIDE = ".damaged";
  private static final long RETRY_SECONDS = 60;

  private final Path folder;
  private final String name;
  private final long keptSeconds;
  private final long fileSeconds;
  private final long maxBytes;

  /** The size of each file, by the beginning of its span. */
  private final NavigableMap<Long, Long> files = new TreeMap<>();

  private @Nullable Segment open;
  private long openFrom;
  private String problem = "";
  private long triedAt = Long.MIN_VALUE / 2;

  /**
   * @param name the name of the files, which the beginning of their span follows
   * @param keptSeconds the time for which rows are kept, in seconds
   * @param fileSeconds the span of a file, in seconds
   * @param maxBytes the most bytes of all files together
   */
  RowFiles(Path folder, String name, long keptSeconds, long fileSeconds, long maxBytes) {
    this.folder = folder;
    this.name = name;
    this.keptSeconds = keptSeconds;
    this.fileSeconds = fileSeconds;
    this.maxBytes = maxBytes;
  }

  /** Reads the files of the folder, and sets damaged ones aside. */
  synchronized void begin(long now) {
    try {
      Files.createDirectories(folder);
      for (Path file : list()) {
        Long from = from(file);
        if (from != null && sound(file)) {
          files.put(from, Files.size(file));
        }
      }
    } catch (IOException | UncheckedIOException e) {
      failed(e, now);
    }
    forget(now);
  }

  private List<Path> list() throws IOException {
    try (Stream<Path> all = Files.list(folder)) {
      return all.sorted().toList();
    }
  }

  private @Nullable Long from(Path file) {
    Matcher matcher =
        Pattern.compile(Pattern.quote(name) + "-(\\d{1,15})\\.rows")
            .matcher(String.valueOf(file.getFileName()));
    return matcher.matches() ? Long.valueOf(matcher.group(1)) : null;
  }

  private Path file(long from) {
    return folder.resolve(name + "-" + from + ".rows");
  }

  private boolean sound(Path file) throws IOException {
    try {
      Segment.Contents unused = Segment.read(file, row -> {});
      return true;
    } catch (Segment.DamagedException e) {
      setAside(file, e);
      return false;
    }
  }

  private void setAside(Path file, Segment.DamagedException e) throws IOException {
    Path aside = folder.resolve(name + ASIDE);
    Files.move(file, aside, StandardCopyOption.REPLACE_EXISTING);
    LOG.log(
        System.Logger.Level.WARNING,
        "history: {0}; set aside as {1}, its span begins anew",
        e.getMessage(),
        aside);
  }

  /** Adds a row. A row that cannot be written is lost, and {@link #problem} has the reason. */
  synchronized void add(Row row, long now) {
    if (!problem.isEmpty() && now - triedAt < RETRY_SECONDS && now >= triedAt) {
      return;
    }
    long from = row.time() - Math.floorMod(row.time(), fileSeconds);
    try {
      write(row, from);
      if (!problem.isEmpty()) {
        LOG.log(System.Logger.Level.INFO, "history: written to {0} again", folder);
        problem = "";
      }
    } catch (IOException e) {
      failed(e, now);
      closeFile();
    }
    forget(now);
  }

  private void write(Row row, long from) throws IOException {
    Segment to = open;
    if (to == null || openFrom != from) {
      closeFile();
      Files.createDirectories(folder);
      to = segment(file(from));
      open = to;
      openFrom = from;
    }
    if (to.size() < maxBytes / 2) { // Otherwise it alone would use up the bound of all.
      to.add(row);
    }
    files.put(from, to.size());
  }

  private Segment segment(Path file) throws IOException {
    try {
      return Segment.open(file);
    } catch (Segment.DamagedException e) {
      setAside(file, e);
      return Segment.open(file);
    }
  }

  private void failed(Exception e, long now) {
    String why = folder + ": " + e.getClass().getSimpleName() + ": " + e.getMessage();
    if (problem.isEmpty()) {
      LOG.log(System.Logger.Level.WARNING, "history: not written, rows are lost: {0}", why);
    }
    problem = why;
    triedAt = now;
  }

  /** Deletes files that are too old or too many. */
  private void forget(long now) {
    long bytes = files.values().stream().mapToLong(Long::longValue).sum();
    while (!files.isEmpty()) {
      Map.Entry<Long, Long> oldest = files.firstEntry();
      boolean old = oldest.getKey() + fileSeconds <= now - keptSeconds;
      if (!old && (bytes <= maxBytes || files.size() == 1)) {
        return;
      }
      if (open != null && openFrom == oldest.getKey()) {
        closeFile();
      }
      try {
        Files.deleteIfExists(file(oldest.getKey()));
      } catch (IOException e) {
        failed(e, now);
        return;
      }
      bytes -= oldest.getValue();
      files.remove(oldest.getKey());
    }
  }

  /** Passes on the rows that begin in a span, file by file in the order of time. */
  void read(long from, long to, Consumer<Row> sink) {
    for (long each : inSpan(from, to)) {
      try {
        Segment.Contents unused =
            Segment.read(
                file(each),
                row -> {
                  if (row.time() >= from && row.time() < to) {
                    sink.accept(row);
                  }
                });
      } catch (NoSuchFileException e) {
        LOG.log(System.Logger.Level.DEBUG, "history: {0}: deleted meanwhile", file(each));
      } catch (IOException e) {
        LOG.log(System.Logger.Level.WARNING, "history: not read: {0}", e.getMessage());
      }
    }
  }

  private synchronized List<Long> inSpan(long from, long to) {
    List<Long> found = new ArrayList<>();
    for (long each : files.keySet()) {
      if (each < to && each + fileSeconds > from) {
        found.add(each);
      }
    }
    return found;
  }

  /** Returns the approximate beginning of the oldest row, or null if there is none. */
  synchronized @Nullable Long since() {
    return files.isEmpty() ? null : files.firstKey();
  }

  /** Returns the reason why nothing can be written now, or an empty text. */
  synchronized String problem() {
    return problem;
  }

  /** Returns the bytes of all files. */
  synchronized long bytes() {
    return files.values().stream().mapToLong(Long::longValue).sum();
  }

  private void closeFile() {
    Segment closing = open;
    open = null;
    if (closing != null) {
      try {
        closing.close();
      } catch (IOException e) {
        LOG.log(System.Logger.Level.WARNING, "history: {0}", e.getMessage());
      }
    }
  }

  synchronized void end() {
    closeFile();
  }
}
