import { connection } from "../state/client-state.ts";

/** Without this the runner notices a closed tab only seconds later. */
export function endOnLeave(): () => void {
  const leave = () => void connection.end();
  addEventListener("pagehide", leave);
  return () => removeEventListener("pagehide", leave);
}
