package dev.weir.admin;

import dev.weir.Ticker;
import dev.weir.admin.internal.access.Actor;
import dev.weir.admin.internal.access.AuditResource;
import dev.weir.admin.internal.access.Authenticator;
import dev.weir.admin.internal.access.InstallationSecret;
import dev.weir.admin.internal.access.Secrets;
import dev.weir.admin.internal.access.SessionResource;
import dev.weir.admin.internal.access.Sessions;
import dev.weir.admin.internal.access.Token;
import dev.weir.admin.internal.access.TokenCache;
import dev.weir.admin.internal.access.TokensResource;
import dev.weir.admin.internal.http.Call;
import dev.weir.admin.internal.http.CrossSite;
import dev.weir.admin.internal.http.DashboardFiles;
import dev.weir.admin.internal.http.Hosts;
import dev.weir.admin.internal.http.IndexResource;
import dev.weir.admin.internal.http.Reply;
import dev.weir.admin.internal.http.RequestException;
import dev.weir.admin.internal.http.Resource;
import dev.weir.admin.internal.http.Route;
import dev.weir.admin.internal.http.Router;
import dev.weir.admin.internal.limits.KeyText;
import dev.weir.admin.internal.limits.LimitPagesResource;
import dev.weir.admin.internal.limits.LimitTransferResource;
import dev.weir.admin.internal.limits.LimitsResource;
import dev.weir.admin.internal.limits.ResetResource;
import dev.weir.admin.internal.rules.Barrier;
import dev.weir.admin.internal.rules.DryRunsResource;
import dev.weir.admin.internal.rules.ExplainResource;
import dev.weir.admin.internal.rules.RevisionsResource;
import dev.weir.admin.internal.rules.RuleChangesResource;
import dev.weir.admin.internal.rules.RuleListResource;
import dev.weir.admin.internal.rules.RuleVersions;
import dev.weir.admin.internal.rules.RulesResource;
import dev.weir.admin.internal.stats.Fleet;
import dev.weir.admin.internal.stats.FleetSignature;
import dev.weir.admin.internal.stats.HttpPeers;
import dev.weir.admin.internal.stats.LiveFeed;
import dev.weir.admin.internal.stats.LiveResource;
import dev.weir.admin.internal.stats.NodesResource;
import dev.weir.admin.internal.stats.Peers;
import dev.weir.admin.internal.stats.RefusalsResource;
import dev.weir.admin.internal.stats.StatsResource;
import dev.weir.admin.internal.stats.TopResource;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigStore;
import dev.weir.engine.Engine;
import dev.weir.engine.KeyPolicies;
import dev.weir.replay.DryRuns;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The interface for administration under {@code /admin/v1}: rules, limits of customers, tokens,
 * servers, the log of changes. Safe for use by many threads.
 *
 * <p>A request passes, in this order: host, route, token or session, the site that it comes from,
 * role; then its resource answers it. Every answer has {@code Cache-Control: no-store} and an
 * {@code X-Request-Id}, which the log of changes contains too.
 */
public final class AdminApi implements AdminHandler {
  private static final System.Logger LOG = System.getLogger("dev.weir.admin");

  private final Hosts hosts;
  private final Router router;
  private final Authenticator authenticator;
  private final DashboardFiles files;
  private final @Nullable LiveFeed feed;

