package dev.weir.config.rocksdb;

import dev.weir.config.Cause;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigStore;
import dev.weir.config.ConfigStores;
import dev.weir.config.Node;
import dev.weir.config.OwnLimit;
import dev.weir.config.RecordWrite;
import dev.weir.config.Subject;
import dev.weir.config.SubjectRecord;
import dev.weir.config.rows.Tree;
import dev.weir.testkit.ChildProcess;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A process that writes to a store until it is killed. Each line of its output is the position of
 * the log after an acknowledged write, or the reason why a write failed.
 */
final class Writer {
  private Writer() {}

  /** Starts a writer, whose lines can be waited for. */
  static ChildProcess start(Path folder) throws IOException {
    return ChildProcess.java(Writer.class, folder.toString())
        .options("-Xmx64m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
        .errors(Redirect.INHERIT)
        .start();
  }

  /** Returns the number of records in batch i; all of them have i as their plan. */
  static int size(long i) {
    return (int) (1 + i * 7 % 23);
  }

  static List<RecordWrite> batch(long i) {
    List<RecordWrite> writes = new ArrayList<>();
    for (int part = 0; part < size(i); part++) {
      Subject subject = new Subject("shop", "user", "u" + (i % 40) + "-" + part);
      OwnLimit limit = OwnLimit.of("user-minute", i);
      writes.add(
          RecordWrite.put(
              new SubjectRecord(subject, "p" + i, List.of(limit), "", 0), RecordWrite.ANY));
    }
    return writes;
  }

  static Map<String, String> rules(long i) {
    return Map.of("a.yaml", "domain: a # " + i + "\n", "b.yaml", "#".repeat(5_000) + i);
  }

  static void write(ConfigStore store, long i) {
    Cause cause = Cause.of("writer", "batch " + i);
    if (i % 5 == 0) {
      Map<String, String> files = rules(i);
      store.commit(store.head().revision(), Tree.of(files), files.values(), cause);
    } else {
      store.write(batch(i), cause);
    }
    store.beat(Node.builder("n" + i % 3).position(i).build());
  }

  public static void main(String[] args) throws IOException {
    OutputStream out = new FileOutputStream(FileDescriptor.out);
    try (ConfigStore store = ConfigStores.open("rocksdb:" + args[0] + "?min-free=1MB")) {
      for (long i = store.head().position() + 1; ; i++) {
        String line;
        try {
          write(store, i);
          line = Long.toString(store.head().position());
        } catch (ConfigException e) {
          // Reads still work.
          line = e.kind() + " at " + store.head().position();
        }
        out.write((line + "\n").getBytes(StandardCharsets.UTF_8));
      }
    }
  }
}
