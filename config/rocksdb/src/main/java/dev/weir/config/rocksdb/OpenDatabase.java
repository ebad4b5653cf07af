package dev.weir.config.rocksdb;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import dev.weir.config.rows.Rows.Table;
import dev.weir.internal.Choice;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.CompressionType;
import org.rocksdb.DBOptions;
import org.rocksdb.InfoLogLevel;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WALRecoveryMode;
import org.rocksdb.WriteOptions;

/** An open database, with every native object that belongs to it. */
final class OpenDatabase implements AutoCloseable {
  private static final long MIB = 1L << 20;

  /** The size of the write buffers of all tables together, before they are written to files. */
  private static final long WRITE_BUFFER_BYTES = 16 * MIB;

  /**
   * Bits per key for one false answer in a hundred; most subjects have no record, and most look-ups
   * end at the filter.
   */
  private static final double BLOOM_BITS = 10;

  /**
   * The number of cache shards, as a power of two: four. A shard does not keep what is larger than
   * itself, and a filter of a million keys is larger than each of the usual 64: it would be read
   * from the file with every look-up.
   */
  private static final int CACHE_SHARD_BITS = 2;

  private final Deque<AutoCloseable> resources = new ArrayDeque<>();
  private final Map<Table, ColumnFamilyHandle> tables = new EnumMap<>(Table.class);
  private final WriteOptions synced;
  private final WriteOptions unsynced;
  private final RocksDB database;

  private OpenDatabase(Folder folder, RocksSettings settings, boolean create)
      throws IOException, RocksDBException {
    try {
      synced = own(new WriteOptions()).setSync(true);
      unsynced = own(new WriteOptions()).setSync(false);
      DBOptions options = own(options(settings, create));
      ColumnFamilyOptions table = own(tableOptions(settings));
      List<ColumnFamilyDescriptor> descriptors = new ArrayList<>();
      // RocksDB requires a table of this name.
      descriptors.add(new ColumnFamilyDescriptor(RocksDB.DEFAULT_COLUMN_FAMILY, table));
      for (Table each : Table.values()) {
        byte[] name = Choice.name(each).getBytes(UTF_8);
        descriptors.add(new ColumnFamilyDescriptor(name, table));
      }
      Files.createDirectories(folder.database());
      requireKnownTables(folder, descriptors);
      List<ColumnFamilyHandle> handles = new ArrayList<>();
      database = own(RocksDB.open(options, folder.database().toString(), descriptors, handles));
      handles.forEach(this::own);
      Iterator<ColumnFamilyHandle> handle = handles.subList(1, handles.size()).iterator();
      for (Table each : Table.values()) {
        tables.put(each, handle.next());
      }
    } catch (IOException | RocksDBException | RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  /**
   * Opens the database.
   *
   * @param create whether it may be created; otherwise it must exist
   */
  static OpenDatabase open(Folder folder, RocksSettings settings, boolean create)
      throws IOException, RocksDBException {
    return new OpenDatabase(folder, settings, create);
  }

  /** Refuses a database with unknown tables: RocksDB opens all tables or none. */
  private static void requireKnownTables(Folder folder, List<ColumnFamilyDescriptor> descriptors)
      throws RocksDBException {
    if (!folder.hasCurrent()) {
      return;
    }
    Set<String> known = new TreeSet<>();
    descriptors.forEach(each -> known.add(new String(each.getName(), UTF_8)));
    try (Options options = new Options()) {
      for (byte[] each : RocksDB.listColumnFamilies(options, folder.database().toString())) {
        String name = new String(each, UTF_8);
        if (!known.contains(name)) {
          throw new ConfigException(
              Kind.DAMAGED,
              "%s: table %s (expected: only %s; a newer version of Weir made it)"
                  .formatted(folder.database(), name, String.join(", ", known)));
        }
      }
    }
  }

  private <T extends AutoCloseable> T own(T resource) {
    resources.push(resource);
    return resource;
  }

  private static DBOptions options(RocksSettings settings, boolean create) {
    return new DBOptions()
        .setCreateIfMissing(create)
        // A version of Weir with more tables opens databases of an older one.
        .setCreateMissingColumnFamilies(true)
        // RocksDB's default would silently drop acknowledged writes behind damage in the log.
        .setWalRecoveryMode(
            settings.recover()
                ? WALRecoveryMode.PointInTimeRecovery
                : WALRecoveryMode.TolerateCorruptedTailRecords)
        .setParanoidChecks(true)
        // A damaged file is found at opening, not by a later read.
        .setOpenFilesAsync(false)
        .setMaxBackgroundJobs(1)
        .setDbWriteBufferSize(WRITE_BUFFER_BYTES)
        .setInfoLogLevel(InfoLogLevel.WARN_LEVEL)
        .setKeepLogFileNum(2);
  }

  private ColumnFamilyOptions tableOptions(RocksSettings settings) {
    BlockBasedTableConfig blocks =
        new BlockBasedTableConfig()
            .setBlockCache(own(new LRUCache(settings.cacheBytes(), CACHE_SHARD_BITS)))
            .setFilterPolicy(own(new BloomFilter(BLOOM_BITS, false)))
            // Filters and indexes are kept in the cache, so that memory has a bound.
            .setCacheIndexAndFilterBlocks(true)
            .setPinL0FilterAndIndexBlocksInCache(true);
    return new ColumnFamilyOptions()
        .setTableFormatConfig(blocks)
        .setCompressionType(CompressionType.LZ4_COMPRESSION);
  }

  RocksDB database() {
    return database;
  }

  ColumnFamilyHandle table(Table table) {
    ColumnFamilyHandle handle = tables.get(table);
    if (handle == null) {
      throw new IllegalStateException(table + ": not open (expected: opened with the others)");
    }
    return handle;
  }

  WriteOptions synced() {
    return synced;
  }

  WriteOptions unsynced() {
    return unsynced;
  }

  /** Frees everything in reverse order: tables, database, options. */
  @Override
  public void close() {
    while (!resources.isEmpty()) {
      try {
        resources.pop().close();
      } catch (Exception e) {
        throw new IllegalStateException("a native object was not closed", e);
      }
    }
  }
}
