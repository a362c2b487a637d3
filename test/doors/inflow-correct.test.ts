import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { inflowLimits } from '../../schema/limits.ts';
import { verifyInflowClaim } from '../../subgraphs/receipt/verify/inflow-claim.ts';
import { type ClaimSigner, inflowDoorsOf, signedBy } from '../harness/doors/inflows.ts';
import { onGraph } from '../harness/doors/on-graph.ts';
import { type Service, sharedService } from '../harness/doors/open-service.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
let agent: Agent;
let stranger: Agent;
beforeAll(async () => {
  service = await sharedService();
  [agent, stranger] = [await service.newAgent(), await service.newAgent()];
});

const { book, record, correct, gaps, entries } = inflowDoorsOf(() => service);
const reason = 'The invoice said otherwise.';

/** Records an inflow of 100 for `patron`. Returns its task. */
async function inflow(of = agent): Promise<string> {
  return String((await record(of, { allocation: '100', model: 'alpha-1' })).body.task_id);
}

const correctionOf = (of: Agent, members: JsonObject, by: ClaimSigner = of.account) =>
  signedBy(by, 'correction', {
    iss: service.url,
    agent_id: of.agent_id,
    reason,
    signed_at: new Date().toISOString(),
    ...members,
  });

describe('POST /v1/agents/{agent_id}/book/inflow/correct', () => {
  it('200 appends a row of its own; the inflow stays as it was, and shows it', async () => {
    const task_id = await inflow();
    const before = (await entries(agent))[0];
    const { status, body } = await correct(agent, { task_id, reason, allocation: '90', correction: { invoice: [7] } });
    expect(status).toBe(200);
    const { row, correction } = body;
    expect(correction).toMatchObject({
      evidence: 'inflow_claimed',
      collected: false,
      seq: Number(before?.seq) + 1,
      corrects: task_id,
      reason,
      bucket: 'patron',
      allocation: '90',
      route: { model: 'alpha-1' },
      inflow_claim: { corrects: task_id, reason, allocation: '90', correction: { invoice: [7] } },
    });
    expect(correction).not.toHaveProperty('inflow_corrections');
    const shown = {
      seq: correction.seq,
      task_id: correction.task_id,
      corrects: task_id,
      reason,
      bucket: 'patron',
      allocation: '90',
      recorded_at: correction.collected_at,
      inflow_claim: correction.inflow_claim,
    };
    expect(row).toEqual({ ...before, inflow_corrections: [shown], inflow_corrections_count: 1 });
    expect((await entries(agent)).slice(0, 2)).toEqual([correction, row]);
    const { body: jwks } = await service.get('/.well-known/jwks.json');
    expect(verifyInflowClaim(correction.inflow_claim ?? {}, jwks)).toMatchObject({ kind: 'valid' });
  });

  it('200 on an earlier correction: what is left out stands as that one says; all of them are shown, oldest first', async () => {
    const task_id = await inflow();
    const one = (await correct(agent, { task_id, reason, bucket: 'second' })).body.correction;
    const two = (await correct(agent, { task_id: one.task_id ?? '', reason, allocation: '3' })).body;
    expect(two.correction).toMatchObject({ corrects: one.task_id, bucket: 'second', allocation: '3' });
    expect(two.row.task_id).toBe(task_id);
    expect(two.row.inflow_corrections?.map(it => it.task_id)).toEqual([one.task_id, two.correction.task_id]);
  });

  it('200 twice on the same row, also at once: both are appended, and that is a fork', async () => {
    const task_id = await inflow();
    const heard = await Promise.all(['1', '2'].map(allocation => correct(agent, { task_id, reason, allocation })));
    expect(heard.map(({ status }) => status)).toEqual([200, 200]);
    const { body } = await gaps(agent, `?task_id=${task_id}`);
    expect(body.supersession).toMatchObject({ status: 'forked', authoritative: null, corrections: 2, forks: 1 });
    expect(body.gapless).toBe(true);
  });

  it('200 idempotent_replay on the same correction of the same row, in whatever order its members are: the same row, and no fork', async () => {
    const task_id = await inflow();
    const one = await correct(agent, { task_id, reason, allocation: '7', correction: { a: 1, b: [0.1, '\u2028'] } });
    expect(one).toMatchObject({ status: 200, body: { idempotent_replay: false } });
    const again = await correct(agent, { correction: { b: [0.1, '\u2028'], a: 1 }, allocation: '7', reason, task_id });
    expect(again.status).toBe(200);
    expect(again.body).toEqual({ ...one.body, idempotent_replay: true });
    // Values that are left out stay the same, so giving the same values again changes nothing.
    const said = { task_id, reason, bucket: 'patron', allocation: '7', correction: { a: 1, b: [0.1, '\u2028'] } };
    expect((await correct(agent, said)).body).toMatchObject({ idempotent_replay: true });
    const linear = { status: 'linear', authoritative: one.body.correction.task_id, corrections: 1, forks: 0 };
    expect((await gaps(agent, `?task_id=${task_id}`)).body.supersession).toMatchObject(linear);
  });

  it('200 idempotent_replay to all but one of the same sent at once', async () => {
    const task_id = await inflow();
    const answers = await Promise.all([1, 2, 3].map(() => correct(agent, { task_id, reason, allocation: '8' })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(answers.map(({ body }) => body.correction.task_id)).size).toBe(1);
    expect(answers.filter(({ body }) => body.idempotent_replay)).toHaveLength(2);
    const { body } = await gaps(agent, `?task_id=${task_id}`);
    expect(body).toMatchObject({ gapless: true, supersession: { status: 'linear', corrections: 1 } });
  });

  it('200 appends what says something else: another reason, object or row', async () => {
    const task_id = await inflow();
    const { body: first } = await correct(agent, { task_id, reason, correction: { a: 1 } });
    const others: JsonObject[] = [
      { task_id, reason: 'Another.', correction: { a: 1 } },
      { task_id, reason, correction: { a: 2 } },
      { task_id, reason },
      { task_id: String(first.correction.task_id), reason, correction: { a: 1 } },
    ];
    for (const other of others) expect((await correct(agent, other)).body.idempotent_replay).toBe(false);
    expect((await gaps(agent, `?task_id=${task_id}`)).body.supersession).toMatchObject({ corrections: 5 });
  });

  it('200 idempotent_replay on a correction that was recorded before corrections had a hash', async () => {
    const own = await service.newAgent();
    const task_id = await inflow(own);
    const free = { task_id, reason, correction: { n: 1e21, none: null } };
    const signed = { task_id, reason, correction: await correctionOf(own, { task_id, allocation: '5' }) };
    for (const body of [free, signed]) {
      const before = (await correct(own, body)).body.correction;
      await service.query('update book_correction set said_hash = null where agent_id = $1', [own.agent_id]);
      expect((await correct(own, body)).body).toMatchObject({ idempotent_replay: true, correction: before });
    }
    expect((await correct(own, { task_id, reason })).body.idempotent_replay).toBe(false);
  });

  it('200 with an object of any members, which is signed as it was sent', async () => {
    const correction = JSON.parse('{"__proto__":{"a":1},"none":null,"n":1e21,"é\\n":["\u2028",0.1,-5e-324]}');
    const { status, body } = await correct(agent, { task_id: await inflow(), reason, correction });
    expect(status).toBe(200);
    const claim = body.correction.inflow_claim ?? {};
    expect(body.row.inflow_corrections).toMatchObject([{ inflow_claim: { correction: claim.correction ?? null } }]);
    expect(Object.keys(claim.correction ?? {}).toSorted()).toEqual(Object.keys(correction).toSorted());
    expect(claim.correction).toEqual(correction);
    const { body: jwks } = await service.get('/.well-known/jwks.json');
    expect(verifyInflowClaim(claim, jwks)).toMatchObject({ kind: 'valid' });
  });

  it('200 with a correction that the wallet signed beforehand', async () => {
    const task_id = await inflow();
    const signed = await correctionOf(agent, { task_id, allocation: '5' });
    const { status, body } = await correct(agent, { task_id, reason, correction: signed });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { correction: { allocation: '5', inflow_claim: { wallet_claim: signed, allocation: '5' } } },
    });
    const { body: jwks } = await service.get('/.well-known/jwks.json');
    const verified = verifyInflowClaim(body.correction.inflow_claim ?? {}, jwks);
    expect(verified).toMatchObject({ kind: 'valid' });
    expect(JSON.stringify(verified)).not.toContain('ERC-1271');
    // The claim takes effect once, and a repetition gets an answer that states this.
    const { correction, row } = body;
    expect(await correct(agent, { task_id, reason, correction: signed })).toMatchObject({
      status: 200,
      body: { row, correction, idempotent_replay: true },
    });
  });

  it('200 leaves totals and spent as they were', async () => {
    const money = async () => {
      const { body } = await service.get(book(agent, ''), { 'X-SVC-Session': agent.session });
      return { totals: body.totals, spent: body.spent };
    };
    const task_id = await inflow();
    const before = await money();
    await correct(agent, { task_id, reason, allocation: '888888888888' });
    expect(await money()).toEqual(before);
  });

  it.each<[string, string, JsonObject]>([
    ['without a task_id', 'task_id', { task_id: null }],
    ['without a reason', 'reason', { reason: null }],
    ['with an empty reason', 'reason', { reason: '' }],
    ['with a reason that is too long', 'reason', { reason: 'r'.repeat(501) }],
    ['with an allocation that is none', 'allocation', { allocation: '1e3' }],
    ['with a correction that is a list', 'correction', { correction: [] }],
    ['with a correction that is too long', 'correction', { correction: { note: 'n'.repeat(5_000) } }],
    [
      'with a correction that is too deep',
      'correction',
      { correction: JSON.parse(`${'{"a":'.repeat(9)}1${'}'.repeat(9)}`) },
    ],
    [
      'with a correction of too many members',
      'correction',
      { correction: { a: Array.from({ length: 101 }, () => 1) } },
    ],
    ['with U+0000 in a correction', 'correction', { correction: { note: ['\0'] } }],
    ['with half of a surrogate pair in a correction', 'correction', { correction: { '\ud800': 1 } }],
    ['with a signed correction that is none', 'correction.', { correction: { signature: '0x00' } }],
    ['with a member that is not known', 'alocation', { alocation: '1' }],
  ])('400 %s, and nothing is written', async (_, param, body) => {
    const task_id = await inflow();
    const before = (await entries(agent)).length;
    const given = Object.fromEntries(
      Object.entries({ task_id, reason, ...body }).filter(([, value]) => value !== null),
    ) as JsonObject;
    const heard = await correct(agent, given);
    expect(heard.status).toBe(400);
    expect((heard.body as unknown as { error: { param: string } }).error.param).toMatch(new RegExp(`^${param}`));
    expect((await entries(agent)).length).toBe(before);
  });

  it('403 on a correction by another wallet, and on one that says otherwise', async () => {
    const [task_id, other] = [await inflow(), await inflow()];
    const before = (await entries(agent)).length;
    const cases: [member: string, body: JsonObject][] = [
      ['signature', { correction: await correctionOf(agent, { task_id }, stranger.account) }],
      ['agent_id', { correction: await correctionOf(stranger, { task_id }) }],
      ['task_id', { correction: await correctionOf(agent, { task_id: other }) }],
      ['reason', { correction: await correctionOf(agent, { task_id, reason: 'Another.' }) }],
      ['allocation', { allocation: '1', correction: await correctionOf(agent, { task_id }) }],
      ['bucket', { bucket: 'mine', correction: await correctionOf(agent, { task_id, bucket: 'yours' }) }],
    ];
    for (const [member, body] of cases)
      expect(await correct(agent, { task_id, reason, ...body })).toMatchObject({
        status: 403,
        body: { code: 'inflow_claim_invalid', error: { param: `correction.${member}` } },
      });
    expect((await entries(agent)).length).toBe(before);
  });

  it("404 where no inflow of that task stands on the book: a paid call, another's inflow, nothing", async () => {
    const bought = (await service.buy(agent.account)).body.svc.task_id;
    for (const task_id of [bought, await inflow(stranger), 'nothing'])
      expect(await correct(agent, { task_id, reason })).toMatchObject({
        status: 404,
        body: { code: 'inflow_not_found', detail: 'The book has no inflow or correction with this task id.' },
      });
  });

  it('503 on a book that its audit has closed', async () => {
    const own = await service.newAgent();
    const task_id = await inflow(own);
    await service.query(`update book set damage = '{"what":"row_missing","place":1}' where agent_id = $1`, [
      own.agent_id,
    ]);
    expect(await correct(own, { task_id, reason })).toMatchObject({ status: 503, body: { code: 'book_damaged' } });
  });
});

