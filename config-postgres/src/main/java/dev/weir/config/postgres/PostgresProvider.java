package dev.weir.config.postgres;

import dev.weir.Ticker;
import dev.weir.config.ConfigStore;
import dev.weir.config.ConfigStoreProvider;
import dev.weir.config.RowConfigStore;
import dev.weir.config.StoreAddress;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Opens stores in PostgreSQL: {@code postgresql://USER@HOST:PORT/DATABASE}. Public only for the
 * service loader.
 *
 * <p>Options: {@code sslmode=verify-full} or another of the driver's, {@code schema=weir}.
 */
public final class PostgresProvider implements ConfigStoreProvider {
  private static final String FORM =
      "postgresql://USER@HOST[:PORT]/DATABASE[?schema=weir&sslmode=verify-full]";

  private static final Pattern PLACE =
      Pattern.compile(
          "//(?<user>[^@/:]+)@(?<host>\\[[0-9a-fA-F:.]+]|[^@/:]+)(?<port>:[0-9]{1,5})?/(?<database>[^/?]+)");

  private static final Pattern SCHEMA = Pattern.compile("[a-z_][a-z0-9_]{0,62}");

  private static final Set<String> SSL_MODES =
      Set.of("disable", "allow", "prefer", "require", "verify-ca", "verify-full");

  @Override
  public String scheme() {
    return "postgresql";
  }

  @Override
  public String form() {
    return FORM;
  }

  @Override
  public ConfigStore open(StoreAddress address) {
    PostgresRows rows = PostgresRows.open(settings(address), Ticker.system());
    try {
      return RowConfigStore.open(rows);
    } catch (RuntimeException | Error e) {
      rows.close();
      throw e;
    }
  }

  static PostgresSettings settings(StoreAddress address) {
    address.requireOptions(Set.of("schema", "sslmode"));
    Matcher place = PLACE.matcher(address.place());
    if (!place.matches()) {
      // Not shown: it may hold a password, which belongs elsewhere.
      throw new IllegalArgumentException(
          "configuration store: not an address of PostgreSQL (expected: "
              + FORM
              + "; the password is given apart)");
    }
    String schema = address.options().getOrDefault("schema", "weir");
    if (!SCHEMA.matcher(schema).matches()) {
      throw new IllegalArgumentException(
          "schema: " + schema + " (expected: up to 63 of a-z, 0-9 and _)");
    }
    String sslMode = address.options().getOrDefault("sslmode", "prefer");
    if (!SSL_MODES.contains(sslMode)) {
      throw new IllegalArgumentException(
          "sslmode: " + sslMode + " (expected: " + SSL_MODES.stream().sorted().toList() + ")");
    }
    String port = place.group("port");
    return new PostgresSettings(
        "jdbc:postgresql://"
            + place.group("host")
            + (port == null ? "" : port)
            + "/"
            + place.group("database"),
        place.group("user"),
        address.password(),
        schema,
        sslMode);
  }
}
