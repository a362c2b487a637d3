import { createInterface } from 'node:readline';
import { bounds } from '../../rest-compat/faces/mcp/bounds.ts';
import { readToolService } from '../config/tool-service.ts';
import { requireNoArguments, run } from '../operations/run.ts';
import { Forwarder } from './mcp/forward.ts';

/*
 * `npm run -s mcp`: forwards the tools of a running service to an MCP client over stdio. The service is SERVICE_URL. SVC_API_KEY,
 * SVC_SESSION and SVC_ROUTER_KEY are sent to it as headers; SVC_TOOLS and SVC_SCHEMAS select the tools and schemas that it lists.
 * The command has no wallet and pays nothing.
 */

async function main(): Promise<void> {
  requireNoArguments();
  // An error on stdout means that the client has ended.
  process.stdout.on('error', () => process.exit(0));
  const forwarder = new Forwarder(readToolService(), line => process.stdout.write(`${line}\n`));
  const underway = new Set<Promise<void>>();
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() === '') continue;
    const work = forwarder.forward(line);
    underway.add(work);
    void work.finally(() => underway.delete(work));
    // The session of the handshake is needed for later messages.
    if (line.includes('"initialize"')) await work;
    if (underway.size >= bounds.underway_max) await Promise.race(underway);
  }
  await Promise.all(underway);
}

await run(main);
