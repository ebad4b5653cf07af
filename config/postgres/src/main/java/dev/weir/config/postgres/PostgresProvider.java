package dev.weir.config.postgres;

import dev.weir.Ticker;
import dev.weir.config.ConfigStore;
import dev.weir.config.ConfigStoreProvider;
import dev.weir.config.StoreAddress;
import dev.weir.config.rows.RowConfigStore;

/**
 * Opens stores in PostgreSQL 13 or newer: {@code postgresql://USER@HOST:PORT/DATABASE}. Of several
 * hosts, separated by commas, the primary is used. Public only for the service loader.
 *
 * <p>Options: {@code schema=weir} that holds the tables, {@code timeout=5s} for a connection and
 * for each answer, {@code sslmode=verify-full} or another of the driver's ({@code prefer}, its
 * default, also connects without TLS), and {@code sslrootcert=FILE} with the certificates to trust.
 *
 * <p>The schema and its tables are made at the first start; a user who may not make them can use
 * those that are there.
 */
public final class PostgresProvider implements ConfigStoreProvider {
  @Override
  public String scheme() {
    return "postgresql";
  }

  @Override
  public String form() {
    return PostgresSettings.FORM;
  }

  @Override
  public ConfigStore open(StoreAddress address) {
    PostgresRows rows = PostgresRows.open(PostgresSettings.of(address), Ticker.system());
    try {
      return RowConfigStore.open(rows);
    } catch (RuntimeException | Error e) {
      rows.close();
      throw e;
    }
  }
}
