import assert from "node:assert/strict";
import { test } from "node:test";
import { ImageError } from "./image-error.ts";
import { formatImageReference, parseImageReference } from "./image-reference.ts";

const DIGEST = `sha256:${"0123456789abcdef".repeat(4)}`;

test("references mean what they mean to engines", () => {
  const whole: Record<string, string> = {
    parrot: "docker.io/library/parrot:latest",
    "parrot:1": "docker.io/library/parrot:1",
    "vocalhost/base:0.2.0": "docker.io/vocalhost/base:0.2.0",
    "index.docker.io/vocalhost/base": "docker.io/vocalhost/base:latest",
    "localhost/a:b": "localhost/a:b",
    "127.0.0.1:5000/team/bots/parrot": "127.0.0.1:5000/team/bots/parrot:latest",
    "[::1]:5000/a:1": "[::1]:5000/a:1",
    "Registry.Example.com/a_b/c__d-e.f:V1": "Registry.Example.com/a_b/c__d-e.f:V1",
    [`registry.example.com/a@${DIGEST}`]: `registry.example.com/a@${DIGEST}`,
    [`registry.example.com/a:1@${DIGEST}`]: `registry.example.com/a:1@${DIGEST}`,
  };
  for (const [text, expected] of Object.entries(whole))
    assert.equal(formatImageReference(parseImageReference(text)), expected);
});

test("what names no image is refused in one sentence", () => {
  for (const text of [
    "",
    "Parrot",
    "a//b",
    "a/../b",
    "a b",
    "a:",
    "a:b c",
    "a@sha256:12",
    `a@${DIGEST}@${DIGEST}`,
    "http://registry.example.com/a",
    "registry.example.com:123456/a",
    "registry.example.com/a?b=c",
    "a".repeat(600),
    "user:password@registry.example.com/a",
  ])
    assert.throws(
      () => parseImageReference(text),
      (error) =>
        error instanceof ImageError && error.code === "REFERENCE_INVALID" && error.message.length < 250,
      text,
    );
});
