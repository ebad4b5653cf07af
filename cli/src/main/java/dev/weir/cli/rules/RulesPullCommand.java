package dev.weir.cli.rules;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.weir.cli.Main;
import dev.weir.cli.admin.AdminClient;
import dev.weir.cli.admin.AdminCommand;
import dev.weir.cli.command.CommandFailure;
import dev.weir.config.Json;
import dev.weir.internal.IoCauses;
import dev.weir.rules.ValueErrors;
import java.io.IOException;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFileAttributeView;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "pull",
    mixinStandardHelpOptions = true,
    description = {
      "Writes the rule files of a server's store into a folder.",
      "",
      "A file that has a text that the store has or had is replaced. One that was edited here"
          + " since is not, unless --force is given. Files that the store does not have are left"
          + " alone, unless --delete is given.",
      "",
      "Exit status: 0 if done, 1 if a file was edited here.",
      ""
    })
final class RulesPullCommand extends AdminCommand {
  /** The number of revisions that are searched for a file's text. */
  private static final int MAX_REVISIONS = 1_000;

  @Parameters(paramLabel = "DIR", description = "The folder; it is made if it is not there.")
  private Path folder = Path.of("");

  @Option(
      names = "--revision",
      paramLabel = "N",
      description = "The revision to write. Default: the newest")
  private long revision;

  @Option(names = "--force", description = "Replace and delete files that were edited here, too.")
  private boolean force;

  @Option(names = "--delete", description = "Delete rule files that the store does not have.")
  private boolean delete;

  @Override
  public int run() throws InterruptedException {
    SortedMap<String, String> local = local();
    AdminClient client = server().client();
    RuleTexts known = RuleTexts.of(local);
    StoredRules newest = StoredRules.newest(client, known);
    boolean old = spec().commandLine().getParseResult().hasMatchedOption("--revision");
    long number = old ? revision : newest.revision();
    RuleTexts wanted = old ? StoredRules.of(client, revision, known) : newest.texts();
    if (wanted.texts().isEmpty()) {
      throw new CommandFailure(
          Main.FOUND, "the store has no rules yet (expected: 'weir rules push DIR' first)");
    }
    List<String> write = new ArrayList<>();
    wanted
        .texts()
        .forEach(
            (name, text) -> {
              if (!text.equals(local.get(name))) {
                write.add(name);
              }
            });
    List<String> gone = new ArrayList<>(local.keySet());
    gone.removeAll(wanted.texts().keySet());
    if (!force) {
      refuseToLose(client, local, write, delete ? gone : List.of());
    }
    try {
      Files.createDirectories(folder);
      for (String name : write) {
        replace(folder.resolve(name), String.valueOf(wanted.texts().get(name)));
      }
      if (delete) {
        for (String name : gone) {
          Files.delete(folder.resolve(name));
        }
      }
    } catch (IOException e) {
      throw new CommandFailure("DIR: " + IoCauses.folder(folder, e), e);
    }
    showResult(number, local, write, gone);
    return 0;
  }

  private SortedMap<String, String> local() {
    SortedMap<String, String> local = new TreeMap<>();
    if (Files.isDirectory(folder)) {
      RuleTexts.inFolder(folder)
          .forEach(file -> local.put(String.valueOf(file.getFileName()), RuleTexts.text(file)));
    } else if (Files.exists(folder)) {
      throw wrong(ValueErrors.line("DIR", folder, "a folder"));
    }
    return local;
  }

  /** Refuses to replace or delete texts that the store never had: nobody could restore them. */
  private void refuseToLose(
      AdminClient client, Map<String, String> local, List<String> write, List<String> gone)
      throws InterruptedException {
    Map<String, String> edited = new HashMap<>();
    for (String name : write) {
      if (local.containsKey(name)) {
        edited.put(name, StoredRules.hash(name, String.valueOf(local.get(name))));
      }
    }
    for (String name : gone) {
      edited.put(name, StoredRules.hash(name, String.valueOf(local.get(name))));
    }
    if (!edited.isEmpty()) {
      edited
          .values()
          .removeAll(RevisionList.hashes(client, new HashSet<>(edited.values()), MAX_REVISIONS));
    }
    if (!edited.isEmpty()) {
      throw new CommandFailure(
          Main.FOUND,
          "edited here and never pushed: "
              + String.join(", ", edited.keySet().stream().sorted().toList())
              + "; nothing was written (expected: 'weir rules diff "
              + folder
              + "' to see the difference, 'weir rules push' to bring them in, or --force to lose"
              + " them)");
    }
  }

  /**
   * Replaces a file in one step, so that a server that reads the folder never sees half of it. The
   * file's rights stay, and a new file has those of any new file: a server of another user may read
   * it.
   */
  private static void replace(Path name, String text) throws IOException {
    boolean there = Files.exists(name);
    Path file = there ? name.toRealPath() : name.toAbsolutePath();
    Path half = file.resolveSibling(".weir-" + UUID.randomUUID() + ".part");
    try {
      Files.write(half, text.getBytes(UTF_8), StandardOpenOption.CREATE_NEW);
      PosixFileAttributeView rights =
          Files.getFileAttributeView(half, PosixFileAttributeView.class);
      if (there && rights != null) {
        rights.setPermissions(Files.getPosixFilePermissions(file));
      }
      try {
        Files.move(half, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      } catch (AtomicMoveNotSupportedException e) {
        Files.move(half, file, StandardCopyOption.REPLACE_EXISTING);
      }
    } finally {
      Files.deleteIfExists(half);
    }
  }

  private void showResult(
      long number, Map<String, String> local, List<String> write, List<String> gone) {
    Set<String> deleted = delete ? Set.copyOf(gone) : Set.of();
    if (json()) {
      out()
          .println(
              Json.write(
                  Map.of(
                      "revision",
                      number,
                      "written",
                      write,
                      "deleted",
                      deleted.stream().sorted().toList())));
      return;
    }
    write.forEach(
        name ->
            out().println("file " + name + (local.containsKey(name) ? ": replaced" : ": added")));
    gone.forEach(
        name ->
            out()
                .println(
                    "file "
                        + name
                        + (deleted.contains(name)
                            ? ": deleted"
                            : ": not in the store, left alone (expected: --delete to delete it)")));
    out()
        .println(
            "revision "
                + number
                + ": "
                + (write.isEmpty() && deleted.isEmpty()
                    ? "the folder has these files already"
                    : "in " + folder));
  }
}
