import { useEffect, useState } from "react";
import type { Connection } from "../connection/connection.ts";
import { SelectField } from "../select-field.tsx";
import { useStore } from "../use-store.ts";
import { LevelBar } from "../visuals/level-bar.tsx";
import { chosenMicrophone, chosenSpeaker } from "./chosen-devices.ts";
import { canChooseSpeaker, listDevices, type Devices } from "../media/devices.ts";

/** Which microphone and which speaker; a change takes effect at once. */
export function DeviceFields({
  connection,
  withLevel = true,
}: {
  connection: Connection;
  /** Shows how loud the microphone is. */
  withLevel?: boolean;
}) {
  const { microphones, speakers } = useDevices(connection);
  const microphone = useStore(chosenMicrophone);
  const speaker = useStore(chosenSpeaker);
  const phase = useStore(connection.phase);
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
        {withLevel && phase.name === "live" && <LevelBar connection={connection} />}
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

function useDevices(connection: Connection): Devices {
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
  }, [connection]);
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
