package dev.weir.config.internal.bytes;

import dev.weir.config.ChangeDetails;
import dev.weir.config.OwnLimit;
import dev.weir.config.Subject;
import dev.weir.config.SubjectRecord;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The encodings of a record: as few bytes, and as canonical JSON for the log of changes. */
public final class RecordCodec {
  /*
   * How are records written, and why? The version comes first, whatever follows, so that a record
   * of a newer Weir can still be replaced or deleted under its version. Then each field follows as
   * its number and its value, in the order of the numbers; empty fields are omitted. Each record
   * has one encoding. Anything else is refused, above all an unknown field: a limit without a field
   * that restricts it would be another limit. A refused record does not affect others, since each
   * is a row of its own.
   *
   * A limit is its rule, its requests, and then a number whose lowest three bits say which of
   * window (milliseconds), burst and until (seconds) follow; other bits are refused too.
   */
  private static final int PLAN = 1;
  private static final int LIMIT = 2;
  private static final int NOTE = 3;

  private static final int WINDOW = 1;
  private static final int BURST = 2;
  private static final int UNTIL = 4;

  private RecordCodec() {}

  public static byte[] write(SubjectRecord record) {
    ByteWriter to = new ByteWriter().number(record.version());
    if (!record.plan().isEmpty()) {
      to.number(PLAN).text(record.plan());
    }
    for (OwnLimit limit : record.limits()) {
      write(limit, to.number(LIMIT));
    }
    if (!record.note().isEmpty()) {
      to.number(NOTE).text(record.note());
    }
    return to.toBytes();
  }

  private static void write(OwnLimit limit, ByteWriter to) {
    Duration window = limit.window();
    Long burst = limit.burst();
    Instant until = limit.until();
    to.text(limit.rule())
        .number(limit.requestsPerUnit())
        .number(
            (window == null ? 0 : WINDOW)
                + (burst == null ? 0 : BURST)
                + (until == null ? 0 : UNTIL));
    if (window != null) {
      to.number(window.toMillis());
    }
    if (burst != null) {
      to.number(burst);
    }
    if (until != null) {
      to.number(until.getEpochSecond());
    }
  }

  /** Returns the version of a record, even if the rest of it cannot be read. */
  public static long version(byte[] bytes) {
    return new ByteReader(bytes).number();
  }

  /**
   * Reads a record.
   *
   * @throws IllegalArgumentException if these bytes are not a record that this version of Weir can
   *     have written
   */
  public static SubjectRecord read(Subject subject, byte[] bytes) {
    ByteReader from = new ByteReader(bytes);
    long version = from.number();
    String plan = "";
    String note = "";
    List<OwnLimit> limits = new ArrayList<>();
    long last = 0;
    while (!from.atEnd()) {
      long field = from.number();
      if (field < last || (field == last && field != LIMIT)) {
        throw Check.wrong("field", field, "after " + last);
      }
      last = field;
      if (field == PLAN) {
        plan = notEmpty("plan", from.text());
      } else if (field == LIMIT) {
        limits.add(limit(from));
      } else if (field == NOTE) {
        note = notEmpty("note", from.text());
      } else {
        throw Check.wrong("field", field, PLAN + ".." + NOTE + "; a newer version wrote it");
      }
    }
    return new SubjectRecord(subject, plan, limits, note, version);
  }

  private static String notEmpty(String name, String text) {
    if (text.isEmpty()) {
      throw Check.wrong(name, "empty", "left out, if there is none");
    }
    return text;
  }

  private static OwnLimit limit(ByteReader from) {
    String rule = from.text();
    long requests = from.number();
    long parts = from.number();
    if (parts > WINDOW + BURST + UNTIL) {
      throw Check.wrong("parts of a limit", parts, "0..7; a newer version wrote it");
    }
    Duration window = has(parts, WINDOW) ? Duration.ofMillis(from.number()) : null;
    @Nullable Long burst = has(parts, BURST) ? (Long) from.number() : null;
    Instant until =
        has(parts, UNTIL)
            ? Instant.ofEpochSecond(
                Check.range("until", from.number(), 0, OwnLimit.MAX_UNTIL_SECONDS))
            : null;
    return new OwnLimit(rule, requests, window, burst, until);
  }

  private static boolean has(long parts, int part) {
    return (parts & part) != 0;
  }

  /**
   * Returns the members for the log, without the version and without the subject, which the change
   * names.
   */
  public static Map<String, Object> members(SubjectRecord record) {
    Map<String, Object> members = new TreeMap<>();
    ChangeDetails.putUnlessEmpty(members, "plan", record.plan());
    ChangeDetails.putUnlessEmpty(members, "note", record.note());
    if (!record.limits().isEmpty()) {
      members.put("limits", record.limits().stream().map(RecordCodec::members).toList());
    }
    return members;
  }

  private static Map<String, Object> members(OwnLimit limit) {
    Map<String, Object> members = new TreeMap<>();
    members.put("rule", limit.rule());
    members.put("requests_per_unit", limit.requestsPerUnit());
    Duration window = limit.window();
    if (window != null) {
      members.put("window_ms", window.toMillis());
    }
    Long burst = limit.burst();
    if (burst != null) {
      members.put("burst", burst);
    }
    Instant until = limit.until();
    if (until != null) {
      members.put("until", until.toString());
    }
    return members;
  }
}
