package dev.weir.identity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DescriptorTemplateTest {
  private record KeyValue(String key, String value) {}

  private static RequestIdentity identity(TestRequest request) {
    return new RequestIdentity(request, ClientAddress.ofPeer(), SecretHash.plain());
  }

  private static List<KeyValue> entries(String template, TestRequest request) {
    return DescriptorTemplate.parse(template).fill(identity(request), KeyValue::new);
  }

  private static @Nullable String missing(String template, TestRequest request) {
    return DescriptorTemplate.parse(template).missing(identity(request));
  }

  private static String value(String template, TestRequest request) {
    return entries("k=" + template, request).get(0).value();
  }

  private static TestRequest request() {
    TestRequest request = TestRequest.from("2001:db8:1:2::3");
    request.method = "POST";
    request.path = "/users/1";
    request.route = "/users/{id}";
    request.query = "page=2&q=a%20b+c&twice=1&twice=2&empty=&bare&wrong=%zz";
    request.login = "alice";
    return request
        .header("Host", "Shop.Example.:8443")
        .header("X-Api-Key", " k1 ")
        .header("X-Twice", "1", "2")
        .header("X-Empty", "")
        .header("Cookie", "a=1; session=\"s1\"", "b=2; c=; d=1; d=1");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{ip}               | 2001:db8:1:2::/64",
        "{ip/48}            | 2001:db8:1::/48",
        "{ip/24/56}         | 2001:db8:1::/56",
        "{login}            | alice",
        "{path}             | /users/1",
        "{route}            | /users/{id}",
        "{method}           | POST",
        "{host}             | shop.example",
        "{header:x-api-key} | k1",
        "{cookie:session}   | s1",
        "{cookie:b}         | 2",
        "{query:page}       | 2",
        "{query:q}          | a b c",
        "u-{login}/{method} | u-alice/POST",
        "\\{{login}\\}      | {alice}",
      })
  void source_givesItsValue(String template, String value) {
    assertThat(value(template, request())).isEqualTo(value);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{header:X-None}",
        "{header:X-Twice}",
        "{header:X-Empty}",
        "{cookie:none}",
        "{cookie:c}",
        "{cookie:d}",
        "{query:none}",
        "{query:twice}",
        "{query:empty}",
        "{query:bare}",
        "{query:wrong}",
        "{secret:X-None}",
        "{secret:X-Twice}",
        "{secret:cookie:none}",
        "{header:X-None|cookie:none}"
      })
  void missingValue_isNothing_andNamed(String field) {
    String template = "path={path},k=" + field;
    String missing = field.substring(1, field.length() - 1);
    assertThat(entries(template, request()))
        .containsExactly(new KeyValue("path", "/users/1"), new KeyValue("k", ""));
    assertThat(missing(template, request())).isEqualTo(missing);
  }

  @Test
  void alternatives_areTheFirstThatIsThereWithItsName() {
    TestRequest request = request();
    assertThat(value("{login|ip}", request)).isEqualTo("login:alice");
    assertThat(value("{header:X-None|header:X-Api-Key|ip}", request))
        .isEqualTo("header:X-Api-Key:k1");
    request.login = null;
    assertThat(value("{login|ip/48}", request)).isEqualTo("ip/48:2001:db8:1::/48");
    request.login = "203.0.113.7";
    String named = value("{login|ip}", request);
    request.login = null;
    request.peer = "203.0.113.7";
    assertThat(value("{login|ip}", request)).isEqualTo("ip:203.0.113.7").isNotEqualTo(named);
  }

  @Test
  void unknownAddress_isNotMissing() {
    TestRequest request = TestRequest.from(null);
    assertThat(entries("k={ip}", request)).containsExactly(new KeyValue("k", "unknown"));
    assertThat(missing("k={ip}", request)).isNull();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "203.0.113.7",
        "203.0.113.7:80",
        "::ffff:203.0.113.7",
        "64:ff9b::203.0.113.7",
        "0.0.0.0",
        "255.255.255.255",
        "203.0.113.07",
        " 203.0.113.7",
        "2001:DB8::1",
        "fe80::1%eth0",
        "localhost",
        ""
      })
  void ip_isTheKeyOfTheClient(String text) {
    TestRequest peer = TestRequest.from(text);
    TestRequest found = TestRequest.from("198.51.100.1");
    found.finalAddress = text;
    TestRequest socket = TestRequest.from(text);
    socket.unixSocket = true;
    for (ClientAddress address :
        List.of(ClientAddress.ofPeer(), ClientAddress.builder().ipv4Prefix(24).build())) {
      for (TestRequest request : List.of(peer, found, socket)) {
        RequestIdentity identity = new RequestIdentity(request, address, SecretHash.plain());
        assertThat(DescriptorTemplate.parse("k={ip}").fill(identity, KeyValue::new))
            .containsExactly(new KeyValue("k", address.of(request).key()));
      }
    }
  }

  @Test
  void secret_isHashed() {
    TestRequest request = request();
    String hash = value("{secret:X-Api-Key}", request);
    // printf k1 | openssl dgst -sha256 -binary | head -c 16 | basenc --base64url
    assertThat(hash).isEqualTo("arnx6499M4j0-dWG9m6Z_Q");
    assertThat(value("{secret:header:X-Api-Key}", request)).isEqualTo(hash);
    assertThat(value("{secret:cookie:session}", request)).hasSize(22).isNotEqualTo(hash);
    assertThat(value("{secret:query:page}", request)).hasSize(22);
    List<KeyValue> peppered =
        DescriptorTemplate.parse("k={secret:X-Api-Key}")
            .fill(
                new RequestIdentity(
                    request, ClientAddress.ofPeer(), SecretHash.withPepper("0123456789abcdef")),
                KeyValue::new);
    // printf k1 | openssl dgst -sha256 -hmac 0123456789abcdef -binary | head -c 16 | basenc ...
    assertThat(peppered).containsExactly(new KeyValue("k", "QJKP3MOZtL01wjYV0_NfIw"));
    assertThatThrownBy(() -> SecretHash.withPepper("short"))
        .hasMessage("pepper: 5 bytes (expected: at least 16, of random)");
  }

  @Test
  void authorization_isTheSameForAllWaysToWriteIt() {
    String bearer = secret("Bearer t1");
    assertThat(secret("bEARER   t1 ")).isEqualTo(bearer).isNotEqualTo(secret("Bearer T1"));
    String basic = secret("Basic " + base64("alice:one"));
    assertThat(secret("basic  " + base64("alice:two"))).isEqualTo(basic);
    assertThat(secret("Basic " + base64("bob:one"))).isNotEqualTo(basic);
    assertThat(secret("Basic nonsense!")).isEmpty();
    assertThat(secret("Basic " + base64("nobody"))).isEmpty();
    assertThat(secret("t1")).isNotEmpty();
  }

  private static String secret(String authorization) {
    return value(
        "{secret:Authorization}", new TestRequest().header("authorization", authorization));
  }

  private static String base64(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"a\nb", "a\u0000", "a\u007f", "a\u0085", "\u202eevil", "\ud800", "a\u2028"})
  void valueThatCannotBeShown_isHashed(String path) {
    TestRequest request = new TestRequest();
    request.path = path;
    assertThat(value("{path}", request)).matches("sha256:[\\w-]{22}");
  }

  @Test
  void longValue_isHashedAndNotCut() {
    TestRequest request = new TestRequest();
    request.path = "/" + "a".repeat(1_023);
    assertThat(value("{path}", request)).isEqualTo(request.path);
    request.path += "b";
    String hash = value("{path}", request);
    assertThat(hash).matches("sha256:[\\w-]{22}");
    request.path += "c";
    assertThat(value("{path}", request)).matches("sha256:[\\w-]{22}").isNotEqualTo(hash);
    // A client that sends a hash does not get the counter of the value behind it.
    request.path = hash;
    assertThat(value("{path}", request)).matches("sha256:[\\w-]{22}").isNotEqualTo(hash);
    request.path = "/\ud83d\ude00";
    assertThat(value("{path}", request)).isEqualTo(request.path);
  }

  @Test
  void severalTemplates_findTheClientOnce() {
    ClientAddress address =
        ClientAddress.builder().trusted("10.0.0.1").header("X-Forwarded-For").build();
    TestRequest request = TestRequest.from("10.0.0.1").header("X-Forwarded-For", "unknown");
    RequestIdentity identity = new RequestIdentity(request, address, SecretHash.plain());
    DescriptorTemplate.parse("path={path}").fill(identity, KeyValue::new);
    assertThat(request.asked).isEmpty();
    for (String template : List.of("ip={ip}", "net={ip/48}", "user={login|ip}")) {
      DescriptorTemplate.parse(template).fill(identity, KeyValue::new);
    }
    assertThat(request.asked).containsExactly("x-forwarded-for");
    assertThat(address.hiddenCount()).isEqualTo(1);
  }

  @Test
  void sources_areThoseOfAllFields() {
    DescriptorTemplate template = DescriptorTemplate.parse("a={path}-{route},b={login|ip/48}");
    assertThat(template.sources())
        .containsExactly(Source.IP, Source.LOGIN, Source.PATH, Source.ROUTE);
    assertThat(template.uses(Source.LOGIN)).isTrue();
    assertThat(template.uses(Source.HEADER)).isFalse();
    assertThat(DescriptorTemplate.parse("a=b").sources()).isEmpty();
    assertThat(template).hasToString("a={path}-{route},b={login|ip/48}");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "k={iq}            | {ip}, {ip/48}, {login}, ",
        "k={IP}            | {ip}, {ip/48}, {login}, ",
        "k={login:x}       | {ip}, {ip/48}, {login}, ",
        "k={header}        | {header:NAME} in place of \"{header}\"",
        "k={header:}       | {header:NAME} in place of ",
        "k={header:a b}    | {header:NAME} in place of ",
        "k={query:}        | {query:NAME} in place of ",
        "k={secret:}       | {secret:NAME} with the name of a header, ",
        "k={secret:path:x} | {secret:NAME} with the name of a header, ",
        "k={ip/}           | {ip/48} with an IPv6 prefix of 33..128, ",
        "k={ip/24}         | {ip/48} with an IPv6 prefix of 33..128, ",
        "k={ip/129}        | {ip/48} with an IPv6 prefix of 33..128, ",
        "k={ip/33/64}      | {ip/48} with an IPv6 prefix of 33..128, ",
        "k={ip/0/64}       | {ip/48} with an IPv6 prefix of 33..128, ",
        "k={ip/+24/64}     | {ip/48} with an IPv6 prefix of 33..128, ",
        "k={ip/24/48/1}    | {ip/48} with an IPv6 prefix of 33..128, ",
        "k                 | key={column}[,key2={column2}]",
        "k={}              | a name in the braces",
        "k={ip             | a } behind {",
        "k=}               | a { before }, or \\}",
      })
  void wrongTemplate_isRefused(String text, String expected) {
    assertThatThrownBy(() -> DescriptorTemplate.parse(text))
        .isInstanceOf(TemplateException.class)
        .hasMessageStartingWith("descriptor: \"" + text + "\" (expected: " + expected);
  }

  @Test
  void barsAndBraces_canBeEscaped() {
    Template template = Template.parse("{a\\|b\\}|c}\\|");
    assertThat(template.fields())
        .containsExactly(new Template.Field(List.of("a|b}", "c"), "a|b}|c"));
    assertThat(template.literal()).isNull();
    assertThat(Objects.requireNonNull(Template.parse("a\\{b|c").literal())).isEqualTo("a{b|c");
  }

  @Test
  void messages_showNoControlCharacters() {
    assertThatThrownBy(() -> DescriptorTemplate.parse("k\u001b[2J" + "x".repeat(99)))
        .hasMessageStartingWith("descriptor: \"k\\u001b[2Jxxx")
        .hasMessageContaining("x...\" (expected: ");
  }
}
