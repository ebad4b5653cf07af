package dev.weir.cli.imports;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.rules.Rules;

/** The import of texts, each of whose results is read as a rule file. */
final class Imports {
  private Imports() {}

  static ImportedRules nginx(String text) {
    ImportedRules rules = new ImportedRules("nginx", "nginx.conf");
    NginxLimits.add(NginxReader.read("nginx.conf", text), rules);
    return checked(rules);
  }

  static ImportedRules haproxy(String text) {
    ImportedRules rules = new ImportedRules("HAProxy", "haproxy.cfg");
    HaproxyLimits.add(HaproxySection.read("haproxy.cfg", text), rules);
    return checked(rules);
  }

  static ImportedRules spring(String file, String text) {
    ImportedRules rules = new ImportedRules("Spring", file);
    SpringLimits.add(ConfigProperties.parse(file, text), rules);
    return checked(rules);
  }

  static ImportedRules envoy(String text) {
    ImportedRules rules = new ImportedRules("Envoy", "envoy.yaml");
    EnvoyLimits.add(ConfigProperties.parse("envoy.yaml", text), rules);
    return checked(rules);
  }

  static ImportedRules traefik(String text) {
    ImportedRules rules = new ImportedRules("Traefik", "traefik.yaml");
    TraefikLimits.add(ConfigProperties.parse("traefik.yaml", text), rules);
    return checked(rules);
  }

  static ImportedRules kong(String text) {
    ImportedRules rules = new ImportedRules("Kong", "kong.yaml");
    KongLimits.add(ConfigProperties.parse("kong.yaml", text), rules);
    return checked(rules);
  }

  static ImportedRules apisix(String text) {
    ImportedRules rules = new ImportedRules("APISIX", "apisix.yaml");
    ApisixLimits.add(ConfigProperties.parse("apisix.yaml", text), rules);
    return checked(rules);
  }

  /** Returns the rules, whose text has neither errors nor warnings. */
  private static ImportedRules checked(ImportedRules rules) {
    String text = rules.text("imported");
    if (rules.size() > 0) {
      assertThat(Rules.parse("imported.yaml", text).problems()).as(text).isEmpty();
    }
    return rules;
  }

  /** Returns the text without comments. */
  static String bare(ImportedRules rules) {
    return rules.text("imported").replaceAll("(?m)^ *#.*\n", "");
  }
}
