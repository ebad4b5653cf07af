package dev.weir.traffic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FeedTest {
  @TempDir Path folder;

  @Test
  void sortingMoreThanMemoryHolds_isRefused() throws Exception {
    Path file = Files.writeString(folder.resolve("in.csv"), "time,k\n" + "1,a\n".repeat(100));
    Traffic traffic = Traffic.builder(file.toString()).sort(true).build();
    RequestTemplate template = RequestTemplate.of("d", List.of("key={k}"), "1");
    try (Feed feed = Feed.open(traffic, template, InputStream.nullInputStream(), 10_000)) {
      assertThatThrownBy(
              () ->
                  feed.each(
                      (input, line, nanos, request, load) -> {},
                      (input, line, why) -> {},
                      Progress.NONE))
          .isInstanceOf(TrafficException.class)
          .hasMessageStartingWith("sort: more than 34 records (expected: ");
    }
  }

  @Test
  void recordWithoutAnAlternative_isReadAndWithoutARequiredColumnIsNot() throws Exception {
    Path file =
        Files.writeString(
            folder.resolve("in.jsonl"),
            """
            {"time": 1, "login": "alice", "ip": "192.0.2.1"}
            {"time": 2, "ip": "192.0.2.2"}
            {"time": 3, "login": null}
            {"login": "bob", "ip": "192.0.2.3"}
            """);
    Traffic traffic = Traffic.builder(file.toString()).build();
    RequestTemplate template = RequestTemplate.of("d", List.of("key={login|ip}"), "1");
    List<String> keys = new ArrayList<>();
    List<String> unreadable = new ArrayList<>();
    try (Feed feed = Feed.open(traffic, template, InputStream.nullInputStream())) {
      feed.each(
          (input, line, nanos, request, load) ->
              keys.add(request.descriptors().get(0).entries().get(0).value()),
          (input, line, why) -> unreadable.add(line + ": " + why),
          Progress.NONE);
    }
    assertThat(keys).containsExactly("login:alice", "ip:192.0.2.2", "");
    assertThat(unreadable).containsExactly("4: column \"time\": missing");
  }

  @Test
  void alternativeThatIsNoColumn_isRefused() throws Exception {
    Path file = Files.writeString(folder.resolve("in.csv"), "time,ip\n1,192.0.2.1\n");
    Traffic traffic = Traffic.builder(file.toString()).build();
    RequestTemplate template = RequestTemplate.of("d", List.of("key={login|ip}"), "1");
    assertThatThrownBy(() -> Feed.open(traffic, template, InputStream.nullInputStream()))
        .hasMessage("column \"login\": unknown (expected: one of time, ip)");
  }
}
