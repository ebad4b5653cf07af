package dev.weir.checks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * The picture of the modules agrees with the poms: {@code docs/modules.svg} is what is drawn here.
 * After a change of the modules, {@code -Dweir.picture=write} writes it anew.
 */
class PictureTest {
  /*
   * How is the picture drawn? Each module is one row above the highest one that it uses, so all
   * arrows point down. An arrow is left out if another path leads there: a user of weir-server uses
   * weir-core in any case. An arrow over several rows has a gap of its own in each of them, so that
   * it crosses no box. Within a row, boxes and gaps are ordered by their targets.
   */

  private static final Path PICTURE = Module.ROOT.resolve("docs/modules.svg");

  private static final int BOX_WIDTH = 124;
  private static final int BOX_HEIGHT = 36;
  private static final int COLUMN = 142;
  private static final int GAP = 24;
  private static final int ROW = 84;
  private static final int MARGIN = 16;

  /** The middle of a module's box. */
  private record Place(int x, int y) {}

  private final Map<String, Set<String>> uses = new LinkedHashMap<>();

  PictureTest() {
    List<Module> drawn =
        Module.all().stream().filter(module -> module.published() && module.jar()).toList();
    drawn.forEach(module -> uses.put(module.artifact(), new HashSet<>(module.uses())));
    uses.values().forEach(used -> used.retainAll(uses.keySet()));
  }

  private int row(String module) {
    return used(module).stream().mapToInt(used -> row(used) + 1).max().orElse(0);
  }

  private Set<String> used(String module) {
    return uses.getOrDefault(module, Set.of());
  }

  /** Returns whether a module leads to another, directly or through others. */
  private boolean leads(String from, String to) {
    return used(from).contains(to) || used(from).stream().anyMatch(next -> leads(next, to));
  }

  /** Returns the modules that one uses and that no other of them leads to. */
  private List<String> arrows(String from) {
    return used(from).stream()
        .filter(to -> used(from).stream().noneMatch(other -> leads(other, to)))
        .sorted()
        .toList();
  }

  /** Returns the name of the gap through which an arrow crosses a row. */
  private static String gap(String from, String to, int row) {
    return from + " -> " + to + " in row " + row;
  }

  /** Returns the places of boxes and gaps. */
  private Map<String, Place> places() {
    Map<String, String> below = new LinkedHashMap<>();
    List<List<String>> rows = new ArrayList<>();
    for (String from : uses.keySet()) {
      while (rows.size() <= row(from)) {
        rows.add(new ArrayList<>());
      }
      rows.get(row(from)).add(from);
    }
    for (String from : uses.keySet()) {
      for (String to : arrows(from)) {
        for (int row = row(to) + 1; row < row(from); row++) {
          below.put(gap(from, to, row), row == row(to) + 1 ? to : gap(from, to, row - 1));
          rows.get(row).add(gap(from, to, row));
        }
      }
    }
    int widest = rows.stream().mapToInt(this::width).max().orElse(COLUMN);
    Map<String, Place> places = new LinkedHashMap<>();
    for (int row = 0; row < rows.size(); row++) {
      List<String> ordered = rows.get(row);
      ordered.sort(Comparator.comparingDouble(name -> middle(name, below, places)));
      int x = MARGIN + (widest - width(ordered)) / 2;
      int y = MARGIN + (rows.size() - 1 - row) * ROW + BOX_HEIGHT / 2;
      for (String name : ordered) {
        int width = uses.containsKey(name) ? COLUMN : GAP;
        places.put(name, new Place(x + width / 2, y));
        x += width;
      }
    }
    return places;
  }

  private int width(List<String> row) {
    return row.stream().mapToInt(name -> uses.containsKey(name) ? COLUMN : GAP).sum();
  }

  private double middle(String name, Map<String, String> below, Map<String, Place> places) {
    String next = below.get(name);
    List<String> ends = next == null ? ends(name, places) : List.of(next);
    return ends.stream()
        .map(places::get)
        .filter(place -> place != null)
        .mapToInt(Place::x)
        .average()
        .orElse(0);
  }

  /** Returns the targets of a module's arrows in the row below. */
  private List<String> ends(String from, Map<String, Place> places) {
    return arrows(from).stream()
        .map(to -> row(to) + 1 == row(from) ? to : gap(from, to, row(from) - 1))
        .filter(places::containsKey)
        .toList();
  }

  private String svg() {
    Map<String, Place> places = places();
    int width = places.values().stream().mapToInt(Place::x).max().orElse(0) + COLUMN / 2 + MARGIN;
    int height =
        places.values().stream().mapToInt(Place::y).max().orElse(0) + BOX_HEIGHT / 2 + MARGIN;
    StringBuilder svg = new StringBuilder();
    svg.append(
        String.format(
            Locale.ROOT,
            """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" font-family="system-ui, sans-serif" font-size="14">
            <title>Which module of Weir uses which</title>
            <style>
            rect { fill: #f3f6f9; stroke: #51708a } text { fill: #1c2b36; text-anchor: middle } path { fill: none; stroke: #51708a }
            @media (prefers-color-scheme: dark) { rect { fill: #1d2933; stroke: #8fb0c8 } text { fill: #e4edf3 } path { stroke: #8fb0c8 } }
            </style>
            <marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8"/></marker>
            """,
            width,
            height));
    uses.keySet().forEach(from -> arrows(from).forEach(to -> arrow(svg, from, to, places)));
    uses.keySet().forEach(module -> box(svg, module, place(module, places)));
    return svg.append("</svg>\n").toString();
  }

  private static void box(StringBuilder svg, String module, Place place) {
    svg.append(
        String.format(
            Locale.ROOT,
            """
            <rect x="%d" y="%d" width="%d" height="%d" rx="6"/><text x="%d" y="%d">%s</text>
            """,
            place.x - BOX_WIDTH / 2,
            place.y - BOX_HEIGHT / 2,
            BOX_WIDTH,
            BOX_HEIGHT,
            place.x,
            place.y + 5,
            module));
  }

  private void arrow(StringBuilder svg, String from, String to, Map<String, Place> places) {
    Place at = place(from, places);
    svg.append(String.format(Locale.ROOT, "<path d=\"M%d %d", at.x, at.y + BOX_HEIGHT / 2));
    for (int row = row(from) - 1; row >= row(to); row--) {
      Place next = place(row == row(to) ? to : gap(from, to, row), places);
      int start = at.y + BOX_HEIGHT / 2;
      int end = next.y - BOX_HEIGHT / 2;
      int half = (start + end) / 2;
      svg.append(
          String.format(Locale.ROOT, "C%d %d %d %d %d %d", at.x, half, next.x, half, next.x, end));
      if (row > row(to)) {
        svg.append("V").append(next.y + BOX_HEIGHT / 2);
      }
      at = next;
    }
    svg.append(
        String.format(
            Locale.ROOT,
            "\" marker-end=\"url(#tip)\"><title>%s uses %s</title></path>%n",
            from,
            to));
  }

  private static Place place(String name, Map<String, Place> places) {
    Place place = places.get(name);
    if (place == null) {
      throw new IllegalStateException(name + ": not placed");
    }
    return place;
  }

  @Test
  void picture_showsWhatThePomsSay() throws IOException {
    String drawn = svg();
    if ("write".equals(System.getProperty("weir.picture"))) {
      Files.writeString(PICTURE, drawn, StandardCharsets.UTF_8);
    }
    assertThat(Files.readString(PICTURE, StandardCharsets.UTF_8))
        .as("%s (expected: as drawn from the poms; -Dweir.picture=write draws it)", PICTURE)
        .isEqualTo(drawn);
  }
}
