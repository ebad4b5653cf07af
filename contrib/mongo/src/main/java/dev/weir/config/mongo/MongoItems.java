package dev.weir.config.mongo;

import com.mongodb.MongoBulkWriteException;
import com.mongodb.MongoException;
import com.mongodb.MongoSecurityException;
import com.mongodb.MongoServerException;
import com.mongodb.MongoWriteException;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.BulkWriteOptions;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.IndexOptions;
import com.mongodb.client.model.Indexes;
import com.mongodb.client.model.ReplaceOptions;
import com.mongodb.client.model.Sorts;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.UpdateOptions;
import com.mongodb.client.model.Updates;
import com.mongodb.client.model.WriteModel;
import dev.weir.Ticker;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import dev.weir.config.rows.Items;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.bson.BsonDateTime;
import org.bson.BsonDocument;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.bson.types.Binary;
import org.jspecify.annotations.Nullable;

/** Items in MongoDB, all in the collection "weir". */
final class MongoItems implements Items {
  /*
   * A document is {_id: "TABLE/KEY", v: version, d: bytes}, where the key is in hexadecimal digits:
   * MongoDB orders texts by their bytes, but bytes by their length first. A deleted row's mark has
   * no "d" but "gone", a date after which MongoDB's TTL index removes it. The state is {_id:
   * "state", v: version, pending: text}.
   *
   * A row is written by an update of the document with this _id and a lower version, or else by an
   * insert. If the document has the same version or a higher one, the insert fails on the duplicate
   * _id, which means that there is nothing to do. Neither a transaction nor a session is needed, so
   * this also works on a single server and over shards.
   */

  private static final Limits LIMITS = new Limits(500, 8_000_000, 8_000_000, false);

  static final String COLLECTION = "weir";
  private static final String STATE = "state";
  private static final int DUPLICATE_KEY = 11_000;
  private static final int OUT_OF_DISK_SPACE = 14_031;

  private final MongoSettings settings;
  private final Ticker wall;
  private final MongoClient client;
  private final MongoDatabase database;
  private final MongoCollection<Document> collection;

  private MongoItems(MongoSettings settings, Ticker wall) {
    this.settings = settings;
    this.wall = wall;
    client = MongoClients.create(settings.client());
    database = client.getDatabase(settings.database());
    collection = database.getCollection(COLLECTION);
  }

  /** Opens a database, and creates the index that removes marks of deleted rows. */
  static MongoItems open(MongoSettings settings, Ticker wall) {
    MongoItems items = new MongoItems(settings, wall);
    try {
      String unused =
          items.call(
              () ->
                  items.collection.createIndex(
                      Indexes.ascending("gone"),
                      new IndexOptions().sparse(true).expireAfter(0L, TimeUnit.SECONDS)));
      return items;
    } catch (RuntimeException | Error e) {
      items.close();
      throw e;
    }
  }

  private <T> T call(Supplier<T> call) {
    try {
      return call.get();
    } catch (MongoException e) {
      throw failure(e);
    } catch (IllegalStateException e) {
      throw new ConfigException(
          Kind.UNAVAILABLE, settings + ": closed (expected: a store in use)", e);
    }
  }

  private ConfigException failure(MongoException e) {
    Kind kind = e.getCode() == OUT_OF_DISK_SPACE ? Kind.FULL : Kind.UNAVAILABLE;
    String expected = "MongoDB that answers within " + settings.timeoutSeconds() + " s";
    if (e instanceof MongoSecurityException || e.getCode() == 13 || e.getCode() == 18) {
      expected = "a user and password that MongoDB accepts, who may read and write the database";
    } else if (kind == Kind.FULL) {
      expected = "room on its disk";
    } else if (e instanceof MongoServerException) {
      expected = "MongoDB 4.2 or newer";
    }
    String message = String.valueOf(e.getMessage()).replaceAll("\\s+", " ");
    String line = message.length() > 200 ? message.substring(0, 200) + "..." : message;
    return new ConfigException(kind, settings + ": " + line + " (expected: " + expected + ")", e);
  }

  private static String id(String table, byte[] key) {
    return table + "/" + HexFormat.of().formatHex(key);
  }

  private Item item(Document document) {
    try {
      String id = document.getString("_id");
      Binary data = document.get("d", Binary.class);
      return new Item(
          HexFormat.of().parseHex(id.substring(id.indexOf('/') + 1)),
          data == null ? null : data.getData(),
          document.getLong("v"));
    } catch (ClassCastException | IllegalArgumentException | NullPointerException e) {
      throw damaged("a document", e);
    }
  }

  private ConfigException damaged(String what, RuntimeException cause) {
    return new ConfigException(
        Kind.DAMAGED,
        settings + ": " + what + " that is not Weir's (expected: as Weir wrote it)",
        cause);
  }

  @Override
  public Limits limits() {
    return LIMITS;
  }