  private AdminApi(Builder builder) {
    Ticker ticker = builder.ticker;
    ConfigStore store = builder.store;
    TokenCache tokens = new TokenCache(store, ticker);
    Sessions sessions = new Sessions(ticker);
    hosts = new Hosts(builder.hosts);
    InstallationSecret secret = new InstallationSecret(store);
    FleetSignature signature = new FleetSignature(secret, builder.wall);
    authenticator = new Authenticator(store, tokens, sessions, signature, ticker, builder.wall);
    files = new DashboardFiles(builder.files);
    List<Resource> resources = new ArrayList<>();
    resources.add(new SessionResource(authenticator, sessions, ticker));
    resources.add(new TokensResource(store, tokens, builder.wall));
    RuleVersions versions =
        new RuleVersions(store, () -> builder.engine.rules().defaults(), builder.ruleFiles);
    Barrier barrier = new Barrier(store, ticker);
    resources.add(new RulesResource(store, versions));
    resources.add(new RuleListResource(versions));
    resources.add(new RuleChangesResource(store, versions, barrier));
    resources.add(new RevisionsResource(store, versions));
    resources.add(new LimitPagesResource(store));
    resources.add(new LimitTransferResource(store, builder.engine::rules));
    resources.add(new LimitsResource(store, builder.engine::rules, barrier));
    resources.add(new NodesResource(store, builder.wall));
    resources.add(new AuditResource(store));
    resources.add(new ExplainResource(builder.engine));
    resources.add(new DryRunsResource(versions, builder.engine::rules, builder.recorded));
    resources.add(new ResetResource(store, builder.engine, builder.resets, ticker));
    Observations observed = builder.observed;
    if (observed == null) {
      feed = null;
    } else {
      Fleet fleet = new Fleet(store, builder.wall, observed.node(), signature, builder.peers);
      KeyText text = new KeyText(secret, observed.show());
      RefusalsResource refusals = new RefusalsResource(observed, text, fleet);
      feed = new LiveFeed(observed, refusals, authenticator, ticker);
      resources.add(new StatsResource(observed, builder.engine, fleet));
      resources.add(new TopResource(store, observed, text, fleet));
      resources.add(refusals);
      resources.add(new LiveResource(feed));
    }
    List<Route> routes = new ArrayList<>();
    resources.add(new IndexResource(routes));
    resources.forEach(resource -> routes.addAll(resource.routes()));
    router = new Router(routes);
  }

  /**
   * Returns a builder.
   *
   * @param store the store of the tokens and of the log of changes, and unless files are the
   *     source, of the rules
   * @param engine the engine that decides by the rules in force here
   */
  public static Builder builder(ConfigStore store, Engine engine) {
    return new Builder(store, engine);
  }

  /** A builder of an {@link AdminApi}. Not safe for use by several threads. */
  public static final class Builder {
    private final ConfigStore store;
    private final Engine engine;
    private List<String> hosts = List.of();
    private boolean resets = true;
    private @Nullable Supplier<Map<String, String>> ruleFiles;
    private DryRunsResource.@Nullable RecordedTraffic recorded;
    private @Nullable Observations observed;
    private Peers peers = new HttpPeers();
    private String files = "dashboard";
    private Ticker ticker = Ticker.system();
    private Ticker wall = Ticker.wall();

    private Builder(ConfigStore store, Engine engine) {
      this.store = store;
      this.engine = engine;
    }

    /**
     * Sets the hosts by which clients may address the server, besides localhost and loopback
     * addresses. They have the form of the {@code Host} field; a port does not matter.
     */
    public Builder hosts(Collection<String> names) {
      hosts = List.copyOf(names);
      return this;
    }

    /** Sets whether keys may be reset; default true. */
    public Builder resets(boolean allowed) {
      resets = allowed;
      return this;
    }

    /**
     * Sets files, not the store, as the source of the rules. Then the rules are shown and checked,
     * and changes of them are refused.
     *
     * @param texts returns the files in force now, by their names
     */
    public Builder ruleFiles(Supplier<Map<String, String>> texts) {
      ruleFiles = texts;
      return this;
    }

    /**
     * Sets the dry runs of a server that records its traffic. Without them no dry run can be
     * started.
     *
     * @param runs its dry runs, which the caller closes
     * @param policies the limits of its subjects
     */
    public Builder dryRuns(DryRuns runs, KeyPolicies policies) {
      recorded = new DryRunsResource.RecordedTraffic(runs, policies);
      return this;
    }

