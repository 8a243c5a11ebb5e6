/// <reference types="vite/client" />
import { PipecatClient, type APIRequest } from "@pipecat-ai/client-js";
import {
  PipecatClientAudio,
  PipecatClientMicToggle,
  PipecatClientProvider,
  usePipecatClient,
  usePipecatClientMediaTrack,
  usePipecatClientTransportState,
} from "@pipecat-ai/client-react";
import { SmallWebRTCTransport, WavMediaManager } from "@pipecat-ai/small-webrtc-transport";
import { ConsoleTemplate } from "@pipecat-ai/voice-ui-kit";
import "@pipecat-ai/voice-ui-kit/styles.css";
import type { ReactElement } from "react";
import { createRoot } from "react-dom/client";

// The code of an application: `#hooks=…` with hooks of its own, `#kit=…` with the finished console of the kit. Behind it
// comes the address that starts sessions.
const [which, endpoint = ""] = location.hash.slice(1).split("=");
const start: APIRequest = { endpoint, requestData: { transport: "webrtc", body: { mode: "tone" } } };
// Without a media manager of our choice the transport loads code from a content delivery network.
const transportOptions = { mediaManager: new WavMediaManager() };

createRoot(document.querySelector("#root") as HTMLElement).render(which === "kit" ? <Kit /> : <Hooks />);

function Kit(): ReactElement {
  return (
    <ConsoleTemplate
      transportType="smallwebrtc"
      transportOptions={transportOptions}
      startBotParams={start}
      noUserVideo
    />
  );
}

const client =
  which === "kit"
    ? undefined
    : new PipecatClient({ transport: new SmallWebRTCTransport(transportOptions), enableMic: true });

function Hooks(): ReactElement {
  if (!client) return <></>;
  return (
    <PipecatClientProvider client={client}>
      <Call />
      <PipecatClientAudio />
    </PipecatClientProvider>
  );
}

function Call(): ReactElement {
  const caller = usePipecatClient();
  const state = usePipecatClientTransportState();
  const voice = usePipecatClientMediaTrack("audio", "bot");
  return (
    <>
      <button onClick={() => void caller?.startBotAndConnect(start)}>Connect</button>
      <button onClick={() => void caller?.disconnect()}>Disconnect</button>
      <PipecatClientMicToggle>
        {({ isMicEnabled, onClick }) => <button onClick={onClick}>{isMicEnabled ? "Mute" : "Unmute"}</button>}
      </PipecatClientMicToggle>
      <output>{state}</output>
      {voice && <p>The bot has a voice</p>}
    </>
  );
}
