package dev.weir.traffic;

import dev.weir.identity.Template;
import dev.weir.identity.TemplateException;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.Request;
import dev.weir.rules.ShownText;
import dev.weir.traffic.internal.read.ColumnTemplate;
import dev.weir.traffic.internal.read.LoadColumn;
import dev.weir.traffic.internal.read.RecordValues;
import dev.weir.traffic.internal.values.UnreadableException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A template that makes a request of a record, by the options' descriptors and permits. */
public final class RequestTemplate {
  /** The most permits of a record: far beyond any limit, and safe to add up. */
  public static final long MAX_PERMITS = 999_999_999_999_999_999L;

  private static final int MAX_PERMIT_DIGITS = 18;

  /** The template of an entry: its key, and the template of its value. */
  private record Part(String key, ColumnTemplate value) {}

  private final String domain;
  private final List<List<Part>> descriptors;
  private final ColumnTemplate permits;

  private final LoadColumn load;

  /** The permits if they are the same for all records; otherwise -1. */
  private final long fixedPermits;

  private RequestTemplate(
      String domain, List<List<Part>> descriptors, ColumnTemplate permits, LoadColumn load)
      throws TrafficException {
    this.domain = domain;
    this.load = load;
    this.descriptors = descriptors;
    this.permits = permits;
    String literal = permits.literal();
    fixedPermits = literal == null ? -1 : literal(literal);
  }

  /**
   * Reads the options for traffic without a column for the load. See {@link #of(String, List,
   * String, String)}.
   */
  public static RequestTemplate of(String domain, List<String> descriptors, String permits)
      throws TrafficException {
    return of(domain, descriptors, permits, null);
  }

  /**
   * Reads the options.
   *
   * @param domain the requests' domain
   * @param descriptors each {@code key={column}[,key2={column2}]}
   * @param permits a number, or a column in braces
   * @param load a column in braces with the load at each record; null for none
   * @throws TrafficException with everything that is wrong with them
   */
  public static RequestTemplate of(
      String domain, List<String> descriptors, String permits, @Nullable String load)
      throws TrafficException {
    List<String> problems = new ArrayList<>();
    List<List<Part>> parsed = new ArrayList<>();
    for (String text : descriptors) {
      try {
        parsed.add(descriptor(text));
      } catch (TrafficException e) {
        problems.addAll(e.problems());
      }
    }
    if (descriptors.isEmpty()) {
      problems.add("descriptor: none (expected: at least one, for example ip={ip})");
    }
    LoadColumn loadColumn = LoadColumn.NONE;
    try {
      loadColumn = LoadColumn.of(load);
    } catch (TrafficException e) {
      problems.addAll(e.problems());
    }
    try {
      RequestTemplate template =
          new RequestTemplate(domain, parsed, ColumnTemplate.of("permits", permits), loadColumn);
      if (problems.isEmpty()) {
        return template;
      }
    } catch (TrafficException e) {
      problems.addAll(e.problems());
    }
    throw new TrafficException(problems);
  }

  private static List<Part> descriptor(String text) throws TrafficException {
    try {
      return Template.parseDescriptor(text).stream()
          .map(pair -> new Part(pair.key(), new ColumnTemplate(pair.value())))
          .toList();
    } catch (TemplateException e) {
      throw ColumnTemplate.wrong("descriptor", e);
    }
  }

  private static long literal(String text) throws TrafficException {
    try {
      byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
      return permits(bytes, 0, bytes.length);
    } catch (UnreadableException e) {
      throw new TrafficException(e.reason().replace(")", ", or a column like {bytes})"));
    }
  }

  /**
   * A level of a rule that would match.
   *
   * @param value the entry's text if it is the same for all records; otherwise null
   */
  public record Level(String key, @Nullable String value) {}

  /**
   * An entry of a descriptor.
   *
   * @param onlyColumn the column that is the whole value; null if there is none
   * @param fixed true if the value is the same for all records, whatever they contain
   */
  public record EntryTemplate(String key, @Nullable String onlyColumn, boolean fixed) {}

