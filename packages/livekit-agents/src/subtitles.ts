import { createSentenceSplitter, type RtviSession, type SpokenSegment } from "vocalhost";

/** Shows the client the bot's text, as it is written and as it is heard. */
export interface Subtitles {
  written(text: string): void;
  writtenToTheEnd(): void;
  /** Reports the first sound of the text. */
  sounds(): void;
  /** Reports that this many characters of the text have been heard. */
  heard(text: string, characters: number): void;
  /** Shows text that is not spoken. */
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
  return new RoomSubtitles(rtvi);
}

class RoomSubtitles implements Subtitles {
  readonly #rtvi: RtviSession;
  #splitter = createSentenceSplitter();
  #sentences: Sentence[] = [];
  #text = "";
  #told = 0;
  #isWriting = false;
  #isSounding = false;

  constructor(rtvi: RtviSession) {
    this.#rtvi = rtvi;
  }

  written(piece: string): void {
    if (!this.#isWriting) this.#rtvi.send("bot-llm-started", undefined);
    this.#isWriting = true;
    this.#text += piece;
    this.#rtvi.send("bot-llm-text", { text: piece });
    this.#add(this.#splitter.push(piece));
  }

  writtenToTheEnd(): void {
    if (!this.#isWriting) return;
    this.#isWriting = false;
    this.#add(this.#splitter.flush());
    this.#rtvi.send("bot-llm-stopped", undefined);
  }

  sounds(): void {
    this.#isSounding = true;
    this.#rtvi.send("bot-tts-started", undefined);
  }

  heard(whole: string, characters: number): void {
    if (!this.#isSounding) return;
    if (characters > this.#told) {
      const piece = whole.slice(this.#told, characters).trim();
      this.#told = characters;
      if (piece !== "") this.#rtvi.send("bot-tts-text", { text: piece });
    }
    for (const sentence of this.#sentences) this.#tell(sentence, characters);
  }

  showSilently(whole: string): void {
    this.#rtvi.botOutput(whole, { spoken: false });
  }

  over({ interrupted }: { interrupted: boolean }): void {
    this.writtenToTheEnd();
    if (this.#isSounding) this.#rtvi.send("bot-tts-stopped", undefined);
    if (interrupted) this.#rtvi.botInterrupted();
    this.#splitter = createSentenceSplitter();
    this.#sentences = [];
    this.#text = "";
    this.#told = 0;
    this.#isSounding = false;
  }

  #add(found: string[]): void {
    for (const sentence of found) {
      const last = this.#sentences.at(-1);
      const from = last ? last.start + last.text.length : 0;
      const start = Math.max(from, this.#text.indexOf(sentence, from));
      this.#sentences.push({ start, text: sentence, shown: undefined, told: 0 });
    }
  }

  #tell(sentence: Sentence, characters: number): void {
    if (characters < sentence.start || (characters === sentence.start && sentence.start > 0)) return;
    sentence.shown ??= this.#rtvi.botOutput(sentence.text);
    const spoken = Math.min(characters - sentence.start, sentence.text.length);
    if (spoken <= sentence.told) return;
    sentence.told = spoken;
    if (spoken === sentence.text.length) sentence.shown.completed();
    else sentence.shown.spokenUpTo(spoken);
  }
}
