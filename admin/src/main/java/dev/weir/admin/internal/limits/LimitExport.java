package dev.weir.admin.internal.limits;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.weir.config.ConfigStore;
import dev.weir.config.Json;
import dev.weir.config.RecordPage;
import dev.weir.config.Records;
import dev.weir.config.Subject;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The pages of an export of records, a line of JSON each. The first page is read at once: if the
 * store is away, the request gets an answer. Used by one thread.
 */
public final class LimitExport implements Iterator<byte[]> {
  private final ConfigStore store;
  private final String domain;
  private final String key;
  private Optional<byte[]> page;
  private @Nullable Subject after;

  /**
   * @param domain the domain of the records; empty for all
   * @param key the key of the records, with a domain; empty for all
   */
  public LimitExport(ConfigStore store, String domain, String key) {
    this.store = store;
    this.domain = domain;
    this.key = key;
    page = Optional.of(read());
  }

  private byte[] read() {
    Records records;
    if (key.isEmpty()) {
      RecordPage next = store.all(domain, after, ConfigStore.MAX_BATCH);
      records = next.records();
      after = next.next().orElse(null);
    } else {
      Subject last = after;
      records =
          store.list(domain, key, "", last == null ? null : last.value(), ConfigStore.MAX_BATCH);
      after = records.next().map(value -> new Subject(domain, key, value)).orElse(null);
    }
    StringBuilder lines = new StringBuilder();
    records
        .found()
        .values()
        .forEach(record -> lines.append(Json.writeAsIs(RecordJson.all(record))).append('\n'));
    return lines.toString().getBytes(UTF_8);
  }

  @Override
  public boolean hasNext() {
    return page.isPresent() || after != null;
  }

  @Override
  public byte[] next() {
    if (!hasNext()) {
      throw new NoSuchElementException("page");
    }
    byte[] next = page.isPresent() ? page.get() : read();
    page = Optional.empty();
    return next;
  }
}
