import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { reconciliationLimits } from '../../schema/limits.ts';
import { verifyReconciliation } from '../../subgraphs/receipt/verify/reconciliation.ts';
import { newestBlock, type ReconciliationAnswer, sendUsdc } from '../harness/doors/reconciliations.ts';
import { eventually, type Ground, openGround } from '../harness/faults/ground.ts';
import { newAgent } from '../harness/gateways/trio.ts';
import { type LyingChain, startLyingChain } from '../harness/lying-chain.ts';
import type { RunningService } from '../harness/worker-gateway.ts';

/* A report is completed or ends with a named reason, regardless of which process dies and which false answers the node gives. */

let ground: Ground;
let liar: LyingChain;
let agent: Awaited<ReturnType<typeof newAgent>>;
let service: RunningService;
let last: number;
/** Numbers of blocks with a payment that the test made itself. */
const paid: number[] = [];
/** First and last block of each page that was requested. */
const pages: (readonly [number, number])[] = [];
const honest = {
  eth_getLogs: (truth: never, [range]: readonly { fromBlock: string; toBlock: string }[]) => {
    if (range) pages.push([Number(range.fromBlock), Number(range.toBlock)]);
    return truth;
  },
} as never;

beforeAll(async () => {
  ground = await openGround();
  liar = await startLyingChain(ground.chain.rpc_url);
  const first = await ground.startProcess(through());
  agent = await newAgent(ground, first);
  for (const amount of [1n, 2n, 3n]) {
    paid.push((await sendUsdc(ground.chain, agent.address, ground.pay_to, amount)).block_number);
    await ground.chain.mine(150);
  }
  last = await newestBlock(ground.chain);
  service = first;
});

const through = () => ({ environment: { BASE_RPC_URL: liar.url } });
const headers = () => ({ 'content-type': 'application/json', 'X-SVC-Session': agent.session });
const at = (by: RunningService, report_id = '') =>
  `${by.url}/v1/agents/${agent.agent_id}/book/reconciliation${report_id && `/${report_id}`}`;

async function start(by: RunningService): Promise<string> {
  const body = JSON.stringify({ wallet: agent.address, from_block: 0, to_block: last });
  const answer = await fetch(at(by), { method: 'POST', headers: headers(), body });
  expect(answer.status).toBe(202);
  return ((await answer.json()) as ReconciliationAnswer).report_id;
}

async function read(by: RunningService, report_id: string): Promise<ReconciliationAnswer> {
  return (await (await fetch(at(by, report_id), { headers: headers() })).json()) as ReconciliationAnswer;
}

const reaches = (by: RunningService, report_id: string, done: (report: ReconciliationAnswer) => boolean) =>
  eventually(`${report_id} is so`, async () => {
    const report = await read(by, report_id);
    return done(report) ? report : null;
  });
const jwks = async ({ url }: RunningService) =>
  (await (await fetch(`${url}/.well-known/jwks.json`)).json()) as JsonObject;
const ends = (by: RunningService, report_id: string) => reaches(by, report_id, ({ state }) => state !== 'running');
const whole = { unreceipted: { count: 3, amount: '6' }, receipted: { count: 1, amount: '2000' } };

