package dev.weir;

/** What a policy answers when its store cannot know. */
public enum FailureAnswer {
  DENY,
  ALLOW
}
