package dev.weir.traffic;

import dev.weir.rules.ShownText;
import dev.weir.traffic.internal.read.DurationColumns;
import dev.weir.traffic.internal.read.Durations;
import dev.weir.traffic.internal.read.OpenedInput;
import dev.weir.traffic.internal.read.UsualColumns;
import dev.weir.traffic.internal.values.TimeReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * All inputs of traffic, opened: the columns in use, and the kind of the times in each. Not safe
 * for use by several threads.
 */
final class OpenedInputs implements Closeable {
  /** The note about times without a zone when none is given. */
  static final String UTC_NOTE =
      "time: no zone in the times; read as UTC (expected: --zone with the writer's, such as"
          + " Europe/Berlin, if that is another)";

  private final Traffic traffic;
  private final List<OpenedInput> inputs = new ArrayList<>();
  private String timeColumn = "";
  private String timeUnit = "";
  private final Set<String> timeNotes = new LinkedHashSet<>();
  private @Nullable Durations durations;
  private String noDurations = "";

  private OpenedInputs(Traffic traffic) {
    this.traffic = traffic;
  }

  /**
   * Opens all inputs. Empty ones are left out.
   *
   * @param standard the stream that {@link Traffic#STANDARD_INPUT} stands for
   * @throws TrafficException if that cannot be done; its message lists all problems
   */
  static OpenedInputs of(Traffic traffic, InputStream standard)
      throws IOException, TrafficException {
    OpenedInputs opened = new OpenedInputs(traffic);
    try {
      opened.openAll(standard);
      return opened;
    } catch (IOException | TrafficException e) {
      opened.close();
      throw e;
    }
  }

  private void openAll(InputStream standard) throws IOException, TrafficException {
    List<String> problems = new ArrayList<>();
    List<String> names = traffic.inputs();
    if (names.isEmpty() || names.size() > Traffic.MAX_INPUTS) {
      throw new TrafficException(
          "input: " + names.size() + " (expected: 1.." + Traffic.MAX_INPUTS + " files)");
    }
    if (names.indexOf(Traffic.STANDARD_INPUT) != names.lastIndexOf(Traffic.STANDARD_INPUT)) {
      throw new TrafficException("input: - several times (expected: standard input once)");
    }
    for (int i = 0; i < names.size(); i++) {
      try {
        OpenedInput opened = OpenedInput.open(i, names.get(i), traffic, names.size() > 1, standard);
        if (opened != null) {
          inputs.add(opened);
        }
      } catch (TrafficException e) {
        problems.addAll(e.problems());
      }
    }
    if (!problems.isEmpty()) {
      throw new TrafficException(problems);
    }
    if (inputs.isEmpty()) {
      throw new TrafficException("input: all empty (expected: records in one at least)");
    }
  }

  /**
   * Chooses the columns of the inputs and of the template; the time's column goes to slot 0. The
   * first input decides which column that is, and whether there are durations.
   *
   * @param timed true to choose the columns with the durations as well
   * @return the number of columns
   */
  int bind(RequestTemplate template, boolean timed) throws IOException, TrafficException {
    List<String> problems = new ArrayList<>();
    Set<String> wanted = new LinkedHashSet<>();
    TimeReader.Unit unit = TimeReader.Unit.BY_SIZE;
    try {
      OpenedInput first = inputs.get(0);
      UsualColumns.TimeColumn time =
          UsualColumns.timeColumn(traffic.time(), first.format(), first.reader());
      timeColumn = time.name();
      unit = unitOf(time.unit());
      wanted.add(timeColumn);
    } catch (TrafficException e) {
      problems.addAll(e.problems());
    }
    try {
      template.resolve(
          name -> inputs.stream().allMatch(each -> each.reader().columns().contains(name)));
    } catch (TrafficException e) {
      problems.addAll(e.problems());
    }
    wanted.addAll(template.columns());
    DurationColumns timing = null;
    try {
      timing = timed && !timeColumn.isEmpty() ? durationColumns() : null;
    } catch (TrafficException e) {
      problems.addAll(e.problems());
    }
    if (timing != null) {
      wanted.addAll(timing.columns());
    }
    List<String> columns = List.copyOf(wanted);
    for (OpenedInput opened : inputs) {
      for (String column : columns) {
        if (!opened.reader().has(column)) {
          problems.add(
              "column "
                  + ShownText.quoted(column)
                  + (inputs.size() > 1 ? " of " + opened.input().name() : "")
                  + ": unknown (expected: one of "
                  + ShownText.listed(opened.reader().columns())
                  + ")");
        }
      }
    }
    if (!problems.isEmpty()) {
      throw new TrafficException(problems);
    }
    Set<String> required = template.required();
    required.add(timeColumn);
    bindTimes(columns, required, unit);
    template.bind(columns);
    durations = timing == null ? null : new Durations(timing, columns);
    return columns.size();
  }

