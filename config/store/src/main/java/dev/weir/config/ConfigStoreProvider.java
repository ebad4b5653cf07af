package dev.weir.config;

/** A provider of stores of one kind. Found by {@link java.util.ServiceLoader}. */
public interface ConfigStoreProvider {
  /** Returns the scheme of its addresses, in lower case: {@code rocksdb}. */
  String scheme();

  /** Returns the form of its addresses, for messages: {@code rocksdb:FOLDER}. */
  String form();

  /**
   * Opens a store.
   *
   * @throws IllegalArgumentException if the address is not of this kind
   * @throws ConfigException if the store cannot be opened
   */
  ConfigStore open(StoreAddress address);
}
