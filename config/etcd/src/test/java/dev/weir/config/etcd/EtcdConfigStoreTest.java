package dev.weir.config.etcd;

import dev.weir.config.ConfigStore;
import dev.weir.config.ConfigStoreContract;
import dev.weir.config.ConfigStores;

class EtcdConfigStoreTest extends ConfigStoreContract {
  @Override
  public ConfigStore createStore() {
    return ConfigStores.open(Etcd.newAddress());
  }
}
