import pg from 'pg';
import { privateKeyToAddress } from 'viem/accounts';
import { beforeAll, describe, expect, it } from 'vitest';
import { SettlingStanding } from '../../../gateway/rails/settling-standing.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { nameOf, newBuyer, send } from '../../harness/faults/buyer.ts';
import { eventually, type Ground, openGround } from '../../harness/faults/ground.ts';
import type { RunningService } from '../../harness/worker-gateway.ts';

/* What no look at a chain, a database or a facilitator shows: each of them answers, and still nothing is sold. */

let ground: Ground;
let gateway: RunningService;
let buyer: Awaited<ReturnType<typeof newBuyer>>;

beforeAll(async () => {
  ground = await openGround();
  gateway = await ground.start();
  buyer = await newBuyer(ground);
});

const read = async (path: string) => (await (await fetch(gateway.url + path)).json()) as JsonObject;
const buy = async (prompt: string) => nameOf(await send(gateway, await buyer.chat(prompt)));

async function expectWell(): Promise<void> {
  await expect.poll(() => read('/health')).toMatchObject({ status: 'ok', away: [] });
  expect(await read('/readyz')).toEqual({ status: 'ok', without: [] });
}

async function setGas(amount: string): Promise<void> {
  for (const key of ground.chain.facilitator_keys)
    await ground.chain.call('anvil_setBalance', privateKeyToAddress(key), amount);
}

describe('GET /health', () => {
  it('degraded by base_settling while nobody can be paid for want of gas, until a payment is sent again', async () => {
    await expectWell();
    await setGas('0x0');
    await expect.poll(() => buy('Without gas')).toBe('503 unavailable');
    expect(await read('/health')).toMatchObject({
      status: 'degraded',
      away: ['base_settling'],
      settling: [{ network: 'base', trouble: 'unfunded' }],
    });
    expect(await read('/readyz')).toEqual({ status: 'ok', without: ['base_settling'] });
    await setGas('0xde0b6b3a7640000');
    await expect.poll(() => buy('With gas again')).toBe('200');
    await expectWell();
  });

  it('degraded by jobs while no process takes up what is done periodically', async () => {
    await expectWell();
    const standing = new pg.Client({ connectionString: ground.database_url });
    await standing.connect();
    try {
      const job = `graphile_worker._private_jobs`;
      const named = `where key = 'periodic/unbound_sessions'`;
      // Workers pass over a row that is locked; one may be quicker than we.
      await eventually('a job that nobody takes', async () => {
        await standing.query(`update ${job} set run_at = now() - interval '10 minutes' ${named}`);
        await standing.query('begin');
        const ready = `is_available and run_at < now() - interval '5 minutes'`;
        const { rows } = await standing.query(`select ${ready} as held from ${job} ${named} for update`);
        if (rows[0]?.held) return true;
        await standing.query('rollback');
        return null;
      });
      await expect.poll(() => read('/health')).toMatchObject({ status: 'degraded', away: ['jobs'] });
      expect(await read('/readyz')).toEqual({ status: 'ok', without: [] });
    } finally {
      await standing.end();
    }
    await expectWell();
  });

  it('degraded by hubs while each has failed and none has answered since', async () => {
    await expectWell();
    ground.broken.add('Broken');
    await expect
      .poll(async () => [await buy('Broken'), (await read('/health')).away])
      .toEqual(['502 hub_failed', ['hubs']]);
    expect(await read('/readyz')).toEqual({ status: 'ok', without: ['hubs'] });
    await expect.poll(() => buy('Answered')).toBe('200');
    await expectWell();
  });
});

describe('what the payments of a network came to', () => {
  it.each([
    ['fee_too_high', 'fee_too_high'],
    ['out_of_gas', 'unfunded'],
  ] as const)('is no trouble of all where %s holds for one payment alone', (reason, trouble) => {
    const standing = new SettlingStanding();
    standing.recordOutcome({ kind: 'not_sent', reason }, null);
    expect(standing.trouble).toBeNull();
    standing.recordOutcome({ kind: 'not_sent', reason }, reason);
    expect(standing.trouble).toBe(trouble);
  });

  it('stays with what the payment itself, or somebody else, brought about', () => {
    const standing = new SettlingStanding('unfunded');
    const landed = { tx_hash: '0x1', block_number: 1, block_hash: '0x2', transfer_index: 0 } as const;
    standing.recordOutcome({ kind: 'not_transferred', reason: 'expired' }, null);
    standing.recordOutcome({ kind: 'not_sent', reason: 'claim_lost' }, null);
    standing.recordOutcome({ kind: 'transferred', by: 'third_party', ...landed }, null);
    expect(standing.trouble).toBe('unfunded');
    standing.recordOutcome({ kind: 'transferred', by: 'us', ...landed }, null);
    expect(standing.trouble).toBeNull();
  });
});
