import { beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import type { EndpointScoreNoun } from '../../schema/board/score.ts';
import { canonicalJson, type JsonObject } from '../../schema/canonical-json.ts';
import { sha256Hex } from '../../schema/digest.ts';
import { scoreLimits } from '../../schema/limits.ts';
import type { FundingEdge } from '../../subgraphs/board/score/clusters.ts';
import { pseudonym } from '../../subgraphs/board/score/read.ts';
import { type ScoreRow, scoreOf } from '../../subgraphs/board/score/rule.ts';
import type { ScoreWeights } from '../../subgraphs/board/score/weights.ts';
import { insertPost, moveBoard } from '../harness/doors/board-posts.ts';
import { ask, openService, type Service } from '../harness/doors/open-service.ts';
import { sendUsdc } from '../harness/doors/reconciliations.ts';
import { hurryTasks } from '../harness/jobs.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;
type EndpointScore = z.infer<typeof EndpointScoreNoun>;

let service: Service;
let host: string;
/** Three agents, of which the first two are funded by the same wallet. */
let agents: Agent[];
let funder: string;
beforeAll(async () => {
  // Not the shared service, because a score counts every report on its host.
  service = await openService();
  host = new URL(service.url).host;
  agents = [await service.newAgent(), await service.newAgent(), await service.newAgent()];
  const wallet = await service.chain.newWallet();
  funder = wallet.address;
  for (const { account } of agents.slice(0, 2)) await sendUsdc(service.chain, funder, account.address, 400_000_000n);
});

const scoreAt = (endpoint: string) =>
  service.get<EndpointScore>(`/v1/board/endpoints/${encodeURIComponent(endpoint)}/score`);
/** The score after reports were written directly to the database. */
async function afresh(endpoint: string) {
  await moveBoard(service);
  return scoreAt(endpoint);
}
const bought = async ({ session, account }: Agent) =>
  (await service.buy(account, ask(`${Math.random()}`), { 'X-SVC-Session': session })).body.svc.task_id;
/** A report by an agent on a call that it paid for itself, written directly to the database. */
async function reported(agent: Agent, members: object = {}): Promise<string> {
  const receipt_ref = await bought(agent);
  const post_id = await insertPost(service, {
    agent_id: agent.agent_id,
    receipt_ref,
    endpoint_host: host,
    ...members,
  });
  await service.query(
    `with head as (update board_head set position = position + 1 returning position)
      insert into board_event (position, kind, post_id, at) select position, 'post_created', $1, now() from head`,
    [post_id],
  );
  return post_id;
}
const runAgain = ({ rows, edges, rows_free, weights }: EndpointScore) =>
  scoreOf(
    { rows: rows as unknown as ScoreRow[], edges: edges as unknown as FundingEdge[], rows_free },
    weights as unknown as ScoreWeights,
  );

describe('GET /v1/board/endpoints/{host}/score', () => {
  it('200 of a host that nobody has told of: unscored, since nothing is known', async () => {
    const { status, body } = await scoreAt('nobody.example');
    expect([status, body]).toMatchObject([
      200,
      {
        endpoint_host: 'nobody.example',
        schema: 'svc402.endpoint_score.v2',
        status: 'unscored',
        score_bp: null,
        unscored_because: 'no_reports',
        unscored_reason: expect.stringContaining('no post'),
        counts: {
          posts: 0,
          complete: true,
          by_outcome: { success: 0, error: 0, double_charge: 0, price_jump: 0 },
          by_backing: { 'spend-backed': 0, 'stamp-backed': 0 },
          confirms: 0,
        },
        rows: [],
        clusters: [],
        as_of_block: null,
        payers_unknown: 0,
      },
    ]);
    // No row counts here, so no cost could be guaranteed.
    expect(body.cost_to_move).toMatchObject({ up: null, down: null });
  });

  it('200 of a host that reports are about, none of which the rule accepts: unscored with the reason, and the counts say what was reported', async () => {
    const endpoint_host = 'shop.example';
    const [one, two] = agents as [Agent, Agent];
    const receipt_ref = await bought(one);
    const third_party = { endpoint_host, host_basis: 'signed', paid_here: false } as const;
    await insertPost(service, {
      ...third_party,
      agent_id: one.agent_id,
      receipt_ref,
      outcome: 'double_charge',
      confirm_count: 2,
    });
    await insertPost(service, { agent_id: two.agent_id, endpoint_host, outcome: 'success' });
    await insertPost(service, { agent_id: two.agent_id, endpoint_host, outcome: 'error', hidden: true });
    const { body } = await afresh(endpoint_host);
    expect(body).toMatchObject({
      status: 'unscored',
      score_bp: null,
      unscored_because: 'no_accepted_evidence',
      unscored_reason: expect.stringContaining('zero_because'),
      counts: {
        posts: 2,
        complete: true,
        by_outcome: { success: 1, error: 0, double_charge: 1, price_jump: 0 },
        by_backing: { 'spend-backed': 1, 'stamp-backed': 1 },
        confirms: 2,
      },
      clusters: [],
    });
    expect(runAgain(body)).toMatchObject({ score_bp: null, unscored_because: 'no_accepted_evidence' });
  });

  it('200: payers whom one wallet has funded count once, and the published JSON alone runs it again', async () => {
    for (const agent of agents) await reported(agent);
    const [zero] = [await reported(agents[2] as Agent, { host_basis: 'declared', outcome: 'error' })];
    const bare = await insertPost(service, { agent_id: 1, endpoint_host: host, outcome: 'error' });
    await expect
      .poll(async () => {
        await hurryTasks(service.query, 'board_funding');
        return (await afresh(host)).body.payers_unknown;
      })
      .toBe(0);
    const { body } = await scoreAt(host);
    const [one, two, three] = agents.map(({ account }) => pseudonym(account.address));
    expect(body.edges).toEqual(
      [one, two].sort().map(payer => ({ funder: pseudonym(funder), payer, amount: '400000000', funded_wallets: 2 })),
    );
    expect(body.clusters.map(({ payers, posts }) => [payers, posts]).sort()).toEqual([
      [1, 1],
      [2, 2],
    ]);
    expect(body.rows).toHaveLength(5);
    const of = (post_id: string) => body.rows.find(row => row.post_id === post_id);
    expect(of(zero ?? '')).toMatchObject({ zero_because: 'declared', cluster: null, payer: three });
    expect(of(bare)).toMatchObject({ zero_because: 'unproven', payer: null });
    expect(body.as_of_block).toBeGreaterThan(0);
    expect(body).toMatchObject({ status: 'scored', unscored_because: null, unscored_reason: null });
    expect(body.counts).toMatchObject({ posts: 5, complete: true, by_outcome: { success: 3, error: 2 } });
    expect(body.score_bp).toBeGreaterThan(5_000);
    expect(body.cost_to_move.down).toMatchObject({ clusters: expect.any(Number), stamps: expect.any(String) });

    const again = runAgain(body);
    expect(again.score_bp).toBe(body.score_bp);
    expect(again.edges_hash).toBe(body.edges_hash);
    expect(body.edges_hash).toBe(sha256Hex(canonicalJson(body.edges as unknown as JsonObject[])));
    expect(again.clusters.map(({ cluster, weight }) => [cluster, String(weight)])).toEqual(
      body.clusters.map(({ cluster, weight }) => [cluster, weight]),
    );
    expect(String(again.cost_to_move.up?.spent)).toBe(body.cost_to_move.up?.spent);
    const text = JSON.stringify(body);
    for (const { account } of agents) expect(text.toLowerCase()).not.toContain(account.address.toLowerCase());
  });

  it('a hidden or taken-down report leaves it, and a report by whoever is paid weighs nothing', async () => {
    const [agent] = agents as [Agent];
    const before = (await scoreAt(host)).body;
    const gone = [await reported(agent, { outcome: 'error' }), await reported(agent, { outcome: 'error' })];
    expect((await scoreAt(host)).body.score_bp).toBeLessThan(before.score_bp ?? 0);
    await service.query('update board_post set hidden = true where post_id = $1', [gone[0]]);
    await service.query('update board_post set taken_down_at = now() where post_id = $1', [gone[1]]);
    expect((await afresh(host)).body).toEqual(before);
    const own = await reported(agent, { outcome: 'error' });
    await service.query('update agent set wallet = $1 where agent_id = $2', [service.pay_to, agent.agent_id]);
    const { body } = await afresh(host);
    expect(body.rows.find(({ post_id }) => post_id === own)?.zero_because).toBe('self_dealt');
  });

  it('whatever is posted that weighs nothing takes the place of nothing that does', async () => {
    const [, , agent] = agents as [Agent, Agent, Agent];
    const endpoint_host = 'flooded.example';
    const kept = await reported(agent, { endpoint_host });
    const { score_bp } = (await scoreAt(endpoint_host)).body;
    expect(score_bp).toBeGreaterThan(5_000);
    await service.query(
      `insert into board_post (post_id, agent_id, endpoint_host, host_basis, outcome, stamp_task_id, amount_atomic, posted_at)
        select 'post_9flood' || n, $1, $2, 'declared', 'error', 'task_none', 2000, now()
        from generate_series(1, $3::int) n`,
      [agent.agent_id, endpoint_host, scoreLimits.rows_max],
    );
    const { body } = await afresh(endpoint_host);
    expect(body.score_bp).toBe(score_bp);
    expect(body.rows.filter(({ zero_because }) => zero_because === null).map(({ post_id }) => post_id)).toEqual([kept]);
    expect(body.rows).toHaveLength(scoreLimits.rows_max + 1);
  });

  it('200 as it was until the board moves: nobody who asks again, or by another spelling, has it made anew', async () => {
    const [, , agent] = agents as [Agent, Agent, Agent];
    const endpoint_host = 'kept.example';
    await expect
      .poll(async () => {
        await reported(agent, { endpoint_host });
        const { body } = await scoreAt(endpoint_host);
        await service.query('update board_post set hidden = true where endpoint_host = $1', [endpoint_host]);
        // Within ten seconds, because later the score is computed again even if the board did not change.
        const again = await Promise.all([scoreAt(endpoint_host), scoreAt('KEPT.example'), scoreAt('kept.example:443')]);
        return again.every(it => it.body.rows.length === body.rows.length && body.rows.length > 0);
      })
      .toBe(true);
    expect((await afresh(endpoint_host)).body.rows).toEqual([]);
  });

  it('200 by GraphQL, of a URL as of its host; 400 of what is neither; 304 where it is as it was', async () => {
    const query =
      '{ endpointScore(endpoint: "https://nobody.example/v1?x=1") { endpointHost scoreBp unscoredBecause asOfBlock edgesHash } }';
    const { body } = await service.post<{ data: JsonObject }>('/graphql', { query });
    expect(body.data).toMatchObject({
      endpointScore: { endpointHost: 'nobody.example', scoreBp: null, unscoredBecause: 'no_reports', asOfBlock: null },
    });
    expect(await scoreAt('not a host')).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    const { headers } = await scoreAt('nobody.example');
    const same = await fetch(`${service.url}/v1/board/endpoints/nobody.example/score`, {
      headers: { 'if-none-match': headers.get('etag') ?? '' },
    });
    expect(same.status).toBe(304);
  });
});
