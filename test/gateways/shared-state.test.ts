import { getAddress, type Hex } from 'viem';
import { beforeAll, describe, expect, it } from 'vitest';
import { audit } from '../harness/faults/audit.ts';
import { oneTo } from '../harness/faults/audit-books.ts';
import { answerTo, harmless, jwsOf, nameOf, newBuyer, type Order, send } from '../harness/faults/buyer.ts';
import { untilAllClosed } from '../harness/faults/claims.ts';
import { eventually, type Ground, openGround } from '../harness/faults/ground.ts';
import { type Agent, listenAt, newAgent, startGateways } from '../harness/gateways/trio.ts';
import { begin, legacy, sendMessage } from '../harness/mcp-message.ts';
import type { RunningService } from '../harness/worker-gateway.ts';

/* Three processes on one Postgres, one chain and the same settlement keys. */

const EACH = 60;

let ground: Ground;
let gateways: readonly RunningService[];
const at = (index: number) => gateways[index % gateways.length] as RunningService;

beforeAll(async () => {
  ground = await openGround();
  gateways = await startGateways(ground, 3);
});

describe('a session of MCP that was begun at one process', () => {
  it('is taken by each of the others', async () => {
    const id = (await sendMessage(at(0).url, begin)).headers.get('mcp-session-id') ?? '';
    for (const gateway of gateways)
      expect((await sendMessage(gateway.url, legacy('ping'), { 'mcp-session-id': id })).status).toBe(200);
    expect((await sendMessage(at(1).url, legacy('ping'), { 'mcp-session-id': `${id}x` })).status).toBe(404);
  });
});

describe('a book whose rows are bought at three processes', () => {
  it('is heard live at each of them, every position once and in order', async () => {
    const agent = await newAgent(ground, at(0));
    const sockets = gateways.map(gateway => listenAt(gateway, agent));
    const all = (positions: number) =>
      eventually(`${positions} events at each`, () => sockets.every(({ length }) => length >= positions) || null);
    await all(1);

    const orders = await Promise.all(oneTo(6).map(number => agent.chat(`heard ${number}`)));
    const together = orders.slice(3);
    for (const [index, order] of orders.slice(0, 3).entries()) {
      expect((await send(at(index), order)).status).toBe(200);
      await all(index + 2);
    }
    await Promise.all(together.map((order, index) => send(at(index), order)));
    expect((await send(at(1), orders[0] as Order)).headers.get('x-svc-settlement-status')).toBe('idempotent_replay');
    await all(8);
    // If an event were sent twice, its copy would arrive before this one.
    expect((await send(at(2), await agent.chat('and no more'))).status).toBe(200);
    await all(9);

    for (const heard of sockets) {
      expect(heard.map(({ position }) => position)).toEqual(oneTo(9));
      expect(heard).toEqual(sockets[0]);
    }
    expect(sockets[0]?.filter(({ kind }) => kind === 'born').map(({ row }) => row.seq)).toEqual(oneTo(8));
    expect(sockets[0]?.filter(({ kind }) => kind === 'replay').map(({ row }) => row.seq)).toEqual([2]);
  });
});

describe(`one payment sent ${EACH} times at once to three processes`, () => {
  it('is charged once, and every answer is its receipt or says to ask again', async () => {
    const before = await audit(ground);
    const order = await (await newBuyer(ground)).chat('me first');
    const answers = await Promise.all(Array.from({ length: EACH }, (_, index) => send(at(index), order)));
    expect(answers.map(nameOf).filter(name => !harmless.has(name))).toEqual([]);
    const paid = [...answers.filter(({ status }) => status === 200), await answerTo(at(1), order)];
    expect(new Set(paid.map(jwsOf)).size).toBe(1);
    await untilAllClosed(ground);
    expect(await audit(ground)).toBe(before + 1);
  });
});

