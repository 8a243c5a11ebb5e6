import { useEffect, useState } from "react";
import { ChoiceField } from "../../shared/choice-field.tsx";
import { SelectField } from "../../shared/select-field.tsx";
import { useStore } from "../../shared/use-store.ts";
import { isOpen } from "../connection/phase.ts";
import { useConnection } from "../connection/use-connection.ts";
import { canChooseSpeaker, listDevices, type Devices } from "../media/devices.ts";
import { PhoneFields } from "../phone/phone-fields.tsx";
import { StartBodyEditor } from "../start-body/start-body-editor.tsx";
import { LevelBar } from "../voice/level-bar.tsx";
import { chosenMicrophone, chosenSpeaker, chosenTransport, connection } from "./client-state.ts";

/** How to connect, and with which devices. */
export function Setup() {
  const { phase, choices, chosen, onPhone } = useConnection();
  const open = isOpen(phase);
  return (
    <section aria-label="Setup" className="mx-auto grid w-full max-w-2xl gap-5">
      {!open && choices.length > 1 && chosen && (
        <ChoiceField
          label="Connect over"
          value={chosen.name}
          options={choices.map(({ name, label, hint }) => ({ value: name, label, hint }))}
          onChange={chosenTransport.set}
        />
      )}
      {!open && onPhone && <PhoneFields />}
      <DeviceFields />
      {!open && <StartBodyEditor />}
    </section>
  );
}

function DeviceFields() {
  const { microphones, speakers } = useDevices();
  const microphone = useStore(chosenMicrophone);
  const speaker = useStore(chosenSpeaker);
  const { phase } = useConnection();
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <div className="min-w-0">
        <SelectField
          label="Microphone"
          icon="microphone"
          value={known(microphone, microphones)}
          options={[{ value: "", label: "System default" }, ...toOptions(microphones, "Microphone")]}
          onChange={(value) => {
            chosenMicrophone.set(value);
            connection.chooseMicrophone(value);
          }}
        />
        {phase.name === "live" && <LevelBar />}
      </div>
      {canChooseSpeaker() && (
        <SelectField
          label="Speaker"
          icon="speaker"
          value={known(speaker, speakers)}
          options={[{ value: "", label: "System default" }, ...toOptions(speakers, "Speaker")]}
          onChange={(value) => {
            chosenSpeaker.set(value);
            connection.chooseSpeaker(value);
          }}
        />
      )}
    </div>
  );
}

function useDevices(): Devices {
  const [devices, setDevices] = useState<Devices>({ microphones: [], speakers: [] });
  useEffect(() => {
    let gone = false;
    const refresh = () =>
      void listDevices().then((found) => {
        if (!gone) setDevices(found);
      });
    refresh();
    const unsubscribe = connection.phase.subscribe(refresh); // names appear with the first session
    navigator.mediaDevices?.addEventListener("devicechange", refresh);
    return () => {
      gone = true;
      unsubscribe();
      navigator.mediaDevices?.removeEventListener("devicechange", refresh);
    };
  }, []);
  return devices;
}

/** A remembered device that is not plugged in counts as the default. */
function known(id: string, devices: MediaDeviceInfo[]): string {
  return devices.some((device) => device.deviceId === id) ? id : "";
}

function toOptions(devices: MediaDeviceInfo[], kind: string) {
  return devices
    .filter((device) => device.deviceId !== "default")
    .map((device, index) => ({
      value: device.deviceId,
      label: device.label || `${kind} ${index + 1}`,
    }));
}
