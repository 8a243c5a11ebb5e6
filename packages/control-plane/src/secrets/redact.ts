import { setImmediate as nextTurn } from "node:timers/promises";
import { buildValueFinder, type Span } from "./find-values.ts";

/** Shorter values would redact ordinary words. */
export const REDACTED_FROM_LENGTH = 8;
/** A value cut off at the end of the text is redacted from this length on. */
const FRAGMENT_FROM_LENGTH = 32;
/**
 * Each character costs some three dozen bytes of memory. Older sets may be larger; their URL-encoded forms are left
 * out first.
 */
const SEARCHED_CHARACTERS_MAX = 4 * 1024 * 1024;
/** The build of a large finder pauses after this long, so that calls and starts need not wait. */
const TURN_MS = 10;
const REDACTED = "[redacted]";
const WITHHELD = "[withheld: secret values could not be searched for]";

export type Redactor = (text: string) => string;

/**
 * Returns a function that replaces secret values, also in their JSON and URL-encoded forms, and each line of values
 * with several.
 */
export async function createRedactor(
  values: Iterable<string>,
  leavesOut: (forms: number) => void = () => undefined,
): Promise<Redactor> {
  try {
    const redact = await inTurns(redactorOf([...values], leavesOut));
    return (text) => shownOnlyIf(() => redact(text));
  } catch {
    return withhold;
  }
}

/** Replaces the whole text. */
export const withhold: Redactor = () => WITHHELD;

/** Returns how many characters a redactor of these values searches for. */
export function searchedCharacters(values: Iterable<string>): number {
  return searchedOf(formsOf([...values])).reduce((sum, { length }) => sum + length, 0);
}

/** Returns whether a redactor of these values leaves none out. */
export function redactsWhole(values: Iterable<string>): boolean {
  const forms = formsOf([...values]);
  return searchedOf(forms).length === forms.length;
}

async function inTurns<T>(steps: Generator<void, T>): Promise<T> {
  for (let sinceMs = performance.now(); ;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (performance.now() - sinceMs < TURN_MS) continue;
    await nextTurn();
    sinceMs = performance.now();
  }
}

// An error may quote the value, and errors are logged.
function shownOnlyIf(redact: () => string): string {
  try {
    return redact();
  } catch {
    return WITHHELD;
  }
}

function* redactorOf(values: string[], leavesOut: (forms: number) => void): Generator<void, Redactor> {
  const all = formsOf(values);
  yield;
  const forms = searchedOf(all);
  if (forms.length < all.length) leavesOut(all.length - forms.length);
  if (forms.length === 0) return (text) => text;
  const whole = yield* buildValueFinder(forms);
  const long = forms.filter(({ length }) => length >= FRAGMENT_FROM_LENGTH);
  const backwards = long.length > 0 ? yield* buildValueFinder(long.map(reversed)) : undefined;
  const longest = long.reduce((most, { length }) => Math.max(most, length), 0);
  return (text) => {
    const spans = whole.find(text);
    const ended = backwards?.beginsAtEnd(reversed(text.slice(0, longest))) ?? 0;
    const begun = long.length > 0 ? whole.beginsAtEnd(text.slice(-longest)) : 0;
    if (ended >= FRAGMENT_FROM_LENGTH) spans.push({ from: 0, to: ended });
    if (begun >= FRAGMENT_FROM_LENGTH) spans.push({ from: text.length - begun, to: text.length });
    return spans.length === 0 ? text : blackOut(text, spans);
  };
}

function formsOf(values: string[]): string[] {
  const parts = new Set(values.flatMap((value) => [value, ...value.split(/\r?\n/)]));
  const kept = [...parts].filter(({ length }) => length >= REDACTED_FROM_LENGTH);
  return [...new Set([...kept, ...kept.map(encodeForJson), ...kept.map(encodeForUrl)])];
}

function searchedOf(forms: string[]): string[] {
  let characters = 0;
  return forms.filter(({ length }) => (characters += length) <= SEARCHED_CHARACTERS_MAX);
}

function blackOut(text: string, spans: Span[]): string {
  let shown = "";
  let done = 0;
  for (const { from, to } of spans.sort((left, right) => left.from - right.from)) {
    if (from >= done) shown += text.slice(done, from) + REDACTED;
    done = Math.max(done, to);
  }
  return shown + text.slice(done);
}

function encodeForJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function encodeForUrl(text: string): string {
  // Throws on lone surrogates.
  return encodeURIComponent(text.toWellFormed());
}

// Reverses UTF-16 units, as the finder reads them; a spread would use code points.
function reversed(text: string): string {
  const units = new Uint16Array(text.length);
  for (let at = 0; at < text.length; at += 1) units[at] = text.charCodeAt(text.length - 1 - at);
  return Buffer.from(units.buffer).toString("utf16le");
}
