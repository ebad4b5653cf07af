package dev.weir.config.mongo;

import dev.weir.config.ConfigStore;
import dev.weir.config.ConfigStoreContract;
import dev.weir.config.ConfigStores;
import org.junit.jupiter.api.Tag;

@Tag("matrix")
class MongoConfigStoreTest extends ConfigStoreContract {
  @Override
  public ConfigStore createStore() {
    return ConfigStores.open(Mongo.newAddress());
  }
}
