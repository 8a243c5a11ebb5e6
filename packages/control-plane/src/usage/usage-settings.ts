import { httpUrl, type Settings } from "@vocalhost/protocol";

export const usageSettings = {
  metricsToken: {
    name: "VOCALHOST_METRICS_TOKEN",
    isSecret: true,
    help: "bearer token for `/metrics`; without one a private key is needed",
  },
  usageExportUrl: {
    name: "VOCALHOST_USAGE_EXPORT_URL",
    schema: httpUrl("https://billing.example.com/usage").optional(),
    help: "takes one POST per usage entry, at least once, under `Idempotency-Key`",
  },
  usageExportToken: {
    name: "VOCALHOST_USAGE_EXPORT_TOKEN",
    isSecret: true,
    help: "bearer token sent with each of them",
  },
} as const satisfies Settings;
