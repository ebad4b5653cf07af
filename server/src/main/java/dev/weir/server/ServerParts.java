package dev.weir.server;

import dev.weir.engine.CallerBuckets;
import dev.weir.engine.Engine;
import dev.weir.server.internal.access.Tokens;
import dev.weir.server.internal.deciding.Tracing;
import dev.weir.server.internal.guard.SystemLoad;
import dev.weir.server.internal.log.RefusalLog;
import dev.weir.server.internal.rules.Configuration;
import dev.weir.server.internal.state.StateStorage;

/**
 * The parts of a server that its ports use. A part that a server does not have does nothing.
 *
 * @param load the load for elastic rules
 * @param buckets the buckets of callers that need no rules
 * @param shared the store that the server shares with others
 * @param state the storage of the counts over restarts
 * @param tokens the tokens of clients that send requests for decisions
 * @param configuration the configuration store
 * @param admin the parts for administration
 * @param upstream the server whose limits this one holds
 * @param refusals the log of refused requests
 * @param tracing the source of spans of requests
 */
record ServerParts(
    Engine engine,
    SystemLoad load,
    CallerBuckets buckets,
    StoreConnection shared,
    StateStorage state,
    Tokens tokens,
    Configuration configuration,
    AdminParts admin,
    Upstream upstream,
    RefusalLog refusals,
    Tracing tracing) {

  /** Returns a builder of the parts; those that it is not given do nothing. */
  static Builder builder(Engine engine, SystemLoad load, CallerBuckets buckets) {
    return new Builder(engine, load, buckets);
  }

  /** A builder of {@link ServerParts}. Not safe for use by several threads. */
  static final class Builder {
    private final Engine engine;
    private final SystemLoad load;
    private final CallerBuckets buckets;
    private StoreConnection shared = StoreConnection.NONE;
    private StateStorage state = StateStorage.NONE;
    private Tokens tokens = Tokens.notRequired();
    private Configuration configuration = Configuration.NONE;
    private AdminParts admin = AdminParts.NONE;
    private Upstream upstream = Upstream.NONE;
    private RefusalLog refusals = RefusalLog.NONE;
    private Tracing tracing = Tracing.OFF;

    private Builder(Engine engine, SystemLoad load, CallerBuckets buckets) {
      this.engine = engine;
      this.load = load;
      this.buckets = buckets;
    }

    Builder shared(StoreConnection newShared) {
      shared = newShared;
      return this;
    }

    Builder state(StateStorage newState) {
      state = newState;
      return this;
    }

    Builder tokens(Tokens newTokens) {
      tokens = newTokens;
      return this;
    }

    Builder configuration(Configuration newConfiguration) {
      configuration = newConfiguration;
      return this;
    }

    Builder admin(AdminParts newAdmin) {
      admin = newAdmin;
      return this;
    }

    Builder upstream(Upstream newUpstream) {
      upstream = newUpstream;
      return this;
    }

    Builder refusals(RefusalLog newRefusals) {
      refusals = newRefusals;
      return this;
    }

    Builder tracing(Tracing newTracing) {
      tracing = newTracing;
      return this;
    }

    ServerParts build() {
      return new ServerParts(
          engine,
          load,
          buckets,
          shared,
          state,
          tokens,
          configuration,
          admin,
          upstream,
          refusals,
          tracing);
    }
  }
}
