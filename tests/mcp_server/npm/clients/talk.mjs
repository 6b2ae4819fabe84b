// A client of the TypeScript SDK: starts a server, calls methods in order, and prints what it got as one line of JSON.
//   node talk.mjs '{"server": ["PROGRAM", "ARGUMENT"], "era": "auto", "answer": {…}, "calls": [["listTools", {}]]}'
// `era`: "legacy" or "auto", as the SDK calls it. `answer`: what its person says to every question.
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const told = JSON.parse(process.argv[2]);
const asked = [];
const client = new Client(
  { name: 'talk', version: '1.0.0' },
  {
    capabilities: told.answer ? { elicitation: { form: {} } } : {},
    versionNegotiation: { mode: told.era },
  },
);
if (told.answer) {
  client.setRequestHandler('elicitation/create', async (request) => {
    asked.push(request.params);
    return told.answer;
  });
}
const [command, ...args] = told.server;
await client.connect(new StdioClientTransport({ command, args, env: process.env, stderr: 'inherit' }));
const results = [];
for (const [method, params] of told.calls) {
  results.push(await client[method](params));
}
console.log(JSON.stringify({ version: client.getNegotiatedProtocolVersion(), results, asked }));
await client.close();
