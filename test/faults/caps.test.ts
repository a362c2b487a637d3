import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { limits } from '../../schema/limits.ts';
import { audit } from '../harness/faults/audit.ts';
import { type Answer, answerTo, nameOf, newBuyer, type Order, send } from '../harness/faults/buyer.ts';
import { untilAllClosed } from '../harness/faults/claims.ts';
import { type Ground, openGround } from '../harness/faults/ground.ts';
import type { RunningService } from '../harness/worker-gateway.ts';

const PRICE = 2000;

let ground: Ground;
const gateways: RunningService[] = [];

beforeAll(async () => {
  ground = await openGround({ mid_hour: true });
  // One after the other, because on a small machine parallel starts delay each other.
  for (let number = 0; number < 3; number++) gateways.push(await ground.start());
});

const at = (index: number) => gateways[index % gateways.length] as RunningService;

/** A wallet with a book that contains the stamp of its registration. */
async function agent() {
  const buyer = await newBuyer(ground);
  const registered = await send(at(0), await buyer.registration());
  expect(registered.status).toBe(200);
  const { agent_id, session } = registered.body as unknown as { agent_id: number; session: string };
  return { ...buyer, agent_id, session };
}

type Wallet = Awaited<ReturnType<typeof newBuyer>>;
type Agent = Awaited<ReturnType<typeof agent>>;

async function knock({ agent_id, session }: Agent, path: string, body: JsonObject): Promise<void> {
  const answer = await fetch(`${at(2).url}/v1/agents/${agent_id}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ session, ...body }),
  });
  expect(answer.status).toBe(200);
}

const set = (owner: Agent, policy_type: string, value: string | boolean) =>
  knock(owner, '/book/policy', { policy_type, value });

const counted = (answers: readonly Answer[]) => {
  const names = new Map<string, number>();
  for (const answer of answers) names.set(nameOf(answer), (names.get(nameOf(answer)) ?? 0) + 1);
  return Object.fromEntries(names);
};

const rowsOf = ({ agent_id }: Agent) =>
  ground.database.query<{ evidence: string; n: number }>({
    text: 'select evidence, count(*)::int as n from book_row where agent_id = $1 group by 1 order by 1',
    values: [agent_id],
  });

describe('five hundred calls at once over three processes, on a cap with room for ten', () => {
  it('collects exactly ten and refuses the others, each with a signed refusal', async () => {
    const buyer = await agent();
    const before = await audit(ground);
    await set(buyer, 'daily_cap', String(11 * PRICE));
    const orders: Order[] = [];
    for (let number = 0; number < 500; number++) orders.push(await buyer.chat(`call ${number}`));
    const answers = await Promise.all(orders.map((order, index) => answerTo(at(index), order)));

    // The first twenty refusals in an hour are signed. Later ones name the last signed one.
    const ROWS = limits.blocked_rows_per_hour_max;
    expect(counted(answers)).toEqual({ 200: 10, '403 policy_blocked': ROWS, '429 blocked_too_often': 490 - ROWS });
    const refused = answers.filter(({ status }) => status === 403);
    expect(new Set(refused.map(({ body }) => body.refusal_id)).size).toBe(ROWS);
    await untilAllClosed(ground);
    expect(await rowsOf(buyer)).toEqual([
      { evidence: 'collected', n: 11 },
      { evidence: 'policy_blocked', n: ROWS },
    ]);
    expect(await audit(ground)).toBe(before + 10);
  });
});

describe('several wallets on one book, by its session', () => {
  it('share its budget', async () => {
    const owner = await agent();
    const before = await audit(ground);
    await knock(owner, '/book', { budget: String(4 * PRICE) });
    const wallets = await Promise.all(Array.from({ length: 4 }, () => newBuyer(ground)));
    const orders = await Promise.all(
      Array.from({ length: 40 }, (_, number) => (wallets[number % 4] as Wallet).chat(`shared ${number}`)),
    );
    const answers = await Promise.all(
      orders.map((order, index) => answerTo(at(index), { ...order, session: owner.session })),
    );
    const ROWS = limits.blocked_rows_per_hour_max;
    expect(counted(answers)).toEqual({ 200: 3, '403 budget_exhausted': ROWS, '429 blocked_too_often': 37 - ROWS });
    expect(await audit(ground)).toBe(before + 3);
  });
});

describe('a kill switch set while calls come in at three processes', () => {
  it('admits nothing that began after its acknowledgement', async () => {
    const buyer = await agent();
    const before = await audit(ground);
    const orders: Order[] = [];
    for (let number = 0; number < 240; number++) orders.push(await buyer.chat(`killed ${number}`));
    let acknowledged = false;
    const early: Promise<Answer>[] = [];
    const late: Promise<Answer>[] = [];
    const killing = set(buyer, 'kill_switch', true).then(() => {
      acknowledged = true;
    });
    for (const [index, order] of orders.entries()) {
      (acknowledged ? late : early).push(send(at(index), order));
      // Calls begin before, during and after the write.
      await new Promise(resolve => setTimeout(resolve, index % 8 === 0 ? 5 : 0));
    }
    await killing;
    for (let number = 0; number < 12; number++) late.push(send(at(number), await buyer.chat(`after ${number}`)));
    const refused = ['403 policy_blocked', '429 blocked_too_often'];
    expect((await Promise.all(late)).map(nameOf).filter(name => !refused.includes(name))).toEqual([]);
    const paid = (await Promise.all(early)).filter(({ status }) => status === 200).length;
    await untilAllClosed(ground);
    expect(await audit(ground)).toBe(before + paid);
  });
});
