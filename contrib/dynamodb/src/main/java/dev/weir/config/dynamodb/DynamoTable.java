package dev.weir.config.dynamodb;

import dev.weir.Ticker;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import dev.weir.config.follow.DateClock;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.AwsResponse;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.retries.DefaultRetryStrategy;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbClientBuilder;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BatchGetItemResponse;
import software.amazon.awssdk.services.dynamodb.model.KeysAndAttributes;
import software.amazon.awssdk.services.dynamodb.model.QueryResponse;
import software.amazon.awssdk.services.dynamodb.model.ResourceNotFoundException;

/** A table of DynamoDB, called within a bounded time. Safe for use by many threads. */
final class DynamoTable implements AutoCloseable {
  /**
   * The most calls for one batch: DynamoDB may answer a part of it only, and then lists the rest,
   * for which it is called again.
   */
  private static final int MAX_ROUNDS = 100;

  private final DynamoSettings settings;
  private final DateClock clock;
  private final DynamoDbClient client;

  private volatile boolean closed;

  private DynamoTable(DynamoSettings settings, Ticker wall) {
    this.settings = settings;
    clock = new DateClock(wall);
    Duration timeout = Duration.ofSeconds(settings.timeoutSeconds());
    DynamoDbClientBuilder builder =
        DynamoDbClient.builder()
            .httpClientBuilder(
                UrlConnectionHttpClient.builder().connectionTimeout(timeout).socketTimeout(timeout))
            // The SDK must not retry: a write that is made twice fails by its condition. Weir
            // retries by itself.
            .overrideConfiguration(
                each ->
                    each.apiCallTimeout(timeout).retryStrategy(DefaultRetryStrategy.doNotRetry()));
    if (!settings.region().isEmpty()) {
      builder.region(Region.of(settings.region()));
    }
    if (!settings.endpoint().isEmpty()) {
      builder.endpointOverride(URI.create(settings.endpoint()));
    }
    try {
      client = builder.build();
    } catch (SdkException e) {
      throw failure(e);
    }
  }

  /** Opens a table, and creates it if it is missing. */
  static DynamoTable open(DynamoSettings settings, Ticker ticker, Ticker wall) {
    DynamoTable table = new DynamoTable(settings, wall);
    try {
      boolean unused =
          table.call(
              () -> {
                Schema.require(table.client, settings, ticker);
                return true;
              });
      return table;
    } catch (RuntimeException | Error e) {
      table.close();
      throw e;
    }
  }

  String name() {
    return settings.table();
  }

  DynamoDbClient client() {
    return client;
  }

  /** Makes a call; throws every failure as the store's own exception. */
  <T> T call(Supplier<T> call) {
    if (closed) {
      throw new ConfigException(Kind.UNAVAILABLE, settings + ": closed (expected: a store in use)");
    }
    try {
      T result = call.get();
      if (result instanceof AwsResponse response) {
        response.sdkHttpResponse().firstMatchingHeader("Date").ifPresent(clock::received);
      }
      return result;
    } catch (SdkException e) {
      throw failure(e);
    }
  }

  private ConfigException failure(SdkException e) {
    String expected =
        e instanceof ResourceNotFoundException
            ? "the table as Weir made it"
            : "DynamoDB that answers within " + settings.timeoutSeconds() + " s, and its rights";
    String message = String.valueOf(e.getMessage()).replaceAll("\\s+", " ");
    String line = message.length() > 200 ? message.substring(0, 200) + "..." : message;
    return new ConfigException(
        Kind.UNAVAILABLE, settings + ": " + line + " (expected: " + expected + ")", e);
  }

  ConfigException damaged(String what) {
    return new ConfigException(
        Kind.DAMAGED, settings + ": " + what + " (expected: as Weir wrote it)");
  }

  /** Returns an item, or an empty map. */
  Map<String, AttributeValue> get(Map<String, AttributeValue> address) {
    return call(() ->
            client.getItem(
                each -> each.tableName(settings.table()).key(address).consistentRead(true)))
        .item();
  }

  /** Returns the items that exist. */
  List<Map<String, AttributeValue>> get(List<Map<String, AttributeValue>> addresses) {
    List<Map<String, AttributeValue>> found = new ArrayList<>();
    List<Map<String, AttributeValue>> rest = addresses;
    for (int round = 0; round < MAX_ROUNDS; round++) {
      KeysAndAttributes keys = KeysAndAttributes.builder().keys(rest).consistentRead(true).build();
      BatchGetItemResponse answer =
          call(
              () -> client.batchGetItem(each -> each.requestItems(Map.of(settings.table(), keys))));
      found.addAll(answer.responses().getOrDefault(settings.table(), List.of()));
      KeysAndAttributes left = answer.unprocessedKeys().get(settings.table());
      if (left == null || left.keys().isEmpty()) {
        return found;
      }
      rest = left.keys();
    }
    throw new ConfigException(
        Kind.UNAVAILABLE, settings + ": throttled (expected: capacity for what is read)");
  }

  void put(Map<String, AttributeValue> item) {
    boolean unused =
        call(() -> client.putItem(each -> each.tableName(settings.table()).item(item)) != null);
  }

  void delete(Map<String, AttributeValue> address) {
    boolean unused =
        call(
            () -> client.deleteItem(each -> each.tableName(settings.table()).key(address)) != null);
  }

  /** The items of a partition, read page by page as they are needed. */
  final class Query {
    private final String partition;
    private final byte[] from;
    private final byte @Nullable [] to;
    private final int pageSize;
    private final Deque<Map<String, AttributeValue>> page = new ArrayDeque<>();
    private Map<String, AttributeValue> after = Map.of();
    private boolean atEnd;

    Query(String partition, byte[] from, byte @Nullable [] to, int pageSize) {
      this.partition = partition;
      this.from = from;
      this.to = to;
      this.pageSize = pageSize;
    }

    @Nullable Map<String, AttributeValue> next() {
      while (page.isEmpty() && !atEnd) {
        read();
      }
      return page.poll();
    }

    private void read() {
      Map<String, AttributeValue> values = new HashMap<>();
      values.put(":p", Layout.text(partition));
      values.put(":from", Layout.bytes(from));
      if (to != null) {
        values.put(":to", Layout.bytes(to));
      }
      QueryResponse answer =
          call(
              () ->
                  client.query(
                      each -> {
                        each.tableName(settings.table())
                            .consistentRead(true)
                            .limit(pageSize)
                            .keyConditionExpression(
                                to == null
                                    ? "p = :p and s >= :from"
                                    : "p = :p and s between :from and :to")
                            .expressionAttributeValues(values);
                        if (!after.isEmpty()) {
                          each.exclusiveStartKey(after);
                        }
                      }));
      page.addAll(answer.items());
      after = answer.lastEvaluatedKey();
      atEnd = after.isEmpty();
    }
  }

  long wallNanos() {
    return clock.nanos();
  }

  @Override
  public void close() {
    closed = true;
    client.close();
  }

  @Override
  public String toString() {
    return settings.toString();
  }
}
