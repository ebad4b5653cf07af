package dev.weir.replay;

import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.Request;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Makes a request of a record: what the options' descriptors and permits say. */
final class RequestTemplate {
  /** The most permits a record can ask for: far beyond any limit, safe to add up. */
  static final long MAX_PERMITS = 999_999_999_999_999_999L;

  private static final int MAX_PERMIT_DIGITS = 18;

  /** An entry to be: its key, and what gives its value. */
  private record Part(String key, Template value) {}

  private final String domain;
  private final List<List<Part>> descriptors;
  private final Template permits;

  private RecordedLoad load = RecordedLoad.UNKNOWN;

  /** The permits if they are the same for all records, else -1. */
  private final long fixedPermits;

  private RequestTemplate(String domain, List<List<Part>> descriptors, Template permits)
      throws ReplayException {
    this.domain = domain;
    this.descriptors = descriptors;
    this.permits = permits;
    String literal = permits.literal();
    fixedPermits = literal == null ? -1 : literal(literal);
  }

  /** Reads the options. Says everything that is wrong with them at once. */
  static RequestTemplate of(String domain, List<String> descriptors, String permits)
      throws ReplayException {
    List<String> problems = new ArrayList<>();
    List<List<Part>> parsed = new ArrayList<>();
    for (String text : descriptors) {
      try {
        parsed.add(descriptor(text));
      } catch (ReplayException e) {
        problems.addAll(e.problems());
      }
    }
    if (descriptors.isEmpty()) {
      problems.add("descriptor: none (expected: at least one, for example ip={ip})");
    }
    try {
      RequestTemplate template =
          new RequestTemplate(domain, parsed, Template.of("permits", permits));
      if (problems.isEmpty()) {
        return template;
      }
    } catch (ReplayException e) {
      problems.addAll(e.problems());
    }
    throw new ReplayException(problems);
  }

  private static List<Part> descriptor(String text) throws ReplayException {
    List<Part> parts = new ArrayList<>();
    int at = 0;
    do {
      Template.Parsed key = Template.parse("descriptor", text, at, ",=");
      String name = key.template().literal();
      if (name == null || name.isEmpty() || !text.startsWith("=", key.end())) {
        throw new ReplayException(
            "descriptor: " + Shown.quoted(text) + " (expected: key={column}[,key2={column2}])");
      }
      Template.Parsed value = Template.parse("descriptor", text, key.end() + 1, ",");
      parts.add(new Part(name, value.template()));
      at = value.end() + 1;
    } while (at <= text.length());
    return List.copyOf(parts);
  }

  private static long literal(String text) throws ReplayException {
    try {
      byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
      return permits(bytes, 0, bytes.length);
    } catch (Unreadable e) {
      throw new ReplayException(e.reason().replace(")", ", or a column like {bytes})"));
    }
  }

  /** Has the load of each record read as well. */
  RequestTemplate with(RecordedLoad load) {
    this.load = load;
    return this;
  }

  /**
   * A level of a rule that would match.
   *
   * @param value the entry's text if that is the same for all records, else null
   */
  record Level(String key, @Nullable String value) {}

  /** Returns the levels of a rule for the first descriptor. */
  List<Level> levels() {
    return descriptors.get(0).stream()
        .map(part -> new Level(part.key, part.value.literal()))
        .toList();
  }

  /** Returns the columns that it needs, each once. */
  List<String> columns() {
    Set<String> columns = new LinkedHashSet<>();
    descriptors.forEach(parts -> parts.forEach(part -> columns.addAll(part.value.columns())));
    columns.addAll(permits.columns());
    columns.addAll(load.columns());
    return List.copyOf(columns);
  }

  /** Says in which slot each column will be. To be called before {@link #request}. */
  void bind(List<String> columns) {
    descriptors.forEach(parts -> parts.forEach(part -> part.value.bind(columns)));
    permits.bind(columns);
    load.bind(columns);
  }

  /**
   * Returns the load that the record tells, not a number if it tells none.
   *
   * @throws Unreadable if it is no share
   */
  double load(Fields fields) throws Unreadable {
    return load.of(fields);
  }

  /**
   * Returns the record's request. Each descriptor says its permits, so that 0 is a look.
   *
   * @throws Unreadable if the permits are no number in range
   */
  Request request(Fields fields) throws Unreadable {
    long count = fixedPermits >= 0 ? fixedPermits : permits(fields);
    Long each = count;
    Descriptor[] made = new Descriptor[descriptors.size()];
    for (int i = 0; i < made.length; i++) {
      List<Part> parts = descriptors.get(i);
      Entry[] entries = new Entry[parts.size()];
      for (int j = 0; j < entries.length; j++) {
        Part part = parts.get(j);
        entries[j] = new Entry(part.key, part.value.render(fields));
      }
      made[i] = new Descriptor(List.of(entries), null, each);
    }
    return new Request(domain, List.of(made), 1);
  }

  private long permits(Fields fields) throws Unreadable {
    int slot = permits.onlySlot();
    if (slot >= 0) {
      return permits(fields.data(slot), fields.from(slot), fields.to(slot));
    }
    byte[] text = permits.render(fields).getBytes(StandardCharsets.UTF_8);
    return permits(text, 0, text.length);
  }

  private static long permits(byte[] data, int from, int to) throws Unreadable {
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
      throw new Unreadable(
          "permits: "
              + Shown.quoted(data, from, to)
              + " (expected: a whole number from 0 to "
              + MAX_PERMITS
              + ")");
    }
    return value;
  }
}
