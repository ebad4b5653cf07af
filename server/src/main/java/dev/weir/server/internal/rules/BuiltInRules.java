package dev.weir.server.internal.rules;

import dev.weir.rules.RuleDefaults;
import dev.weir.rules.RuleSet;
import dev.weir.rules.RuleSource;
import dev.weir.rules.Rules;
import dev.weir.server.internal.http.Endpoints;

/** The demo rules, in force with neither {@code --rules} nor a configuration store. */
record BuiltInRules(RuleDefaults defaults) implements RuleSource {
  @Override
  public Rules.LoadResult load() {
    return Rules.parse("built-in rules", Endpoints.resource(RulesInForce.BUILT_IN), defaults);
  }

  @Override
  public void follow(RuleSet current, Taker taker) {} // They do not change.

  @Override
  public void close() {}
}
