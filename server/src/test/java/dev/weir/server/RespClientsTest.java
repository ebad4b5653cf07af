package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.ArrayOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.ProtocolKeyword;
import io.lettuce.core.protocol.ProtocolVersion;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.Transaction;
import redis.clients.jedis.commands.ProtocolCommand;
import redis.clients.jedis.exceptions.JedisDataException;

/** Tests with two unrelated client libraries, in their usual configuration. */
class RespClientsTest {
  private static final String TOKEN = "a token of sixteen or more";

  @TempDir private Path folder;

  private enum Word implements ProtocolCommand {
    CL_THROTTLE("CL.THROTTLE"),
    THROTTLE("THROTTLE"),
    WEIR_CHECK("WEIR.CHECK");

    private final String text;

    Word(String text) {
      this.text = text;
    }

    @Override
    public byte[] getRaw() {
      return text.getBytes(StandardCharsets.US_ASCII);
    }

    ProtocolKeyword keyword() {
      return this::getRaw;
    }
  }

  @ParameterizedTest
  @EnumSource
  void jedis_asksInBothDialectsAndByRules(RedisProtocol protocol) throws Exception {
    try (RunningServer running = RunningServer.start(folder);
        Jedis jedis =
            new Jedis(
                new HostAndPort("127.0.0.1", running.server.respPort()),
                DefaultJedisClientConfig.builder().protocol(protocol).build())) {
      assertThat(jedis.ping()).isEqualTo("PONG");
      assertThat(jedis.sendCommand(Word.CL_THROTTLE, "j", "1", "1", "500"))
          .isEqualTo(List.of(0L, 2L, 1L, -1L, 500L));
      assertThat(jedis.sendCommand(Word.THROTTLE, "k", "1", "1", "500"))
          .isEqualTo(List.of(1L, 1L, 0L, 500L, 0L));
      assertThat(list(jedis.sendCommand(Word.WEIR_CHECK, "test", "1", "user", "jedis")))
          .hasSize(7)
          .startsWith(1L, 3L, 2L);
      assertThatThrownBy(() -> jedis.get("x"))
          .isInstanceOf(JedisDataException.class)
          .hasMessage("ERR unknown command 'GET'");
      assertThat(jedis.del("j", "k")).isEqualTo(2);
      Pipeline pipeline = jedis.pipelined();
      for (int i = 0; i < 1_000; i++) {
        pipeline.sendCommand(Word.CL_THROTTLE, "pipe", "499", "1", "500");
      }
      List<Object> replies = pipeline.syncAndReturnAll();
      assertThat(replies).hasSize(1_000);
      assertThat(replies.stream().filter(reply -> list(reply).get(0).equals(0L))).hasSize(500);
      Transaction transaction = jedis.multi(); // Pipelines of redis-py are transactions by default.
      for (int i = 0; i < 300; i++) {
        transaction.sendCommand(Word.CL_THROTTLE, "multi", "99", "1", "500");
      }
      transaction.sendCommand(Word.WEIR_CHECK, "test", "1", "user", "multi");
      List<Object> whole = transaction.exec();
      assertThat(whole).hasSize(301);
      assertThat(whole.stream().filter(reply -> list(reply).get(0).equals(0L))).hasSize(100);
      assertThat(list(whole.get(300))).startsWith(1L, 3L, 2L);
    }
  }

  @SuppressWarnings("unchecked") // Arrays of the protocol become lists of any elements.
  private static List<Object> list(Object reply) {
    return (List<Object>) reply;
  }

  @ParameterizedTest
  @EnumSource
  void lettuce_asksInBothDialectsAndByRules(ProtocolVersion version) throws Exception {
    try (RunningServer running = RunningServer.start(folder);
        RedisClient client =
            RedisClient.create(RedisURI.create("127.0.0.1", running.server.respPort()))) {
      client.setOptions(ClientOptions.builder().protocolVersion(version).build());
      try (StatefulRedisConnection<String, String> connection = client.connect()) {
        assertThat(connection.sync().ping()).isEqualTo("PONG");
        assertThat(dispatch(connection, Word.CL_THROTTLE, "l", "1", "1", "500"))
            .isEqualTo(List.of(0L, 2L, 1L, -1L, 500L));
        assertThat(dispatch(connection, Word.THROTTLE, "m", "1", "1", "500"))
            .isEqualTo(List.of(1L, 1L, 0L, 500L, 0L));
        assertThat(dispatch(connection, Word.WEIR_CHECK, "test", "1", "user", "lettuce"))
            .hasSize(7)
            .startsWith(1L, 3L, 2L)
            .endsWith("per-user", "WITHIN_LIMIT");
        assertThat(connection.sync().del("l")).isOne();
      }
    }
  }

  private static List<Object> dispatch(
      StatefulRedisConnection<String, String> connection, Word word, String... arguments) {
    CommandArgs<String, String> args = new CommandArgs<>(StringCodec.UTF8);
    for (String argument : arguments) {
      args.add(argument);
    }
    return connection.sync().dispatch(word.keyword(), new ArrayOutput<>(StringCodec.UTF8), args);
  }

  @Test
  void clients_showTheirToken() throws Exception {
    Path tokens = Files.writeString(folder.resolve("tokens"), "# ours\n" + TOKEN + "\n");
    try (RunningServer running = RunningServer.start(folder, "token-file", tokens.toString())) {
      HostAndPort at = new HostAndPort("127.0.0.1", running.server.respPort());
      for (RedisProtocol protocol : RedisProtocol.values()) {
        try (Jedis jedis = new Jedis(at, config(protocol, TOKEN))) {
          assertThat(jedis.sendCommand(Word.CL_THROTTLE, "t" + protocol, "1", "1", "500"))
              .isEqualTo(List.of(0L, 2L, 1L, -1L, 500L));
        }
        assertThatThrownBy(
                () -> {
                  try (Jedis jedis = new Jedis(at, config(protocol, "another of them"))) {
                    jedis.ping();
                  }
                })
            .hasMessageContaining("WRONGPASS");
      }
      RedisURI uri =
          RedisURI.builder()
              .withHost("127.0.0.1")
              .withPort(running.server.respPort())
              .withAuthentication("default", TOKEN.toCharArray())
              .build();
      try (RedisClient client = RedisClient.create(uri);
          StatefulRedisConnection<String, String> connection = client.connect()) {
        assertThat(dispatch(connection, Word.THROTTLE, "u", "1", "1", "500")).startsWith(1L, 1L);
      }
    }
  }

  private static JedisClientConfig config(RedisProtocol protocol, String token) {
    return DefaultJedisClientConfig.builder().protocol(protocol).password(token).build();
  }
}
