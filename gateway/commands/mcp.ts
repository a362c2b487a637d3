import { createInterface } from 'node:readline';
import { bounds } from '../../rest-compat/faces/mcp/bounds.ts';
import { givenToolService } from '../config/tool-service.ts';
import { requireNoArguments, run } from '../operations/run.ts';
import { Forwarder } from './mcp/forward.ts';

/*
 * `npm run -s mcp`: the tools of a running service for an MCP client that starts its servers itself (stdio). The service is
 * SERVICE_URL; SVC_API_KEY, SVC_SESSION and SVC_ROUTER_KEY are shown there by their headers, and SVC_TOOLS and SVC_SCHEMAS say which tools
 * it lists. It pays nothing and has no wallet.
 */

async function main(): Promise<void> {
  requireNoArguments();
  // Whoever started us has gone.
  process.stdout.on('error', () => process.exit(0));
  const forwarder = new Forwarder(givenToolService(), line => process.stdout.write(`${line}\n`));
  const underway = new Set<Promise<void>>();
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() === '') continue;
    const work = forwarder.forward(line);
    underway.add(work);
    void work.finally(() => underway.delete(work));
    // What a handshake says is in force for whatever comes behind it.
    if (line.includes('"initialize"')) await work;
    if (underway.size >= bounds.underway_max) await Promise.race(underway);
  }
  await Promise.all(underway);
}

await run(main);
