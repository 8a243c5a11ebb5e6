import assert from "node:assert/strict";
import { test } from "node:test";
import { allSettings, readConfig } from "./config.ts";
import { showSettings, unknownSettings } from "./show-settings.ts";
import { nearestTo } from "@vocalhost/drivers/regional/region-config";

test("an engine is where it is said to be, and instances are in a network of their own", () => {
  const { driver } = readConfig({
    VOCALHOST_DATA_DIR: "/data",
    VOCALHOST_DRIVER: "container",
    VOCALHOST_BASE_IMAGES: "/images",
    XDG_CACHE_HOME: "/cache",
    DOCKER_HOST: "unix:///run/engine.sock",
    npm_config_registry: "https://name:password@npm.example.com/",
  });
  assert.deepEqual(driver, {
    kind: "container",
    folder: "/data/containers",
    sockets: [{ path: "/run/engine.sock", because: "DOCKER_HOST" }],
    network: "vocalhost",
    networkPolicy: "auto",
    reach: [],
    registries: [],
    builds: {
      hasNetwork: true,
      memoryMib: 2_048,
      registry: undefined,
      npmRegistry: undefined, // every build could read it
      imageFolders: ["/images", "/cache/vocalhost/images"],
      basePackages: undefined,
      ownFolder: "/data/base-image",
    },
  });
  for (const wrong of [
    { VOCALHOST_CONTAINER_ENGINE: "tcp://10.0.0.1:2375" },
    { VOCALHOST_CONTAINER_NETWORK: "host" },
    { VOCALHOST_BUILD_NETWORK: "host" },
    { VOCALHOST_BUILD_MEMORY_MIB: "1" },
    { VOCALHOST_BUILD_REGISTRY: "registry.example.com/team/bots:1" },
    { VOCALHOST_BUILD_REGISTRY: "localhost/team/bots" },
    { VOCALHOST_BUILD_REGISTRY: "registry.example.com/bots", VOCALHOST_BUILD_REGISTRY_USERNAME: "robot" },
    { VOCALHOST_CONTAINER_NETWORK_POLICY: "high" },
    { VOCALHOST_CONTAINER_REACH: "host:443,example.com" },
    { VOCALHOST_PAUSE_BEYOND: "-1" },
  ])
    assert.throws(() => readConfig({ VOCALHOST_DRIVER: "container", ...wrong }), { name: "ConfigError" });
});

test("builds can be kept offline, and pushed to a registry with a password of its own", () => {
  const { driver } = readConfig({
    VOCALHOST_DRIVER: "container",
    VOCALHOST_BUILD_NETWORK: "none",
    VOCALHOST_BUILD_REGISTRY: "registry.example.com:5000/team/bots",
    VOCALHOST_BUILD_REGISTRY_USERNAME: "robot",
    VOCALHOST_BUILD_REGISTRY_PASSWORD: "open sesame",
    npm_config_registry: "https://npm.example.com/",
  });
  assert.ok(driver.kind === "container");
  const { hasNetwork, registry, npmRegistry } = driver.builds;
  assert.deepEqual(
    { hasNetwork, npmRegistry },
    { hasNetwork: false, npmRegistry: "https://npm.example.com/" },
  );
  assert.deepEqual(registry, {
    repository: "registry.example.com:5000/team/bots",
    secret: { host: "registry.example.com:5000", username: "robot", token: "open sesame" },
  });
});

test("instances are processes unless another driver is named, and only one that exists can be", () => {
  const process = {
    kind: "process",
    folder: "/data/instances",
    compileCache: undefined,
  };
  assert.deepEqual(readConfig({ VOCALHOST_DATA_DIR: "/data" }).driver, process);
  assert.deepEqual(readConfig({ VOCALHOST_DATA_DIR: "/data", VOCALHOST_DRIVER: "process" }).driver, process);
  assert.throws(() => readConfig({ VOCALHOST_DRIVER: "docker" }), {
    name: "ConfigError",
    message: 'VOCALHOST_DRIVER must be one of process, container, kubernetes, got "docker"',
  });
});

test("public keys place no calls unless told so, and carriers are where the operator says", () => {
  const { takesPublicDialout, carrierAddresses } = readConfig({});
  assert.equal(takesPublicDialout, false);
  assert.equal(carrierAddresses.twilio, "https://api.twilio.com");
  const told = readConfig({ VOCALHOST_PUBLIC_DIALOUT: "true", PLIVO_API_URL: "http://localhost:1/" });
  assert.deepEqual([told.takesPublicDialout, told.carrierAddresses.plivo], [true, "http://localhost:1"]);
});

