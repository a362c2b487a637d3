import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import type { FaultPoint } from '../../../gateway/operations/faults.ts';
import { savedHead } from '../../../subgraphs/receipt/log/saved-head.ts';
import { type JobParties, openJobParties } from '../../harness/board/job-legs.ts';
import { listen } from '../../harness/doors/listen.ts';
import { auditBooks } from '../../harness/faults/audit-books.ts';
import { auditLog } from '../../harness/faults/audit-log.ts';
import { nameOf, newBuyer, type Order, send, trySend } from '../../harness/faults/buyer.ts';
import { claimOf } from '../../harness/faults/claims.ts';
import { eventually, type Ground, openGround } from '../../harness/faults/ground.ts';
import { differences, normalized, stateOf } from '../../harness/faults/state.ts';
import type { RunningService } from '../../harness/worker-gateway.ts';

/*
 * At each fault point a process gets kill -9 during a call, and a service in this process dies during the same call (dying-service.ts),
 * each with its own database and chain. What both leave, how their successors continue, and what their callers receive must be equal. Other
 * tests may therefore let services die in their own process and prove as much as with kill -9.
 */

interface ServiceToKill {
  readonly url: string;
  readonly died: Promise<void>;
  endLease(): Promise<void>;
}

type Start = (ground: Ground, point: FaultPoint) => Promise<ServiceToKill>;

const byKill: Start = async (ground, point) => {
  const { url, exited } = await ground.startFaulty({ point });
  const died = exited.then(code => expect(code).toBeNull());
  return { url, died, endLease: async () => {} };
};
const here: Start = (ground, point) => ground.startDying({ plan: { point } });

type Side = Awaited<ReturnType<typeof openSide>>;

async function openSide(start: Start) {
  const ground = await openGround();
  const healthy = await ground.start();
  const buyer = await newBuyer(ground);
  expect((await send(healthy, await buyer.registration())).status).toBe(200);
  return { ground, healthy, buyer, parties: await openJobParties(ground, healthy), start };
}

/** A call that reaches a point: how its order is made, and what its caller receives. That is null if the answer breaks off. */
interface Way {
  order(side: { buyer: Awaited<ReturnType<typeof newBuyer>>; parties: JobParties }, name: string): Promise<Order>;
  hear(side: { ground: Ground }, at: Pick<RunningService, 'url'>, order: Order): Promise<unknown>;
}

const whole: Way['hear'] = async (_side, at, order) => {
  const answer = await trySend(at, order);
  if (answer === null) return null;
  const { headers, body } = answer;
  return { name: nameOf(answer), settled: headers.get('x-svc-settlement-status'), body };
};

const ways = {
  chat: { order: ({ buyer }, name) => buyer.chat(name), hear: whole },
  leg: { order: async ({ parties }) => (await parties.newJob()).first(), hear: whole },
  /** The hub sends the rest after the first words have arrived, when the money has already moved. */
  stream: {
    order: ({ buyer }, name) => buyer.stream(name),
    async hear({ ground }, at, { body, payment }) {
      const begun = Promise.withResolvers<void>();
      ground.hub.behave({ kind: 'answer', in_stream: { after_words: 2, does: begun.promise } });
      const stream = await listen(at, JSON.parse(body), { headers: { 'x-payment': payment } });
      if (stream.status === 200) await stream.next();
      begun.resolve();
      const heard = await stream.rest().catch(() => null);
      ground.hub.behave({ kind: 'answer' });
      return heard && { name: String(stream.status), ends_well: heard.ends_well, text: heard.text, svc: heard.svc };
    },
  },
} as const satisfies Record<string, Way>;

const points: Readonly<Record<FaultPoint, keyof typeof ways>> = {
  in_claim: 'chat',
  after_claim: 'chat',
  after_work: 'chat',
  in_settling: 'chat',
  after_settling: 'chat',
  after_broadcast: 'chat',
  mid_stream: 'stream',
  before_hold: 'leg',
  in_hold: 'leg',
  before_record: 'chat',
  in_record: 'chat',
  after_record: 'chat',
  before_book_heads: 'chat',
};

