import { dtmfTones } from "@vocalhost/audio";
import {
  accountVariables,
  carriers,
  restOf,
  type Answerer,
  type CallData,
  type CarrierAccounts,
  type CarrierName,
  type CarrierStream,
  type Rest,
  type RestRequest,
} from "@vocalhost/carriers";
import { AppError, askCarrier, Callee, refusalOf } from "@vocalhost/protocol";
import { setTimeout as pause } from "node:timers/promises";
import type { Log } from "../log.ts";
import { hangUp } from "./hang-up.ts";
import type { AudioOutput } from "./transport.ts";

/** Controls of a phone call: transfer it, hang up, press keys. */
export interface PhoneCall {
  readonly carrier: CarrierName;
  /** The carrier's identifier of the call. */
  readonly callId: string;
  /** Whether a person or a machine answered a call that we placed; undefined unless detection was requested. */
  readonly answeredBy: Answerer | undefined;
  /**
   * Connects the caller with another number, such as `+15550100200`, or a SIP address. Resolves when the carrier
   * has taken over; the session then ends as `transferred`.
   * Say your last words and await `drained()` before. Throws when the carrier refuses; the call then continues
   * with the bot.
   */
  transfer(to: string, options?: TransferOptions): Promise<void>;
  /** Ends the call at once, and the session as `hung-up`. */
  hangUp(): Promise<void>;
  /**
   * Presses keys, for a menu at the other end: `0` to `9`, `*`, `#`, `A` to `D`, and `w` for half a second's
   * pause. Resolves when the carrier has them, or when their tones were played.
   */
  sendDtmf(keys: string): Promise<void>;
}

export interface TransferOptions {
  /** Number shown to the callee: one of your own. @default the carrier's choice */
  callerId?: string;
}

export interface PhoneCallOptions {
  stream: CarrierStream;
  accounts(): CarrierAccounts;
  /** Base URL where the carrier can ask what to do with the call; undefined where no carrier can reach us. */
  callbackUrl: string | undefined;
  audioOut: AudioOutput;
  log: Log;
  signal: AbortSignal;
  sendText(text: string): void;
  /** Called when the carrier is asked to take over the call; with undefined when it refused. */
  leaving(reason: "transferred" | "hung-up" | undefined): void;
  /** Called when the call has left the bot. */
  over(reason: "transferred" | "hung-up"): void;
}

const KEYS = /^[0-9*#A-Dw]{1,64}$/;
const PAUSE_MS = 500;

export function createPhoneCall(options: PhoneCallOptions): PhoneCall {
  return new CarrierCall(options);
}

class CarrierCall implements PhoneCall {
  readonly #options: PhoneCallOptions;
  readonly #carrier: CarrierName;
  readonly #callData: CallData;
  readonly #record: (typeof carriers)[CarrierName];
  readonly #asksAboutTransfers: boolean;
  readonly carrier: CarrierName;
  readonly callId: string;
  readonly answeredBy: Answerer | undefined;

  constructor(options: PhoneCallOptions) {
    this.#options = options;
    this.#carrier = options.stream.carrier;
    this.#callData = options.stream.callData;
    this.#record = carriers[this.#carrier];
    this.#asksAboutTransfers = carriers[this.#carrier].transferXml !== undefined;
    this.carrier = options.stream.carrier;
    this.callId = this.#callData.callId;
    this.answeredBy = this.#callData.answeredBy;
  }

  readonly transfer: PhoneCall["transfer"] = async (to, { callerId } = {}) => {
    this.#options.signal.throwIfAborted();
    const callee = Callee.safeParse(to);
    if (!callee.success) throw new RangeError(`to ${callee.error.issues[0]?.message}, got "${to}"`);
    if (typeof this.#record.transfer === "string")
      throw new AppError("CARRIER_REFUSED", { message: `${this.#record.title} ${this.#record.transfer}` });
    const what = "the transfer";
    const { callbackUrl } = this.#options;
    const account = this.#rest(what);
    if (this.#asksAboutTransfers && callbackUrl === undefined)
      throw new AppError("CARRIER_REFUSED", {
        message: `${this.#record.title} needs a public URL of this runner to transfer calls: start it with --proxy`,
      });
    const order = { to: callee.data, callerId, callbackUrl: callbackUrl ?? "" };
    this.#options.leaving("transferred");
    try {
      await this.#ask(this.#record.transfer.request(account, this.#callData.callId, order), what);
    } catch (error) {
      this.#options.leaving(undefined);
      throw error;
    }
    this.#options.log.info({ carrier: this.#carrier }, "call transferred");
    this.#options.over("transferred");
  };

  readonly hangUp: PhoneCall["hangUp"] = async () => {
    if (this.#options.signal.aborted) return;
    this.#options.leaving("hung-up");
    await hangUp(this.#options.stream, this.#options.accounts(), this.#options.log);
    this.#options.over("hung-up");
  };

  readonly sendDtmf: PhoneCall["sendDtmf"] = async (keys) => {
    this.#options.signal.throwIfAborted();
    if (!KEYS.test(keys))
      throw new RangeError(`keys must be some of 0 to 9, *, #, A to D and w, got "${keys}"`);
    if (this.#record.keys?.over === "rest")
      return this.#ask(
        this.#record.keys.request(this.#rest("the keys"), this.#callData.callId, keys),
        "the keys",
      );
    if (this.#record.keys?.over === "socket") {
      for (const [index, part] of keys.split("w").entries()) {
        if (index > 0) await pause(PAUSE_MS, undefined, { signal: this.#options.signal });
        if (part) this.#options.sendText(this.#record.keys.message(part));
      }
      return undefined;
    }
    const { sampleRateHz } = this.#options.audioOut;
    this.#options.audioOut.write({ samples: dtmfTones(keys, { sampleRateHz }), sampleRateHz });
    await this.#options.audioOut.drained({ signal: this.#options.signal });
    return undefined;
  };

  #rest(what: string): Rest {
    const found = restOf(this.#options.accounts(), this.#carrier);
    if (found) return found;
    const variables = accountVariables(this.#carrier, "calls").join(" and ");
    throw new AppError("CARRIER_NOT_CONFIGURED", {
      message: `${this.#record.title} cannot be asked for ${what} without an account: set ${variables}`,
    });
  }

  async #ask(request: RestRequest, what: string): Promise<void> {
    const asked = { carrier: this.#carrier, ...request };
    const answer = await askCarrier(asked);
    if (answer.status < 200 || answer.status > 299) throw refusalOf(asked, answer, what);
  }
}
