import { PipecatClient, type PipecatClientOptions, type RTVIMessage } from "@pipecat-ai/client-js";

/** The client, plus a look at every message it receives, also those it has no callback for. */
export class ObservedClient extends PipecatClient {
  onMessage: ((message: RTVIMessage) => void) | undefined;

  constructor(options: PipecatClientOptions, onMessage: (message: RTVIMessage) => void) {
    super(options);
    this.onMessage = onMessage;
  }

  protected override handleMessage(message: RTVIMessage): void {
    this.onMessage?.(message);
    super.handleMessage(message);
  }
}
