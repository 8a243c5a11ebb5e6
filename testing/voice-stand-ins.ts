// The stand-ins for voice services that bots are tested with, under the name our tests use.
export * from "vocalhost/testing";
