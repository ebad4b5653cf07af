package dev.weir.cli.imports;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The key of a zone as a template of Weir's middleware, and what is to be said of it.
 *
 * @param template the value of the descriptor; empty if a variable is not known
 * @param missing the variables that have no field, each with its place if the configuration makes
 *     it
 * @param chosen true if clients choose a part of it
 */
record NginxKey(String template, List<String> missing, boolean chosen) {
  private static final Pattern VARIABLE = Pattern.compile("\\$(\\w+)");

  private static final Map<String, String> FIELDS =
      Map.of(
          "binary_remote_addr", "{ip}",
          "remote_addr", "{ip}",
          "uri", "{path}",
          "document_uri", "{path}",
          "request_method", "{method}",
          "remote_user", "{login}");

  /** Directives that make a variable, and the place of its name in their arguments. */
  private static final Map<String, Integer> MAKERS =
      Map.of("map", 1, "geo", -1, "set", 0, "split_clients", 1, "perl_set", 0, "js_set", 0);

  /** Returns the key of a zone. */
  static NginxKey of(String text, NginxDirective http) {
    StringBuilder template = new StringBuilder();
    List<String> missing = new ArrayList<>();
    boolean chosen = false;
    Map<String, SourcePlace> made = made(http);
    Matcher variable = VARIABLE.matcher(text);
    int from = 0;
    while (variable.find()) {
      template.append(literal(text.substring(from, variable.start())));
      String name = variable.group(1);
      String field = field(name);
      SourcePlace place = made.get(name);
      if (place != null) {
        missing.add("$" + name + ", which " + place + " makes");
      } else if (field.isEmpty()) {
        missing.add(
            name.equals("server_name") ? "$server_name, the server's first name" : "$" + name);
      }
      chosen |= !field.isEmpty() && !FIELDS.containsKey(name);
      template.append(field);
      from = variable.end();
    }
    template.append(literal(text.substring(from)));
    return new NginxKey(missing.isEmpty() ? template.toString() : "", missing, chosen);
  }

  private static String literal(String text) {
    return text.replaceAll("[{}|,=\\\\]", "\\\\$0");
  }

  /** Returns the field of a variable; empty if there is none. */
  private static String field(String name) {
    String known = FIELDS.get(name);
    if (known != null) {
      return known;
    }
    if (name.equals("host") || name.equals("http_host")) {
      return "{host}";
    }
    if (name.startsWith("http_")) {
      return "{header:" + name.substring(5).replace('_', '-').toLowerCase(Locale.ROOT) + "}";
    }
    if (name.startsWith("arg_")) {
      return "{query:" + name.substring(4) + "}";
    }
    return name.startsWith("cookie_") ? "{cookie:" + name.substring(7) + "}" : "";
  }

  private static Map<String, SourcePlace> made(NginxDirective block) {
    Map<String, SourcePlace> made = new HashMap<>();
    for (NginxDirective each : block.block()) {
      Integer at = MAKERS.get(each.name());
      List<String> arguments = each.arguments();
      int index = at == null ? -1 : at < 0 ? arguments.size() - 1 : at;
      if (index >= 0 && index < arguments.size() && arguments.get(index).startsWith("$")) {
        made.put(arguments.get(index).substring(1), each.place());
      }
      made.putAll(made(each));
    }
    return made;
  }
}
