package dev.weir.config.postgres;

import dev.weir.Ticker;
import dev.weir.config.ConfigStore;
import dev.weir.config.ConfigStoreProvider;
import dev.weir.config.StoreAddress;
import dev.weir.config.rows.RowConfigStore;

/**
 * A provider of stores in PostgreSQL 13 or newer: {@code postgresql://USER@HOST:PORT/DATABASE}. If
 * several hosts are given, separated by commas, the primary is used. Public only for the service
 * loader.
 *
 * <p>Options: {@code schema=weir} for the tables, {@code timeout=5s} for a connection and for each
 * answer, {@code sslmode=verify-full} or another of the driver's ({@code prefer}, its default, also
 * connects without TLS), and {@code sslrootcert=FILE} with the certificates to trust.
 *
 * <p>The schema and its tables are created at the first start; a user without the right to create
 * them can use existing ones.
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