describe('a reconciliation', () => {
  it('killed in its midst by SIGKILL: another process goes on behind its last page, and each transfer is in it once', async () => {
    liar.lie(honest);
    liar.behave({ kind: 'narrow', blocks_max: 10 });
    const report_id = await start(service);
    await reaches(service, report_id, ({ blocks_done }) => blocks_done > 100);
    liar.behave({ kind: 'hang', methods: ['eth_getLogs'] });
    await (service as Awaited<ReturnType<Ground['startProcess']>>).kill('SIGKILL');
    const [stored] = await ground.database.query<{ next_block: number }>({
      text: 'select next_block from reconciliation where report_id = $1',
      values: [report_id],
    });
    const behind = stored?.next_block ?? 0;
    expect(behind).toBeGreaterThan(100);
    liar.tellTruth();
    pages.length = 0;
    liar.lie(honest);
    service = await ground.start(through());
    const done = await ends(service, report_id);
    expect(done).toMatchObject({ state: 'done', transfers_found: 4, report: { sums: whole, transfers_total: 4 } });
    expect(done.report?.transfers.map(({ amount }) => amount)).toEqual(['2000', '1', '2', '3']);
    const asked = pages.filter(([from]) => from > 0);
    expect(Math.min(...asked.map(([from]) => from))).toBeGreaterThanOrEqual(behind);
    expect(verifyReconciliation(done.report ?? {}, await jwks(service))).toMatchObject({ kind: 'valid' });
  });

  it('by a node that refuses wide ranges asks for narrower ones, and is none the worse for it', async () => {
    pages.length = 0;
    liar.lie(honest);
    liar.behave({ kind: 'narrow', blocks_max: 70 });
    const done = await ends(service, await start(service));
    expect(done).toMatchObject({ state: 'done', report: { sums: whole } });
    liar.tellTruth();
  });

  it('by a node that adds logs of another token and wallet is the same', async () => {
    const stranger = (await ground.chain.newWallet()).address.toLowerCase();
    liar.lie({
      eth_getLogs: truth =>
        (truth as JsonObject[]).flatMap(log => [
          log,
          { ...log, address: stranger, logIndex: '0x70' },
          {
            ...log,
            topics: [String((log.topics as string[])[0]), `0x${'0'.repeat(24)}${stranger.slice(2)}`],
            logIndex: '0x71',
          },
        ]),
    });
    const done = await ends(service, await start(service));
    expect(done).toMatchObject({ state: 'done', report: { sums: whole } });
    liar.tellTruth();
  });

  it('of a block with more transfers than a page takes is narrowed down to it, lists the first and sums all', async () => {
    const copies = 2_100;
    liar.lie({
      eth_getLogs: truth =>
        (truth as JsonObject[]).flatMap(log =>
          Number(log.blockNumber) === paid[1]
            ? Array.from({ length: copies }, (_, at) => ({ ...log, logIndex: `0x${at.toString(16)}` }))
            : [log],
        ),
    });
    const { report, ...done } = await ends(service, await start(service));
    liar.tellTruth();
    expect(done).toMatchObject({ state: 'done', transfers_found: copies + 3 });
    const unreceipted = { count: copies + 2, amount: String(1 + 2 * copies + 3) };
    expect(report).toMatchObject({ truncated: true, transfers_total: copies + 3, sums: { ...whole, unreceipted } });
    expect(report?.transfers).toHaveLength(reconciliationLimits.listed_transfers_max);
    expect(verifyReconciliation(report ?? {}, await jwks(service))).toMatchObject({ kind: 'valid' });
  });

  it('whose blocks are others by its end is failed by name, and signed nowhere', async () => {
    let asked = 0;
    liar.lie({
      eth_getBlockByNumber: (truth, [tag]) =>
        tag === `0x${last.toString(16)}` && asked++ > 0
          ? { ...(truth as JsonObject), hash: `0x${'ab'.repeat(32)}` }
          : truth,
    });
    expect(await ends(service, await start(service))).toMatchObject({
      state: 'failed',
      reason: 'reorganised',
      report: null,
    });
    liar.tellTruth();
  });

  it('whose node does not answer for too long is failed by name; until then it waits', async () => {
    liar.behave({ kind: 'no_json', methods: ['eth_getLogs'] });
    const report_id = await start(service);
    await eventually('it was narrowed', async () => {
      const [row] = await ground.database.query<{ page_blocks: number }>({
        text: 'select page_blocks from reconciliation where report_id = $1',
        values: [report_id],
      });
      return row && row.page_blocks < 2_000 ? row : null;
    });
    expect(await read(service, report_id)).toMatchObject({ state: 'running', blocks_done: 0 });
    await ground.database.query({
      text: `update reconciliation set moved_at = moved_at - interval '11 minutes' where report_id = $1`,
      values: [report_id],
    });
    expect(await ends(service, report_id)).toMatchObject({
      state: 'failed',
      reason: 'chain_unavailable',
      report: null,
    });
    liar.tellTruth();
    expect(await ends(service, await start(service))).toMatchObject({ state: 'done' });
  });
});
