import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { AgentName, ImageReference, type CreateAgent } from "@vocalhost/protocol";
import { useState } from "react";
import { Button } from "../../shared/button.tsx";
import { ChoiceField } from "../../shared/choice-field.tsx";
import { SelectField } from "../../shared/select-field.tsx";
import { useMayChange } from "../data/me.ts";
import { api } from "../data/api.ts";
import { queries } from "../data/queries.ts";
import { Card } from "../ui/card.tsx";
import { TextField } from "../ui/field.tsx";
import { LinkButton } from "../ui/link-button.tsx";
import { Alert, Failed } from "../ui/notice.tsx";
import { Page } from "../ui/page.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { say } from "../ui/toast.tsx";
import { toAgo, useNow } from "../ui/time.tsx";

/** A first deployment; everything else is on the agent's settings page. */
export function CreateAgentPage() {
  const mayChange = useMayChange();
  return (
    <Page
      title="Create agent"
      about="You can set scaling, voice filter and secrets afterwards."
      parent={{ label: "Agents", to: "/agents" }}
    >
      {mayChange ? <CreateForm /> : <Alert tone="busy" title="Your role is read-only" />}
    </Page>
  );
}

function CreateForm() {
  const navigate = useNavigate();
  const [name, setName] = useState("");
  const [source, setSource] = useState("build");
  const [buildId, setBuildId] = useState("");
  const [image, setImage] = useState("");
  const [region, setRegion] = useState("");
  const create = useMutation({
    mutationFn: (agent: CreateAgent) => api().agents.create(agent),
    onSuccess: async (agent) => {
      say(`${agent.name} is being rolled out`);
      await navigate({ to: "/agents/$name", params: { name: agent.name } });
    },
  });
  const nameProblem = problemOf(AgentName.safeParse(name), name);
  const imageProblem = problemOf(ImageReference.safeParse(image), image);
  const isComplete =
    name !== "" && !nameProblem && (source === "build" ? buildId !== "" : image !== "" && !imageProblem);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        create.mutate({
          serviceName: name,
          ...(source === "build" ? { buildId } : { image }),
          ...(region === "" ? {} : { region }),
        });
      }}
    >
      <Card
        footer={
          <>
            <Button type="submit" look="primary" size="small" disabled={!isComplete || create.isPending}>
              {create.isPending ? "Creating…" : "Create agent"}
            </Button>
            <LinkButton to="/agents">Cancel</LinkButton>
          </>
        }
      >
        <div className="grid max-w-xl gap-5">
          {create.error && <Failed error={create.error} />}
          <TextField
            label="Name"
            value={name}
            onChange={setName}
            autoComplete="off"
            spellCheck={false}
            placeholder="front-desk"
            hint="Part of its addresses; cannot be changed later. Lower-case letters, digits and hyphens."
            problem={nameProblem}
          />
          <ChoiceField
            label="Where the bot comes from"
            value={source}
            options={[
              { value: "build", label: "A build", hint: "Uploaded with vocalhost deploy" },
              { value: "image", label: "An image", hint: "From a container registry" },
            ]}
            onChange={setSource}
          />
          {source === "build" ? (
            <BuildField buildId={buildId} onChange={setBuildId} />
          ) : (
            <ImageField image={image} problem={imageProblem} onChange={setImage} />
          )}
          <RegionField region={region} onChange={setRegion} />
        </div>
      </Card>
    </form>
  );
}

interface ImageFieldProps {
  image: string;
  problem: string | undefined;
  onChange: (image: string) => void;
}

function ImageField({ image, problem, onChange }: ImageFieldProps) {
  return (
    <TextField
      label="Image"
      value={image}
      onChange={onChange}
      autoComplete="off"
      spellCheck={false}
      placeholder="registry.example.com/team/front-desk:1.0"
      problem={problem}
      hint="Needs a driver that runs images: container or kubernetes."
    />
  );
}

function BuildField({ buildId, onChange }: { buildId: string; onChange: (id: string) => void }) {
  const builds = useQuery(queries.builds());
  const nowMs = useNow(30_000);
  return (
    <QueryView query={builds} what="builds">
      {({ builds: list }) => {
        const usable = list.filter(({ status }) => status === "success");
        if (usable.length === 0) {
          return (
            <Alert tone="busy" title="No finished build yet">
              Run “vocalhost deploy” in the bot's folder: it uploads, builds and deploys in one step.
            </Alert>
          );
        }
        return (
          <SelectField
            label="Build"
            value={buildId}
            options={[
              { value: "", label: "Choose a build" },
              ...usable.map((build) => ({
                value: build.id,
                label: `${build.id.slice(0, 8)} · ${toAgo(nowMs - Date.parse(build.createdAt))} · ${build.region}`,
              })),
            ]}
            onChange={onChange}
          />
        );
      }}
    </QueryView>
  );
}

function RegionField({ region, onChange }: { region: string; onChange: (region: string) => void }) {
  const regions = useQuery(queries.regions()).data?.regions ?? [];
  if (regions.length < 2) return null;
  return (
    <SelectField
      label="Region"
      value={region}
      options={[
        { value: "", label: "The organisation's default" },
        ...regions.map(({ code, display_name: label }) => ({ value: code, label })),
      ]}
      onChange={onChange}
    />
  );
}

function problemOf(result: { error?: { issues: { message: string }[] } | undefined }, text: string) {
  return text === "" ? undefined : result.error?.issues[0]?.message;
}