  /**
   * Returns the columns with the durations, which all inputs must have alike; null if there are
   * none.
   */
  private @Nullable DurationColumns durationColumns() throws TrafficException {
    OpenedInput first = inputs.get(0);
    DurationColumns found = DurationColumns.of(traffic, first.format(), first.reader(), timeColumn);
    if (found == null) {
      noDurations = DurationColumns.absence(first.format(), first.reader(), timeColumn);
    }
    for (OpenedInput opened : inputs.subList(1, inputs.size())) {
      DurationColumns other =
          DurationColumns.of(traffic, opened.format(), opened.reader(), timeColumn);
      if (found != null && !found.equals(other)) {
        noDurations =
            "duration: not read, since "
                + ShownText.quoted(opened.input().name())
                + " has none like those of "
                + ShownText.quoted(first.input().name());
        return null;
      }
    }
    return found;
  }

  /** Returns the durations of the records; null if none are read. */
  @Nullable Durations durations() {
    return durations;
  }

  /**
   * Returns the reason why the inputs have no durations; empty if they have, or none are wanted.
   */
  String noDurations() {
    return noDurations;
  }

  /** Returns the requested unit, whether the column or the traffic names it. */
  private TimeReader.Unit unitOf(TimeReader.Unit behindColumn) throws TrafficException {
    TimeUnit asked = traffic.timeUnit();
    if (asked == null) {
      return behindColumn;
    }
    TimeReader.Unit unit = TimeReader.Unit.named(String.valueOf(traffic.unitFlag()));
    if (unit == null) {
      throw new TrafficException("timeUnit: " + asked + " (expected: seconds or a part of one)");
    }
    if (behindColumn != TimeReader.Unit.BY_SIZE && behindColumn != unit) {
      throw new TrafficException(
          "time: "
              + behindColumn.flag()
              + " behind the column, and "
              + unit.flag()
              + " as its unit (expected: one of them)");
    }
    return unit;
  }

  /** Finds the kind of each input's times, and whether the inputs' times can be compared. */
  private void bindTimes(List<String> columns, Set<String> required, TimeReader.Unit asked)
      throws IOException, TrafficException {
    String unknown = "";
    String known = "";
    for (OpenedInput opened : inputs) {
      OpenedInput.Times times = opened.times(timeColumn, asked);
      if (asked != TimeReader.Unit.BY_SIZE || !times.reason().isEmpty()) {
        timeUnit = times.unit().words();
      }
      if (!times.reason().isEmpty()) {
        timeNotes.add(times.reason());
      }
      if (times.otherZone()) {
        throw new TrafficException(opened.otherZone());
      }
      unknown = times.unknownZone() ? opened.input().name() : unknown;
      known = times.knownZone() && !times.unknownZone() ? opened.input().name() : known;
      opened.select(columns, required, times.unit());
    }
    if (!unknown.isEmpty() && !known.isEmpty()) {
      throw new TrafficException(
          "time: "
              + ShownText.quoted(unknown)
              + " has times without a zone, and "
              + ShownText.quoted(known)
              + " has others (expected: --zone with the zone of those without, such as"
              + " Europe/Berlin)");
    }
  }

  /** Returns the template of the column with a usual name for a key. */
  RequestTemplate usualTemplate() throws TrafficException {
    String column = UsualColumns.keyColumn(inputs.get(0).format(), inputs.get(0).reader());
    return RequestTemplate.of("", List.of(column + "={" + column + "}"), traffic.permits());
  }

  /** Returns the inputs that are not empty, at least one. */
  List<OpenedInput> all() {
    return inputs;
  }

  /** Returns the format of the first of them. */
  Format format() {
    return inputs.get(0).format();
  }

  /** Returns the column with the time. */
  String timeColumn() {
    return timeColumn;
  }

  /** Returns the unit of the numbers in that column; empty if there are none. */
  String timeUnit() {
    return timeUnit;
  }

  /** Returns inferences and omissions, one line each. */
  List<String> notes() {
    Set<String> notes = new LinkedHashSet<>();
    timeNotes.forEach(note -> notes.add("time: " + note));
    if (inputs.stream().anyMatch(OpenedInput::assumedUtc)) {
      notes.add(UTC_NOTE);
    }
    inputs.forEach(opened -> notes.addAll(opened.notes()));
    Durations timing = durations;
    if (timing != null) {
      notes.addAll(timing.notes());
    }
    return List.copyOf(notes);
  }

  @Override
  public void close() throws IOException {
    for (OpenedInput opened : inputs) {
      opened.close();
    }
  }
}
