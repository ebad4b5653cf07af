package dev.weir.config.rocksdb;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.config.Change;
import dev.weir.config.ChangeDetails;
import dev.weir.config.ChangeLog;
import dev.weir.config.ConfigStore;
import dev.weir.config.Head;
import dev.weir.config.Records;
import dev.weir.config.Revision;
import dev.weir.config.Subject;
import dev.weir.config.rows.Tree;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The whole content of a store, which must agree with its log. */
final class Contents {
  private Contents() {}

  /** Reads everything; batches of a {@link Writer} must be complete. */
  static Head verify(ConfigStore store) {
    Head head = store.head();
    assertThat(ChangeLog.verify(store).problem()).isEmpty();
    assertThat(ChangeLog.verify(store).position()).isEqualTo(head.position());
    Map<Subject, Long> versions = new HashMap<>();
    Map<String, Integer> batches = new LinkedHashMap<>();
    long revision = 0;
    for (long after = 0; after < head.position(); ) {
      for (Change change : store.changes(after, ConfigStore.MAX_BATCH)) {
        after = change.number();
        ChangeDetails details = change.details();
        if (details.kind().equals(ChangeDetails.RULES)) {
          revision++;
          assertThat(details.revision()).isEqualTo(revision);
          verify(store, store.revision(revision).orElseThrow());
        } else {
          versions.put(details.subject().orElseThrow(), change.number());
          batches.merge(details.cause().reason(), 1, Integer::sum);
        }
      }
    }
    assertThat(head.revision()).isEqualTo(revision);
    batches.forEach(
        (reason, size) ->
            assertThat(size)
                .as(reason)
                .isEqualTo(Writer.size(Long.parseLong(reason.substring("batch ".length())))));
    assertThat(records(store)).isEqualTo(versions);
    store.nodes();
    return head;
  }

  private static void verify(ConfigStore store, Revision revision) {
    Map<String, String> texts = store.texts(revision.tree().files().values());
    Map<String, String> files = new TreeMap<>();
    revision
        .tree()
        .files()
        .forEach((file, hash) -> files.put(file, String.valueOf(texts.get(hash))));
    assertThat(Tree.of(files)).isEqualTo(revision.tree());
  }

  private static Map<Subject, Long> records(ConfigStore store) {
    Map<Subject, Long> versions = new HashMap<>();
    @Nullable String after = null;
    do {
      Records page = store.list("shop", "user", "", after, 100);
      assertThat(page.unreadable()).isEmpty();
      page.found().forEach((subject, record) -> versions.put(subject, record.version()));
      after = page.next().orElse(null);
    } while (after != null);
    Records batch = store.records(List.copyOf(versions.keySet()).subList(0, versions.size() / 2));
    batch
        .found()
        .forEach(
            (subject, record) -> assertThat(versions).containsEntry(subject, record.version()));
    return versions;
  }
}
