package dev.weir.rules;

import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The matching of the rule format, word for word, with lists and regular expressions. */
public final class NaiveMatcher {
  private NaiveMatcher() {}

  /** A descriptor of a rule file, or its root. */
  record Node(String key, String value, boolean limited, List<Node> children) {}

  /** Returns the node that decides, or null. */
  static @Nullable Node match(Node root, List<Entry> entries) {
    Node node = root;
    for (Entry entry : entries) {
      node = next(node, entry);
      if (node == null) {
        return null;
      }
    }
    return node.limited() ? node : null;
  }

  private static @Nullable Node next(Node parent, Entry entry) {
    List<Node> sameKey =
        parent.children().stream().filter(child -> child.key().equals(entry.key())).toList();
    Stream<Node> exact =
        sameKey.stream()
            .filter(child -> !child.value().isEmpty())
            .filter(child -> child.value().equals(entry.value()));
    Stream<Node> wildcard =
        sameKey.stream()
            .filter(child -> child.value().contains("*"))
            .filter(child -> regex(child.value()).matcher(entry.value()).matches());
    Stream<Node> bare = sameKey.stream().filter(child -> child.value().isEmpty());
    return Stream.of(exact, wildcard, bare)
        .flatMap(candidates -> candidates)
        .findFirst()
        .orElse(null);
  }

  public static Pattern regex(String pattern) {
    String regex =
        pattern
            .codePoints()
            .mapToObj(c -> c == '*' ? ".*" : Pattern.quote(Character.toString(c)))
            .collect(Collectors.joining());
    return Pattern.compile(regex, Pattern.DOTALL);
  }
}
