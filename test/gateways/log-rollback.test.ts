import { join } from 'node:path';
import { expect, it } from 'vitest';
import { savedHead } from '../../subgraphs/receipt/log/saved-head.ts';
import { nameOf, newBuyer, send, trySend } from '../harness/faults/buyer.ts';
import { eventually, openGround } from '../harness/faults/ground.ts';
import { haltOf, olderState } from '../harness/faults/log-halt.ts';
import { refusalOf } from '../harness/faults/operator.ts';
import { startDatabaseProxy } from '../harness/faults/wire.ts';
import { listenAt, newAgent } from '../harness/gateways/trio.ts';
import { atEnd } from '../harness/release.ts';
import { clearScratch, makeScratch } from '../harness/scratch.ts';
import type { RunningService } from '../harness/worker-gateway.ts';

/* The database is restored to an older state under several processes. The one that appended least receives the first request. */

async function folder(): Promise<string> {
  const made = await makeScratch();
  atEnd(() => clearScratch(made));
  return made;
}

async function savedSize(data_dir: string): Promise<number | undefined> {
  return (await savedHead(join(data_dir, 'log-head.json')).read())?.tree_size;
}

const refused = new Set(['503 unavailable', '503 settlement_pending']);

it('three processes, each with a folder of its own: none appends, for each has heard what the others committed', async () => {
  const ground = await openGround();
  const wire = await startDatabaseProxy(ground.database_url);
  const gateways: RunningService[] = [];
  for (const start of [ground.startProcess, ground.start, ground.start])
    gateways.push(await start({ url: wire.url, ...(gateways.length > 0 && { data_dir: await folder() }) }));
  const [first, second, least] = gateways as [RunningService, RunningService, RunningService];
  const agent = await newAgent(ground, least);
  const older = await olderState(ground, [wire]);
  const heard = listenAt(least, agent);
  for (const gateway of [first, second, first]) {
    const order = await agent.chat('later');
    await eventually('sold', async () => (await trySend(gateway, order))?.status === 200 || null);
  }
  const events = (await ground.database.query({ text: 'select 1 from book_event' })).length;
  // Waits for all events, which arrive on the same connection in the order of commits.
  await eventually('heard', () => heard.length >= events || null);
  const before = await older.heads();
  const signed = await older.signed();
  // Each process also saves in its own folder the newest head that it has received.
  for (const { data_dir } of gateways)
    await eventually('saved', async () => ((await savedSize(data_dir)) === signed.at(-1)?.tree_size ? true : null));

  older.turnBack();
  const buyer = await newBuyer(ground);
  const asked = [least, least, second, first];
  const answers = await Promise.all(asked.map(async gateway => send(gateway, await buyer.chat('after'))));
  for (const answer of answers) expect(refused).toContain(nameOf(answer));
  for (const gateway of gateways) {
    const halt = await eventually('halted', () => haltOf(gateway));
    expect(halt).toMatchObject({ known: { tree_size: signed.at(-1)?.tree_size }, found: { tree_size: 1 } });
  }
  // No tree size has two heads: the older state is a prefix of what was signed, and nothing was signed since.
  expect(await older.heads()).toEqual(before);
  expect(signed.slice(0, before.length)).toEqual(before);
  const [row] = await older.database.query<{ halted: object }>({ text: 'select halted from log_head' });
  expect(row?.halted).toMatchObject({ found: { tree_size: 1 }, by: expect.stringContaining('/') });

  await Promise.all(gateways.map(gateway => gateway.stop()));
  for (const { data_dir } of gateways) {
    const refusal = await refusalOf(ground, { url: older.url, data_dir });
    expect(refusal).toMatch(/size 1, root [0-9a-f]{64}/);
    expect(refusal).toContain(
      `the log is shrunken: the head saved outside the database has size 4, root ${signed.at(-1)?.root_hash}`,
    );
  }
});

it('two processes with one folder: also the one that was cut off while the other committed knows it from there', async () => {
  const ground = await openGround();
  const [wire, cut] = [await startDatabaseProxy(ground.database_url), await startDatabaseProxy(ground.database_url)];
  const busy = await ground.startDying({ url: wire.url });
  const least = await ground.startProcess({ url: cut.url });
  const buyer = await newBuyer(ground);
  expect((await send(least, await buyer.chat('before'))).status).toBe(200);
  const older = await olderState(ground, [wire, cut]);
  cut.down();
  const later = await buyer.chat('later');
  await eventually('sold', async () => (await trySend(busy, later))?.status === 200 || null);
  const before = await older.heads();
  await busy.kill();

  older.turnBack();
  const halt = await eventually('halted', async () => {
    const answer = await trySend(least, await buyer.chat('after'));
    if (answer) expect(refused).toContain(nameOf(answer));
    return haltOf(least);
  });
  expect(halt).toMatchObject({ known: { tree_size: 2 }, found: { tree_size: 1 } });
  expect(await older.heads()).toEqual(before);
});
