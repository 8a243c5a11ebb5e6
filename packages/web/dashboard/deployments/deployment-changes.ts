import type { DeploymentSettings } from "@vocalhost/protocol";

export interface Change {
  label: string;
  before: string;
  after: string;
}

const labels: Record<keyof DeploymentSettings, string> = {
  image: "Image",
  buildId: "Build",
  agentProfile: "Profile",
  audioFilter: "Voice filter",
  maxSessionDuration: "Longest session",
  secretSet: "Secret set",
  secretVersion: "Version of the secrets",
  imagePullSecretSet: "Image-pull secret",
  websocketAuth: "WebSocket connections",
};

/** What is different between two deployments, in a fixed order. */
export function changesBetween(before: DeploymentSettings, after: DeploymentSettings): Change[] {
  return (Object.keys(labels) as (keyof DeploymentSettings)[]).flatMap((name) => {
    // The image of a build is only another name for the build.
    if (name === "image" && before.buildId !== null && after.buildId !== null) return [];
    if (before[name] === after[name]) return [];
    return [{ label: labels[name], before: inWords(name, before), after: inWords(name, after) }];
  });
}

/** All settings, for what is the same. */
export function settingsInWords(settings: DeploymentSettings): { label: string; value: string }[] {
  return (Object.keys(labels) as (keyof DeploymentSettings)[])
    .filter((name) => !(name === "image" && settings.buildId !== null))
    .map((name) => ({ label: labels[name], value: inWords(name, settings) }));
}

function inWords(name: keyof DeploymentSettings, settings: DeploymentSettings): string {
  const value = settings[name];
  if (name === "audioFilter") return value === null ? "Off" : String(value);
  if (name === "maxSessionDuration") return `${String(value)} s`;
  if (name === "websocketAuth") return value === "token" ? "with a token" : "open";
  return value === null ? "none" : String(value);
}
