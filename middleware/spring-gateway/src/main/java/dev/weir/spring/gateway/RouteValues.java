package dev.weir.spring.gateway;

import dev.weir.identity.DescriptorTemplate;
import dev.weir.identity.TemplateException;
import dev.weir.spring.PropertyProblem;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The checks of the values of routes: each adds a problem, or none. */
final class RouteValues {
  /** The longest domain, as in a rule file. */
  private static final int MAX_DOMAIN = 1_024;

  static final String DOMAIN = "1.." + MAX_DOMAIN + " characters";
  static final String PERMITS = "a whole number, at least 0";
  static final String STATUSES = "statuses of 100..599 with commas between them, such as 401,403";

  private RouteValues() {}

  static void domain(
      @Nullable String domain, UnaryOperator<String> name, List<PropertyProblem> problems) {
    if (domain != null && (domain.isBlank() || domain.length() > MAX_DOMAIN)) {
      problems.add(new PropertyProblem(name.apply("domain"), domain, DOMAIN));
    }
  }

  static void permits(long permits, UnaryOperator<String> name, List<PropertyProblem> problems) {
    if (permits < 0) {
      problems.add(new PropertyProblem(name.apply("permits"), permits, PERMITS));
    }
  }

  static void descriptor(
      String field, String text, UnaryOperator<String> name, List<PropertyProblem> problems) {
    try {
      DescriptorTemplate unused = DescriptorTemplate.parse(text);
    } catch (TemplateException e) {
      problems.add(new PropertyProblem(name.apply(field), text, e.expected()));
    }
  }

  static void statuses(
      Set<Integer> statuses, UnaryOperator<String> name, List<PropertyProblem> problems) {
    for (Integer status : statuses) {
      if (status < 100 || status > 599) {
        problems.add(new PropertyProblem(name.apply("refund-unless-status"), status, STATUSES));
      }
    }
  }
}
