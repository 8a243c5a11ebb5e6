import type { CarrierName } from "@vocalhost/protocol";
import type { VoiceHistory } from "../voice/voice-history.ts";
import type { BotServer } from "./bot-server.ts";
import type { FilterAddress } from "./filter-remote.ts";
import type { ConnectionReport } from "../events/connection-event.ts";
import type { Link } from "./link.ts";

/** A conversation from its request to its end, over a client transport or a telephone line. */
export interface OpenSession {
  readonly link: Pick<Link, "sample" | "resumePlayback"> & {
    readonly media: Pick<Link["media"], "userMeter" | "botMeter" | "updateMic" | "updateSpeaker">;
  };
  /** Once the session is started. */
  readonly filterAt?: FilterAddress | undefined;
  setMuted(muted: boolean): void;
  /** Ignored on the telephone. */
  sendText(text: string): void;
  /** Only a telephone has keys. */
  press?(key: string): void;
  end(): Promise<void>;
}

/** A call that can be made. */
export interface CallChoice {
  carrier: CarrierName;
  from: string;
  to: string;
}

/** A way to connect that a page can offer. */
export interface TransportChoice {
  name: string;
  label: string;
  hint: string;
  /** Its code is loaded on demand; asking early makes the first connection faster. */
  load(): Promise<(options: OpenSessionOptions) => OpenSession>;
}

export interface OpenSessionOptions {
  server: BotServer;
  useMicrophone: boolean;
  microphoneId: string | undefined;
  speakerId: string | undefined;
  /** Handed to the bot; `undefined` sends none. */
  body: unknown;
  /** For the telephone: through whom, from and to which number. */
  call: CallChoice | undefined;
  history: VoiceHistory;
  report: (report: ConnectionReport & { atMs?: number }) => void;
  onPlaybackBlocked: () => void;
}
