package dev.weir.traffic;

import dev.weir.rules.ShownText;
import dev.weir.traffic.Inspection.Column;
import dev.weir.traffic.internal.check.UnreadableTally;
import dev.weir.traffic.internal.read.DurationColumns;
import dev.weir.traffic.internal.read.Durations;
import dev.weir.traffic.internal.read.OpenedInput;
import dev.weir.traffic.internal.read.Order;
import dev.weir.traffic.internal.read.UsualColumns;
import dev.weir.traffic.internal.values.TimeReader;
import dev.weir.traffic.internal.values.UnreadableException;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A reader of one input that counts the contents of its columns, before any decision is based on
 * them.
 */
public final class Inspector {
  /** The most columns that are counted; further ones are only named. */
  static final int MAX_COLUMNS = 200;

  private static final int REPORT_EVERY = 4096;

  private static final List<String> KEY_WORDS =
      List.of("user", "client", "host", "key", "tenant", "account", "session", "caller");

  private final OpenedInput opened;
  private final Traffic traffic;
  private final List<String> problems = new ArrayList<>();
  private final UnreadableTally unreadable = new UnreadableTally();
  private final Order order = new Order();
  private String timeColumn = "";
  private TimeReader.Unit unit = TimeReader.Unit.BY_SIZE;
  private boolean unitAsked;
  private @Nullable DurationColumns timing;
  private String noDurations = "";
  private String note = "";
  private long records;
  private long lines;
  private long firstNanos = Long.MAX_VALUE;
  private long lastNanos = Long.MIN_VALUE;

  private Inspector(OpenedInput opened, Traffic traffic) {
    this.opened = opened;
    this.traffic = traffic;
  }

  /**
   * Reads the traffic's only input to its end, or until an interrupt.
   *
   * @throws TrafficException if there is not one input, or its format is not certain
   */
  public static Inspection inspect(Traffic traffic, Progress progress)
      throws IOException, TrafficException {
    return inspect(traffic, progress, TrafficReader.standardInput());
  }

  static Inspection inspect(Traffic traffic, Progress progress, InputStream standard)
      throws IOException, TrafficException {
    if (traffic.inputs().size() != 1) {
      throw new TrafficException("input: " + traffic.inputs().size() + " (expected: one here)");
    }
    OpenedInput opened = OpenedInput.open(0, traffic.inputs().get(0), traffic, false, standard);
    if (opened == null) {
      throw new TrafficException("input: empty (expected: records)");
    }
    try (opened) {
      return new Inspector(opened, traffic).read(progress);
    }
  }

  private Inspection read(Progress progress) throws IOException, TrafficException {
    List<String> all = opened.reader().columns();
    List<String> columns =
        all.stream().distinct().filter(c -> all.indexOf(c) == all.lastIndexOf(c)).toList();
    List<String> looked = columns.subList(0, Math.min(MAX_COLUMNS, columns.size()));
    time();
    List<String> wanted = new ArrayList<>(looked);
    if (!timeColumn.isEmpty()) {
      wanted.remove(timeColumn);
      wanted.add(0, timeColumn);
    }
    DurationColumns found = timing;
    if (found != null) {
      found.columns().stream().filter(each -> !wanted.contains(each)).forEach(wanted::add);
    }
    Durations durations = found == null ? null : new Durations(found, wanted);
    opened.select(wanted, timeColumn.isEmpty() ? Set.of() : Set.of(timeColumn), unit);
    List<ColumnUse> uses =
        wanted.stream().map(column -> new ColumnUse(UsualColumns.hasAddresses(column))).toList();
    boolean more = true;
    while (more && !Thread.interrupted()) {
      more = record(uses, durations);
      if ((++lines & (REPORT_EVERY - 1)) == 0) {
        progress.at(opened.input().bytesRead(), opened.input().totalBytes(), lines);
      }
    }
    List<Column> counted = new ArrayList<>();
    for (String column : looked) {
      ColumnUse use = uses.get(wanted.indexOf(column));
      counted.add(use.column(column, records));
    }
    return new Inspection(
        opened.input().name(),
        opened.format(),
        records,
        timeColumn,
        flags(),
        firstNanos > lastNanos ? null : firstNanos,
        firstNanos > lastNanos ? null : lastNanos,
        order.outOfOrder(),
        counted,
        candidates(counted),
        durations == null ? null : durations.read(),
        notes(all.size() - looked.size(), durations),
        warnings(durations));
  }

  /** Finds the column with the time, or records the problems if there is none. */
  private void time() throws IOException, TrafficException {
    try {
      UsualColumns.TimeColumn found =
          UsualColumns.timeColumn(traffic.time(), opened.format(), opened.reader());
      if (!opened.reader().has(found.name())) {
        throw new TrafficException(
            "column "
                + ShownText.quoted(found.name())
                + ": unknown (expected: one of those below)");
      }
      String asked = traffic.unitFlag();
      TimeReader.Unit flag = asked == null ? null : TimeReader.Unit.named(asked);
      unit = flag == null ? found.unit() : flag;
      timeColumn = found.name();
      OpenedInput.Times times = opened.times(timeColumn, unit);
      unit = times.unit();
      note = times.reason();
      if (times.otherZone()) {
        problems.add(opened.otherZone());
      }
      durations();
    } catch (TrafficException e) {
      problems.addAll(e.problems());
      unitAsked = !timeColumn.isEmpty();
      timeColumn = "";
    }
  }