    /**
     * Sets the statistics of the server's decisions. Without them the routes for statistics have
     * nothing to show.
     */
    public Builder observed(Observations known) {
      observed = known;
      return this;
    }

    /** Sets the connection to other servers; default HTTP. */
    public Builder peers(Peers others) {
      peers = others;
      return this;
    }

    /** Sets the folder of the pages, beside this class. */
    Builder files(String folder) {
      files = folder;
      return this;
    }

    /**
     * Sets the clocks.
     *
     * @param monotonic measures spans of time
     * @param wallClock the time of day, by which tokens expire
     */
    public Builder tickers(Ticker monotonic, Ticker wallClock) {
      ticker = monotonic;
      wall = wallClock;
      return this;
    }

    public AdminApi build() {
      return new AdminApi(this);
    }
  }

  /** Returns all routes. */
  List<Route> routes() {
    return router.routes();
  }

  public Authenticator authenticator() {
    return authenticator;
  }

  @Override
  public AdminResponse handle(AdminRequest request) {
    String id = id(request);
    AdminResponse answer;
    try {
      if (DashboardFiles.has(request.path())) {
        hosts.check(request);
        return Reply.with(files.answer(request), "X-Request-Id", id);
      }
      answer = answer(request, id);
    } catch (RequestException e) {
      answer = e.answer();
    } catch (ConfigException e) {
      answer = failed(e).answer();
    } catch (RuntimeException e) {
      LOG.log(System.Logger.Level.ERROR, "request " + id + ": " + request + " failed", e);
      answer = new RequestException(500, "The server failed; its log has the details.").answer();
    }
    answer = Reply.with(answer, "Cache-Control", "no-store");
    answer = Reply.with(answer, "X-Content-Type-Options", "nosniff");
    return Reply.with(answer, "X-Request-Id", id);
  }

  @Override
  public AdminCaller caller(AdminRequest request) {
    Token token = authenticator.known(request);
    if (token == null) {
      return AdminCaller.unknown(request);
    }
    String name = token.id().isEmpty() ? "server " + request.source() : "token " + token.id();
    return new AdminCaller(name, token.role());
  }

  @Override
  public void endStreams() {
    if (feed != null) {
      feed.stop();
    }
  }

  private AdminResponse answer(AdminRequest request, String id) {
    hosts.check(request);
    Router.Match match = router.match(request.method(), request.path());
    Route route = match.route();
    boolean cookie = !Sessions.cookie(request).isEmpty();
    Role role = route.role();
    if (role == null) {
      if (route.unsafe()) {
        CrossSite.check(request, cookie);
      }
      return route.action().answer(new Call(request, match, null, id));
    }
    Actor actor = authenticator.actor(request, id);
    try {
      if (route.unsafe() && cookie) {
        CrossSite.check(request, true);
      }
      if (!actor.token().role().includes(role)) {
        throw new RequestException(
            403, "role: " + actor.token().role().text() + " (expected: " + role.text() + ")");
      }
    } catch (RequestException e) {
      if (route.unsafe()) {
        authenticator.refused(request, id, actor, route, e);
      }
      throw e;
    }
    return route.action().answer(new Call(request, match, actor, id));
  }

  private static RequestException failed(ConfigException e) {
    String message = String.valueOf(e.getMessage());
    return switch (e.kind()) {
      case CONFLICT -> new RequestException(412, message);
      case FULL -> new RequestException(507, message);
      case UNAVAILABLE, IN_USE -> new RequestException(503, message).field("Retry-After", "1");
      case DAMAGED -> {
        LOG.log(System.Logger.Level.ERROR, "store: " + message, e);
        yield new RequestException(500, message);
      }
    };
  }

  private static String id(AdminRequest request) {
    String given = request.field("x-request-id");
    return given.matches("[A-Za-z0-9._-]{1,100}") ? given : Secrets.id();
  }
}
