import { callArguments, callOptions } from "../call/call-options.ts";
import { defineCommand } from "../define-command.ts";

export const call = defineCommand({
  name: "call",
  summary: "call a bot as a telephone carrier would",
  description:
    "Calls a bot over a carrier's exact media stream, no carrier needed: says something, listens, presses keys, " +
    "hangs up, and reports how it went. Without a name it calls the runner on this " +
    "machine; with one, the agent of that name on the service you are signed in to.",
  arguments: callArguments,
  options: callOptions,
  examples: [
    { line: "vocalhost call", about: "the runner on this machine, as Twilio" },
    { line: "vocalhost call my-agent", about: "a deployed agent" },
    { line: "vocalhost call -s hello.wav -s bye.wav -r answer.wav", about: "a conversation, recorded" },
    { line: "vocalhost call -c plivo --webhook http://localhost:7860/", about: "through the webhook" },
    {
      line: "vocalhost call -c telnyx --encoding PCMA --jitter 30ms --loss 2%",
      about: "a bad European line",
    },
    {
      line: "vocalhost call --background talker:10dB --hang-up-after 15s",
      about: "somebody else talks in the room",
    },
    {
      line: "vocalhost call --dtmf 12# --expect-audio --json",
      about: "for a script; fails without an answer",
    },
  ],
  load: async () => (await import("../call/run-call.ts")).run,
});
