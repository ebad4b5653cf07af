package dev.weir.examples.boot;

import dev.weir.spring.RateLimit;
import org.springframework.security.core.Authentication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** The pages of the shop. */
@RestController
class Pages {
  /** Returns a quote; limited by the user's plan. */
  @GetMapping("/quote")
  @RateLimit(name = "quotes", key = "@plans.of(#user)")
  public String quote(Authentication user) {
    return "42 EUR for " + user.getName() + "\n";
  }

  /** Returns the report; limited by a filter, and by a rule with a queue. */
  @GetMapping("/report")
  public String report() {
    return "Sales: 42\n";
  }
}
