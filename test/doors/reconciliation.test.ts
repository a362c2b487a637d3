import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { reconciliationLimits } from '../../schema/limits.ts';
import { transferSlot } from '../../schema/observed-transfer.ts';
import { verifyReconciliation } from '../../subgraphs/receipt/verify/reconciliation.ts';
import { onGraph } from '../harness/doors/on-graph.ts';
import { ask, type Service, sharedService } from '../harness/doors/open-service.ts';
import {
  newestBlock,
  type ReconciliationAnswer,
  reconciliationDoorsOf,
  sendUsdc,
} from '../harness/doors/reconciliations.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;
type Sent = Awaited<ReturnType<typeof sendUsdc>>;

let service: Service;
let agent: Agent;
let stranger: Agent;
let own: Agent;
let second: Awaited<ReturnType<Service['chain']['newWallet']>>;
let last: number;
const bought: string[] = [];
const sent: Record<'elsewhere' | 'ingested' | 'itself' | 'own', Sent> = {} as never;
beforeAll(async () => {
  service = await sharedService();
  [agent, stranger, own] = [await service.newAgent(), await service.newAgent(), await service.newAgent()];
  second = await service.chain.newWallet();
  const shown = { 'X-SVC-Session': agent.session };
  bought.push((await service.buy(agent.account, ask('one'), shown)).body.svc.task_id);
  const from = agent.account.address;
  sent.elsewhere = await sendUsdc(service.chain, from, service.pay_to, 7n);
  sent.ingested = await sendUsdc(service.chain, from, stranger.account.address, 30n);
  sent.itself = await sendUsdc(service.chain, from, from, 400n);
  // A wallet that pays for the agent's calls but did not register the agent.
  await service.buy(second, ask('by another wallet'), shown);
  sent.own = await sendUsdc(service.chain, from, second.address, 5_000n);
  // The agent's wallet pays for a call on another agent's book.
  bought.push((await service.buy(agent.account, ask('two'), { 'X-SVC-Session': stranger.session })).body.svc.task_id);
  const { tx_hash: transaction, log_index: index } = sent.ingested;
  await service.query('insert into claim_slot (slot, claim_key) values ($1, $2)', [
    transferSlot({ network: 'base', transaction, index }),
    'of somebody else',
  ]);
  last = await newestBlock(service.chain);
});

const { start, one, ended } = reconciliationDoorsOf(() => service);
const range = (members: JsonObject = {}) => ({
  wallet: agent.account.address,
  from_block: 0,
  to_block: last,
  ...members,
});
const seconds = () => Math.floor(Date.now() / 1000);

async function signedBy(
  account: Agent['account'],
  { signed_at = seconds(), wallet = account.address as string, agent_id = agent.agent_id } = {},
) {
  const message = `svc.reconcile|${service.url}|${agent_id}|${wallet}|${signed_at}`;
  return { wallet, signed_at, signature: await account.signMessage({ message }) };
}

async function reported(by: Agent, body: JsonObject) {
  const { status, body: asked } = await start(by, body);
  expect([status, asked.state]).toEqual([202, 'running']);
  const done = await ended(by, asked.report_id);
  expect(done).toMatchObject({ state: 'done', reason: null });
  return done;
}

function listed({ report }: ReconciliationAnswer) {
  return (report?.transfers ?? []).map(({ class: of, amount, used }) => ({ of, amount, used }));
}

