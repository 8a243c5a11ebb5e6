import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { Button } from "../../shared/button.tsx";
import { createStore } from "../../shared/store.ts";
import { useStore } from "../../shared/use-store.ts";
import { personalApi } from "../data/api.ts";
import { live } from "../data/events.ts";
import { queries } from "../data/queries.ts";
import { chosenOrganization } from "../data/session.ts";
import { Dialog } from "../ui/dialog.tsx";
import { TextField } from "../ui/field.tsx";
import { Failed } from "../ui/notice.tsx";
import { say } from "../ui/toast.tsx";

export const organizationDialogOpen = createStore(false);

export function CreateOrganizationDialog() {
  const open = useStore(organizationDialogOpen);
  const close = () => organizationDialogOpen.set(false);
  return (
    <Dialog open={open} title="Create organisation" onClose={close}>
      <OrganizationForm onClose={close} />
    </Dialog>
  );
}

function OrganizationForm({ onClose }: { onClose: () => void }) {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const [title, setTitle] = useState("");
  const [name, setName] = useState<string>();
  const shownName = name ?? nameOf(title);
  const create = useMutation({
    mutationFn: () => personalApi().createOrganization({ name: shownName, verboseName: title.trim() }),
    onSuccess: async (made) => {
      await queryClient.invalidateQueries({ queryKey: queries.organizations().queryKey });
      onClose();
      live.set("connecting");
      chosenOrganization.set(made.name);
      await navigate({ to: "/agents" });
      say(`You are now in ${made.verboseName}.`);
    },
  });
  return (
    <form
      className="mt-3 grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        create.mutate();
      }}
    >
      <p className="text-sm text-muted">
        It has agents, keys, secrets, members and a bill of its own. You become its owner.
      </p>
      {create.error && <Failed error={create.error} />}
      <TextField label="Title" autoComplete="off" required value={title} onChange={setTitle} />
      <TextField
        label="Name"
        autoComplete="off"
        required
        value={shownName}
        onChange={setName}
        hint="Lower-case letters, digits and hyphens. Part of WebSocket addresses; it cannot be changed."
      />
      <div className="flex justify-end gap-2">
        <Button size="small" onClick={onClose}>
          Cancel
        </Button>
        <Button
          type="submit"
          size="small"
          look="primary"
          disabled={
            !/^[a-z0-9]([-a-z0-9]{0,52}[a-z0-9])$/.test(shownName) || !title.trim() || create.isPending
          }
        >
          {create.isPending ? "Creating…" : "Create organisation"}
        </Button>
      </div>
    </form>
  );
}

function nameOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 54)
    .replace(/^-|-$/g, "");
}
