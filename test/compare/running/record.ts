import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { everyDoor } from '../../../rest-compat/every-door.ts';
import type { Json } from '../../../schema/canonical-json.ts';
import { setup, teardown } from '../../harness/global.ts';
import { releaseAll } from '../../harness/release.ts';
import { type DeliveredMessage, openFixedService } from './fixed-service.ts';
import { fixTime } from './fixed-time.ts';
import { readAll, readFeeds } from './reads.ts';
import { sealedLines, storedLines } from './stored-lines.ts';
import { tellEnd, tellStory } from './story.ts';
import { type RecordLine, tellerOf } from './teller.ts';
import { byGraph, byRest, type Transport } from './transport.ts';

/* Runs the story twice, by REST and on the graph, each time on a new service, and records the results. */

const tellings = { rest: byRest, graph: byGraph } as const satisfies Readonly<Record<string, Transport>>;

export async function recordRunning(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const cluster = await openCluster();
  fixTime();
  const reached = new Set<string>();
  const surprises: string[] = [];
  try {
    for (const [name, transport] of Object.entries(tellings)) {
      const told = await recordTelling(cluster, folder, name, transport);
      for (const door of told.reached) reached.add(door);
      surprises.push(...told.surprises.map(it => `${name}: ${it}`));
      await releaseAll();
    }
  } finally {
    await releaseAll();
    await teardown();
  }
  const unreached = everyDoor.filter(({ effect, name }) => effect !== 'reads' && !reached.has(name));
  const told = { writing_but_unreached: unreached.map(({ name }) => name), surprises };
  writeFileSync(join(folder, 'running-reach.json'), `${JSON.stringify(told, null, 1)}\n`);
  console.log(`${everyDoor.filter(({ effect }) => effect !== 'reads').length - unreached.length} writing endpoints`);
  for (const { name } of unreached) console.log(`NOT REACHED: ${name}`);
  for (const surprise of surprises) console.log(`NOT AS MEANT: ${surprise}`);
  // A writing endpoint that the story does not call would not be compared, so the run fails.
  if (unreached.length > 0 || surprises.length > 0) process.exitCode = 1;
}

async function recordTelling(cluster: string, folder: string, name: string, transport: Transport) {
  const service = await openFixedService(cluster, name);
  const teller = tellerOf(service, transport);
  const { cast, things } = await tellStory(teller);
  await service.settled();
  await readAll(teller, cast, things);
  const feeds = await readFeeds(teller, cast);
  await tellEnd(teller, cast);
  await service.settled();
  const files: Readonly<Record<string, readonly RecordLine[]>> = {
    answers: teller.calls,
    ...(await storedLines(service)),
    sealed: await sealedLines(service),
    webhooks: webhookLines(service.receiver.delivered),
    feeds: Object.entries(feeds).flatMap(([of, events]) =>
      events.map((event, index) => ({ at: `${of} ${index}`, to: event })),
    ),
  };
  for (const [file, lines] of Object.entries(files))
    writeFileSync(
      join(folder, `running-${name}-${file}.jsonl`),
      lines.map(line => `${JSON.stringify(line)}\n`).join(''),
    );
  return teller;
}

/** Messages of each webhook path in the order of their arrival. */
function webhookLines(delivered: readonly DeliveredMessage[]): readonly RecordLine[] {
  return Object.entries(Object.groupBy(delivered, ({ path }) => path)).flatMap(([path, messages = []]) =>
    messages.map(({ headers, body }, index) => ({
      at: `${path} ${index}`,
      to: { headers, body: JSON.parse(body) as Json },
    })),
  );
}

/** Starts the Postgres of a test run with its template. */
async function openCluster(): Promise<string> {
  const provided: Record<string, string> = {};
  const provide = (key: string, value: string) => {
    provided[key] = value;
  };
  await setup({ provide } as unknown as Parameters<typeof setup>[0]);
  return provided.cluster_url ?? '';
}
