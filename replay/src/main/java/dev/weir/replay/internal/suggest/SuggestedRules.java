package dev.weir.replay.internal.suggest;

import dev.weir.Algorithm;
import dev.weir.replay.LimitSuggestions;
import dev.weir.replay.SeatSuggestion;
import dev.weir.replay.Suggestion;
import dev.weir.rules.DurationText;
import dev.weir.traffic.RequestTemplate;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The rules of one suggestion or of several, as one file: rules with the same first levels share a
 * branch.
 */
public final class SuggestedRules {
  /** A level of the rules; each may have a limit. */
  private static final class Node {
    final Map<RequestTemplate.Level, Node> below = new LinkedHashMap<>();
    @Nullable Suggestion limit;
  }

  private final StringBuilder yaml = new StringBuilder();
  private final boolean seats;

  private SuggestedRules(boolean seats) {
    this.seats = seats;
  }

  /** Returns the file; the suggestions are for one domain. */
  public static String yaml(List<Suggestion> suggestions) {
    return yaml(suggestions, false);
  }

  /**
   * Returns the file with the limits at the same time; each of the suggestions has one, and they
   * are for one domain.
   */
  public static String seatsYaml(List<Suggestion> suggestions) {
    return yaml(suggestions, true);
  }

  private static String yaml(List<Suggestion> suggestions, boolean seats) {
    Node root = new Node();
    for (Suggestion each : suggestions) {
      Node node = root;
      for (RequestTemplate.Level level : each.recording().template().levels()) {
        node = node.below.computeIfAbsent(level, unseen -> new Node());
      }
      node.limit = each;
    }
    SuggestedRules rules = new SuggestedRules(seats);
    rules.yaml.append("domain: ").append(quoted(suggestions.get(0).options().domain()));
    rules.yaml.append("\n");
    rules.below(root, "");
    return rules.yaml.toString();
  }

  private void below(Node node, String indent) {
    yaml.append(indent).append("descriptors:\n");
    node.below.forEach(
        (level, child) -> {
          yaml.append(indent).append("  - key: ").append(quoted(level.key())).append('\n');
          String inner = indent + "    ";
          if (level.value() != null) {
            yaml.append(inner).append("value: ").append(quoted(level.value())).append('\n');
          }
          if (child.limit != null) {
            limit(child.limit, inner);
          }
          if (!child.below.isEmpty()) {
            below(child, inner);
          }
        });
  }

  /** Writes the limit of the chosen window, and those of the others as comments. */
  private void limit(Suggestion suggestion, String indent) {
    SeatSuggestion atOnce = suggestion.seats();
    if (seats && atOnce != null) {
      yaml.append(indent).append("rate_limit:\n").append(indent).append("  concurrency: ");
      yaml.append(atOnce.suggested().limit()).append('\n').append(indent).append("  hold: ");
      yaml.append(DurationText.format(atOnce.holdNanos())).append('\n');
      return;
    }
    LimitSuggestions.Window chosen = suggestion.chosen();
    String inner = indent + "  ";
    yaml.append(indent).append("rate_limit:\n");
    yaml.append(inner).append("window: ").append(DurationText.format(chosen.windowNanos()));
    yaml.append('\n').append(inner).append("requests_per_unit: ");
    yaml.append(chosen.suggested().limit()).append('\n');
    Algorithm algorithm = suggestion.options().algorithm();
    if (algorithm != Algorithm.SLIDING_WINDOW) {
      yaml.append(inner).append("algorithm: ").append(algorithm).append('\n');
    }
    for (LimitSuggestions.Window each : suggestion.windows()) {
      if (each.windowNanos() != chosen.windowNanos()) {
        yaml.append(inner).append("# or window: ").append(DurationText.format(each.windowNanos()));
        yaml.append(", requests_per_unit: ").append(each.suggested().limit()).append('\n');
      }
    }
  }

  private static String quoted(String text) {
    if (text.matches("[A-Za-z_][A-Za-z0-9_-]*")
        && !text.matches("(?i)true|false|null|yes|no|on|off|y|n")) {
      return text;
    }
    return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }
}
