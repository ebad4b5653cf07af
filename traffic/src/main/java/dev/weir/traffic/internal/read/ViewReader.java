package dev.weir.traffic.internal.read;

import dev.weir.rules.ShownText;
import dev.weir.traffic.TrafficException;
import dev.weir.traffic.internal.values.UnreadableException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A reader that adds columns to those of another reader: a part of a column, or a column under the
 * name that all access logs share, such as {@code ip} and {@code path}.
 */
final class ViewReader implements RecordReader {
  /** The part that is taken of a column. */
  enum Part {
    ALL,
    /**
     * The address of {@code address:port}. An IPv6 address may stand without brackets, as HAProxy
     * writes it.
     */
    ADDRESS,
    METHOD,
    PROTOCOL,
    /** The path of the target of a request line. */
    REQUEST_PATH,
    REQUEST_QUERY,
    /**
     * The path of a target, {@code /path?query}, or of an address with scheme and host before that.
     */
    PATH,
    QUERY,
    /** The part before the slash of {@code a/b}. */
    BEFORE_SLASH,
    BEHIND_SLASH,
    /** The last part of {@code a/b/c}. */
    LAST
  }

  /**
   * A column that is a part of another one.
   *
   * @param column the other one
   */
  record View(String column, Part part) {}

  /**
   * Returns views: a name, then the column's name or the view, and so on. A name may come several
   * times; the first view of that name whose column exists counts.
   */
  static Map<String, List<View>> views(Object... namesAndViews) {
    Map<String, List<View>> views = new LinkedHashMap<>();
    for (int i = 0; i < namesAndViews.length; i += 2) {
      Object of = namesAndViews[i + 1];
      View view = of instanceof View known ? known : new View((String) of, Part.ALL);
      views.computeIfAbsent((String) namesAndViews[i], name -> new ArrayList<>()).add(view);
    }
    return views;
  }

  /** Returns all of these views, the first ones before the others of the same name. */
  static Map<String, List<View>> with(
      Map<String, List<View>> views, Map<String, List<View>> others) {
    Map<String, List<View>> all = new LinkedHashMap<>();
    for (Map<String, List<View>> each : List.of(views, others)) {
      each.forEach(
          (name, more) -> all.computeIfAbsent(name, unused -> new ArrayList<>()).addAll(more));
    }
    return all;
  }

  private static final byte[] NOTHING = {};

  private static final byte[] NO_METHOD = {'-'};

  private final RecordReader reader;
  private final Map<String, View> views;
  private final RequestLine request = new RequestLine();
  private List<String> names = List.of();
  private List<View> wanted = List.of();
  private int[] places = new int[0];
  private boolean[] optional = new boolean[0];
  private RecordValues raw = new RecordValues(0);

  private ViewReader(RecordReader reader, Map<String, View> views) {
    this.reader = reader;
    this.views = views;
  }

  /**
   * Returns a reader with more columns. A view is left out if its column does not exist, if several
   * columns have that name, or if the view's name is that of a column.
   */
  static RecordReader of(RecordReader reader, Map<String, List<View>> views) {
    Map<String, View> there = new LinkedHashMap<>();
    views.forEach(
        (name, choices) -> {
          for (View view : choices) {
            if (Collections.frequency(reader.columns(), view.column) == 1
                && !reader.columns().contains(name)
                && !there.containsKey(name)) {
              there.put(name, view);
            }
          }
        });
    return there.isEmpty() ? reader : new ViewReader(reader, there);
  }

  @Override
  public List<String> columns() {
    List<String> all = new ArrayList<>(views.keySet());
    all.addAll(reader.columns());
    return List.copyOf(all);
  }

  @Override
  public boolean has(String column) {
    return views.containsKey(column) || reader.has(column);
  }

  @Override
  public void select(List<String> columns) throws TrafficException {
    names = List.copyOf(columns);
    wanted = columns.stream().map(this::view).toList();
    List<String> below = wanted.stream().map(View::column).distinct().toList();
    reader.select(below);
    places = wanted.stream().mapToInt(view -> below.indexOf(view.column)).toArray();
    optional = new boolean[wanted.size()];
    raw = new RecordValues(below.size());
  }