describe('POST /v1/agents/{agent_id}/book/reconciliation', () => {
  it('202, and once it is done each transfer is what it is, in the order of the chain, signed', async () => {
    const done = await reported(agent, range());
    const stamp = { by: 'receipt', book: expect.any(String), task_id: agent.task_id };
    const chat = { by: 'receipt', book: 'own', task_id: bought[0], verify_url: `${service.url}/receipt/${bought[0]}` };
    expect(listed(done)).toEqual([
      { of: 'receipted', amount: '2000', used: expect.objectContaining(stamp) },
      { of: 'receipted', amount: '2000', used: chat },
      { of: 'unreceipted', amount: '7', used: undefined },
      { of: 'ingested', amount: '30', used: { by: 'ingest', book: 'another' } },
      { of: 'self_dealt', amount: '400', used: undefined },
      { of: 'self_dealt', amount: '5000', used: undefined },
      // With only this agent's session the holder does not learn which receipt of another book it is.
      { of: 'receipted', amount: '2000', used: { by: 'receipt', book: 'another' } },
    ]);
    expect(done).toMatchObject({ blocks_done: last + 1, blocks_total: last + 1, transfers_found: 7 });
    expect(done.report).toMatchObject({
      schema: 'svc402.reconciliation.v1',
      wallet: agent.account.address,
      wallet_proven_by: 'agent_wallet',
      from_block: 0,
      to_block: last,
      own_wallets: [agent.account.address, second.address].sort(),
      transfers_total: 7,
      truncated: false,
      sums: {
        receipted: { count: 3, amount: '6000' },
        ingested: { count: 1, amount: '30' },
        unreceipted: { count: 1, amount: '7' },
        self_dealt: { count: 2, amount: '5400' },
      },
    });
    const { transfers } = done.report ?? {};
    expect(transfers?.[2]).toMatchObject({ ...sent.elsewhere, payee: service.pay_to });
    const [block] = await Promise.all([
      service.chain.call<{ hash: string }>('eth_getBlockByNumber', `0x${last.toString(16)}`, false),
    ]);
    expect(done.report).toMatchObject({ to_block_hash: block.hash });
    expect(verifyReconciliation(done.report ?? {}, await service.jwks())).toMatchObject({ kind: 'valid' });
  });

  it('202 for a wallet that has signed: all of its receipts are its own to know', async () => {
    const signed = await reported(agent, { ...range(), ...(await signedBy(agent.account)) });
    expect(listed(signed).at(-1)?.used).toMatchObject({ by: 'receipt', book: 'another', task_id: bought[1] });
    const theirs = await reported(agent, { ...range(), ...(await signedBy(second)) });
    expect(theirs.report).toMatchObject({ wallet: second.address, wallet_proven_by: 'signature' });
    expect(listed(theirs)).toEqual([
      { of: 'receipted', amount: '2000', used: expect.objectContaining({ book: 'own' }) },
    ]);
  });

  it('202: nothing of other blocks, of other wallets, or received', async () => {
    const { block_number: at } = sent.itself;
    const done = await reported(agent, range({ from_block: at, to_block: at }));
    expect(listed(done).map(({ amount }) => amount)).toEqual(['400']);
    const none = await reported(stranger, {
      ...range({ wallet: stranger.account.address, from_block: sent.ingested.block_number }),
      to_block: sent.ingested.block_number,
    });
    expect(none.report).toMatchObject({ transfers: [], transfers_total: 0 });
  });

  it('202, and failed by name, where the chain has no such block yet', async () => {
    const { body } = await start(agent, range({ to_block: last + 40_000, from_block: last }));
    expect(await ended(agent, body.report_id)).toMatchObject({ state: 'failed', reason: 'block_absent', report: null });
  });

  it.each<[string, JsonObject, string]>([
    ['what is no address', { wallet: '0x12' }, 'wallet'],
    ['a range that ends before it begins', { from_block: 5, to_block: 4 }, 'to_block'],
    ['more than 50,000 blocks', { from_block: 1, to_block: 50_001 }, 'to_block'],
    ['a block that is no number', { from_block: '0' }, 'from_block'],
    ['a block below zero', { from_block: -1 }, 'from_block'],
    ['what is no member', { page: 1 }, 'page'],
  ])('400 on %s, with its name', async (_, members, param) => {
    expect(await start(agent, range(members))).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', error: { param } },
    });
  });

  it('401 for a wallet that is not the agent’s and has not signed, or not this, or not now', async () => {
    const wallet = second.address as string;
    expect(await start(agent, range({ wallet }))).toMatchObject({
      status: 401,
      body: { code: 'control_proof_missing', error: { param: 'signature' } },
    });
    const wrong = [
      { ...(await signedBy(agent.account)), wallet },
      await signedBy(second, { signed_at: seconds() - 301 }),
      { ...(await signedBy(second)), signature: '0x' },
      // A signature for another agent does not count for this one.
      await signedBy(second, { agent_id: stranger.agent_id }),
    ];
    for (const shown of wrong)
      expect(await start(agent, { ...range(), ...shown })).toMatchObject({
        status: 401,
        body: { code: 'control_proof_invalid' },
      });
  });

  it('409 with the id of the one that is under way; another agent is not held up', async () => {
    const all = await Promise.all(Array.from({ length: 5 }, () => start(agent, range())));
    expect(all.map(({ status }) => status).sort()).toEqual([202, 409, 409, 409, 409]);
    const { report_id } = all.find(({ status }) => status === 202)?.body ?? { report_id: '' };
    for (const { status, body } of all)
      if (status === 409) expect(body).toMatchObject({ code: 'reconciliation_running', report_id });
    await reported(stranger, range({ wallet: stranger.account.address }));
    expect(await ended(agent, report_id)).toMatchObject({ state: 'done' });
  });

  it('409 no more where nobody has worked on it for hours', async () => {
    await service.query(
      `insert into reconciliation select 'reconciliation_stale', agent_id, wallet, agent_wallet, proven_by, from_block, to_block,
        'running', null, from_block, page_blocks, null, null, log_size, 0, sums, now() - interval '3 hours',
        now() - interval '3 hours', null, null from reconciliation where agent_id = $1 limit 1`,
      [agent.agent_id],
    );
    await service.query(`insert into reconciliation_transfer values ('reconciliation_stale', 0, '{}')`);
    await reported(agent, range());
    expect(await ended(agent, 'reconciliation_stale')).toMatchObject({ state: 'failed', reason: 'interrupted' });
    expect(await service.query('select report_id from reconciliation_transfer')).toEqual([]);
  });
});