  /**
   * Finds the columns with the durations, or records the problems with those that are asked for.
   */
  private void durations() {
    try {
      timing = DurationColumns.of(traffic, opened.format(), opened.reader(), timeColumn);
      for (String column : timing == null ? List.<String>of() : timing.columns()) {
        if (!opened.reader().has(column)) {
          timing = null;
          throw new TrafficException(
              "column " + ShownText.quoted(column) + ": unknown (expected: one of those below)");
        }
      }
      if (timing == null) {
        noDurations = DurationColumns.absence(opened.format(), opened.reader(), timeColumn);
      }
    } catch (TrafficException e) {
      problems.addAll(e.problems());
    }
  }

  /** Reads a record; false at the end. */
  private boolean record(List<ColumnUse> uses, @Nullable Durations durations) throws IOException {
    try {
      if (timeColumn.isEmpty()) {
        if (!opened.nextUntimed()) {
          return false;
        }
      } else {
        if (!opened.next(unreadable)) {
          return false;
        }
        firstNanos = Math.min(firstNanos, opened.timeNanos());
        lastNanos = Math.max(lastNanos, opened.timeNanos());
        order.next(opened);
        if (durations != null) {
          long unused = durations.begin(opened.values(), opened.timeNanos());
        }
      }
      records++;
      for (int slot = 0; slot < uses.size(); slot++) {
        uses.get(slot).add(opened.values(), slot);
      }
    } catch (UnreadableException e) {
      unreadable.unreadable(opened.input().name(), opened.line(), e.reason());
    }
    return true;
  }

  private List<String> notes(int left, @Nullable Durations durations) {
    List<String> notes = new ArrayList<>();
    if (!note.isEmpty()) {
      notes.add("time: " + note);
    }
    if (opened.assumedUtc()) {
      notes.add(OpenedInputs.UTC_NOTE);
    }
    notes.addAll(opened.notes());
    notes.addAll(durations == null ? List.of() : durations.notes());
    if (!noDurations.isEmpty()) {
      notes.add(noDurations);
    }
    if (left > 0) {
      notes.add("columns: " + left + " more are not counted");
    }
    return notes;
  }

  private List<String> warnings(@Nullable Durations durations) {
    List<String> warnings = new ArrayList<>(problems);
    if (opened.broken()) {
      warnings.add(opened.brokenText());
    }
    unreadable.warn(records + unreadable.count(), warnings);
    if (durations != null) {
      durations.read().warn(records, warnings);
    }
    if (!order.setBack().isEmpty()) {
      warnings.add(order.setBack());
    }
    if (100 * order.outOfOrder() > records) {
      warnings.add(
          String.format(
              Locale.ROOT,
              "order: %,d of %,d records are earlier than a record before them, by up to %s"
                  + " (expected: --sort)",
              order.outOfOrder(),
              records,
              Order.text(order.furthestNanos())));
    }
    return warnings;
  }

  /** Returns the flags that other commands need to read this input, without the descriptor. */
  private List<String> flags() {
    List<String> flags = new ArrayList<>(List.of("--input", opened.input().name()));
    if (traffic.format() != Format.AUTO && traffic.layout() == null) {
      flags.addAll(List.of("--format", opened.format().text()));
    }
    if (traffic.layout() != null) {
      flags.addAll(List.of("--layout", traffic.layout()));
    }
    if (traffic.zone() != null) {
      flags.addAll(List.of("--zone", traffic.zone().getId()));
    }
    if (!traffic.trustedProxies().isEmpty()) {
      flags.addAll(List.of("--trusted-proxies", String.join(",", traffic.trustedProxies())));
    }
    if (timeColumn.isEmpty() && !unitAsked) {
      flags.addAll(List.of("--time", "COLUMN"));
    } else if (traffic.time() != null) {
      flags.addAll(List.of("--time", traffic.time()));
    }
    String asked = traffic.unitFlag();
    if (asked != null || unitAsked) {
      flags.addAll(List.of("--time-unit", asked == null ? "UNIT" : asked));
    }
    if (traffic.duration() != null) {
      flags.addAll(List.of("--duration", traffic.duration()));
    }
    if (traffic.timeIs() != null) {
      flags.addAll(List.of("--time-is", traffic.timeIs().text()));
    }
    if (100 * order.outOfOrder() > records) {
      flags.add("--sort");
    }
    return flags;
  }

  /** Returns the columns that tell clients apart, the likeliest first. */
  private static List<String> candidates(List<Column> columns) {
    List<String> addresses = new ArrayList<>();
    List<String> others = new ArrayList<>();
    int named = 0;
    for (Column column : columns) {
      String lower = column.name().toLowerCase(Locale.ROOT);
      if (column.distinct() < 2) {
        continue;
      }
      if (column.addresses()) {
        addresses.add(
            UsualColumns.hasAddresses(column.name()) ? named++ : addresses.size(), column.name());
      } else if (KEY_WORDS.stream().anyMatch(lower::contains)) {
        others.add(column.name());
      }
    }
    addresses.addAll(others);
    return addresses;
  }
}
