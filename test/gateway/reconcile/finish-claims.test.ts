import { beforeAll, describe, expect, it } from 'vitest';
import { ReleaseLater } from '../../../gateway/call/release-later.ts';
import { unknown } from '../../../gateway/rails/outcome.ts';
import { type Payment, paymentId } from '../../../gateway/rails/payment.ts';
import { type FinishParts, finishOrphans, lookAtExpired } from '../../../gateway/reconcile/finish-claims.ts';
import { lookForArrivals } from '../../../gateway/reconcile/recorded-payments.ts';
import { systemClock } from '../../../subgraphs/clock.ts';
import type { Database } from '../../../subgraphs/database.ts';
import type { LogHalt } from '../../../subgraphs/receipt/log/halt.ts';
import { claim, claimRequest, OTHER, OWNER, stateOf } from '../../harness/claim/fixture.ts';
import { freshStore } from '../../harness/store.ts';

let database: Database;
beforeAll(async () => {
  database = await freshStore();
});

const head = { tree_size: 1, root_hash: '00' };
const halt: LogHalt = { known: head, found: head, at: '2026-01-02T03:04:05.000Z', by: 'here' };

/** A round of a process whose look at the log finds the given halt. */
async function round(found: LogHalt | null, signs = true): Promise<void> {
  const log: { halt: LogHalt | null; signs: boolean } = { halt: null, signs };
  const parts: Pick<FinishParts, 'database' | 'later' | 'log' | 'owner' | 'proveLog'> = {
    database,
    log,
    owner: OWNER,
    later: new ReleaseLater(),
    async proveLog() {
      log.halt = found;
    },
  };
  await finishOrphans(parts as FinishParts);
}

it('leaves alone what nobody seems to hold where the database has gone back and no beat has told yet; releases it where it has not', async () => {
  await claim(database, claimRequest('held by nobody', { lease_owner: OTHER }));
  await round(halt);
  expect(await stateOf(database, 'held by nobody')).toBe('claimed');
  await database.query({ text: `update payment_claim set lease_owner = $1`, values: [OTHER] });
  await round(null);
  expect(await stateOf(database, 'held by nobody')).toBe('released');
});

it('leaves alone what others are to record, once its own key has ended', async () => {
  await claim(database, claimRequest('not ours to record', { lease_owner: OTHER }));
  await round(null, false);
  expect(await stateOf(database, 'not ours to record')).toBe('claimed');
  await round(null);
  expect(await stateOf(database, 'not ours to record')).toBe('released');
});

describe('one round of the fleet', () => {
  const MANY = 150;
  const stored = (message_hash: string) => ({
    network: 'solana',
    amount_atomic: '2000',
    message_hash,
    signature: { kind: 'partial' },
  });
  /** A chain that says nothing of any payment, and counts how many it was asked about. */
  function silentChain() {
    const asked: string[] = [];
    const rail = {
      chain_epoch: 0,
      decide: async ({ authorization }: Payment) => {
        asked.push(paymentId(authorization));
        return unknown('chain_unavailable');
      },
    };
    const log = { halt: null, signs: true };
    const parts = { database, log, clock: systemClock, railOf: () => rail } as unknown as FinishParts;
    return { asked, parts };
  }
  const claims = async (name: string, sql: string) => {
    const requests = Array.from({ length: MANY }, (_, index) =>
      claimRequest(`${name} ${index}`, { authorization: stored(`${name} ${index}`) }),
    );
    await claim(database, ...requests);
    await database.query({ text: `update payment_claim set ${sql} where claim_key like $1`, values: [`${name} %`] });
  };

  it('looks for every arrival that waits, however many came since the last, and for none twice', async () => {
    await claims('arrival', `arrival = 'pending'`);
    const { asked, parts } = silentChain();
    await lookForArrivals(parts);
    expect(new Set(asked).size).toBe(MANY);
    expect(asked).toHaveLength(MANY);
  });

  it('looks once more at every payment that was let go of and has run out', async () => {
    await claims('expired', `state = 'released', final = false, valid_before = 1`);
    const { asked, parts } = silentChain();
    await lookAtExpired(parts);
    expect(new Set(asked).size).toBe(MANY);
    expect(asked).toHaveLength(MANY);
  });

  it('looks for the last time at a first leg that its book refused, though its payee was paid', async () => {
    const key = 'refused leg';
    await claim(database, claimRequest(key, { authorization: stored(key) }));
    const released = `state = 'released', refusal_id = 'ref_01', final = false, valid_before = 1`;
    await database.query({ text: `update payment_claim set ${released} where claim_key = $1`, values: [key] });
    const { parts } = silentChain();
    const rail = { chain_epoch: 0, decide: async () => ({ kind: 'transferred', block_number: 1 }) };
    const sold = new Map([['Mutation.createChatCompletion', { order: 'leg' }]]);
    await lookAtExpired({ ...parts, sold, railOf: () => rail } as unknown as FinishParts);
    const text = 'select final, state from payment_claim where claim_key = $1';
    expect(await database.query({ text, values: [key] })).toEqual([{ final: true, state: 'released' }]);
  });
});
