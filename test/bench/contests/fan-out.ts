import { setTimeout as sleep } from 'node:timers/promises';
import { type Child, measured } from '../child/child.ts';
import { type Arena, atLeast, type Contest, perCpuSecond, type Side } from '../contest.ts';
import { Subscribers } from '../load/sockets.ts';
import type { Job } from '../servers/ledger.ts';
import type { StockSocketsReady } from '../servers/stock-sockets.ts';

const SOCKETS = 1_000;
/** Must be valid for the current schema of the graph (test/papers/figures.test.ts). */
export const subscription = `subscription Rows($agentId: Int!, $after: Int) {
  bookRows(agentId: $agentId, after: $after) {
    position kind seq at
    row {
      taskId evidence collected collectedAt payment { ref rail amount } route { model hub }
      payerWallet intentId replayCount rowHash
      fulfillment { jobKind resource intentId attemptIndex outputCommitment { status hash kind omissionRule } }
    }
  }
}`;

/** On our side a row is appended to the ledger, read back and sent to each holder of the book. The other side receives its event by IPC. */
export const fanOut: Contest = {
  name: 'fan-out',
  beside: 'stock graphql-ws and graphql-js',
  lines: [
    { name: 'live row to 1,000 subscribers', unit: 'deliveries per CPU second', goal: atLeast(4), of: perCpuSecond },
  ],
  async open(arena) {
    return { ours: await live(arena), beside: await stock(arena) };
  },
};

async function live({ stage, closing, quick }: Arena): Promise<Side> {
  const gateway = await stage.gateway();
  const ledger = await stage.ledger();
  const book = await stage.emptyBook(await stage.gateway_database());
  const job: Job = { book, count: 1 };
  const tell = async () => {
    await ledger.ask('prepare', job);
    await ledger.ask('append', job);
  };
  return eventSide(gateway, tell, quick, () => subscribe(gateway, closing, book.agent_id, { session: book.session }));
}

async function stock({ stage, closing, quick }: Arena): Promise<Side> {
  const server = await stage.start<StockSocketsReady>({ file: 'stock-sockets' }, closing);
  const tell = () => server.ask('publish', event);
  return eventSide(server, tell, quick, async () => {
    const subscribers = await subscribe(server, closing, 1, {});
    // All sockets must have subscribed first, because this server does not repeat earlier events.
    while ((await server.ask<number>('subscribers')) < SOCKETS) await sleep(10);
    return subscribers;
  });
}

async function subscribe(
  { ready: { url } }: Child<{ readonly url: string }>,
  closing: AsyncDisposableStack,
  agentId: number,
  shown: object,
): Promise<Subscribers> {
  const variables = { agentId, after: 0 };
  const subscribers = await Subscribers.open({ url, sockets: SOCKETS, shown, query: subscription, variables });
  return closing.adopt(subscribers, it => it.close());
}

/** Publishes an event each time all sockets have received the previous one. The sockets are opened in the first round. */
function eventSide(server: Child, tell: () => Promise<void>, quick: boolean, open: () => Promise<Subscribers>): Side {
  const events = quick ? 3 : 10;
  let opened: Subscribers | null = null;
  return {
    async round() {
      const subscribers = opened ?? (await open());
      opened = subscribers;
      return measured([server], async () => {
        for (let event = 0; event < events; event++) {
          const all = subscribers.delivered + SOCKETS;
          await tell();
          await subscribers.untilDelivered(all);
        }
        return events * SOCKETS;
      });
    },
  };
}

const HASH = 'a'.repeat(64);
const at = '2026-01-02T03:04:05.678Z';
const event = {
  position: 1,
  kind: 'born',
  seq: 1,
  at,
  row: {
    taskId: 'task_01jd3x8z5v9k2m4n6p8q0r2s4t',
    evidence: 'collected',
    collected: true,
    collectedAt: at,
    payment: { ref: `base:0x${HASH}`, rail: 'usdc', amount: '2000' },
    route: { model: 'small-1', hub: 'north' },
    payerWallet: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    intentId: null,
    fulfillment: {
      jobKind: 'completions',
      resource: null,
      intentId: 'intent-1',
      attemptIndex: 0,
      outputCommitment: { status: 'committed', hash: HASH, kind: 'sha256', omissionRule: null },
    },
    replayCount: 0,
    rowHash: HASH,
  },
};
