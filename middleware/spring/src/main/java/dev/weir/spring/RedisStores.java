package dev.weir.spring;

import dev.weir.Store;
import dev.weir.redis.RedisStore;
import dev.weir.shared.SharedMetrics;
import dev.weir.shared.SharedStore;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The opening of the shared store by the properties. Loaded only if weir-redis is on the class
 * path.
 */
final class RedisStores {
  private static final System.Logger LOG = System.getLogger(RedisStores.class.getName());

  private RedisStores() {}

  /**
   * Opens a store, which connects by itself, now or when the other side becomes available.
   *
   * @throws WeirPropertiesException if its address or its password cannot be used
   */
  static RedisStore open(String uri, WeirProperties.Store properties) {
    RedisStore.Builder builder;
    try {
      builder = RedisStore.builder(uri);
    } catch (IllegalArgumentException e) {
      // Not the address itself: a password may stand in it.
      throw new WeirPropertiesException(
          new PropertyProblem(
              "weir.store.uri",
              null,
              "redis://, rediss://, redis-sentinel:// or redis-cluster:// and a host"));
    }
    String file = properties.passwordFile();
    if (file != null) {
      builder.password(password(file));
    }
    return builder
        .timeout(properties.timeout())
        .prefix(properties.prefix())
        .afterCrash(properties.afterCrash())
        .log(line -> LOG.log(Level.INFO, "store: {0}", line))
        .warnings(line -> LOG.log(Level.WARNING, "store: {0}", line))
        .build();
  }

  /** Returns the state of a store. */
  static SharedStoreState state(Store store) {
    return store instanceof SharedStore shared ? new State(shared) : SharedStoreState.of(store);
  }

  private record State(SharedStore store) implements SharedStoreState {
    @Override
    public boolean available() {
      return store.available();
    }

    @Override
    public Map<String, Object> details() {
      SharedMetrics metrics = store.metrics();
      Map<String, Object> details = new LinkedHashMap<>();
      details.put("kind", metrics.kind());
      details.put("available", metrics.available());
      if (!metrics.available() && !store.problem().isEmpty()) {
        details.put("problem", store.problem());
      }
      details.put("decided", metrics.decided());
      details.put("held", metrics.held());
      details.put("failures", metrics.failures());
      details.put("losses", metrics.losses());
      return details;
    }
  }

  private static String password(String file) {
    String password;
    try {
      password = Files.readString(Path.of(file), StandardCharsets.UTF_8).replaceFirst("\\R$", "");
    } catch (IOException e) {
      throw wrong(file, "a file to read: " + e.getClass().getSimpleName());
    }
    if (password.isEmpty() || password.lines().count() > 1) {
      throw wrong(file, "a file with one line, the password alone");
    }
    return password;
  }

  private static WeirPropertiesException wrong(String file, String expected) {
    return new WeirPropertiesException(
        new PropertyProblem("weir.store.password-file", file, expected));
  }
}