  @Override
  public double share(String column) {
    return reader.share(view(column).column);
  }

  @Override
  public List<String> notes() {
    return reader.notes();
  }

  private View view(String column) {
    View view = views.get(column);
    return view == null ? new View(column, Part.ALL) : view;
  }

  @Override
  public void require(Set<String> columns) {
    Set<String> below = new LinkedHashSet<>();
    columns.forEach(column -> below.add(view(column).column));
    reader.require(below);
    for (int slot = 0; slot < optional.length; slot++) {
      optional[slot] = !columns.contains(names.get(slot));
    }
  }

  @Override
  public long line() {
    return reader.line();
  }

  @Override
  public boolean next(RecordValues values) throws IOException, UnreadableException {
    if (!reader.next(raw)) {
      return false;
    }
    for (int slot = 0; slot < places.length; slot++) {
      int place = places[slot];
      Part part = wanted.get(slot).part;
      try {
        take(values, slot, part, raw.data(place), raw.from(place), raw.to(place));
      } catch (UnreadableException e) {
        if (!optional[slot]) {
          throw e;
        }
        values.set(slot, NOTHING, 0, 0);
      }
    }
    return true;
  }

  private void take(RecordValues values, int slot, Part part, byte[] data, int from, int to)
      throws UnreadableException {
    switch (part) {
      case ALL -> values.set(slot, data, from, to);
      case ADDRESS -> address(values, slot, data, from, to);
      case PATH -> path(values, slot, data, from, to);
      case QUERY -> query(values, slot, data, from, to);
      case BEFORE_SLASH -> values.set(slot, data, from, slash(data, from, to));
      case BEHIND_SLASH -> values.set(slot, data, Math.min(to, slash(data, from, to) + 1), to);
      case LAST -> {
        int start = to;
        while (start > from && data[start - 1] != '/') {
          start--;
        }
        values.set(slot, data, start, to);
      }
      case METHOD, PROTOCOL, REQUEST_PATH, REQUEST_QUERY ->
          request(values, slot, part, data, from, to);
    }
  }

  private void request(RecordValues values, int slot, Part part, byte[] data, int from, int to) {
    if (!request.split(data, from, to)) {
      values.set(slot, NO_METHOD, 0, part == Part.REQUEST_QUERY ? 0 : 1);
      return;
    }
    switch (part) {
      case METHOD -> values.set(slot, data, request.methodFrom(), request.methodTo());
      case REQUEST_PATH -> path(values, slot, data, request.targetFrom(), request.targetTo());
      case REQUEST_QUERY -> query(values, slot, data, request.targetFrom(), request.targetTo());
      default -> {
        if (request.protocolFrom() < 0) {
          values.set(slot, NO_METHOD, 0, 1);
        } else {
          values.set(slot, data, request.protocolFrom(), request.end());
        }
      }
    }
  }

  private static void path(RecordValues values, int slot, byte[] data, int from, int to) {
    int start = RequestLine.path(data, from, to);
    int end = RequestLine.question(data, start, to);
    if (start == end && start > from) {
      values.set(slot, RequestLine.ROOT, 0, 1);
    } else {
      values.set(slot, data, start, end);
    }
  }

  private static void query(RecordValues values, int slot, byte[] data, int from, int to) {
    int question = RequestLine.question(data, RequestLine.path(data, from, to), to);
    if (question >= to) {
      values.set(slot, NOTHING, 0, 0);
    } else {
      values.set(slot, data, question + 1, to);
    }
  }

  private static void address(RecordValues values, int slot, byte[] data, int from, int to) {
    int colon = to;
    for (int at = from; at < to; at++) {
      if (data[at] == ']') {
        values.set(slot, data, data[from] == '[' ? from + 1 : from, at);
        return;
      }
      colon = data[at] == ':' ? at : colon;
    }
    values.set(slot, data, from, colon);
  }

  private static int slash(byte[] data, int from, int to) throws UnreadableException {
    for (int at = from; at < to; at++) {
      if (data[at] == '/') {
        return at;
      }
    }
    throw new UnreadableException(
        ShownText.quoted(data, from, to) + " (expected: two values with a / between)");
  }
}
