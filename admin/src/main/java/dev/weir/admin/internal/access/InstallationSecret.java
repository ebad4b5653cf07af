package dev.weir.admin.internal.access;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.weir.config.Cause;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigStore;
import dev.weir.config.Entry;
import dev.weir.config.EntryWrite;
import dev.weir.config.Json;
import dev.weir.config.RecordWrite;
import java.io.IOException;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A secret that all servers of a store share. The first server that needs it makes it. Safe for use
 * by many threads.
 */
public final class InstallationSecret {
  public static final String KIND = "installation";
  private static final String NAME = "secret";
  private static final String MEMBER = "secret";
  private static final Cause CAUSE = Cause.of("server", "a secret that all servers share");

  private final ConfigStore store;
  private volatile byte @Nullable [] known;

  public InstallationSecret(ConfigStore store) {
    this.store = store;
  }

  /**
   * Returns the secret, 43 bytes.
   *
   * @throws ConfigException if the store does not answer and the secret was not read before
   */
  public byte[] get() {
    byte[] read = known;
    if (read == null) {
      read = stored();
      if (read == null) {
        make();
        read = stored();
      }
      if (read == null) {
        throw new ConfigException(
            ConfigException.Kind.UNAVAILABLE, "secret of the installation: not there");
      }
      known = read;
    }
    return read.clone();
  }

  /** Returns whether the secret is in memory, so that {@link #get} does not wait. */
  public boolean isKnown() {
    return known != null;
  }

  private byte @Nullable [] stored() {
    for (Entry entry : store.entries(KIND)) {
      if (entry.name().equals(NAME)) {
        try {
          return Json.readWithNulls(entry.json()).text(MEMBER).getBytes(UTF_8);
        } catch (IOException e) {
          throw new ConfigException(
              ConfigException.Kind.DAMAGED, "secret of the installation: " + e.getMessage(), e);
        }
      }
    }
    return null;
  }

  private void make() {
    String json = Json.write(Map.of(MEMBER, Secrets.secret()));
    try {
      store.write(new EntryWrite(KIND, NAME, json, RecordWrite.ABSENT, Set.of(MEMBER)), CAUSE);
    } catch (ConfigException e) {
      if (e.kind() != ConfigException.Kind.CONFLICT) {
        throw e; // On a conflict another server was first.
      }
    }
  }
}
