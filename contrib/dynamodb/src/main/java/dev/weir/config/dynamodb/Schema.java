package dev.weir.config.dynamodb;

import dev.weir.Ticker;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.ResourceInUseException;
import software.amazon.awssdk.services.dynamodb.model.ResourceNotFoundException;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;
import software.amazon.awssdk.services.dynamodb.model.TableStatus;

/** Creates the table if it is missing. */
final class Schema {
  private static final long MAX_NANOS = 120_000_000_000L;
  private static final long PAUSE_NANOS = 500_000_000L;

  private Schema() {}

  static void require(DynamoDbClient client, DynamoSettings settings, Ticker ticker) {
    String table = settings.table();
    boolean made = false;
    long since = ticker.nanos();
    while (true) {
      try {
        if (client.describeTable(each -> each.tableName(table)).table().tableStatus()
            == TableStatus.ACTIVE) {
          break;
        }
      } catch (ResourceNotFoundException e) {
        make(client, table);
        made = true;
      }
      if (ticker.nanos() - since > MAX_NANOS) {
        throw new ConfigException(
            Kind.UNAVAILABLE, settings + ": not made within 2 minutes (expected: a table in use)");
      }
      pause(settings, ticker);
    }
    if (made) {
      Object unused =
          client.updateTimeToLive(
              each ->
                  each.tableName(table)
                      .timeToLiveSpecification(
                          ttl -> ttl.enabled(true).attributeName(Layout.GONE)));
    }
  }

  private static void make(DynamoDbClient client, String table) {
    try {
      Object unused =
          client.createTable(
              each ->
                  each.tableName(table)
                      .billingMode(BillingMode.PAY_PER_REQUEST)
                      .attributeDefinitions(
                          attribute(Layout.PARTITION, ScalarAttributeType.S),
                          attribute(Layout.SORT, ScalarAttributeType.B))
                      .keySchema(
                          key(Layout.PARTITION, KeyType.HASH), key(Layout.SORT, KeyType.RANGE)));
    } catch (ResourceInUseException e) {
      return; // Another process is creating it.
    }
  }

  private static AttributeDefinition attribute(String name, ScalarAttributeType type) {
    return AttributeDefinition.builder().attributeName(name).attributeType(type).build();
  }

  private static KeySchemaElement key(String name, KeyType type) {
    return KeySchemaElement.builder().attributeName(name).keyType(type).build();
  }

  private static void pause(DynamoSettings settings, Ticker ticker) {
    try {
      ticker.sleep(PAUSE_NANOS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ConfigException(
          Kind.UNAVAILABLE, settings + ": interrupted (expected: time to wait)", e);
    }
  }
}