const sides: Record<'killed' | 'dead', Side> = {} as Record<'killed' | 'dead', Side>;
beforeAll(async () => {
  sides.killed = await openSide(byKill);
  sides.dead = await openSide(here);
});

const underWay = new Set(['409 payment_in_flight', '503 settlement_pending']);

/** Lets a service die at that point. Returns everything that can be observed after all work of its call has ended. */
async function dieAt(side: Side, point: FaultPoint) {
  const { ground, healthy } = side;
  const { order: ordered, hear } = ways[points[point]];
  const dying = await side.start(ground, point);
  const order = await ordered(side, point);
  const lost = await hear(side, dying, order);
  await dying.died;
  const stands = await claimOf(ground, order);
  await dying.endLease();
  const finished = await eventually('nobody to hold it', async () => {
    const claim = await claimOf(ground, order);
    return claim?.state === 'claimed' || claim?.state === 'settling' ? null : { claim };
  });
  const next = await eventually('an answer', async () => {
    const heard = (await hear(side, healthy, order)) as { name: string };
    return underWay.has(heard.name) ? null : heard;
  });
  const after = await claimOf(ground, order);
  const transfers = (await ground.chain.transfers(ground.pay_to)).length;
  return { lost, transfers, ...(normalized({ stands, finished, next, after }) as object) };
}

const all = Object.keys(points) as FaultPoint[];
const inTheMidstOfLegs = (point: FaultPoint) => points[point] === 'leg';

function leavesTheSame(point: FaultPoint): void {
  it('leaves in this process what it leaves by kill -9', async () => {
    const [killed, dead] = await Promise.all([dieAt(sides.killed, point), dieAt(sides.dead, point)]);
    expect(killed.lost).toBeNull();
    expect(dead).toEqual(killed);
    const states = () => Promise.all([sides.killed, sides.dead].map(({ ground }) => stateOf(ground.database)));
    const differing = async () => differences(...((await states()) as [string[], string[]]));
    // Polls less often than other tests, because each poll reads all rows of all tables on both sides.
    await expect.poll(differing, { interval: 500 }).toEqual([]);
  });
}

describe.each(all.filter(point => !inTheMidstOfLegs(point)))('a service that dies %s', leavesTheSame);

it('books and a log add up on both sides', async () => {
  for (const { ground } of Object.values(sides)) {
    await auditBooks(ground.database);
    await auditLog(ground.database, ground.saved_head);
  }
});

// Run last, because their jobs stay half paid and thus leave the second payment reserved on the posters' books.
describe.each(all.filter(inTheMidstOfLegs))('a service that dies %s', leavesTheSame);

it('a service that has died in this process reaches nobody and is reached by nobody, whatever of it lives on', async () => {
  const { ground, buyer } = sides.dead;
  const dying = await ground.startDying();
  const sessions = async () => {
    const text = 'select 1 from pg_stat_activity where application_name = $1';
    return (await ground.database.query({ text, values: [dying.application_name] })).length;
  };
  const orders = await Promise.all(Array.from({ length: 8 }, (_, index) => buyer.chat(`the ${index}th`)));
  expect((await Promise.all(orders.map(order => send(dying, order)))).map(nameOf)).toEqual(orders.map(() => '200'));
  expect(await sessions()).toBeGreaterThan(1);
  await dying.kill();
  // By name, because another process may merge the files meanwhile.
  const heads = async () => (await savedHead(ground.saved_head).readAll()).map(head => head.tree_head_hash);
  const saved = await heads();
  // Its heartbeats, rounds and jobs have all been due by then.
  for (let looks = 0; looks < 12; looks++) {
    expect(await sessions()).toBe(0);
    await sleep(250);
  }
  await expect(fetch(`${dying.url}/livez`)).rejects.toThrow();
  expect(saved).toEqual(expect.arrayContaining(await heads()));
});
