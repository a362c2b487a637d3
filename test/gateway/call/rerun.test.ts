import { beforeEach, expect, it } from 'vitest';
import { beginRerun } from '../../../gateway/call/replay.ts';
import type { LogStanding } from '../../../gateway/log/open-log.ts';
import { type AnswerEnd, type BrokenBy, WHOLE } from '../../../subgraphs/answer-end.ts';
import { systemClock } from '../../../subgraphs/clock.ts';
import type { Database } from '../../../subgraphs/database.ts';
import type { AnyPaid } from '../../../subgraphs/sale.ts';
import { claim, claimRequest } from '../../harness/claim/fixture.ts';
import { freshStore } from '../../harness/store.ts';

/* Work that is done once more, while the log is halted: the database has gone back, and nothing is written into it. */

const KEY = 'eip155:8453/usdc/payer/1';
const OWNER = '00000000-0000-4000-8000-000000000001';

let database: Database;
beforeEach(async () => {
  database = await freshStore();
  await claim(database, claimRequest(KEY));
  await database.query({
    text: `update payment_claim set state = 'recorded', request_box = '\\x00', moved_at = now()`,
  });
});

const held = async () => {
  const [row] = await database.query({ text: 'select answer_box, reruns, rerun_owner, rerun_at from payment_claim' });
  return row;
};

it.each<['broken' | 'whole', BrokenBy | null]>([
  ['broken', 'limit'],
  ['broken', 'hub'],
  ['whole', null],
])('an answer that is %s (%s) is not kept once it is halted, and its hold is left to lapse', async (_, by) => {
  const end: AnswerEnd = by === null ? WHOLE : { kind: 'broke_off', by, hub_error: null };
  const log: { halt: LogStanding['halt'] } = { halt: null };
  const later: (() => Promise<unknown>)[] = [];
  const begun = await beginRerun(
    {
      database,
      vault: { seal: text => Buffer.from(text) },
      owner: OWNER,
      later: { add: (work: () => Promise<unknown>) => void later.push(work) } as never,
      log,
      clock: systemClock,
    },
    { order: 'stream' } as AnyPaid,
    KEY,
  );
  if (begun.kind !== 'begun') throw new Error(begun.kind);
  expect(await begun.holdOn()).toBe('held');
  const before = await held();
  log.halt = {} as never;
  const unavailable = { code: 'unavailable' };
  await expect(begun.holdOn()).rejects.toMatchObject(unavailable);
  const route = { hub: 'alpha', model: 'm' };
  const work = { answer: { a: 1 }, route, output_sha256: 'a', end } as never;
  const kept = begun.keep(work);
  if (by === 'hub') await kept;
  else await expect(kept).rejects.toMatchObject(unavailable);
  await begun.giveUp();
  expect(later).toEqual([]);
  expect(await held()).toEqual(before);
});
