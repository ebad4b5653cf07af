package dev.weir.examples.boot;

import dev.weir.spring.RateLimit;
import org.springframework.security.core.Authentication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** What the shop serves. */
@RestController
class Pages {
  /** Limited by the user's plan. */
  @GetMapping("/quote")
  @RateLimit(name = "quotes", key = "@plans.of(#user)")
  public String quote(Authentication user) {
    return "42 EUR for " + user.getName() + "\n";
  }

  /** Limited by a filter, and by a rule that has requests wait. */
  @GetMapping("/report")
  public String report() {
    return "Sales: 42\n";
  }
}
