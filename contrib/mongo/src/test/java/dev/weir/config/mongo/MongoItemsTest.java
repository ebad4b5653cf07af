package dev.weir.config.mongo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.MongoClientSettings;
import com.mongodb.ReadConcern;
import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandStartedEvent;
import de.bwaldvogel.mongo.MongoServer;
import dev.weir.Ticker;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import dev.weir.config.ConfigStore;
import dev.weir.config.ConfigStores;
import dev.weir.config.StoreAddress;
import dev.weir.config.rows.Items;
import dev.weir.config.rows.Items.State;
import dev.weir.config.rows.Items.Write;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.bson.BsonDocument;
import org.bson.Document;
import org.junit.jupiter.api.Test;

/** The content of the documents, the effect of late writers, and errors. */
class MongoItemsTest {
  private static final byte[] KEY = {0, -1};
  private static final State FIVE = new State(5, "x");
  private static final State SIX = new State(6, "y");

  private static Items items(String address) {
    return MongoItems.open(MongoSettings.of(StoreAddress.parse(address, "")), Ticker.wall());
  }

  private static void assertFails(Kind kind, String message, ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            ConfigException.class, e -> assertThat(e.kind()).as(e.getMessage()).isEqualTo(kind))
        .hasMessageStartingWith("mongodb://")
        .hasMessageContaining(message)
        .hasMessageContaining("(expected: ");
  }

  @Test
  void rowOfAHigherVersion_isLeftByALateWriter() {
    try (Items items = items(Mongo.newAddress())) {
      Write late = new Write("record", KEY, new byte[] {1});
      assertThat(items.transact(SIX, SIX, List.of(new Write("record", KEY, null)))).isTrue();
      assertThat(items.transact(FIVE, FIVE, List.of(late))).isTrue();
      Items.Item mark = items.get("record", List.of(KEY)).get(0);
      assertThat(mark).isNotNull();
      assertThat(mark.value()).isNull();
      assertThat(mark.version()).isEqualTo(6);
      assertThat(items.scan("record", new byte[0], null, 10)).hasSize(1);

      State seven = new State(7, "z");
      assertThat(items.transact(seven, seven, List.of(late))).isTrue();
      assertThat(items.transact(SIX, SIX, List.of(new Write("record", KEY, null)))).isTrue();
      Items.Item row = items.get("record", List.of(KEY)).get(0);
      assertThat(row).isNotNull();
      assertThat(row.value()).containsExactly(1);
    }
  }

  @Test
  void state_isComparedAndSet() {
    try (Items items = items(Mongo.newAddress())) {
      assertThat(items.state()).isEqualTo(State.NONE);
      State one = new State(1, "a");
      assertThat(items.transact(FIVE, SIX, List.of())).isFalse();
      assertThat(items.transact(State.NONE, one, List.of())).isTrue();
      assertThat(items.transact(State.NONE, new State(1, "b"), List.of())).isFalse();
      assertThat(items.transact(new State(1, "b"), SIX, List.of())).isFalse();
      assertThat(items.state()).isEqualTo(one);
      assertThat(items.transact(one, SIX, List.of())).isTrue();
      assertThat(items.state()).isEqualTo(SIX);
    }
  }

  @Test
  void markOfADeletedRow_hasADateFromWhichItGoes() {
    String address = Mongo.newAddress();
    String database = address.replaceFirst(".*/([^?]*).*", "$1");
    try (Items items = items(address);
        MongoClient client = MongoClients.create("mongodb://" + Mongo.host())) {
      MongoCollection<Document> documents =
          client.getDatabase(database).getCollection(MongoItems.COLLECTION);
      assertThat(items.transact(SIX, SIX, List.of(new Write("record", KEY, null)))).isTrue();
      Document mark = documents.find().first();
      assertThat(mark).isNotNull();
      assertThat(mark.getString("_id")).isEqualTo("record/00ff");
      long seconds =
          documents
                      .withDocumentClass(BsonDocument.class)
                      .find()
                      .into(new ArrayList<>())
                      .get(0)
                      .getDateTime("gone")
                      .getValue()
                  / 1_000
              - Ticker.wall().nanos() / 1_000_000_000L;
      assertThat(seconds).isBetween(86_300L, 86_400L);
      State seven = new State(7, "z");
      assertThat(items.transact(seven, seven, List.of(new Write("record", KEY, new byte[0]))))
          .isTrue();
      assertThat(documents.find(new Document("gone", new Document("$exists", true)))).isEmpty();
      documents.insertOne(new Document("_id", "record/zz"));
      assertFails(
          Kind.DAMAGED,
          "a document that is not Weir's",
          () -> items.scan("record", new byte[0], null, 10));
    }
  }

  /**
   * The server of these tests has no TTL index, so the test checks the command that it receives.
   */
  @Test
  void indexThatRemovesMarks_isAskedFor() {
    MongoSettings settings = MongoSettings.of(StoreAddress.parse(Mongo.newAddress(), ""));
    List<String> commands = Collections.synchronizedList(new ArrayList<>());
    MongoClientSettings listening =
        MongoClientSettings.builder(settings.client())
            .addCommandListener(
                new CommandListener() {
                  @Override
                  public void commandStarted(CommandStartedEvent event) {
                    commands.add(event.getCommand().toJson());
                  }
                })
            .build();
    MongoSettings same =
        new MongoSettings(
            listening, settings.database(), settings.shown(), settings.timeoutSeconds());
    try (Items items = MongoItems.open(same, Ticker.wall())) {
      assertThat(items.wallNanos() - Ticker.wall().nanos()).isBetween(-5_000_000_000L, 5_000_000L);
    }
    assertThat(commands.get(0))
        .contains("\"createIndexes\": \"weir\"", "\"key\": {\"gone\": 1}")
        .contains("\"expireAfterSeconds\": 0", "\"sparse\": true")
        .contains("\"w\": \"majority\", \"j\": true");
  }

  /** Opens a store with a timeout of one second, which a busy machine may exceed. */
  private static ConfigStore openHasty(String address) {
    for (int left = 7; ; left--) {
      try {
        return ConfigStores.open(address);
      } catch (ConfigException e) {
        if (left == 0) {
          throw e;
        }
      }
    }
  }

  @Test
  void serverThatIsGoneOrSilent_isUnavailableInTime() throws Exception {
    MongoServer server = Mongo.start();
    String address = "mongodb://127.0.0.1:" + server.getLocalAddress().getPort() + "/w?timeout=1s";
    try (ConfigStore store = openHasty(address)) {
      server.shutdownNow();
      assertFails(Kind.UNAVAILABLE, "", store::head);
    }
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      assertFails(
          Kind.UNAVAILABLE,
          "within 1 s",
          () ->
              ConfigStores.open("mongodb://127.0.0.1:" + silent.getLocalPort() + "/w?timeout=1s"));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void closedStore_isUnavailable() {
    ConfigStore store = ConfigStores.open(Mongo.newAddress());
    store.close();
    assertFails(Kind.UNAVAILABLE, "closed", store::head);
  }

  @Test
  void badAddresses_areRefusedWithoutWhatMayBeAPassword() {
    for (String address :
        List.of(
            "mongodb:",
            "mongodb://host",
            "mongodb://host/",
            "mongodb://user:secret@host/db",
            "mongodb://host/db?timeout=61s",
            "mongodb://host/db?w=1",
            "mongodb://host/db?retryWrites=true",
            "mongodb://host/db?journal=false")) {
      assertThatIllegalArgumentException()
          .as(address)
          .isThrownBy(() -> ConfigStores.open(address))
          .withMessageContaining("(expected: ")
          .satisfies(e -> assertThat(e).hasMessageNotContaining("secret"));
    }
    MongoSettings settings =
        MongoSettings.of(
            StoreAddress.parse("mongodb://u@a:1,b:2/db?replicaSet=rs0&tls=true", "secret"));
    assertThat(settings.toString()).isEqualTo("mongodb://a:1,b:2/db");
    assertThat(settings.client().getWriteConcern())
        .isEqualTo(WriteConcern.MAJORITY.withJournal(true));
    assertThat(settings.client().getReadConcern()).isEqualTo(ReadConcern.MAJORITY);
    assertThat(settings.client().getRetryWrites()).isFalse();
    assertThat(settings.client().getSslSettings().isEnabled()).isTrue();
    assertThat(settings.client().getClusterSettings().getRequiredReplicaSetName()).isEqualTo("rs0");
  }
}