  @Override
  public State state() {
    Document found = first(Filters.eq("_id", STATE));
    if (found == null) {
      return State.NONE;
    }
    try {
      return new State(found.getLong("v"), found.getString("pending"));
    } catch (ClassCastException | NullPointerException e) {
      throw damaged("a state", e);
    }
  }

  private @Nullable Document first(Bson filter) {
    List<Document> found = call(() -> collection.find(filter).limit(1).into(new ArrayList<>()));
    return found.isEmpty() ? null : found.get(0);
  }

  @Override
  public boolean transact(State expected, State next, List<Write> writes) {
    if (writes.isEmpty()) {
      return expected.equals(State.NONE) ? begin(next) : swap(expected, next);
    }
    List<WriteModel<Document>> models = new ArrayList<>();
    for (Write write : writes) {
      models.add(model(write, next.version()));
    }
    return call(() -> write(models));
  }

  private boolean begin(State next) {
    Document state =
        new Document("_id", STATE).append("v", next.version()).append("pending", next.pending());
    return call(
        () -> {
          try {
            return collection.insertOne(state).wasAcknowledged();
          } catch (MongoWriteException e) {
            if (e.getError().getCode() == DUPLICATE_KEY) {
              return false;
            }
            throw e;
          }
        });
  }

  private boolean swap(State expected, State next) {
    Bson same =
        Filters.and(
            Filters.eq("_id", STATE),
            Filters.eq("v", expected.version()),
            Filters.eq("pending", expected.pending()));
    Bson set =
        Updates.combine(Updates.set("v", next.version()), Updates.set("pending", next.pending()));
    return call(() -> collection.updateOne(same, set).getMatchedCount() == 1);
  }

  private WriteModel<Document> model(Write write, long version) {
    byte[] value = write.value();
    Bson content =
        value == null
            ? Updates.combine(
                Updates.unset("d"),
                Updates.set(
                    "gone", new BsonDateTime(wall.nanos() / 1_000_000 + 1_000 * TOMBSTONE_SECONDS)))
            : Updates.combine(Updates.unset("gone"), Updates.set("d", new Binary(value)));
    Bson older =
        Filters.and(Filters.eq("_id", id(write.table(), write.key())), Filters.lt("v", version));
    return new UpdateOneModel<>(
        older,
        Updates.combine(Updates.set("v", version), content),
        new UpdateOptions().upsert(true));
  }

  private boolean write(List<WriteModel<Document>> models) {
    try {
      return collection.bulkWrite(models, new BulkWriteOptions().ordered(false)).wasAcknowledged();
    } catch (MongoBulkWriteException e) {
      if (e.getWriteConcernError() == null
          && e.getWriteErrors().stream().allMatch(each -> each.getCode() == DUPLICATE_KEY)) {
        return true; // The stored version is as new, or newer.
      }
      throw e;
    }
  }

  @Override
  public List<@Nullable Item> get(String table, List<byte[]> keys) {
    List<String> ids = keys.stream().map(key -> id(table, key)).toList();
    Map<String, Item> found = new HashMap<>();
    for (Document document :
        call(() -> collection.find(Filters.in("_id", ids)).into(new ArrayList<>()))) {
      found.put(document.getString("_id"), item(document));
    }
    List<@Nullable Item> items = new ArrayList<>(keys.size());
    ids.forEach(id -> items.add(found.get(id)));
    return items;
  }

  @Override
  public List<Item> scan(String table, byte[] from, byte @Nullable [] to, int limit) {
    // "0" is the character after the slash, so this is behind every id of the table.
    String end = to == null ? table + "0" : id(table, to);
    Bson range = Filters.and(Filters.gte("_id", id(table, from)), Filters.lt("_id", end));
    List<Item> items = new ArrayList<>();
    for (Document document :
        call(
            () ->
                collection
                    .find(range)
                    .sort(Sorts.ascending("_id"))
                    .limit(limit)
                    .into(new ArrayList<>()))) {
      items.add(item(document));
    }
    return items;
  }

  @Override
  public void put(String table, byte[] key, byte[] value, long version) {
    String id = id(table, key);
    Document document = new Document("_id", id).append("v", version).append("d", new Binary(value));
    boolean unused =
        call(
            () ->
                collection
                    .replaceOne(Filters.eq("_id", id), document, new ReplaceOptions().upsert(true))
                    .wasAcknowledged());
  }

  @Override
  public void delete(String table, byte[] key) {
    boolean unused =
        call(() -> collection.deleteOne(Filters.eq("_id", id(table, key))).wasAcknowledged());
  }

  @Override
  public long wallNanos() {
    // "hello" is the command's newer name, which MongoDB 4.2 lacks.
    BsonDocument hello =
        call(() -> database.runCommand(new Document("isMaster", 1), BsonDocument.class));
    return hello.isDateTime("localTime")
        ? hello.getDateTime("localTime").getValue() * 1_000_000
        : wall.nanos();
  }

  @Override
  public void close() {
    client.close();
  }

  @Override
  public String toString() {
    return settings.toString();
  }
}
