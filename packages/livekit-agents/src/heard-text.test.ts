import assert from "node:assert/strict";
import { test } from "node:test";
import { heardText, type TextPiece } from "./heard-text.ts";

const cases: {
  what: string;
  pieces: TextPiece[];
  soundMs: number;
  isSoundComplete: boolean;
  heard: Record<number, string>;
}[] = [
  {
    what: "what a model wrote in pieces of any length is spread over its sound",
    pieces: [{ text: "On" }, { text: "e tw" }, { text: "o three four." }],
    soundMs: 1_900,
    isSoundComplete: true,
    heard: { 0: "", 390: "One ", 1_000: "One two ", 1_900: "One two three four." },
  },
  {
    what: "while the sound is still being made, people's pace tells",
    pieces: [{ text: "One two three four." }],
    soundMs: 400,
    isSoundComplete: false,
    heard: { 400: "One ", 600: "One two " },
  },
  {
    what: "a voice that times its words is believed",
    pieces: [
      { text: "One ", startMs: 0, endMs: 1_000 },
      { text: "two ", startMs: 1_000, endMs: 1_200 },
      { text: "three.", startMs: 1_200, endMs: 2_000 },
    ],
    soundMs: 2_000,
    isSoundComplete: true,
    heard: { 900: "", 1_000: "One ", 1_300: "One two ", 2_000: "One two three." },
  },
  {
    what: "one that says where its sentences begin is believed in that",
    pieces: [
      { text: "One two. ", startMs: 0 },
      { text: "Three four.", startMs: 3_000 },
    ],
    soundMs: 3_500,
    isSoundComplete: true,
    heard: { 1_000: "", 1_500: "One ", 3_000: "One two. ", 3_300: "One two. Three " },
  },
];

for (const { what, pieces, heard, ...sound } of cases)
  test(what, () => {
    const speech = { text: pieces.map(({ text }) => text).join(""), pieces, ...sound };
    for (const [playedMs, text] of Object.entries(heard))
      assert.equal(heardText(speech, Number(playedMs)), text, `after ${playedMs} ms`);
  });
