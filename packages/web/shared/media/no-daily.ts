/** Stands in for `@daily-co/daily-js`, which only the media manager we do not use would call. */
// oxlint-disable-next-line import/no-default-export -- the shape of the module it replaces
export default {
  createCallObject(): never {
    throw new Error("This page brings its own media manager");
  },
};
