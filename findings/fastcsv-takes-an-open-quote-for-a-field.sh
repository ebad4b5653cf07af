#!/usr/bin/env bash
# FastCSV 4.1.0 and 4.4.0: a quote that is never closed ends with the input, without an error.
#
# The guess: a reader that is strict by default (records of another length are an error, text behind a quote too)
# refuses a file in which a quoted field does not end (RFC 4180, 2.5).
# Seen: the rest of the file, line breaks and all, becomes the last field of that record, as long as the number of
# fields happens to be right. The records behind the stray quote are gone, and nothing says so.
# Why it matters here: limits of customers are imported from CSV. One stray quote would give one customer a text for a
# number, and leave all others after it out. Jackson's reader (2.22.4) says "Missing closing quote for value".
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

cat >Records.java <<'JAVA'
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.dataformat.csv.CsvMapper;
import com.fasterxml.jackson.dataformat.csv.CsvParser;
import de.siegmar.fastcsv.reader.CsvReader;

public class Records {
  public static void main(String[] none) throws Exception {
    String text = "customer,limit\na,\"10\nb,20\nc,30\n";
    CsvReader.builder()
        .ofCsvRecord(text)
        .forEach(record -> System.out.println(record.getFields().toString().replace("\n", "|")));
    try (MappingIterator<String[]> records =
        new CsvMapper()
            .readerFor(String[].class)
            .with(CsvParser.Feature.WRAP_AS_ARRAY)
            .readValues(text)) {
      while (records.hasNext()) {
        records.next();
      }
      System.out.println("Jackson: no error");
    } catch (RuntimeException e) {
      System.out.println("Jackson: " + String.valueOf(e.getMessage()).lines().findFirst().orElse(""));
    }
  }
}
JAVA

for version in 4.1.0 4.4.0; do
  cat >pom.xml <<XML
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>de.siegmar</groupId><artifactId>fastcsv</artifactId><version>$version</version></dependency>
    <dependency>
      <groupId>com.fasterxml.jackson.dataformat</groupId><artifactId>jackson-dataformat-csv</artifactId>
      <version>2.22.4</version>
    </dependency>
  </dependencies>
</project>
XML
  mvn -q -B dependency:build-classpath -Dmdep.outputFile=path >/dev/null
  mkdir -p "$version"
  javac -cp "$(cat path)" -d "$version" Records.java
  seen=$(java -cp "$version:$(cat path)" Records)
  printf 'FastCSV %s\n%s\n' "$version" "$seen"
  expected=$'[customer, limit]\n[a, 10|b,20|c,30|]\nJackson: Missing closing quote for value'
  [ "$seen" = "$expected" ] || { echo "changed" >&2; exit 1; }
done