describe(`${EACH} calls at once at each of three processes, of six payers on three books`, () => {
  it('are all paid, recorded once, and none of the processes is left behind', async () => {
    const before = await audit(ground);
    const owners: Agent[] = [];
    while (owners.length < 3) owners.push(await newAgent(ground, at(owners.length)));
    const guests = await Promise.all(owners.map(() => newBuyer(ground)));
    const orders: Order[] = [];
    for (let index = 0; index < 3 * EACH; index++) {
      const { session, chat } = owners[index % 3] as Agent;
      // A guest has no book, so its payments are recorded on the book whose session it sends.
      const guest = guests[(index + 1) % 3] ?? { chat };
      orders.push(index % 2 === 0 ? await chat(`load ${index}`) : { ...(await guest.chat(`load ${index}`)), session });
    }
    const answers = await Promise.all(orders.map((order, index) => answerTo(at(Math.floor(index / EACH)), order)));

    const shares = gateways.map((_, number) => answers.slice(number * EACH, (number + 1) * EACH).map(nameOf));
    expect(shares).toEqual(gateways.map(() => Array(EACH).fill('200')));
    await untilAllClosed(ground);
    expect(await audit(ground)).toBe(before + owners.length + orders.length);
    const seqs = { text: 'select seq from book where agent_id = any($1)', values: [owners.map(it => it.agent_id)] };
    expect(await ground.database.query(seqs)).toEqual(owners.map(() => ({ seq: 1 + EACH })));
  });

  it('took every nonce of every settlement key once, in the table as on the chain', async () => {
    await allMined();
    const sent = await ground.database.query<Sent>({
      text: `select key_address, nonce, count(distinct settlement_id)::int as settlements,
          array_agg(tx_hash) as tx_hashes from settlement s join settlement_attempt a using (settlement_id)
        group by key_address, nonce order by key_address, nonce`,
    });
    expect(sent.filter(({ settlements }) => settlements !== 1)).toEqual([]);
    const keys = [...new Set(sent.map(({ key_address }) => key_address))];
    expect(keys.length).toBeGreaterThan(1);
    for (const key of keys) {
      const own = sent.filter(({ key_address }) => key_address === key);
      const count = Number(await ground.chain.call<string>('eth_getTransactionCount', key, 'latest'));
      expect(own.map(({ nonce }) => nonce)).toEqual(oneTo(count).map(number => number - 1));
      expect(await Promise.all(own.map(minedAs))).toEqual(own.map(({ nonce }) => [[key, nonce]]));
    }
  });

  it('met no deadlock', async () => {
    // Postgres reports the deadlocks of a session when the session ends, if not earlier.
    await Promise.all(gateways.map(gateway => gateway.stop()));
    const text = 'select deadlocks::int from pg_stat_database where datname = current_database()';
    expect(await ground.database.query({ text })).toEqual([{ deadlocks: 0 }]);
    expect(gateways.flatMap(({ logs }) => logs.filter(line => /deadlock|40P01/.test(line)))).toEqual([]);
  });
});

interface Sent {
  readonly key_address: string;
  readonly nonce: number;
  readonly settlements: number;
  readonly tx_hashes: readonly string[];
}

async function allMined(): Promise<void> {
  const text = `select count(*)::int as open from settlement where state = 'sent'`;
  await eventually('every settlement mined', async () => {
    const [row] = await ground.database.query<{ open: number }>({ text });
    return row?.open === 0 || null;
  });
}

/** Signer and nonce of the transaction that was mined. Exactly one of several attempts is mined. */
async function minedAs({ tx_hashes }: Sent): Promise<readonly (readonly [string, number])[]> {
  const found = await Promise.all(
    tx_hashes.map(hash => ground.chain.call<MinedTransaction | null>('eth_getTransactionByHash', hash)),
  );
  return found.flatMap(it => (it?.blockNumber ? [[getAddress(it.from), Number(it.nonce)] as const] : []));
}

interface MinedTransaction {
  readonly from: Hex;
  readonly nonce: string;
  readonly blockNumber: string | null;
}
