package dev.weir.spring;

import dev.weir.Store;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/** The store that processes share, if there is one, and its state. The engine closes it. */
final class SharedStores {
  private static final String REDIS_STORE = "dev.weir.redis.RedisStore";

  private volatile SharedStoreState state = SharedStoreState.NONE;

  /**
   * Opens the store of the properties, or takes the application's own.
   *
   * @param given the application's own, or null
   * @param loader the class loader of the application, in which weir-redis is searched for
   * @throws WeirPropertiesException if it cannot be opened
   */
  @Nullable Store open(
      WeirProperties.Store properties, @Nullable Store given, @Nullable ClassLoader loader) {
    String uri = properties.uri();
    boolean redis = ClassUtils.isPresent(REDIS_STORE, loader);
    if (given != null) {
      state = redis ? RedisStores.state(given) : SharedStoreState.of(given);
      return given;
    } else if (uri == null) {
      return null;
    } else if (!redis) {
      throw new WeirPropertiesException(
          new PropertyProblem(
              "weir.store.uri", null, "the artifact dev.weir:weir-redis on the class path"));
    }
    Store store = RedisStores.open(uri, properties);
    state = RedisStores.state(store);
    return store;
  }

  SharedStoreState state() {
    return state;
  }

  boolean available() {
    return state.available();
  }

  Map<String, Object> details() {
    return state.details();
  }
}
