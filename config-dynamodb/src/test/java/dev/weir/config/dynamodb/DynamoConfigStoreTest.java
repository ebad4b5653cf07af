package dev.weir.config.dynamodb;

import dev.weir.config.ConfigStore;
import dev.weir.config.ConfigStoreContract;
import dev.weir.config.ConfigStores;

class DynamoConfigStoreTest extends ConfigStoreContract {
  @Override
  protected ConfigStore createStore() {
    return ConfigStores.open(Dynamo.newAddress());
  }
}
