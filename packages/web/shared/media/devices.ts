export interface Devices {
  microphones: MediaDeviceInfo[];
  speakers: MediaDeviceInfo[];
}

/** The available devices. Names stay empty until the microphone was allowed once. */
export async function listDevices(): Promise<Devices> {
  const all = (await navigator.mediaDevices?.enumerateDevices()) ?? [];
  const ofKind = (kind: MediaDeviceKind) =>
    all.filter((device) => device.kind === kind && device.deviceId !== "");
  return {
    microphones: ofKind("audioinput"),
    speakers: canChooseSpeaker() ? ofKind("audiooutput") : [],
  };
}

export function canChooseSpeaker(): boolean {
  return "setSinkId" in HTMLMediaElement.prototype;
}
