package dev.weir.rules;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.weir.internal.IoCauses;
import dev.weir.internal.Sha256;
import dev.weir.rules.internal.parse.Problems;
import dev.weir.rules.internal.parse.RuleParser;
import dev.weir.rules.internal.parse.RuleTree;
import dev.weir.rules.internal.parse.Utf8;
import dev.weir.rules.internal.parse.Words;
import dev.weir.rules.internal.parse.YamlNode;
import dev.weir.rules.internal.parse.YamlReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The contents of rule files at one moment, and the errors of those that could not be read. */
public final class RuleFiles {
  /**
   * The most bytes of a file, as many as a Kubernetes ConfigMap can hold; a larger file is refused
   * before it is read.
   */
  static final int MAX_FILE_BYTES = 1 << 20;

  /** The most bytes of all files of a rule set, if the heap is not small. */
  static final int MAX_TOTAL_BYTES = 64 << 20;

  /**
   * The divisor of the heap that bounds the bytes of all files, which are held at once while they
   * are read.
   */
  private static final int HEAP_SHARE = 8;

  /** The most files, as many as are read in a moment. */
  public static final int MAX_FILES = 1_000;

  private final List<Source> sources = new ArrayList<>();
  private final Set<Path> seen = new HashSet<>();
  private final long maxTotalBytes;
  private long totalBytes;

  private RuleFiles(long heapBytes) {
    maxTotalBytes = Math.min(MAX_TOTAL_BYTES, heapBytes / HEAP_SHARE);
  }

  /** One file: its content, or the reason why it could not be read. */
  private static final class Source {
    final String file;
    final byte @Nullable [] content;
    final String problem;

    Source(String file, byte @Nullable [] content, String problem) {
      this.file = file;
      this.content = content;
      this.problem = problem;
    }
  }

  static RuleFiles read(List<Path> paths) {
    return read(paths, Runtime.getRuntime().maxMemory());
  }

  static RuleFiles read(List<Path> paths, long heapBytes) {
    RuleFiles files = new RuleFiles(heapBytes);
    for (Path path : paths) {
      if (Files.isDirectory(path)) {
        files.addFolder(path);
      } else {
        files.addFile(path);
      }
    }
    if (paths.isEmpty()) {
      files.refuse("rules", "files: none (expected: at least one file or folder)");
    }
    return files;
  }

  public static RuleFiles ofText(String file, String text) {
    return ofTexts(Map.of(file, text));
  }

  static RuleFiles ofContent(String file, byte[] content) {
    RuleFiles files = new RuleFiles(Runtime.getRuntime().maxMemory());
    files.addContent(file, content);
    return files;
  }

  /** Returns files made of texts, in the order of their names. */
  static RuleFiles ofTexts(Map<String, String> texts) {
    return ofTexts(texts, Runtime.getRuntime().maxMemory());
  }

  static RuleFiles ofTexts(Map<String, String> texts, long heapBytes) {
    RuleFiles files = new RuleFiles(heapBytes);
    if (texts.isEmpty()) {
      files.refuse("rules", "texts: none (expected: at least one)");
    } else if (texts.size() > MAX_FILES) {
      files.refuse("rules", "texts: " + texts.size() + " (expected: at most " + MAX_FILES + ")");
    } else {
      new TreeMap<>(texts).forEach(files::addText);
    }
    return files;
  }

  private void addText(String file, String text) {
    if (text.length() > MAX_FILE_BYTES) {
      refuse(file, tooLarge(text.length()));
    } else if (!UTF_8.newEncoder().canEncode(text)) {
      refuse(file, "text: half a surrogate pair (expected: Unicode)");
    } else {
      addContent(file, text.getBytes(UTF_8));
    }
  }

