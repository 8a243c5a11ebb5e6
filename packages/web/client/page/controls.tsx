import { Button } from "../../shared/button.tsx";
import { useStore } from "../../shared/use-store.ts";
import { isAboutMicrophone } from "../../shared/events/problem.ts";
import { useConnection } from "../connection/use-connection.ts";
import { lookForRunner, runnerStatus } from "../connection/use-runner-status.ts";
import { connection } from "../state/client-state.ts";

/** Connect and hang up, mute and unmute. On a phone they stay within reach of the thumb. */
export function Controls() {
  return (
    <div className="z-10 mt-6 flex flex-wrap items-center justify-center gap-3 max-lg:fixed max-lg:inset-x-0 max-lg:bottom-0 max-lg:border-t max-lg:border-line max-lg:bg-paper max-lg:px-4 max-lg:pt-3 max-lg:pb-[max(0.75rem,env(safe-area-inset-bottom))]">
      <ControlButtons />
    </div>
  );
}

function ControlButtons() {
  const use = useConnection();
  switch (use.phase.name) {
    case "connecting":
      return (
        <Button size="large" onClick={use.end}>
          Cancel
        </Button>
      );
    case "live":
      return <LiveButtons {...use} />;
    case "ending":
      return (
        <Button size="large" disabled>
          Hanging up
        </Button>
      );
    case "idle":
    case "ended":
    case "failed":
      return <StartButtons {...use} phase={use.phase} />;
    default:
      return use.phase satisfies never;
  }
}

type Use = ReturnType<typeof useConnection>;

function LiveButtons({ muted, toggleMuted, end }: Pick<Use, "muted" | "toggleMuted" | "end">) {
  const blocked = useStore(connection.playbackBlocked);
  return (
    <>
      {blocked && (
        <Button look="primary" icon="speaker" onClick={() => connection.allowPlayback()}>
          Turn on sound
        </Button>
      )}
      <Button
        size="large"
        icon={muted ? "microphone-off" : "microphone"}
        aria-pressed={muted}
        className="max-sm:flex-1 max-sm:px-4 aria-pressed:border-warn aria-pressed:bg-warn-soft aria-pressed:text-warn"
        onClick={toggleMuted}
      >
        {muted ? "Unmute" : "Mute"}
      </Button>
      <Button size="large" look="danger" icon="hang-up" className="max-sm:flex-1 max-sm:px-4" onClick={end}>
        Hang up
      </Button>
    </>
  );
}

interface StartButtonsProps extends Pick<Use, "canConnect" | "onPhone" | "connect"> {
  phase: Extract<Use["phase"], { name: "idle" | "ended" | "failed" }>;
}

function StartButtons({ phase, canConnect, onPhone, connect }: StartButtonsProps) {
  const runner = useStore(runnerStatus);
  if (runner.kind === "unreachable") {
    return (
      <Button size="large" className="max-sm:w-full" onClick={() => void lookForRunner()}>
        Check again
      </Button>
    );
  }
  const action = onPhone ? "Call" : "Connect";
  const label = { idle: action, ended: `${action} again`, failed: "Try again" }[phase.name];
  const microphoneFailed = phase.name === "failed" && isAboutMicrophone(phase.problem.code);
  return (
    <>
      <Button
        size="large"
        look="primary"
        icon={onPhone ? "phone" : undefined}
        className="min-w-44 max-sm:w-full"
        disabled={!canConnect}
        onClick={() => connect()}
      >
        {label}
      </Button>
      {microphoneFailed && (
        <Button size="large" className="max-sm:w-full" onClick={() => connect({ useMicrophone: false })}>
          {action} without it
        </Button>
      )}
    </>
  );
}