test("only containers are paused", () => {
  const container = { VOCALHOST_DRIVER: "container", VOCALHOST_PAUSE_BEYOND: "2" };
  assert.equal(readConfig(container).keptAwake, 2);
  assert.equal(readConfig({}).keptAwake, undefined);
  assert.throws(() => readConfig({ VOCALHOST_PAUSE_BEYOND: "2" }), /needs VOCALHOST_DRIVER=container/);
});

test("quotas are the same for everybody but those who are named", () => {
  const { quotasOf } = readConfig({
    VOCALHOST_QUOTA_AGENTS: "7",
    VOCALHOST_QUOTAS: '{"acme":{"agents":1,"diskMib":5}}',
  });
  const others = { instances: 500, builds: 20, startsPerSecond: 500 };
  assert.deepEqual(quotasOf("main"), { ...others, agents: 7, diskMib: 51_200 });
  assert.deepEqual(quotasOf("acme"), { ...others, agents: 1, diskMib: 5 });
  assert.equal(quotasOf("constructor").agents, 7);
  for (const wrong of ["7", "{", '{"acme":{"bots":1}}', '{"acme":{"agents":-1}}'])
    assert.throws(() => readConfig({ VOCALHOST_QUOTAS: wrong }), { name: "ConfigError" }, wrong);
});

test("media: an address and a range of ports, both said in a way that cannot be misunderstood", () => {
  assert.deepEqual(readConfig({}).media, { addresses: [], ports: undefined });
  assert.deepEqual(
    readConfig({
      VOCALHOST_MEDIA_ADDRESS: "203.0.113.7, 2001:db8::7",
      VOCALHOST_MEDIA_PORTS: "40000-40199",
    }).media,
    { addresses: ["203.0.113.7", "2001:db8::7"], ports: { first: 40_000, last: 40_199 } },
  );
  assert.deepEqual(readConfig({ VOCALHOST_MEDIA_PORTS: "40000" }).media.ports, {
    first: 40_000,
    last: 40_000,
  });
  for (const wrong of ["0-10", "80", "40000-39999", "40000-70000", "many", "40000-", "-40000"])
    assert.throws(
      () => readConfig({ VOCALHOST_MEDIA_PORTS: wrong }),
      { name: "ConfigError", message: /must be a range of UDP ports from 1025 to 65535/ },
      wrong,
    );
  for (const wrong of ["bots.example.com", "203.0.113.7:40000"])
    assert.throws(
      () => readConfig({ VOCALHOST_MEDIA_ADDRESS: wrong }),
      { name: "ConfigError", message: /not a name/ },
      wrong,
    );
});

test("regions have drivers of their own where a setting ends in their code", () => {
  const environment = {
    VOCALHOST_DATA_DIR: "/data",
    VOCALHOST_REGIONS: "eu-central=Frankfurt; eu-north=Stockholm; eu-west=Paris",
    VOCALHOST_CONTAINER_NETWORK: "bots",
    VOCALHOST_DRIVER__EU_NORTH: "container",
    VOCALHOST_CONTAINER_ENGINE__EU_NORTH: "unix:///run/north.sock",
    VOCALHOST_CONTAINER_NETWORK__EU_NORTH: "north",
  };
  const { driver, regions } = readConfig(environment);
  assert.deepEqual(
    regions?.map(({ code, driver: own }) => [code, own?.kind, own?.folder]),
    [
      ["eu-central", "process", "/data/instances"],
      ["eu-north", "container", "/data/regions/eu-north/containers"],
      ["eu-west", "process", "/data/regions/eu-west/instances"],
    ],
  );
  assert.equal(driver, regions?.[0]?.driver);
  const north = regions?.[1]?.driver;
  assert.ok(north?.kind === "container");
  assert.deepEqual([north.network, north.sockets[0]?.path], ["north", "/run/north.sock"]);
  const { VOCALHOST_DATA_DIR, VOCALHOST_REGIONS } = environment;
  const shared = readConfig({ VOCALHOST_DATA_DIR, VOCALHOST_REGIONS, VOCALHOST_DRIVER: "container" });
  assert.deepEqual(shared.regions?.[1], { code: "eu-north", displayName: "Stockholm" });
  assert.equal(shared.driver.kind, "container");
  for (const [wrong, message] of [
    [
      { VOCALHOST_DRIVER__EU_SOUTH: "container" },
      /there is no region eu-south; .* names eu-central, eu-north/,
    ],
    [{ VOCALHOST_PORT__EU_NORTH: "1" }, /VOCALHOST_PORT is the same in all regions/],
    [{ VOCALHOST_DRIVER__EU_WEST: "train" }, /^Region eu-west: VOCALHOST_DRIVER must be one of/],
  ] as const)
    assert.throws(() => readConfig({ ...environment, ...wrong }), { name: "ConfigError", message });
});

