package dev.weir.config.mongo;

import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A server in this process, started once, with a database for each store. */
final class Mongo {
  private static final AtomicInteger DATABASES = new AtomicInteger();
  private static @Nullable String started;

  private Mongo() {}

  static synchronized String host() {
    String running = started;
    if (running == null) {
      running = "127.0.0.1:" + start().getLocalAddress().getPort();
      started = running;
    }
    return running;
  }

  static MongoServer start() {
    MongoServer server = new MongoServer(new MemoryBackend());
    server.bind("127.0.0.1", 0);
    return server;
  }

  /** Returns the address of a new store, with a timeout that is long enough for a busy machine. */
  static String newAddress() {
    return "mongodb://" + host() + "/weir-" + DATABASES.incrementAndGet() + "?timeout=60s";
  }
}