describe('GET /v1/agents/{agent_id}/book/reconciliation/{report_id}', () => {
  it('404 for another agent’s, and for none', async () => {
    const { report_id } = await reported(agent, range({ from_block: last }));
    expect(await one(agent, report_id)).toMatchObject({ status: 200 });
    expect(await one(stranger, report_id)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await one(agent, 'reconciliation_none')).toMatchObject({ status: 404 });
  });
});

describe('GraphQL startReconciliation and reconciliation', () => {
  const START = `mutation ($agentId: Int!, $input: ReconciliationInput!) {
    startReconciliation(agentId: $agentId, input: $input) { reportId state blocksTotal } }`;
  const READ = `query ($agentId: Int!, $reportId: String!) {
    reconciliation(agentId: $agentId, reportId: $reportId) { state reason blocksDone report } }`;
  const graphql = (query: string, variables: JsonObject, session?: string) =>
    onGraph<Record<string, JsonObject>>(service, query, variables, session);

  it('say what the doors say, and refuse what they refuse', async () => {
    const { agent_id: agentId, session } = agent;
    const input = { wallet: agent.account.address, fromBlock: 0, toBlock: last };
    const { data } = await graphql(START, { agentId, input }, session);
    expect(data?.startReconciliation).toMatchObject({ state: 'running', blocksTotal: last + 1 });
    const reportId = String(data?.startReconciliation?.reportId);
    const { report } = await ended(agent, reportId);
    expect((await graphql(READ, { agentId, reportId }, session)).data?.reconciliation).toEqual({
      state: 'done',
      reason: null,
      blocksDone: last + 1,
      report,
    });
    const refused = async (members: JsonObject) =>
      (await graphql(START, { agentId, input: { ...input, ...members } }, session)).errors?.[0]?.extensions.code;
    expect(await refused({ toBlock: 60_000 })).toBe('invalid_request');
    expect(await refused({ wallet: second.address })).toBe('control_proof_missing');
  });
});

describe('POST /v1/agents/{agent_id}/book/reconciliation, on a book of its own', () => {
  it('429 beyond so many in a day, with Retry-After, and the oldest are dropped beyond so many', async () => {
    const body = range({ wallet: own.account.address, from_block: last });
    await reported(own, body);
    const copies = (count: number, ago: string) =>
      service.query(
        `insert into reconciliation select report_id || $3 || n, agent_id, wallet, agent_wallet, proven_by, from_block, to_block,
          state, reason, next_block, page_blocks, from_hash, to_hash, log_size, transfers, sums, asked_at - $3::interval,
          moved_at, ended_at, document from reconciliation, generate_series(1, $2) n
        where agent_id = $1 and report_id !~ ' '`,
        [own.agent_id, count, ago],
      );
    const { per_agent_day_max, kept_per_agent_max } = reconciliationLimits;
    await copies(kept_per_agent_max, '2 days');
    await reported(own, body);
    const [kept] = await service.query<{ count: string }>(
      'select count(*)::text from reconciliation where agent_id = $1',
      [own.agent_id],
    );
    expect(kept?.count).toBe(String(kept_per_agent_max));
    await copies(per_agent_day_max, '1 hour');
    const heard = await start(own, body);
    expect(heard).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    expect(Number(heard.headers.get('retry-after'))).toBeGreaterThan(3_000);
  });

  it('503 on a book that its audit has closed', async () => {
    await service.query(`update book set damage = '{"what":"row_missing","place":1}' where agent_id = $1`, [
      own.agent_id,
    ]);
    const heard = await start(own, range({ wallet: own.account.address }));
    expect(heard).toMatchObject({ status: 503, body: { code: 'book_damaged' } });
    expect(await one(own, 'reconciliation_any')).toMatchObject({ status: 503 });
  });
});
