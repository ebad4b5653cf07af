package dev.weir.protocol.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.LimitOverride;
import dev.weir.rules.RateLimitUnit;
import dev.weir.rules.Request;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CheckReaderTest {
  private static Request read(String json) throws BadRequest {
    return CheckReader.read(json.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void everyField_isRead() throws BadRequest {
    assertThat(
            read(
                """
                {"permits": 7, "domain": "d", "descriptors": [
                  {"entries": [{"key": "a", "value": "1"}, {"key": "b"}], "permits": 0,
                   "limit": {"unit": "Week", "requests_per_unit": 4294967295}},
                  {"entries": []}]}
                """))
        .isEqualTo(
            new Request(
                "d",
                List.of(
                    new Descriptor(
                        List.of(new Entry("a", "1"), new Entry("b", "")),
                        new LimitOverride(4294967295L, RateLimitUnit.WEEK),
                        0L),
                    new Descriptor(List.of(), null, null)),
                7));
  }

  @Test
  void shortForm_isOneDescriptorInTheOrderOfTheText() throws BadRequest {
    assertThat(read("{\"descriptor\":{\"z\":\"1\",\"a\":\"\u00e9\"},\"domain\":\"d\"}"))
        .isEqualTo(Request.of("d", "z", "1", "a", "\u00e9"));
  }

  @Test
  void zeroPermits_meanZeroForEveryDescriptorThatDoesNotSayOtherwise() throws BadRequest {
    Request request =
        read(
            "{\"domain\":\"d\",\"permits\":0,\"descriptors\":"
                + "[{\"entries\":[]},{\"entries\":[],\"permits\":2}]}");
    assertThat(request.descriptors()).extracting(Descriptor::permits).containsExactly(0L, 2L);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          ``           | body: empty (expected: a JSON object)
          []           | line 1, column 1: body: a list (expected: a JSON object)
          {}           | domain: missing (expected: a string)
          {"domain":7} | line 1, column 11: domain: 7 (expected: a string)
          {} x         | line 1, column 4: Unrecognized token 'x'
          {"domain":"d"} 1 | line 1, column 16: body: 1 (expected: nothing after the object)
          {"domain":"d"} | descriptors: missing (expected: a list, or one descriptor)
          {"domian":1} | line 1, column 11: domian: unknown (expected: one of domain, descriptors, descriptor, permits, charge)
          {"permits":-1} | line 1, column 12: permits: -1 (expected: a whole number, 0..4294967295)
          {"permits":1.5} | line 1, column 12: permits: 1.5 (expected: a whole number, 0..4294967295)
          {"permits":4294967296} | line 1, column 12: permits: 4294967296 (expected: a whole number, 0..4294967295)
          {"permits":99999999999999999999} | line 1, column 12: permits: 99999999999999999999 (expected: a whole number, 0..4294967295)
          {"descriptor":{"a":1}} | line 1, column 20: descriptor.a: 1 (expected: a string)
          {"descriptor":{},"descriptors":[]} | descriptors: again (expected: either descriptors or descriptor)
          {"descriptors":[{}]} | line 1, column 18: descriptors[0].entries: missing (expected: a list of {"key": ..., "value": ...})
          {"descriptors":[{"entries":[{"key":null}]}]} | line 1, column 36: descriptors[0].entries[0].key: null (expected: a string)
          {"descriptors":[{"entries":[{"value":"v"}]}]} | line 1, column 41: descriptors[0].entries[0].key: missing (expected: a string)
          {"descriptors":[{"limit":{"unit":"fortnight"}}]} | line 1, column 34: descriptors[0].limit.unit: fortnight (expected: second, minute, hour, day, week, month or year)
          {"descriptors":[{"limit":{"unit":"day"}}]} | line 1, column 39: descriptors[0].limit.requests_per_unit: missing (expected: both requests_per_unit and unit)
          {"domain":"d","descriptor":{"a":"b"}} x | line 1, column 39: Unrecognized token 'x'
          {"domain":"d","descriptor":{"a":"b"}} 1 | line 1, column 39: body: 1 (expected: nothing after the object)
          {"domain":"d","domain":"e"} | line 1, column 23: Duplicate field 'domain'
          """)
  void whatMakesNoSense_isNamedWithItsPlace(String json, String message) {
    assertThatThrownBy(() -> read(json))
        .isInstanceOf(BadRequest.class)
        .hasMessageStartingWith(message);
  }

  @Test
  void longValuesInErrors_areCut() {
    assertThatThrownBy(() -> read("{\"" + "x".repeat(10_000) + "\":1}"))
        .hasMessageContaining("x".repeat(40) + "...: unknown")
        .message()
        .hasSizeLessThan(200);
  }

  @Test
  void textThatIsNotUtf8_isRefused() {
    byte[] body = {'{', '"', (byte) 0xff, (byte) 0xfe, '"', ':', '1', '}'};
    assertThatThrownBy(() -> CheckReader.read(body)).isInstanceOf(BadRequest.class);
  }
}
