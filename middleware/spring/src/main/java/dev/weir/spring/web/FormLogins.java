package dev.weir.spring.web;

import dev.weir.http.PathPatterns;
import dev.weir.spring.PropertyProblem;
import dev.weir.spring.WeirProperties;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Locale;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.authentication.UsernamePasswordAuthenticationFilter;

/**
 * The listener that warns of limits by status on the login of a form, whose status is the same for
 * right and wrong passwords.
 */
final class FormLogins implements ApplicationListener<ApplicationReadyEvent> {
  private static final System.Logger LOG = System.getLogger(FormLogins.class.getName());

  private static final String DEFAULT_PATH = "/login";

  private static final String EXPECTED =
      "refund-unless-login-failed: true beside it: a form's login redirects after right and wrong"
          + " passwords, so that no status shows the wrong ones";

  private final WeirProperties properties;
  private final ObjectProvider<SecurityFilterChain> chains;

  FormLogins(WeirProperties properties, ObjectProvider<SecurityFilterChain> chains) {
    this.properties = properties;
    this.chains = chains;
  }

  @Override
  public void onApplicationEvent(ApplicationReadyEvent event) {
    if (!properties.enabled() || !hasForm()) {
      return;
    }
    for (int i = 0; i < properties.filters().size(); i++) {
      WeirProperties.Filter filter = properties.filters().get(i);
      if (countsByStatus(filter) && covers(filter)) {
        String name = "weir.filters[" + i + "].refund-unless-status";
        LOG.log(
            Level.WARNING,
            "wrong passwords are not counted, {0}",
            new PropertyProblem(name, filter.refundUnlessStatus(), EXPECTED));
      }
    }
  }

  private boolean hasForm() {
    return chains.stream()
        .flatMap(chain -> chain.getFilters().stream())
        .anyMatch(UsernamePasswordAuthenticationFilter.class::isInstance);
  }

  private static boolean countsByStatus(WeirProperties.Filter filter) {
    return !filter.refundUnlessStatus().isEmpty() && !filter.refundUnlessLoginFailed();
  }

  /** Returns whether the filter limits the default path of a form's login. */
  private static boolean covers(WeirProperties.Filter filter) {
    List<String> methods = filter.methods();
    return (methods.isEmpty()
            || methods.stream().anyMatch(each -> each.toUpperCase(Locale.ROOT).equals("POST")))
        && (filter.paths().isEmpty() || PathPatterns.of(filter.paths()).matches(DEFAULT_PATH));
  }
}
