// Classic script, before any schema is made: the schema library compiles its checks with `new Function` where it may,
// and finds out by trying, which the page's content policy reports as an attack.
Object.assign(globalThis, { __zod_globalConfig: { jitless: true } });
