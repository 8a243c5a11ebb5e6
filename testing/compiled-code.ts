/** Folder of compiled code that processes of tests share; there is one when all tests are run. */
export const compileCache = process.env["NODE_COMPILE_CACHE"];

/** For a process that is given an environment of its own. */
export const compiledCode = compileCache === undefined ? {} : { NODE_COMPILE_CACHE: compileCache };
