package dev.weir.server.cluster;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.weir.cluster.Cluster;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;

/**
 * The changes to a cluster that {@code POST /cluster/change} accepts: {@code verb} is {@code
 * remove} (with {@code member}, {@code force}), {@code transfer} (with {@code member}, {@code
 * group}), {@code rebalance} (with {@code dry_run}), {@code groups} (with {@code groups}) or {@code
 * calendar}.
 */
final class ClusterChanges {
  private static final JsonFactory JSON = new JsonFactory();

  private ClusterChanges() {}

  /**
   * Applies the change that a request body describes.
   *
   * @return what was done, in lines
   * @throws IOException if it cannot be done; the message gives the reason
   */
  static String apply(Cluster cluster, byte[] body) throws IOException {
    Map<String, String> asked = read(body);
    String member = asked.getOrDefault("member", "");
    switch (asked.getOrDefault("verb", "")) {
      case "remove" -> {
        cluster.remove(member, flag(asked, "force"));
        return member + " is no member any more; its groups go to others\n";
      }
      case "transfer" -> {
        int group = number("group", asked.getOrDefault("group", ""));
        cluster.transfer(group, member);
        return member + " leads group " + group + "\n";
      }
      case "rebalance" -> {
        boolean dryRun = flag(asked, "dry_run");
        var lines = cluster.rebalance(dryRun);
        return lines.isEmpty()
            ? "every replica and every slot is where it should be\n"
            : String.join("\n", lines) + "\n";
      }
      case "groups" -> {
        int groups = number("groups", asked.getOrDefault("groups", ""));
        cluster.raiseGroups(groups);
        return "there are " + groups + " groups; keys move to those that are new\n";
      }
      case "calendar" -> {
        cluster.setCalendar();
        return "the calendar of each group shows what this machine's clock shows, or later\n";
      }
      default ->
          throw new IOException(
              "verb: "
                  + asked.get("verb")
                  + " (expected: remove, transfer, rebalance, groups or calendar)");
    }
  }

  private static boolean flag(Map<String, String> asked, String name) {
    return Boolean.parseBoolean(asked.get(name));
  }

  private static int number(String name, String text) throws IOException {
    try {
      return Integer.parseUnsignedInt(text);
    } catch (NumberFormatException e) {
      throw new IOException(name + ": " + text + " (expected: a whole number, at least 0)", e);
    }
  }

  private static Map<String, String> read(byte[] body) throws IOException {
    Map<String, String> values = new HashMap<>();
    try (JsonParser in = JSON.createParser(body)) {
      if (in.nextToken() != JsonToken.START_OBJECT) {
        throw new IOException("body: (expected: a JSON object)");
      }
      while (in.nextToken() == JsonToken.FIELD_NAME) {
        String name = in.currentName();
        if (!in.nextToken().isScalarValue()) {
          throw new IOException(name + ": (expected: a text, a number, true or false)");
        }
        values.put(name, in.getText());
      }
    }
    return values;
  }
}
