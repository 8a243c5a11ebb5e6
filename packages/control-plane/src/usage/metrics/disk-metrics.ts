import { Gauge, type Registry } from "prom-client";
import { dataAreas, readDiskSpace, type DataArea } from "./data-folder.ts";

export interface DiskMetrics {
  measured(bytes: Record<DataArea, number>): void;
}

export function addDiskMetrics(registry: Registry, dataFolder: string): DiskMetrics {
  const registers = [registry];
  const total = new Gauge({
    name: "vocalhost_disk_total_bytes",
    help: "Size of the disk that holds the data folder",
    registers,
  });
  registry.registerMetric(
    new Gauge({
      name: "vocalhost_disk_free_bytes",
      help: "What the service can still write to that disk",
      registers: [],
      async collect() {
        const { freeBytes, totalBytes } = await readDiskSpace(dataFolder);
        this.set(freeBytes);
        total.set(totalBytes);
      },
    }),
  );
  const areas = new Gauge({
    name: "vocalhost_data_bytes",
    help: "Bytes on disk of each area of the data folder, measured every five minutes",
    labelNames: ["area"],
    registers,
  });
  return {
    measured(bytes) {
      for (const area of dataAreas) areas.set({ area }, bytes[area]);
    },
  };
}
