package dev.weir.spring;

import dev.weir.identity.DescriptorTemplate;
import dev.weir.identity.Source;
import dev.weir.spring.WeirProperties.Costs;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The filters for {@code weir.limits}. Limits of the same paths and methods share a filter, so that
 * a request is admitted by all of them or charged for none. But limits by login have a filter of
 * their own, because it comes after the one that finds the login, and so have limits of reported
 * costs, because a report is charged to all limits of its filter.
 */
final class LimitFilters {
  /** The key of a limit's name in descriptors. */
  static final String LIMIT = "limit";

  /** The value of a limit's {@code by} that means one counter for all. */
  static final String NOTHING = "none";

  private static final List<String> BY_ADDRESS = List.of("ip");

  private record Group(List<String> paths, List<String> methods, boolean login, Costs costs) {}

  private LimitFilters() {}

  static List<WeirProperties.Filter> of(Map<String, LimitProperties> limits) {
    Map<Group, Map<String, String>> descriptors = new LinkedHashMap<>();
    limits.forEach(
        (name, limit) -> {
          if (hasFilter(limit)) {
            String descriptor = descriptor(name, limit);
            boolean login = DescriptorTemplate.parse(descriptor).uses(Source.LOGIN);
            Group group = new Group(limit.paths(), limit.methods(), login, costs(limit));
            descriptors.computeIfAbsent(group, any -> new LinkedHashMap<>()).put(name, descriptor);
          }
        });
    List<WeirProperties.Filter> filters = new ArrayList<>();
    descriptors.forEach(
        (group, members) ->
            filters.add(
                WeirProperties.Filter.of(
                    String.join("-", members.keySet()),
                    group.paths,
                    group.methods,
                    List.copyOf(members.values()),
                    group.costs)));
    return filters;
  }

  private static Costs costs(LimitProperties limit) {
    return "reported".equals(limit.costs()) ? Costs.REPORTED : Costs.BEFORE;
  }

  /** Returns whether a filter applies the limit; otherwise the annotation names it. */
  static boolean hasFilter(LimitProperties limit) {
    return !limit.by().isEmpty() || !limit.paths().isEmpty() || !limit.methods().isEmpty();
  }

  /** Returns the sources of the values that are counted separately. */
  static List<String> by(LimitProperties limit) {
    if (limit.by().isEmpty()) {
      return BY_ADDRESS;
    }
    return limit.by().equals(List.of(NOTHING)) ? List.of() : limit.by();
  }

  /** Returns the template of a request's descriptor, such as {@code limit=api,ip={ip}}. */
  static String descriptor(String name, LimitProperties limit) {
    StringBuilder text = new StringBuilder(LIMIT).append('=').append(literal(name));
    for (String source : by(limit)) {
      text.append(',').append(literal(source)).append("={").append(source).append('}');
    }
    return text.toString();
  }

  private static String literal(String text) {
    return text.replaceAll("[\\\\{},=|]", "\\\\$0");
  }
}
