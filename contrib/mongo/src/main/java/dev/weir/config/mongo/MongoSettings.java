package dev.weir.config.mongo;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoCredential;
import com.mongodb.ReadConcern;
import com.mongodb.ReadPreference;
import com.mongodb.WriteConcern;
import dev.weir.config.StoreAddress;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The settings of a connection to MongoDB.
 *
 * @param client the driver's settings
 * @param database the name of the database
 * @param shown the address without user, password and options
 * @param timeoutSeconds the longest time that a call may take
 */
record MongoSettings(
    MongoClientSettings client, String database, String shown, int timeoutSeconds) {
  static final String FORM = "mongodb://[USER@]HOST[:PORT][,...]/DATABASE[?timeout=5s&OPTIONS]";

  private static final Pattern PLACE =
      Pattern.compile(
          "//(?:(?<user>[^@/:]+)@)?(?<hosts>[^@/\\s]+)/(?<database>[A-Za-z0-9_-]{1,63})");

  private static final Pattern SECONDS = Pattern.compile("([1-9]|[1-5][0-9]|60)s");

  /** Options that would make writes less safe, or that Weir overrides. */
  private static final Set<String> REFUSED =
      Set.of(
          "w",
          "journal",
          "wtimeoutms",
          "readconcernlevel",
          "readpreference",
          "retrywrites",
          "timeoutms",
          "sockettimeoutms",
          "connecttimeoutms",
          "serverselectiontimeoutms");

  static MongoSettings of(StoreAddress address) {
    Matcher place = PLACE.matcher(address.place());
    if (!place.matches()) {
      // The address is not shown: it may hold a password, which belongs elsewhere.
      throw new IllegalArgumentException(
          "configuration store: not an address of MongoDB (expected: "
              + FORM
              + "; the password is given apart)");
    }
    for (String option : address.options().keySet()) {
      if (REFUSED.contains(option.toLowerCase(Locale.ROOT))) {
        throw new IllegalArgumentException(
            option + ": not to be chosen (expected: other options; Weir sets this one)");
      }
    }
    String timeout = address.options().getOrDefault("timeout", "5s");
    Matcher seconds = SECONDS.matcher(timeout);
    if (!seconds.matches()) {
      throw new IllegalArgumentException("timeout: " + timeout + " (expected: 1s..60s)");
    }
    int timeoutSeconds = Integer.parseInt(seconds.group(1));
    String shown = "mongodb://" + place.group("hosts") + "/" + place.group("database");
    return new MongoSettings(
        client(address, place, timeoutSeconds), place.group("database"), shown, timeoutSeconds);
  }

  private static MongoClientSettings client(
      StoreAddress address, Matcher place, int timeoutSeconds) {
    String options =
        address.options().entrySet().stream()
            .filter(each -> !each.getKey().equals("timeout"))
            .map(each -> each.getKey() + "=" + each.getValue())
            .sorted()
            .collect(Collectors.joining("&"));
    ConnectionString string;
    try {
      string =
          new ConnectionString(
              "mongodb://" + place.group("hosts") + "/" + (options.isEmpty() ? "" : "?" + options));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "configuration store: " + e.getMessage() + " (expected: " + FORM + ")", e);
    }
    MongoClientSettings.Builder builder =
        MongoClientSettings.builder()
            .applyConnectionString(string)
            .applicationName("weir")
            .writeConcern(WriteConcern.MAJORITY.withJournal(true))
            .readConcern(ReadConcern.MAJORITY)
            .readPreference(ReadPreference.primary())
            // The driver must not retry: a repeated write gets "already made", and Weir cannot see
            // by whom.
            .retryWrites(false)
            .applyToClusterSettings(
                each -> each.serverSelectionTimeout(timeoutSeconds, TimeUnit.SECONDS))
            .applyToConnectionPoolSettings(
                each -> each.maxSize(4).maxWaitTime(timeoutSeconds, TimeUnit.SECONDS))
            .applyToSocketSettings(
                each ->
                    each.connectTimeout(timeoutSeconds, TimeUnit.SECONDS)
                        .readTimeout(timeoutSeconds, TimeUnit.SECONDS));
    String user = place.group("user");
    if (user != null) {
      String source = address.options().getOrDefault("authSource", "admin");
      builder.credential(
          MongoCredential.createCredential(user, source, address.password().toCharArray()));
    }
    return builder.build();
  }

  /** Returns the address, without the password. */
  @Override
  public String toString() {
    return shown;
  }
}
