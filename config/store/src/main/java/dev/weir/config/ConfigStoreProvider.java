package dev.weir.config;

/** Opens stores of one kind. Found by {@link java.util.ServiceLoader}. */
public interface ConfigStoreProvider {
  /** Returns the scheme of its addresses, in lower case: {@code rocksdb}. */
  String scheme();

  /** Returns what its addresses look like, for messages: {@code rocksdb:FOLDER}. */
  String form();

  /**
   * Opens a store.
   *
   * @throws IllegalArgumentException if the address is none of this kind
   * @throws ConfigException if the store cannot be opened
   */
  ConfigStore open(StoreAddress address);
}
