import { randomBytes, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { describe, expect, it } from 'vitest';
import { type Need, Readiness, type ReadinessParts } from '../../../gateway/operations/readiness.ts';
import { ChainHead } from '../../../gateway/rails/base/chain-head.ts';
import { clockOff, openHeartbeat } from '../../../gateway/reconcile/heartbeat.ts';
import type { TestChain } from '../../harness/chain.ts';
import { openGround } from '../../harness/faults/ground.ts';
import { freshStore } from '../../harness/store.ts';

/* A process whose clock is wrong judges the windows of payments and proofs wrongly: it must receive no paid calls. */

describe('what is known of a clock by asking another', () => {
  const times = fc.record({
    off_ms: fc.integer({ min: -1_000_000, max: 1_000_000 }),
    there_ms: fc.nat(5_000),
    back_ms: fc.nat(5_000),
  });

  it('is never more than it is off, and less by the way there and back at most', () => {
    fc.assert(
      fc.property(times, ({ off_ms, there_ms, back_ms }) => {
        const asked_ms = 1_760_000_000_000;
        const theirs_ms = asked_ms + there_ms - off_ms;
        const known = clockOff({ asked_ms, theirs_ms, received_ms: asked_ms + there_ms + back_ms });
        expect(known).toBeLessThanOrEqual(Math.abs(off_ms));
        expect(known).toBeGreaterThanOrEqual(Math.abs(off_ms) - there_ms - back_ms);
      }),
    );
  });

  it.each([-60_000, 60_000])('%d ms off the database: told by each heartbeat', async off_ms => {
    const database = await freshStore();
    const wrong = { now_ms: () => Date.now() + off_ms };
    const heartbeat = await openHeartbeat(database, randomUUID(), () => {}, wrong);
    try {
      expect(heartbeat.clock_off_ms()).toBeGreaterThan(30_000);
    } finally {
      await heartbeat.stop();
    }
    const right = await openHeartbeat(database, randomUUID(), () => {});
    expect(right.clock_off_ms()).toBeLessThan(30_000);
    await right.stop();
  });

  it('a head of the chain from a time to come proves it behind; an old one proves nothing', async () => {
    let timestamp_seconds = 1_000;
    const block = () => ({ number: 7, hash: '0xab', timestamp_seconds, base_fee_wei: 1n }) as const;
    const head = new ChainHead({ block: async () => ({ kind: 'ok', value: block() }) }, { now_ms: () => 1_000_000 });
    expect(head.ahead_ms()).toBe(0);
    for (const [seconds, ahead_ms] of [
      [1_000, 0],
      [1_040, 40_000],
      [100, 0],
    ] as const) {
      timestamp_seconds = seconds;
      await head.poll();
      expect(head.ahead_ms()).toBe(ahead_ms);
    }
  });
});

/** The settings that production requires, for a service with its chain, database and hub on its own machine. */
async function inProduction(chain: TestChain): Promise<Record<string, string>> {
  const secret = () => randomBytes(32).toString('hex');
  const settler = generatePrivateKey();
  await chain.call('anvil_setBalance', privateKeyToAddress(settler), '0xde0b6b3a7640000');
  return {
    NODE_ENV: 'production',
    BASE_URL: 'https://svc.test',
    ETH_USD: '3000',
    FACILITATOR_KEYS: settler,
    SOLANA_RPC_URL: '',
    SOLANA_FEE_PAYER_KEY: '',
    PAY_TO_SOLANA: '',
    ROUTER_URL: '',
    SEAL_KEY: secret(),
    SUBGRAPH_SECRET: secret(),
    ANCHOR_KEY: secret(),
    METRICS_TOKEN: secret(),
    API_KEYS: secret(),
    DEMO_KEYS: secret(),
    WAIVER_KEYS: secret(),
    BOARD_OPS_SECRET: secret(),
    BOARD_INBOUND_SECRET: secret(),
  };
}

describe('/readyz', () => {
  const well: ReadinessParts = {
    writable: () => true,
    holdsLease: () => true,
    chain_age_ms: () => 0,
    lane_age_ms: () => 0,
    subgraphs_away: () => [],
    settling_trouble: () => null,
    hubs_away: () => false,
    listens: () => true,
    sound: () => true,
    clock_off_ms: () => 0,
  };
  it.each<[number, readonly Need[]]>([
    [30_000, []],
    [30_001, ['clock']],
  ])('a clock that is %d ms off: away is %j', async (off_ms, away) => {
    expect(await new Readiness({ ...well, clock_off_ms: () => off_ms }).missingNeeds()).toEqual(away);
  });

  it('503 clock of a service whose clock goes wrong', async () => {
    const ground = await openGround();
    const entry = 'test/harness/operations/gateway-with-wrong-clock.ts';
    const gateway = await ground.startProcess({ entry, args: ['45000'] });
    const ready = async () => {
      const answer = await fetch(`${gateway.url}/readyz`);
      return [answer.status, ((await answer.json()) as { away?: string[] }).away];
    };
    await expect.poll(ready).toEqual([503, expect.arrayContaining(['clock'])]);
    const health = async () => (await fetch(`${gateway.url}/health`)).json();
    await expect.poll(health).toMatchObject({ status: 'degraded', away: expect.arrayContaining(['clock']) });
  });

  it.each([
    ['base_settling', { settling_trouble: network => (network === 'base' ? 'unfunded' : null) }],
    ['solana_settling', { settling_trouble: network => (network === 'solana' ? 'facilitator_unavailable' : null) }],
    ['hubs', { hubs_away: () => true }],
    ['live', { listens: () => false }],
  ] satisfies [string, Partial<ReadinessParts>][])(
    'ready without %s, which only what comes next shows to be back',
    async (name, parts) => {
      const readiness = new Readiness({ ...well, ...parts });
      expect([await readiness.missingNeeds(), readiness.missingLanes()]).toEqual([[], [name]]);
    },
  );

  it('503 clock in production where the chain’s head is of a time to come', async () => {
    const ground = await openGround();
    const gateway = await ground.start({ environment: await inProduction(ground.chain) });
    const away = async () => {
      const answer = await fetch(`${gateway.url}/readyz`);
      return ((await answer.json()) as { away?: string[] }).away ?? [];
    };
    await expect.poll(away).toEqual([]);
    await ground.chain.passTime(60);
    await expect.poll(away).toEqual(['clock']);
  });
});