describe('GraphQL correctInflow', () => {
  const CORRECT = `mutation ($agentId: Int!, $input: InflowCorrectionInput!) {
    correctInflow(agentId: $agentId, input: $input) { row { taskId inflowCorrections }
      correction { seq corrects reason allocation inflowClaim } } }`;

  it('appends the same as the door, and refuses what the door refuses', async () => {
    const { agent_id: agentId, session } = agent;
    const taskId = await inflow();
    const correction = { snake_case: { camelCase: [true, null, -0.5e-7] } };
    const { data } = await onGraph(
      service,
      CORRECT,
      { agentId, input: { taskId, reason, allocation: '4', correction } },
      session,
    );
    expect(data?.correctInflow).toMatchObject({
      row: { taskId, inflowCorrections: [{ allocation: '4', inflow_claim: { correction } }] },
      correction: { corrects: taskId, reason, allocation: '4' },
    });
    const refused = async (input: JsonObject) =>
      (await onGraph(service, CORRECT, { agentId, input }, session)).errors?.[0]?.extensions.code;
    expect(await refused({ taskId, reason: '' })).toBe('invalid_request');
    expect(await refused({ taskId: 'nothing', reason })).toBe('inflow_not_found');
  });

  it('a page of inflows says of each what was corrected, in entries, as a connection and by REST alike', async () => {
    const own = await service.newAgent();
    for (const _ of [1, 2, 3]) await correct(own, { task_id: await inflow(own), reason });
    const query = `query ($agentId: Int!) { book(agentId: $agentId) {
      entries { seq inflowCorrections inflowCorrectionsCount } rows(first: 20) { edges { node { seq inflowCorrections inflowCorrectionsCount } } } } }`;
    const { data } = await onGraph(service, query, { agentId: own.agent_id }, own.session);
    const shown = data?.book as unknown as { entries: JsonObject[]; rows: { edges: { node: JsonObject }[] } };
    expect(shown.rows.edges.map(({ node }) => node)).toEqual(shown.entries);
    const byRest = (await entries(own)).map(it => ({
      seq: it.seq,
      inflowCorrections: it.inflow_corrections ?? null,
      inflowCorrectionsCount: it.inflow_corrections_count ?? null,
    }));
    expect(shown.entries).toEqual(byRest);
    expect(byRest.filter(it => it.inflowCorrections?.length === 1)).toHaveLength(3);
  });
});

it('a row shows the newest of its corrections, of so many bytes together, however much is written into them', async () => {
  const own = await service.newAgent();
  const { body: inflow } = await record(own, { allocation: '1' });
  const task_id = inflow.task_id ?? '';
  const note = '\u4e00'.repeat(1_300);
  const sent = Array.from({ length: 12 }, (_, at) => ({
    task_id,
    reason: note.slice(0, 500),
    correction: { at, note },
  }));
  for (const correction of sent) expect((await correct(own, correction)).status).toBe(200);
  const shown = (await entries(own)).find(row => row.task_id === task_id)?.inflow_corrections ?? [];
  expect(shown.map(it => (it.inflow_claim as JsonObject).correction)).toEqual(
    sent.slice(-shown.length).map(({ correction }) => correction),
  );
  expect(shown.length).toBeGreaterThan(0);
  expect(Buffer.byteLength(JSON.stringify(shown))).toBeLessThan(1.5 * inflowLimits.corrections_shown_bytes_max);
  expect((await gaps(own, `?task_id=${task_id}`)).body.supersession).toMatchObject({ corrections: sent.length });
});
