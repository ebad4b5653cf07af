package dev.weir.spring;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.RecordComponent;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Tests that the metadata for editors has the properties of the records. */
class MetadataTest {
  private static final String FILE = "META-INF/spring-configuration-metadata.json";

  /** Returns names with their descriptions. */
  private static Map<String, String> described() throws IOException {
    Map<String, String> properties = new TreeMap<>();
    try (InputStream in = MetadataTest.class.getClassLoader().getResourceAsStream(FILE);
        JsonParser json = new JsonFactory().createParser(in)) {
      String list = "";
      String name = "";
      String description = "";
      int depth = 0;
      for (JsonToken token = json.nextToken(); token != null; token = json.nextToken()) {
        depth += token.isStructStart() ? 1 : token.isStructEnd() ? -1 : 0;
        if (depth == 1 && token == JsonToken.FIELD_NAME) {
          list = json.currentName();
        } else if (depth == 3 && token == JsonToken.VALUE_STRING) {
          name = json.currentName().equals("name") ? json.getText() : name;
          description = json.currentName().equals("description") ? json.getText() : description;
        } else if (depth == 2 && token == JsonToken.END_OBJECT) {
          if (list.equals("properties") && name.startsWith("weir.")) {
            properties.put(name, description);
          }
          name = "";
          description = "";
        }
      }
    }
    return properties;
  }

  private static void collect(String prefix, Class<?> type, Set<String> into) {
    for (RecordComponent component : type.getRecordComponents()) {
      String name =
          prefix + component.getName().replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
      if (component.getType().isRecord()) {
        collect(name + ".", component.getType(), into);
      } else {
        into.add(name);
      }
    }
  }

  @Test
  void metadata_hasEveryPropertyOfTheRecordsWithADescription() throws IOException {
    Set<String> properties = new TreeSet<>();
    collect("weir.", WeirProperties.class, properties);
    assertThat(described().keySet()).containsExactlyElementsOf(properties);
    assertThat(described().values()).allMatch(text -> text.endsWith("."));
  }
}
