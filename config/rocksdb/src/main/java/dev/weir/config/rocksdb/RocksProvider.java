package dev.weir.config.rocksdb;

import dev.weir.Ticker;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import dev.weir.config.ConfigStore;
import dev.weir.config.ConfigStoreProvider;
import dev.weir.config.StoreAddress;
import dev.weir.config.rows.RowConfigStore;
import dev.weir.config.rows.Rows;

/**
 * A provider of stores in a folder: {@code rocksdb:FOLDER}. Public only for the service loader.
 *
 * <p>Options: {@code cache=64MB} for blocks that were read, {@code min-free=256MB} as the free
 * space below which writes are refused, instead of 256 MiB and 5 % of the disk, and {@code
 * recover=true}, which drops the unreadable end of a damaged log.
 */
public final class RocksProvider implements ConfigStoreProvider {
  @Override
  public String scheme() {
    return "rocksdb";
  }

  @Override
  public String form() {
    return RocksSettings.FORM;
  }

  /**
   * Opens only the rows of a folder, without the store that is built on them.
   *
   * @throws IllegalArgumentException if the address is not of this kind
   * @throws ConfigException if they cannot be opened
   */
  public static Rows rows(StoreAddress address) {
    return rows(RocksSettings.of(address));
  }

  private static Rows rows(RocksSettings settings) {
    return RocksRows.open(settings, Ticker.system(), Ticker.wall());
  }

  @Override
  public ConfigStore open(StoreAddress address) {
    RocksSettings settings = RocksSettings.of(address);
    Rows rows = rows(settings);
    try {
      return RowConfigStore.open(rows);
    } catch (ConfigException e) {
      rows.close();
      throw e.kind() == Kind.DAMAGED ? Damage.found(settings.folder(), e) : e;
    } catch (RuntimeException | Error e) {
      rows.close();
      throw e;
    }
  }
}