test("which regions are near to one another is for the operator to say, and otherwise their order", () => {
  const environment = { VOCALHOST_REGIONS: "us-west; eu-central; eu-north" };
  const near = (text: string): Record<string, readonly string[]> => {
    const { regions, nearestRegions } = readConfig({ ...environment, VOCALHOST_NEAREST_REGIONS: text });
    const order = nearestTo(regions, nearestRegions);
    return Object.fromEntries((regions ?? []).map(({ code }) => [code, order(code)]));
  };
  const inOrder = ["us-west", "eu-central", "eu-north"];
  assert.deepEqual(near(""), { "us-west": inOrder, "eu-central": inOrder, "eu-north": inOrder });
  assert.deepEqual(near("eu-north: eu-central; us-west:eu-north,eu-central"), {
    "us-west": ["eu-north", "eu-central", "us-west"],
    "eu-central": inOrder,
    "eu-north": ["eu-central", "us-west", "eu-north"],
  });
  for (const [wrong, message] of [
    ["eu-south: eu-north", /no region eu-south; VOCALHOST_REGIONS names us-west, eu-central, eu-north/],
    ["eu-north: mars-west", /no region mars-west/],
    ["eu-north", /"eu-north" says nothing/],
  ] as const)
    assert.throws(() => near(wrong), { name: "ConfigError", message });
});

test("controllers and gateways of several machines are told where to meet, and show certificates there", () => {
  const file = import.meta.filename;
  const certificates = { VOCALHOST_PEER_CA: file, VOCALHOST_PEER_CERT: file, VOCALHOST_PEER_KEY: file };
  const read = (settings: Record<string, string | undefined>) =>
    readConfig({ VOCALHOST_DATA_DIR: "/data", ...settings });
  assert.deepEqual([read({}).peers, read({}).parts], [undefined, "all"]);
  const { peers } = read({ VOCALHOST_CONTROLLER_LISTEN: "0.0.0.0:7871", ...certificates });
  assert.deepEqual(
    [peers?.listen, peers?.controllers],
    [{ host: "0.0.0.0", port: 7871 }, [{ host: "127.0.0.1", port: 7871 }]],
  );
  const named = read({ VOCALHOST_CONTROLLERS: "one.internal:7871, [fd00::2]:7871", ...certificates });
  assert.deepEqual(named.peers?.controllers, [
    { host: "one.internal", port: 7871 },
    { host: "fd00::2", port: 7871 },
  ]);
  for (const wrong of [
    { VOCALHOST_CONTROLLER_LISTEN: "0.0.0.0:7871" },
    { VOCALHOST_CONTROLLER_LISTEN: "0.0.0.0", ...certificates },
    { VOCALHOST_CONTROLLERS: "https://one.internal:7871", ...certificates },
    { VOCALHOST_CONTROLLERS: "one:7871", ...certificates, VOCALHOST_PEER_KEY: "/no/such/file" },
    { VOCALHOST_PARTS: "gateway" },
    { VOCALHOST_PARTS: "controller", VOCALHOST_CONTROLLERS: "one:7871", ...certificates },
    { VOCALHOST_PARTS: "half" },
  ])
    assert.throws(() => read(wrong), { name: "ConfigError", message: /VOCALHOST_/ }, JSON.stringify(wrong));
});

test("a bucket is named, and its keys belong together", () => {
  const read = (settings: Record<string, string | undefined>) =>
    readConfig({ VOCALHOST_DATA_DIR: "/data", ...settings }).objectStore;
  assert.equal(read({}), undefined);
  assert.deepEqual(
    read({
      VOCALHOST_S3_BUCKET: "vocalhost-builds",
      VOCALHOST_S3_ENDPOINT: "https://s3.example.com",
      VOCALHOST_S3_PREFIX: "/team/",
      VOCALHOST_S3_ACCESS_KEY_ID: "id",
      VOCALHOST_S3_SECRET_ACCESS_KEY: "secret",
    }),
    {
      bucket: "vocalhost-builds",
      prefix: "team/",
      endpoint: "https://s3.example.com",
      region: "us-east-1",
      credentials: { accessKeyId: "id", secretAccessKey: "secret" },
    },
  );
  for (const wrong of [
    { VOCALHOST_S3_BUCKET: "Not A Bucket" },
    { VOCALHOST_S3_BUCKET: "builds", VOCALHOST_S3_ENDPOINT: "s3.example.com" },
    { VOCALHOST_S3_BUCKET: "builds", VOCALHOST_S3_ACCESS_KEY_ID: "id" },
  ])
    assert.throws(() => read(wrong), { name: "ConfigError", message: /VOCALHOST_S3/ });
});