  private void addFolder(Path folder) {
    List<Path> found = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder, RuleFiles::isRuleFile)) {
      for (Path entry : entries) {
        found.add(entry);
        if (found.size() > MAX_FILES) {
          refuse(folder.toString(), "files: more (expected: at most " + MAX_FILES + ")");
          return;
        }
      }
    } catch (DirectoryIteratorException e) {
      refuse(
          folder.toString(), "folder: " + reason(e.getCause()) + " (expected: a folder to read)");
      return;
    } catch (IOException e) {
      refuse(folder.toString(), "folder: " + reason(e) + " (expected: a folder to read)");
      return;
    }
    if (found.isEmpty()) {
      // There is never an empty rule set: half a deployment must not lift all limits.
      refuse(folder.toString(), "folder: no rule file (expected: at least one *.yaml or *.yml)");
    }
    found.sort(Comparator.comparing(path -> String.valueOf(path.getFileName())));
    found.forEach(this::addFile);
  }

  /** Returns whether a folder of rules is read with this file in it. */
  public static boolean isRuleFile(Path path) {
    String name = String.valueOf(path.getFileName());
    return !name.startsWith(".")
        && (name.endsWith(".yaml") || name.endsWith(".yml"))
        && !Files.isDirectory(path);
  }

  /**
   * Returns the files and folders in a folder of rules that are not read, hidden ones excepted, in
   * the order of their names; none if the folder cannot be read.
   *
   * @param most the most of them that are returned
   */
  public static List<Path> unread(Path folder, int most) {
    try (Stream<Path> entries = Files.list(folder)) {
      return entries
          .filter(path -> !isRuleFile(path) && !String.valueOf(path.getFileName()).startsWith("."))
          .sorted()
          .limit(most)
          .toList();
    } catch (IOException | UncheckedIOException e) {
      return List.of();
    }
  }

  private void addFile(Path path) {
    if (!seen.add(path.toAbsolutePath().normalize())) {
      return;
    }
    String file = path.toString();
    if (seen.size() > MAX_FILES) {
      if (seen.size() == MAX_FILES + 1) {
        refuse(file, "files: more (expected: at most " + MAX_FILES + ")");
      }
      return;
    }
    try {
      if (Files.exists(path) && !Files.isRegularFile(path)) {
        refuse(file, "file: neither file nor folder (expected: a regular file)");
        return;
      }
      long size = Files.size(path);
      if (size > MAX_FILE_BYTES) {
        refuse(file, tooLarge(size));
        return;
      }
      addContent(file, path);
    } catch (IOException e) {
      refuse(file, "file: " + reason(e) + " (expected: a file to read)");
    }
  }

  private void addContent(String file, Path path) throws IOException {
    byte[] content;
    try (InputStream in = Files.newInputStream(path)) {
      // One byte more than allowed, for a file that grows meanwhile.
      content = in.readNBytes(MAX_FILE_BYTES + 1);
    }
    addContent(file, content);
  }

  private void addContent(String file, byte[] content) {
    totalBytes += content.length;
    if (content.length > MAX_FILE_BYTES) {
      refuse(file, tooLarge(content.length));
    } else if (totalBytes > maxTotalBytes) {
      refuse(file, "files: more bytes (expected: at most " + maxTotalBytes + " in all)");
    } else {
      sources.add(new Source(file, content, ""));
    }
  }

  private static String tooLarge(long size) {
    return "size: " + size + " bytes (expected: at most " + MAX_FILE_BYTES + ")";
  }

  private static String reason(@Nullable IOException e) {
    return e == null ? "unreadable" : Words.shown(IoCauses.of(e));
  }

  private void refuse(String file, String problem) {
    sources.add(new Source(file, null, problem));
  }

  /**
   * Returns a text that is the same for the same files with the same contents, and otherwise
   * differs.
   */
  String digest() {
    MessageDigest digest = Sha256.digest();
    for (Source source : sources) {
      byte[] content = source.content;
      String head = source.file + "\0" + source.problem + "\0";
      digest.update((head + (content == null ? -1 : content.length) + "\0").getBytes(UTF_8));
      if (content != null) {
        digest.update(content);
      }
    }
    return HexFormat.of().formatHex(digest.digest());
  }

  Rules.LoadResult parse(RuleDefaults defaults) {
    return parse(defaults, Runtime.getRuntime().maxMemory());
  }

  /**
   * Parses all files.
   *
   * @param heapBytes the heap, of which a share is for the rules
   */
  public Rules.LoadResult parse(RuleDefaults defaults, long heapBytes) {
    Problems problems = new Problems();
    RuleTree tree = new RuleTree(problems, heapBytes);
    for (Source source : sources) {
      problems.startFile(source.file);
      byte[] content = source.content;
      if (content == null) {
        problems.error(Position.ofFile(source.file), source.problem);
        continue;
      }
      String text = Utf8.decode(source.file, content, problems);
      YamlNode document = text == null ? null : YamlReader.read(source.file, text, problems);
      if (document != null) {
        new RuleParser(source.file, problems, tree, defaults).parse(document);
      }
    }
    RuleSet rules = tree.build(digest(), defaults);
    return new Rules.LoadResult(problems.errors() == 0 ? rules : null, problems.sorted());
  }
}
