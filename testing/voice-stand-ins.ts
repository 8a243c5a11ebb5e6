// Those that bots are tested with, by the name that our own tests have for them.
export * from "vocalhost/testing";
