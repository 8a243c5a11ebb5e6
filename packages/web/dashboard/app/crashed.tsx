import type { ErrorComponentProps } from "@tanstack/react-router";
import { Button } from "../../shared/button.tsx";
import { Alert } from "../ui/notice.tsx";

/** A mistake in the page itself, or a part of it that could not be loaded after an update of the service. */
export function Crashed({ error }: ErrorComponentProps) {
  return (
    <main className="mx-auto max-w-xl p-6">
      <h1 className="sr-only">This page crashed</h1>
      <Alert
        title="This page crashed"
        action={
          <Button size="small" icon="refresh" onClick={() => location.reload()}>
            Reload
          </Button>
        }
      >
        {error instanceof Error ? error.message : String(error)}
      </Alert>
    </main>
  );
}
