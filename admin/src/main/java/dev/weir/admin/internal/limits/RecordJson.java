package dev.weir.admin.internal.limits;

import dev.weir.config.Json;
import dev.weir.config.OwnLimit;
import dev.weir.config.Subject;
import dev.weir.config.SubjectRecord;
import dev.weir.rules.DurationText;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Records of customers as JSON. */
public final class RecordJson {
  /** Members of an answer that are ignored when a client sends them back. */
  private static final Set<String> IGNORED = Set.of("version", "problems", "reason");

  private static final Set<String> SUBJECT = Set.of("domain", "key", "value");
  private static final Set<String> OWN = Set.of("plan", "limits", "note");
  private static final Set<String> LIMIT =
      Set.of("rule", "requests_per_unit", "burst", "window", "until");

  private RecordJson() {}

  /**
   * Reads a record.
   *
   * @throws IOException if a member is missing, unknown, or of another type
   * @throws IllegalArgumentException if a value is out of its range
   */
  public static SubjectRecord read(Subject subject, Json.Members from) throws IOException {
    for (String name : from.names()) {
      if (!OWN.contains(name) && !IGNORED.contains(name) && !SUBJECT.contains(name)) {
        throw new IOException(ShownText.wrong(name, "unknown", "plan, limits, note"));
      }
    }
    same("domain", subject.domain(), from);
    same("key", subject.key(), from);
    same("value", subject.value(), from);
    List<OwnLimit> limits = new ArrayList<>();
    if (from.has("limits")) {
      for (Json.Members limit : from.objects("limits")) {
        limits.add(limit(limit));
      }
    }
    return new SubjectRecord(
        subject, from.textOrEmpty("plan"), limits, from.textOrEmpty("note"), 0);
  }

  private static void same(String name, String expected, Json.Members from) throws IOException {
    if (from.has(name) && !from.text(name).equals(expected)) {
      throw new IllegalArgumentException(ShownText.wrong(name, from.text(name), expected));
    }
  }

  private static OwnLimit limit(Json.Members from) throws IOException {
    for (String name : from.names()) {
      if (!LIMIT.contains(name)) {
        throw new IOException(
            ShownText.wrong(
                "limits." + name, "unknown", "rule, requests_per_unit, burst, window, until"));
      }
    }
    return new OwnLimit(
        from.text("rule"),
        from.number("requests_per_unit"),
        from.has("window") ? window(from.text("window")) : null,
        burst(from),
        from.has("until") ? until(from.text("until")) : null);
  }

  private static @Nullable Long burst(Json.Members from) throws IOException {
    return from.has("burst") ? Long.valueOf(from.number("burst")) : null;
  }

  private static Duration window(String text) {
    long nanos = DurationText.parse(text);
    if (nanos < 0) {
      throw new IllegalArgumentException(ShownText.wrong("window", text, DurationText.EXPECTED));
    }
    return Duration.ofNanos(nanos);
  }

  private static Instant until(String text) {
    try {
      return Instant.parse(text);
    } catch (DateTimeException e) {
      throw new IllegalArgumentException(
          ShownText.wrong("until", text, "a time such as 2026-12-01T00:00:00Z"), e);
    }
  }

  /** Returns the members of a record that the operator has written. */
  static Map<String, Object> own(SubjectRecord record) {
    Map<String, Object> members = new LinkedHashMap<>();
    if (!record.plan().isEmpty()) {
      members.put("plan", record.plan());
    }
    List<Map<String, Object>> limits = new ArrayList<>();
    record.limits().forEach(limit -> limits.add(members(limit)));
    members.put("limits", limits);
    if (!record.note().isEmpty()) {
      members.put("note", record.note());
    }
    return members;
  }

  private static Map<String, Object> members(OwnLimit limit) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("rule", limit.rule());
    members.put("requests_per_unit", limit.requestsPerUnit());
    Long burst = limit.burst();
    if (burst != null) {
      members.put("burst", burst);
    }
    Duration window = limit.window();
    if (window != null) {
      members.put("window", DurationText.format(window.toNanos()));
    }
    Instant until = limit.until();
    if (until != null) {
      members.put("until", until.toString());
    }
    return members;
  }

  /** Returns a record with its subject and its version. */
  static Map<String, Object> all(SubjectRecord record) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("domain", record.subject().domain());
    members.put("key", record.subject().key());
    members.put("value", record.subject().value());
    members.putAll(own(record));
    members.put("version", record.version());
    return members;
  }
}
