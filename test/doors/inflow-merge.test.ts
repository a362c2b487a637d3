import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { inflowLimits } from '../../schema/limits.ts';
import { verifyInflowClaim } from '../../subgraphs/receipt/verify/inflow-claim.ts';
import { inflowDoorsOf, signedBy } from '../harness/doors/inflows.ts';
import { onGraph } from '../harness/doors/on-graph.ts';
import { type Service, sharedService } from '../harness/doors/open-service.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
let agent: Agent;
beforeAll(async () => {
  service = await sharedService();
  agent = await service.newAgent();
});

const { book, record, correct, gaps, entries } = inflowDoorsOf(() => service);
const reason = 'Both were meant.';

/** Tasks of an inflow and of its two corrections, which fork. */
async function fork(of = agent) {
  const task_id = String((await record(of, { allocation: '100' })).body.task_id);
  const correction = async (said: string) =>
    String((await correct(of, { task_id, reason: said })).body.correction.task_id);
  return { task_id, one: await correction('One.'), other: await correction('Other.') };
}

const supersession = async (task_id: string, of = agent) => (await gaps(of, `?task_id=${task_id}`)).body.supersession;

describe('POST /v1/agents/{agent_id}/book/inflow/correct with merges', () => {
  it('200 names the branches of a fork; the fork stays, and its rows, the inflow and the report of the sequence show by what it was merged', async () => {
    const { task_id, one, other } = await fork();
    expect(await supersession(task_id)).toMatchObject({ status: 'forked', merged_by: null });
    const { status, body } = await correct(agent, { task_id: other, reason, merges: [one], allocation: '60' });
    expect(status).toBe(200);
    const merges = [one, other];
    const merged_by = String(body.correction.task_id);
    expect(body.correction).toMatchObject({ corrects: other, merges, allocation: '60', inflow_claim: { merges } });
    expect(body.row.inflow_corrections).toMatchObject([
      { task_id: one, merged_by },
      { task_id: other, merged_by },
      { task_id: merged_by, merges },
    ]);
    expect(body.row.inflow_corrections?.[2]).not.toHaveProperty('merged_by');
    const shown = (await entries(agent)).map(row => [row.task_id, row.merged_by]);
    expect(shown.slice(0, 4)).toEqual([
      [merged_by, undefined],
      [other, merged_by],
      [one, merged_by],
      [task_id, undefined],
    ]);
    expect(await supersession(task_id)).toMatchObject({ status: 'forked', authoritative: null, merged_by, forks: 1 });
    const { body: jwks } = await service.get('/.well-known/jwks.json');
    expect(verifyInflowClaim(body.correction.inflow_claim ?? {}, jwks)).toMatchObject({ kind: 'valid' });
  });

  it('200 idempotent_replay on the same merge, in whatever order the branches are named, and that of branches that had gone on', async () => {
    const { task_id, one, other } = await fork();
    const further = String((await correct(agent, { task_id: one, reason: 'Further.' })).body.correction.task_id);
    const merge = await correct(agent, { task_id: further, reason, merges: [other] });
    expect(merge.body).toMatchObject({ idempotent_replay: false, correction: { merges: [other, further] } });
    const again = await correct(agent, { task_id: further, reason, merges: [further, other, other] });
    expect(again.body).toEqual({ ...merge.body, idempotent_replay: true });
    const merged_by = merge.body.correction.task_id;
    expect(await supersession(task_id)).toMatchObject({ status: 'forked', merged_by, corrections: 4, forks: 1 });
  });

  it('200 that corrects the row at which it forks: merges are the branches alone', async () => {
    const { task_id, one, other } = await fork();
    const { body } = await correct(agent, { task_id, reason, merges: [one, other] });
    expect(body.correction).toMatchObject({ corrects: task_id, merges: [one, other] });
    const merged_by = body.correction.task_id;
    expect(await supersession(task_id)).toMatchObject({ status: 'forked', merged_by, forks: 1 });
  });

  it('200 on a fork that is merged twice, differently: neither is elected, and merged_by is null until they are merged', async () => {
    const { task_id, one, other } = await fork();
    const merge = async (said: string) =>
      String((await correct(agent, { task_id: one, reason: said, merges: [other] })).body.correction.task_id);
    const [first, second] = [await merge('First.'), await merge('Second.')];
    expect(await supersession(task_id)).toMatchObject({ status: 'forked', merged_by: null, forks: 3 });
    const { body } = await correct(agent, { task_id: first, reason, merges: [second] });
    const merged_by = body.correction.task_id;
    expect(await supersession(task_id)).toMatchObject({ status: 'forked', authoritative: null, merged_by });
  });

  it('200 with a merge that the wallet signed beforehand; 403 where it names other branches', async () => {
    const { one, other } = await fork();
    const signed = (merges: string[]) =>
      signedBy(agent.account, 'correction', {
        iss: service.url,
        agent_id: agent.agent_id,
        task_id: one,
        reason,
        merges,
        signed_at: new Date().toISOString(),
      });
    const claim = await signed([one, other]);
    const { body } = await correct(agent, { task_id: one, reason, correction: claim });
    expect(body.correction).toMatchObject({ merges: [one, other], inflow_claim: { wallet_claim: claim } });
    const { body: jwks } = await service.get('/.well-known/jwks.json');
    expect(verifyInflowClaim(body.correction.inflow_claim ?? {}, jwks)).toMatchObject({ kind: 'valid' });
    expect(await correct(agent, { task_id: one, reason, correction: await signed([other]) })).toMatchObject({
      status: 403,
      body: { code: 'inflow_claim_invalid', error: { param: 'correction.merges' } },
    });
    const beside = { task_id: one, reason: 'Signed, and asked for otherwise.', merges: [other] };
    const signed_otherwise = await signedBy(agent.account, 'correction', {
      iss: service.url,
      agent_id: agent.agent_id,
      task_id: one,
      reason: beside.reason,
      merges: [one, other],
      signed_at: new Date().toISOString(),
    });
    expect(await correct(agent, { ...beside, correction: signed_otherwise })).toMatchObject({
      status: 403,
      body: { code: 'inflow_claim_invalid', error: { param: 'merges' } },
    });
  });

  it('400 of a row together with the correction that has merged it: that is no branch beside it', async () => {
    const { task_id, one, other } = await fork();
    const merged = String((await correct(agent, { task_id, reason, merges: [one, other] })).body.correction.task_id);
    const answer = await correct(agent, { task_id: one, reason: 'With its own successor.', merges: [merged] });
    expect(answer).toMatchObject({ status: 400, body: { error: { param: 'merges' } } });
    expect((await supersession(task_id)).merged_by).toBe(merged);
  });

  it('400 where these are not branches of a fork, 404 where one is no correction of this book; nothing is written', async () => {
    const { task_id, one, other } = await fork();
    const further = String((await correct(agent, { task_id: one, reason: 'Further.' })).body.correction.task_id);
    const elsewhere = await fork();
    const stranger = await fork(await service.newAgent());
    const before = (await entries(agent)).length;
    const cases: [body: JsonObject, status: number, says: RegExp][] = [
      [{ task_id: one, merges: [one] }, 400, /at least two/],
      [{ task_id, merges: [one] }, 400, /corrects no row/],
      [{ task_id: one, merges: [] }, 400, /merges/],
      [{ task_id: one, merges: 'all' }, 400, /merges/],
      [{ task_id: one, merges: Array.from({ length: inflowLimits.merges_max + 1 }, () => other) }, 400, /merges/],
      [{ task_id: one, merges: [elsewhere.one] }, 400, /another inflow/],
      [{ task_id: one, merges: [task_id] }, 400, /corrects no row/],
      [{ task_id: one, merges: [further] }, 400, /all correct the same row/],
      [{ task_id: one, merges: ['nothing'] }, 404, /inflow/],
      [{ task_id: one, merges: [stranger.one] }, 404, /inflow/],
    ];
    for (const [body, status, says] of cases) {
      const answer = await correct(agent, { reason, ...body });
      expect(answer.status).toBe(status);
      expect(answer.text).toMatch(says);
      expect((answer.body as unknown as { error: { param: string } }).error.param).toMatch(/^merges/);
    }
    expect((await entries(agent)).length).toBe(before);
  });
});

