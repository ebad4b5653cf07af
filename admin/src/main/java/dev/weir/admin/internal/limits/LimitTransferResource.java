package dev.weir.admin.internal.limits;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.weir.admin.AdminHandler;
import dev.weir.admin.AdminResponse;
import dev.weir.admin.Role;
import dev.weir.admin.internal.http.Call;
import dev.weir.admin.internal.http.Reply;
import dev.weir.admin.internal.http.RequestException;
import dev.weir.admin.internal.http.Resource;
import dev.weir.admin.internal.http.Route;
import dev.weir.config.ConfigStore;
import dev.weir.config.Json;
import dev.weir.config.RecordPage;
import dev.weir.config.Records;
import dev.weir.config.Subject;
import dev.weir.rules.RuleSet;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The resource that imports and exports many records at once. */
public final class LimitTransferResource implements Resource {
  private static final String NDJSON = "application/x-ndjson";

  private final ConfigStore store;
  private final Supplier<RuleSet> rules;

  public LimitTransferResource(ConfigStore store, Supplier<RuleSet> rules) {
    this.store = store;
    this.rules = rules;
  }

  @Override
  public List<Route> routes() {
    return List.of(
        Route.write(
                "POST",
                "/limits/import",
                Role.OPERATOR,
                "Puts the records of a text, one a line.",
                this::read)
            .query("dry_run", "reason")
            .answers(200, 422, 507),
        Route.get("/limits/export", Role.OPERATOR, "Returns records, one a line.", this::write)
            .query("domain", "key")
            .answers(200));
  }

  private AdminResponse read(Call call) {
    boolean dryRun = call.query().truth("dry_run");
    LimitImport lines = new LimitImport(store, rules.get(), call.causeOfQuery(), dryRun);
    byte[] body = call.bytes(Set.of(NDJSON, "application/json"), AdminHandler.MAX_BODY_BYTES);
    return Reply.json(200, lines.run(body));
  }

  private AdminResponse write(Call call) {
    String domain = call.query().text("domain");
    String key = call.query().text("key");
    if (domain.isEmpty() && !key.isEmpty()) {
      throw new RequestException(400, "domain: missing (expected: a domain, for a key)");
    }
    try {
      return Reply.stream(NDJSON, new Pages(domain, key));
    } catch (IllegalArgumentException e) {
      throw new RequestException(400, String.valueOf(e.getMessage()));
    }
  }

  /**
   * The pages of an export. The first is read at once: if the store is away, the request gets an
   * answer.
   */
  private final class Pages implements Iterator<byte[]> {
    private final String domain;
    private final String key;
    private Optional<byte[]> page;
    private @Nullable Subject after;

    Pages(String domain, String key) {
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
}
