export {
  createHum,
  createPhrases,
  createScriptedModel,
  hearLoudness,
  lastUserText,
  toolCall,
} from "./services.ts";
export type { Hum, Phrases, ScriptedModel } from "./services.ts";
export { talk } from "./talk.ts";
export type { StandIns, Talk, TalkOptions } from "./talk.ts";
