import { createSentenceSplitter, type RtviSession, type SpokenSegment } from "vocalhost";

/** Tells the client what is being said, as it is written and as it is heard. */
export interface Subtitles {
  written(text: string): void;
  writtenToTheEnd(): void;
  /** The first sound of it goes out. */
  sounds(): void;
  /** So many characters of the text have been heard. */
  heard(text: string, characters: number): void;
  /** All of it is to be read, not heard. */
  showSilently(text: string): void;
  over(how: { interrupted: boolean }): void;
}

interface Sentence {
  start: number;
  text: string;
  shown: SpokenSegment | undefined;
  told: number;
}

export function createSubtitles(rtvi: RtviSession): Subtitles {
  let splitter = createSentenceSplitter();
  let sentences: Sentence[] = [];
  let text = "";
  let told = 0;
  let isWriting = false;
  let isSounding = false;

  function add(found: string[]): void {
    for (const sentence of found) {
      const last = sentences.at(-1);
      const from = last ? last.start + last.text.length : 0;
      const start = Math.max(from, text.indexOf(sentence, from));
      sentences.push({ start, text: sentence, shown: undefined, told: 0 });
    }
  }

  function endWriting(): void {
    if (!isWriting) return;
    isWriting = false;
    add(splitter.flush());
    rtvi.send("bot-llm-stopped", undefined);
  }

  function tell(sentence: Sentence, characters: number): void {
    if (characters < sentence.start || (characters === sentence.start && sentence.start > 0)) return;
    sentence.shown ??= rtvi.botOutput(sentence.text);
    const spoken = Math.min(characters - sentence.start, sentence.text.length);
    if (spoken <= sentence.told) return;
    sentence.told = spoken;
    if (spoken === sentence.text.length) sentence.shown.completed();
    else sentence.shown.spokenUpTo(spoken);
  }

  return {
    written(piece) {
      if (!isWriting) rtvi.send("bot-llm-started", undefined);
      isWriting = true;
      text += piece;
      rtvi.send("bot-llm-text", { text: piece });
      add(splitter.push(piece));
    },
    writtenToTheEnd: endWriting,
    sounds() {
      isSounding = true;
      rtvi.send("bot-tts-started", undefined);
    },
    heard(whole, characters) {
      if (!isSounding) return;
      if (characters > told) {
        const piece = whole.slice(told, characters).trim();
        told = characters;
        if (piece !== "") rtvi.send("bot-tts-text", { text: piece });
      }
      for (const sentence of sentences) tell(sentence, characters);
    },
    showSilently(whole) {
      rtvi.botOutput(whole, { spoken: false });
    },
    over({ interrupted }) {
      endWriting();
      if (isSounding) rtvi.send("bot-tts-stopped", undefined);
      if (interrupted) rtvi.botInterrupted();
      splitter = createSentenceSplitter();
      sentences = [];
      text = "";
      told = 0;
      isSounding = false;
    },
  };
}
