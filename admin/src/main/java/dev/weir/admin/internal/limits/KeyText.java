package dev.weir.admin.internal.limits;

import dev.weir.admin.ShowKeys;
import dev.weir.admin.internal.access.InstallationSecret;
import dev.weir.insight.KeyName;
import dev.weir.replay.Masking;
import dev.weir.rules.Entry;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The text of keys in answers. Safe for use by many threads. */
public final class KeyText {
  private final InstallationSecret secret;
  private final ShowKeys show;
  private volatile @Nullable Masking masking;

  public KeyText(InstallationSecret secret, ShowKeys show) {
    this.secret = secret;
    this.show = show;
  }

  public ShowKeys show() {
    return show;
  }

  private Masking masking() {
    Masking known = masking;
    if (known == null) {
      known = new Masking(secret.get());
      masking = known;
    }
    return known;
  }

  /**
   * Returns the reference of a key, which is the same on every server of the installation: 16
   * hexadecimal digits.
   */
  public String ref(KeyName key) {
    StringBuilder text = new StringBuilder(key.rule()).append('\n').append(key.policy());
    for (Entry entry : key.entries()) {
      text.append('\n').append(entry.key().length()).append('=').append(entry.key());
      text.append(entry.value());
    }
    return masking().hashed(text.toString());
  }

  /** Adds the members that identify the key. */
  public void put(Map<String, Object> members, KeyName key) {
    members.put("rule", key.rule());
    members.put("policy", key.policy());
    put(members, key, show);
    members.put("ref", ref(key));
  }

  /** Adds the members that contain the key's values in full. */
  public void putPlain(Map<String, Object> members, KeyName key) {
    members.put("rule", key.rule());
    members.put("policy", key.policy());
    put(members, key, ShowKeys.PLAIN);
    members.put("ref", ref(key));
  }

  private void put(Map<String, Object> members, KeyName key, ShowKeys how) {
    List<Map<String, Object>> entries = new ArrayList<>();
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < key.entries().size(); i++) {
      Entry entry = key.entries().get(i);
      String value = key.named().get(i) ? entry.value() : asShown(entry.value(), how);
      Map<String, Object> shown = new LinkedHashMap<>();
      shown.put("key", entry.key());
      shown.put("value", value);
      entries.add(shown);
      text.append(i == 0 ? "" : ",").append(entry.key()).append('=').append(value);
    }
    members.put("entries", entries);
    members.put("text", text.toString());
  }

  /** Returns the text of a key in the form in which it is shown. */
  public String text(KeyName key) {
    Map<String, Object> members = new LinkedHashMap<>();
    put(members, key, show);
    return String.valueOf(members.get("text"));
  }

  private String asShown(String value, ShowKeys how) {
    return switch (how) {
      case MASKED -> masking().masked(value);
      case HASHED -> "#" + masking().hashed(value);
      case PLAIN -> value;
    };
  }
}
