package dev.weir.config.postgres;

import dev.weir.config.ConfigStore;
import dev.weir.config.ConfigStoreContract;
import dev.weir.config.ConfigStores;

class PostgresConfigStoreTest extends ConfigStoreContract {
  @Override
  public ConfigStore createStore() {
    return ConfigStores.open(Postgres.newAddress());
  }
}