test("a cluster is what its kubeconfig says, and pods are told where to call", () => {
  const read = (changes: Record<string, string | undefined>): unknown =>
    readConfig({ VOCALHOST_DATA_DIR: "/data", VOCALHOST_DRIVER: "kubernetes", ...changes }).driver;
  assert.partialDeepStrictEqual(
    read({
      VOCALHOST_KUBERNETES_ARCHITECTURE: "arm64",
      VOCALHOST_KUBERNETES_READY_URL: "http://vocalhost-controller:7871/",
      VOCALHOST_KUBERNETES_NODE_SELECTOR: "pool=bots, example.com/disk=fast",
      VOCALHOST_KUBERNETES_PULL_SECRETS: "registry,other.registry",
    }),
    {
      kind: "kubernetes",
      folder: "/data/pods",
      service: "vocalhost",
      platform: { os: "linux", architecture: "arm64" },
      readyEndpoint: { url: "http://vocalhost-controller:7871", host: "0.0.0.0", port: 7_871 },
      nodeSelector: { pool: "bots", "example.com/disk": "fast" },
      pullSecrets: ["registry", "other.registry"],
    },
  );
  for (const wrong of [
    { VOCALHOST_KUBERNETES_NAMESPACE: "Bots" },
    { VOCALHOST_KUBERNETES_SERVICE: "a-name-that-is-far-too-long" },
    { VOCALHOST_KUBERNETES_ARCHITECTURE: "sparc" },
    { VOCALHOST_KUBERNETES_READY_URL: "https://controller" },
    { VOCALHOST_KUBERNETES_LISTEN: "0.0.0.0:7871" },
    { VOCALHOST_KUBERNETES_READY_URL: "http://controller:7871", VOCALHOST_KUBERNETES_LISTEN: "anywhere" },
    { VOCALHOST_KUBERNETES_NODE_SELECTOR: "pool" },
    { VOCALHOST_KUBERNETES_RUNTIME_CLASS: "g visor" },
  ])
    assert.throws(() => read(wrong), { name: "ConfigError", message: /VOCALHOST_KUBERNETES_/ });
});

test("a misspelt setting is found with the one that was meant; settings of other programs are not", () => {
  const environment = Object.fromEntries(allSettings.map(({ name }) => [name, "1"]));
  assert.deepEqual(unknownSettings(environment), []);
  assert.deepEqual(
    unknownSettings({
      ...environment,
      PATH: "/bin",
      VOCALHOST_DRIVER__EU_NORTH: "container",
      VOCALHOST_API_KEY: "sk",
      VOCALHOST_DATABSE_URL: "postgres://db",
      VOCALHOST_MEDIA_PORTS_: "40000-40199",
    }),
    [
      { variable: "VOCALHOST_DATABSE_URL", meant: "VOCALHOST_DATABASE_URL" },
      { variable: "VOCALHOST_MEDIA_PORTS_", meant: "VOCALHOST_MEDIA_PORTS" },
    ],
  );
});

test("every wrong setting is named at once, and secrets are not shown", () => {
  assert.throws(() => readConfig({ VOCALHOST_PORT: "many", VOCALHOST_DATABASE_URL: "mysql://a:secret@db" }), {
    name: "ConfigError",
    message:
      'VOCALHOST_PORT must be a whole number from 0 to 65535, got "many"\n' +
      "VOCALHOST_DATABASE_URL must begin with postgres://",
  });
});

test("settings are shown with their values and where these come from; secrets are hidden", () => {
  const { settings, problem } = showSettings({
    VOCALHOST_DATA_DIR: "/data",
    VOCALHOST_SECRET: "open sesame",
    VOCALHOST_QUEUE_MS: "long",
  });
  const shown = (wanted: string): unknown => {
    const { value, from } = settings.find(({ name }) => name === wanted) ?? {};
    return [value, from];
  };
  assert.deepEqual(shown("VOCALHOST_DATA_DIR"), ["/data", "environment"]);
  assert.deepEqual(shown("VOCALHOST_PORT"), ["7870", "default"]);
  assert.deepEqual(shown("VOCALHOST_SECRET"), [null, "environment"]);
  assert.ok(!JSON.stringify(settings).includes("sesame"));
  assert.match(problem ?? "", /VOCALHOST_QUEUE_MS must be a whole number/);
});
