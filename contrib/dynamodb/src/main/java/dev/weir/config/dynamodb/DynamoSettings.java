package dev.weir.config.dynamodb;

import dev.weir.config.StoreAddress;
import java.net.URI;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The settings of a connection to DynamoDB.
 *
 * @param table its name
 * @param region empty for the one that the SDK finds
 * @param endpoint empty for Amazon's
 * @param timeoutSeconds the longest time that a call may take
 */
record DynamoSettings(String table, String region, String endpoint, int timeoutSeconds) {
  static final String FORM = "dynamodb:TABLE[?region=REGION&endpoint=URI&timeout=5s]";

  private static final Pattern TABLE = Pattern.compile("[A-Za-z0-9_.-]{3,255}");
  private static final Pattern REGION = Pattern.compile("[a-z0-9-]{0,50}");
  private static final Pattern SECONDS = Pattern.compile("([1-9]|[1-5][0-9]|60)s");

  static DynamoSettings of(StoreAddress address) {
    address.requireOptions(Set.of("region", "endpoint", "timeout"));
    if (!TABLE.matcher(address.place()).matches() || !address.password().isEmpty()) {
      throw new IllegalArgumentException(
          "configuration store: not an address of DynamoDB (expected: "
              + FORM
              + "; credentials are where Amazon's SDK looks for them)");
    }
    String region = address.options().getOrDefault("region", "");
    if (!REGION.matcher(region).matches()) {
      throw new IllegalArgumentException("region: " + region + " (expected: as eu-central-1)");
    }
    String endpoint = address.options().getOrDefault("endpoint", "");
    if (!endpoint.isEmpty() && !isUri(endpoint)) {
      throw new IllegalArgumentException(
          "endpoint: " + endpoint + " (expected: http://HOST:PORT or https://HOST[:PORT])");
    }
    String timeout = address.options().getOrDefault("timeout", "5s");
    Matcher seconds = SECONDS.matcher(timeout);
    if (!seconds.matches()) {
      throw new IllegalArgumentException("timeout: " + timeout + " (expected: 1s..60s)");
    }
    return new DynamoSettings(
        address.place(), region, endpoint, Integer.parseInt(seconds.group(1)));
  }

  private static boolean isUri(String endpoint) {
    try {
      URI uri = URI.create(endpoint);
      return uri.getHost() != null && endpoint.matches("https?://.*");
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  @Override
  public String toString() {
    return "dynamodb:" + table;
  }
}
