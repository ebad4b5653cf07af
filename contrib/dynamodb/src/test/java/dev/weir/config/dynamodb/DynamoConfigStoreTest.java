package dev.weir.config.dynamodb;

import dev.weir.config.ConfigStore;
import dev.weir.config.ConfigStoreContract;
import dev.weir.config.ConfigStores;
import org.junit.jupiter.api.Tag;

@Tag("service")
class DynamoConfigStoreTest extends ConfigStoreContract {
  @Override
  public ConfigStore createStore() {
    return ConfigStores.open(Dynamo.newAddress());
  }
}
