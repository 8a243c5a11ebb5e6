import { samplesIn } from "../audio/frame.ts";
import type { AudioFrame } from "../audio/frame.ts";
import { createSampleHistory } from "./sample-history.ts";
import { createVoiceActivityDetector } from "./voice-activity.ts";
import type { VoiceActivity, VoiceActivityDetector } from "./voice-activity.ts";

/** Finds where the user begins and ends to speak, and cuts out what was said. */
export function createTurnDetector(options: TurnDetectorOptions = {}): TurnDetector {
  const limits = fillOptions(options);
  const history = createSampleHistory();
  let sampleRateHz: number | undefined;
  let ownDetector: VoiceActivityDetector | undefined;
  let state: TurnState = { name: "quiet", speechWindows: 0 };
  let windows = 0;
  let usedUntil = 0; // no sample belongs to two turns

  function detectorFor(frame: AudioFrame): VoiceActivity {
    if (sampleRateHz !== undefined && frame.sampleRateHz !== sampleRateHz) {
      throw new RangeError(`The sample rate changed from ${sampleRateHz} to ${frame.sampleRateHz} Hz`);
    }
    sampleRateHz = frame.sampleRateHz;
    if (options.voiceActivity) return options.voiceActivity;
    ownDetector ??= createVoiceActivityDetector({ sampleRateHz, threshold: options.threshold });
    return ownDetector;
  }

  function process(frame: AudioFrame): TurnEvent[] {
    const detector = detectorFor(frame);
    const inSamples = (ms: number) => samplesIn(ms, frame.sampleRateHz);
    const { windowMs } = detector;
    const startWindows = Math.max(1, Math.round(limits.startMs / windowMs));
    const events: TurnEvent[] = [];

    function whileQuiet(quiet: QuietState, isSpeech: boolean): void {
      const speechWindows = isSpeech ? quiet.speechWindows + 1 : 0;
      if (speechWindows < startWindows) {
        state = { name: "quiet", speechWindows };
        const keptMs = (windows - speechWindows) * windowMs - limits.preRollMs;
        history.dropBefore(inSamples(keptMs));
        return;
      }
      const speechStart = inSamples((windows - speechWindows) * windowMs);
      const audioStart = Math.max(speechStart - inSamples(limits.preRollMs), usedUntil, history.start);
      state = { name: "speaking", audioStart, speechStart, speechEnd: inSamples(windows * windowMs) };
      events.push({ type: "turn-start" });
    }

    function whileSpeaking(turn: SpeakingState, isSpeech: boolean): void {
      const now = inSamples(windows * windowMs);
      if (isSpeech) turn.speechEnd = now;
      const longestEnd = turn.audioStart + inSamples(limits.maxTurnMs);
      if (now >= longestEnd) endTurn(turn, longestEnd, "max-length");
      else if (now - turn.speechEnd >= inSamples(limits.endSilenceMs)) {
        endTurn(turn, Math.min(now, turn.speechEnd + inSamples(TRAILING_SILENCE_MS)), "silence");
      }
    }

    function endTurn(turn: SpeakingState, audioEnd: number, reason: TurnEnd["reason"]): void {
      const speechSamples = Math.min(turn.speechEnd, audioEnd) - turn.speechStart;
      events.push({
        type: "turn-end",
        audio: { samples: history.slice(turn.audioStart, audioEnd), sampleRateHz: frame.sampleRateHz },
        durationMs: (speechSamples * 1000) / frame.sampleRateHz,
        reason,
      });
      usedUntil = audioEnd;
      history.dropBefore(audioEnd);
      state = { name: "quiet", speechWindows: 0 };
    }

    history.push(frame.samples);
    for (const isSpeech of detector.process(frame.samples)) {
      windows++;
      if (state.name === "quiet") whileQuiet(state, isSpeech);
      else whileSpeaking(state, isSpeech);
    }
    return events;
  }

  return { process, free: () => ownDetector?.free() };
}
