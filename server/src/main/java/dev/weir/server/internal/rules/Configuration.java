package dev.weir.server.internal.rules;

import dev.weir.Ticker;
import dev.weir.engine.Engine;
import dev.weir.engine.KeyPolicies;
import dev.weir.engine.SubjectMetrics;
import dev.weir.engine.SubjectSettings;
import dev.weir.rules.RuleSet;
import dev.weir.rules.RuleSource;
import dev.weir.server.internal.metrics.Families;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.server.settings.StartException;
import java.util.Optional;

/**
 * The data that a server takes from its configuration store, if it has one. Safe for use by many
 * threads.
 */
public interface Configuration extends AutoCloseable {
  /** The configuration of a server without a store. */
  Configuration NONE = new Configuration() {};

  /**
   * Opens the store by the settings. A store that does not answer is tried again later. Returns
   * {@link #NONE} if there is none.
   *
   * @throws StartException if waiting would not help: it is damaged or in use, or the address is
   *     wrong
   */
  static Configuration open(ServerSettings settings, Ticker ticker) throws StartException {
    Optional<String> address = settings.configStore();
    return address.isEmpty() ? NONE : StoredConfiguration.open(settings, address.get(), ticker);
  }

  /** Returns the configuration with its store; empty if there is no store. */
  default Optional<StoredConfiguration> stored() {
    return Optional.empty();
  }

  /** Returns the policies of the keys of subjects. */
  default KeyPolicies policies() {
    return KeyPolicies.NONE;
  }

  default SubjectSettings subjects() {
    return SubjectSettings.DEFAULTS;
  }

  /** Sets the engine whose counts the store's list of servers shows for this one. */
  default void decidesBy(Engine engine) {}

  /** Sets the rules that will be in force next, if they come from files. */
  default void inForce(RuleSet rules) {}

  /** Follows the store while the rules come from files; no rules are taken from it. */
  default void follow(RuleSet current, RuleSource.Taker taker) {}

  /**
   * Sets the address at which other servers can reach this one's interface for administration.
   *
   * @param port the port on which it listens
   */
  default void adminAt(ServerSettings settings, int port) {}

  /** Adds the metrics of the store, and of the limits of subjects that it holds. */
  default void addMetrics(Families to, SubjectMetrics subjects) {}

  /** Ends the followers of the store, then the store. */
  @Override
  default void close() {}
}
