package dev.weir.admin.internal.limits;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.weir.admin.internal.http.RequestException;
import dev.weir.config.Cause;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigStore;
import dev.weir.config.Json;
import dev.weir.config.RecordWrite;
import dev.weir.config.Records;
import dev.weir.config.Subject;
import dev.weir.config.SubjectRecord;
import dev.weir.rules.RuleSet;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One import of records: one record a line, 1,000 in one commit. Used by one thread. */
public final class LimitImport {
  /** The most refused or doubtful lines that are listed; all are counted. */
  public static final int MAX_LISTED = 1_000;

  private final ConfigStore store;
  private final RuleSet rules;
  private final Cause cause;
  private final boolean dryRun;

  private final Map<Subject, SubjectRecord> batch = new LinkedHashMap<>();
  private final List<Map<String, Object>> refused = new ArrayList<>();
  private final List<Map<String, Object>> problems = new ArrayList<>();
  private long lines;

  /** The line of the first record that is not written yet. */
  private long batchFrom = 1;

  private long records;
  private long written;
  private long unchanged;
  private long refusals;

  public LimitImport(ConfigStore store, RuleSet rules, Cause cause, boolean dryRun) {
    this.store = store;
    this.rules = rules;
    this.cause = cause;
    this.dryRun = dryRun;
  }

  /**
   * Reads all lines and writes their records.
   *
   * @return the counts, and the problems by line
   * @throws RequestException if the store fails in between, with the counts until then
   */
  public Map<String, Object> run(byte[] body) {
    try {
      int from = 0;
      while (from < body.length) {
        int end = from;
        while (end < body.length && body[end] != '\n') {
          end++;
        }
        line(body, from, end);
        from = end + 1;
      }
      flush();
    } catch (ConfigException e) {
      int status = e.kind() == ConfigException.Kind.FULL ? 507 : 503;
      RequestException failed =
          new RequestException(
              status,
              "import: ended before line "
                  + batchFrom
                  + ", "
                  + e.getMessage()
                  + " (expected: none; it can be repeated)");
      counts().forEach(failed::member);
      throw failed;
    }
    return counts();
  }

  private void line(byte[] body, int from, int end) {
    lines++;
    String text;
    try {
      text = UTF_8.newDecoder().decode(ByteBuffer.wrap(body, from, end - from)).toString();
    } catch (CharacterCodingException e) {
      refuse("not UTF-8 (expected: JSON in UTF-8)");
      return;
    }
    if (text.isBlank()) {
      return;
    }
    try {
      Json.Members members = Json.readWithNulls(text);
      Subject subject =
          new Subject(members.text("domain"), members.text("key"), members.text("value"));
      add(RecordJson.read(subject, members));
    } catch (IOException | IllegalArgumentException e) {
      refuse(String.valueOf(e.getMessage()));
    }
  }

  private void refuse(String why) {
    refusals++;
    list(refused, why);
  }

  private void list(List<Map<String, Object>> to, String what) {
    if (to.size() < MAX_LISTED) {
      Map<String, Object> line = new LinkedHashMap<>();
      line.put("line", lines);
      line.put("problem", what);
      to.add(line);
    }
  }

  private void add(SubjectRecord record) {
    records++;
    for (String problem : RecordProblems.of(record, rules)) {
      list(problems, problem);
    }
    if (batch.size() == ConfigStore.MAX_BATCH || batch.containsKey(record.subject())) {
      flush();
    }
    if (batch.isEmpty()) {
      batchFrom = lines;
    }
    batch.put(record.subject(), record);
  }

  private void flush() {
    if (batch.isEmpty()) {
      return;
    }
    Records stored = store.records(batch.keySet());
    List<RecordWrite> writes = new ArrayList<>();
    for (SubjectRecord record : batch.values()) {
      SubjectRecord before = stored.found().get(record.subject());
      if (before == null || !RecordJson.own(before).equals(RecordJson.own(record))) {
        writes.add(RecordWrite.put(record, RecordWrite.ANY));
      }
    }
    if (!dryRun && !writes.isEmpty()) {
      store.write(writes, cause);
    }
    written += writes.size();
    unchanged += batch.size() - writes.size();
    batch.clear();
  }

  private Map<String, Object> counts() {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("dry_run", dryRun);
    members.put("lines", lines);
    members.put("records", records);
    members.put("written", written);
    members.put("unchanged", unchanged);
    members.put("refused", refusals);
    members.put("refused_lines", refused);
    members.put("problems", problems);
    return members;
  }
}
