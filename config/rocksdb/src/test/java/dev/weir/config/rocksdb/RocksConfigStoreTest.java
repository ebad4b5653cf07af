package dev.weir.config.rocksdb;

import dev.weir.config.ConfigStore;
import dev.weir.config.ConfigStoreContract;
import dev.weir.config.ConfigStores;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

class RocksConfigStoreTest extends ConfigStoreContract {
  @TempDir Path folder;

  @Override
  public ConfigStore createStore() {
    return ConfigStores.open("rocksdb:" + folder + "?min-free=1MB");
  }
}
