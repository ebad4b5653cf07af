package dev.weir.config.etcd;

import dev.weir.Ticker;
import dev.weir.config.ConfigStore;
import dev.weir.config.ConfigStoreProvider;
import dev.weir.config.StoreAddress;
import dev.weir.config.rows.LoggedRows;
import dev.weir.config.rows.RowConfigStore;

/**
 * A provider of stores in etcd 3.4 or newer: {@code etcd://[USER@]HOST[:PORT]}. If several hosts
 * are given, separated by commas, one that answers is used. Public only for the service loader.
 *
 * <p>Options: {@code prefix=/weir/} for all keys, {@code timeout=5s} for each answer, {@code
 * tls=on}, and {@code cafile=FILE} with the certificates to trust instead of Java's own.
 */
public final class EtcdProvider implements ConfigStoreProvider {
  @Override
  public String scheme() {
    return "etcd";
  }

  @Override
  public String form() {
    return EtcdSettings.FORM;
  }

  @Override
  public ConfigStore open(StoreAddress address) {
    EtcdItems items = new EtcdItems(EtcdSettings.of(address), Ticker.system(), Ticker.wall());
    try {
      return RowConfigStore.open(new LoggedRows(items, Ticker.system()));
    } catch (RuntimeException | Error e) {
      items.close();
      throw e;
    }
  }
}
