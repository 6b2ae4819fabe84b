// npm's `emulate` as a GitHub on loopback: node emulate.mjs <folder with node_modules>; prints its address, ends with its standard input.
import { createServer } from "node:net";
import { pathToFileURL } from "node:url";

// The command line of this version needs a newer node than its library does.
const { createEmulator } = await import(pathToFileURL(`${process.argv[2]}/node_modules/emulate/dist/api.js`).href);

const port = await new Promise((found) => {
  const probe = createServer().listen(0, "127.0.0.1", () => {
    const { port } = probe.address();
    probe.close(() => found(port));
  });
});
const baseUrl = `http://127.0.0.1:${port}`;
const github = await createEmulator({
  service: "github",
  port,
  baseUrl,
  seed: {
    tokens: {
      "emulate-maint": { login: "maint", scopes: ["repo"] },
      // Those that the tests' own GitHub, which keeps the git side, gives to its jobs.
      ...Object.fromEntries([...Array(40).keys()].map((number) => [`ghs_${number}`, { login: "robot", scopes: ["repo"] }])),
    },
    github: {
      users: [{ login: "nobody" }, { login: "maint" }, { login: "robot" }],
      orgs: [{ login: "acme", members: [{ login: "maint", role: "admin" }, { login: "robot", role: "admin" }] }],
      repos: [
        { owner: "maint", name: "widget", default_branch: "main", auto_init: true },
        { owner: "acme", name: "widget", default_branch: "main", auto_init: true },
      ],
    },
  },
});
console.log(baseUrl);
process.stdin.resume().on("end", async () => {
  await github.close();
  process.exit(0);
});