it('the graph and the audit pack show merges and merged_by as REST does', async () => {
  const own = await service.newAgent();
  const { task_id, one, other } = await fork(own);
  const MERGE = `mutation ($agentId: Int!, $input: InflowCorrectionInput!) {
    correctInflow(agentId: $agentId, input: $input) { idempotentReplay correction { taskId merges mergedBy } } }`;
  const input = { taskId: one, reason, merges: [one, other] };
  const { data } = await onGraph(service, MERGE, { agentId: own.agent_id, input }, own.session);
  const merge = data?.correctInflow as { correction?: { taskId: string } } | undefined;
  expect(merge).toMatchObject({ idempotentReplay: false, correction: { merges: [one, other], mergedBy: null } });
  const merged_by = merge?.correction?.taskId;
  const READ = `query ($agentId: Int!) { bookSequence(agentId: $agentId) { supersession { mergedBy } }
    book(agentId: $agentId) { entries { taskId merges mergedBy } rows(first: 9) { edges { node { taskId merges mergedBy } } } } }`;
  const read = await onGraph(service, READ, { agentId: own.agent_id }, own.session);
  expect(read.data?.bookSequence).toEqual({ supersession: { mergedBy: merged_by } });
  const shown = read.data?.book as unknown as { entries: JsonObject[]; rows: { edges: { node: JsonObject }[] } };
  expect(shown.rows.edges.map(({ node }) => node)).toEqual(shown.entries);
  const byRest = (await entries(own)).map(it => ({
    taskId: it.task_id,
    merges: it.merges ?? null,
    mergedBy: it.merged_by ?? null,
  }));
  expect(shown.entries).toEqual(byRest);
  const pack = await service.get<{ rows: JsonObject[] }>(book(own, '/export?format=json'), {
    'X-SVC-Session': own.session,
  });
  expect(pack.body.rows.find(row => row.task_id === task_id)?.inflow_corrections).toMatchObject([
    { merged_by },
    { merged_by },
    { merges: [one, other] },
  ]);
});
