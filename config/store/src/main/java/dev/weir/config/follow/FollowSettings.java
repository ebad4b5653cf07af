package dev.weir.config.follow;

import dev.weir.Ticker;
import dev.weir.config.ConfigStore;
import dev.weir.config.OwnLimit;
import dev.weir.config.internal.bytes.Check;
import dev.weir.config.internal.follow.ShownServer;
import dev.weir.config.rows.Counts;
import dev.weir.rules.RuleDefaults;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The settings that a {@link RuleFollower} and a {@link ConfigClient} have in common. Not safe for
 * use by several threads.
 *
 * @param <S> the builder that has these settings
 */
public abstract sealed class FollowSettings<S extends FollowSettings<S>>
    permits ConfigClient.Builder, RuleFollower.Builder {
  final ConfigStore store;
  final String node;
  private String address = "";
  private Supplier<String> admin = () -> "";
  private String version = "";
  private Supplier<Counts> counts = () -> Counts.NONE;
  Duration interval = Duration.ofSeconds(1);
  Duration patience = Duration.ofSeconds(30);
  RuleDefaults defaults = RuleDefaults.DENY;
  @Nullable Path lastKnown;
  boolean emptyAtFirst;
  boolean withoutRules;
  Ticker ticker = Ticker.system();

  FollowSettings(ConfigStore store, String node) {
    this.store = store;
    this.node = node;
  }

  abstract S self();

  ShownServer shown() {
    return new ShownServer(node, address, admin, version, counts);
  }

  /**
   * Sets the address and the version of Weir that the store's list of servers shows for this one.
   */
  public S shownAs(String serverAddress, String weirVersion) {
    address = serverAddress;
    version = weirVersion;
    return self();
  }

  /**
   * Sets the address of this server's interface for administration in the store's list of servers,
   * by which other servers reach it: without a path, or an empty text. Called on the feed's thread.
   */
  public S adminAt(Supplier<String> adminAddress) {
    admin = adminAddress;
    return self();
  }

  /**
   * Sets the counts of this server's decisions in the store's list of servers, by which a rollout
   * is judged. Called on the feed's thread.
   */
  public S counts(Supplier<Counts> decided) {
    counts = decided;
    return self();
  }

  /** Sets the interval at which the store is polled, 1 ms to 1 h; default 1 s. */
  public S interval(Duration newInterval) {
    Check.range("interval in ms", newInterval.toMillis(), 1, 3_600_000);
    interval = newInterval;
    return self();
  }

  /**
   * Sets the time for which {@link RuleFollower#load} tries while neither the store nor a file has
   * rules, up to 366 days; default 30 s.
   */
  public S patience(Duration newPatience) {
    Check.range("patience in ms", newPatience.toMillis(), 0, OwnLimit.MAX_WINDOW_MILLIS);
    patience = newPatience;
    return self();
  }

  /** Sets the defaults of rules. */
  public S defaults(RuleDefaults ruleDefaults) {
    defaults = ruleDefaults;
    return self();
  }

  /**
   * Sets a file for the rules last in force; the server starts with them if the store does not
   * answer.
   */
  public S lastKnown(Path file) {
    lastKnown = file;
    return self();
  }

  /**
   * Starts with rules without any domain if the store never had rules, so that the first revision
   * comes into force like every other. If the last-known file exists, the store is known to have
   * had rules. Without this setting, a store without rules is a problem.
   */
  public S emptyAtFirst() {
    emptyAtFirst = true;
    return self();
  }

  /**
   * Leaves the store's rules alone, because this server has others: {@link RuleFollower#load} must
   * not be called, and {@link RuleFollower#follow} hands nothing on. The store is still polled, and
   * its list of servers shows this server with the revision 0.
   */
  public S withoutRules() {
    withoutRules = true;
    return self();
  }

  /** Sets the ticker of all waits: the engine's, since limits of subjects end by it. */
  public S ticker(Ticker newTicker) {
    ticker = newTicker;
    return self();
  }
}