  /** Returns the entries of each descriptor. */
  public List<List<EntryTemplate>> taken() {
    return descriptors.stream()
        .map(
            parts ->
                parts.stream()
                    .map(
                        part ->
                            new EntryTemplate(
                                part.key, part.value.onlyColumn(), part.value.literal() != null))
                    .toList())
        .toList();
  }

  /** Returns the keys of each descriptor's entries. */
  public List<List<String>> keys() {
    return descriptors.stream().map(parts -> parts.stream().map(Part::key).toList()).toList();
  }

  /** Returns the levels of a rule for the first descriptor. */
  public List<Level> levels() {
    return descriptors.get(0).stream()
        .map(part -> new Level(part.key, part.value.literal()))
        .toList();
  }

  /**
   * Reads a name that looks like alternatives, or like an address with a prefix, as one column if
   * there is one of that name. To be called before {@link #columns}.
   *
   * @throws TrafficException if the prefix of an address is not valid
   */
  void resolve(Predicate<String> isColumn) throws TrafficException {
    List<ColumnTemplate> all = new ArrayList<>();
    each(all::add);
    List<String> problems = new ArrayList<>();
    for (ColumnTemplate template : all) {
      try {
        template.resolve(isColumn);
      } catch (TrafficException e) {
        problems.addAll(e.problems());
      }
    }
    if (!problems.isEmpty()) {
      throw new TrafficException(problems);
    }
  }

  /** Returns the columns that the template needs, each once. */
  List<String> columns() {
    Set<String> columns = new LinkedHashSet<>();
    each(template -> columns.addAll(template.columns()));
    return List.copyOf(columns);
  }

  /** Returns the columns that every record must have: they have no alternative. */
  Set<String> required() {
    Set<String> columns = new LinkedHashSet<>();
    each(template -> columns.addAll(template.required()));
    return columns;
  }

  private void each(Consumer<ColumnTemplate> action) {
    descriptors.forEach(parts -> parts.forEach(part -> action.accept(part.value)));
    action.accept(permits);
    load.each(action);
  }

  /**
   * Sets the columns' slots: each column is in the slot of its place in the list. To be called
   * before {@link #request}.
   */
  void bind(List<String> columns) {
    each(template -> template.bind(columns));
  }

  /**
   * Returns the load in the record, NaN if there is none.
   *
   * @throws UnreadableException if it is not a share
   */
  double load(RecordValues values) throws UnreadableException {
    return load.of(values);
  }

  /**
   * Returns the record's request. Each descriptor has its permits, so that 0 is a peek.
   *
   * @throws UnreadableException if the permits are not a number in range
   */
  Request request(RecordValues values) throws UnreadableException {
    long count = fixedPermits >= 0 ? fixedPermits : permits(values);
    Long each = count;
    Descriptor[] made = new Descriptor[descriptors.size()];
    for (int i = 0; i < made.length; i++) {
      List<Part> parts = descriptors.get(i);
      Entry[] entries = new Entry[parts.size()];
      for (int j = 0; j < entries.length; j++) {
        Part part = parts.get(j);
        entries[j] = new Entry(part.key, part.value.render(values));
      }
      made[i] = new Descriptor(List.of(entries), null, each);
    }
    return new Request(domain, List.of(made), 1);
  }

  private long permits(RecordValues values) throws UnreadableException {
    int slot = permits.onlySlot();
    if (slot >= 0) {
      return permits(values.data(slot), values.from(slot), values.to(slot));
    }
    byte[] text = permits.render(values).getBytes(StandardCharsets.UTF_8);
    return permits(text, 0, text.length);
  }

  private static long permits(byte[] data, int from, int to) throws UnreadableException {
    int start = from;
    int end = to;
    while (start < end && data[start] == ' ') {
      start++;
    }
    while (end > start && data[end - 1] == ' ') {
      end--;
    }
    long value = 0;
    boolean number = start < end && end - start <= MAX_PERMIT_DIGITS;
    for (int i = start; i < end && number; i++) {
      number = data[i] >= '0' && data[i] <= '9';
      value = 10 * value + data[i] - '0';
    }
    if (!number) {
      throw new UnreadableException(
          "permits: "
              + ShownText.quoted(data, from, to)
              + " (expected: a whole number from 0 to "
              + MAX_PERMITS
              + ")");
    }
    return value;
  }
}
