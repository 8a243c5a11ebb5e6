// The project brings its own Node on Linux; elsewhere the user's must be new enough to run TypeScript.
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 24 || (major === 24 && minor < 12)) {
  console.error(
    `Vocalhost needs Node 24.12 or later, this is ${process.version}.\n` +
      "On Linux `npm ci` brings it along: use the npm scripts. Elsewhere install it first.",
  );
  process.exit(1);
}
