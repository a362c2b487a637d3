import { beforeAll, describe, expect, it } from 'vitest';
import { canonicalHash, type JsonObject } from '../../schema/canonical-json.ts';
import { sha256Hex } from '../../schema/digest.ts';
import { disputeLimits } from '../../schema/limits.ts';
import { verifyDispute } from '../../subgraphs/receipt/verify/dispute.ts';
import { bookProof, proofWindow } from '../../subgraphs/session/possession/proof.ts';
import { disputeDoorsOf } from '../harness/doors/disputes.ts';
import { onGraph } from '../harness/doors/on-graph.ts';
import { ask, resetHubsBeforeEach, type Service, sharedService } from '../harness/doors/open-service.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
let agent: Agent;
let stranger: Agent;
let task_id: string;
beforeAll(async () => {
  service = await sharedService();
  [agent, stranger] = [await service.newAgent(), await service.newAgent()];
  ({ task_id } = await bought(agent, ask('Disputed', { model: 'beta-1' })));
});
resetHubsBeforeEach(() => service);

const { path, file, list, one, bought } = disputeDoorsOf(() => service);
const missing = (members: JsonObject = {}) => ({ task_id, claim_type: 'output_missing', ...members });
const eventsOf = ({ agent_id }: Agent, kind = 'dispute') =>
  service.query<{ position: number; seq: number | null; task_id: string; body: JsonObject }>(
    'select position, seq, task_id, body from book_event where agent_id = $1 and kind = $2 order by position',
    [agent_id, kind],
  );

describe('POST /v1/agents/{agent_id}/book/dispute', () => {
  it('201 with a verdict that is signed, and follows from the facts in it', async () => {
    const { status, body } = await file(agent, missing({ evidence: { note: 'nothing came' } }));
    expect(status).toBe(201);
    expect(body).toMatchObject({
      dispute_id: expect.stringMatching(/^dispute_[0-9a-z]{26}$/),
      agent_id: agent.agent_id,
      task_id,
      claim_type: 'output_missing',
      evidence_hash: canonicalHash({ note: 'nothing came' }),
      outcome: 'stand',
      reason: 'output_committed',
      revision: 1,
      supersedes: null,
      final: false,
      decides_after: null,
      standing_task_id: null,
      status_url: `${service.url}/dispute/${body.dispute_id}`,
      verdict: {
        schema: 'svc402.dispute_verdict.v1',
        evidence: { note: 'nothing came' },
        outcome: 'stand',
        moves_money: false,
        rule_version: 4,
        revision: 1,
        final: false,
        status_url: `${service.url}/dispute/${body.dispute_id}`,
        facts: expect.arrayContaining([
          { name: 'disputed.evidence', value: 'collected', from: 'book_row' },
          { name: 'disputed.amount', value: '2000', from: 'book_row' },
          { name: 'disputed.output_status', value: 'committed', from: 'receipt_payload' },
        ]),
      },
    });
    expect(verifyDispute(body.verdict, await service.jwks())).toMatchObject({ kind: 'valid' });
  });

  it('201: an event of the disputed row, with the hash of what was signed, and no row', async () => {
    const before = await service.query('select seq from book where agent_id = $1', [agent.agent_id]);
    const { body } = await file(agent, missing({ evidence: { note: 'event' } }));
    const told = (await eventsOf(agent)).at(-1);
    expect(told).toMatchObject({ position: body.position, seq: body.seq, task_id });
    expect(told?.body).toEqual({
      dispute_id: body.dispute_id,
      claim_type: 'output_missing',
      outcome: 'stand',
      reason: 'output_committed',
      verdict_hash: canonicalHash(body.verdict),
    });
    expect(body.verdict).toMatchObject({ as_of: { position: body.position - 1 } });
    expect(await service.query('select seq from book where agent_id = $1', [agent.agent_id])).toEqual(before);
  });

  it('200 with the same body to the same again, whatever the order of its evidence; one event', async () => {
    const first = await file(agent, missing({ evidence: { note: { a: 1, b: [2] } } }));
    const again = await file(agent, missing({ evidence: { note: { b: [2], a: 1 } } }));
    expect([first.status, again.status]).toEqual([201, 200]);
    expect(again.body).toEqual(first.body);
    const told = (await eventsOf(agent)).filter(({ body }) => body.dispute_id === first.body.dispute_id);
    expect(told).toHaveLength(1);
  });

  it('of twenty at once one is 201 and all others are 200 with the same', async () => {
    const heard = await Promise.all(
      Array.from({ length: 20 }, () => file(agent, missing({ evidence: { note: 'at once' } }))),
    );
    expect(heard.map(({ status }) => status).sort()).toEqual([...Array(19).fill(200), 201]);
    expect(new Set(heard.map(({ text }) => sha256Hex(text))).size).toBe(1);
  });

  it.each<[string, JsonObject, string]>([
    ['a claim type that there is none of', { task_id: 'a', claim_type: 'too_slow' }, 'claim_type'],
    ['no claim type', { task_id: 'a' }, 'claim_type'],
    ['no task', { claim_type: 'output_missing' }, 'task_id'],
    ['a task of no letter', { task_id: '', claim_type: 'output_missing' }, 'task_id'],
    ['evidence that is no object', { task_id: 'a', claim_type: 'output_missing', evidence: ['x'] }, 'evidence'],
    [
      'evidence that is too deep',
      {
        task_id: 'a',
        claim_type: 'wrong_model',
        evidence: { note: JSON.parse(`${'{"a":'.repeat(20)}1${'}'.repeat(20)}`) },
      },
      'evidence',
    ],
    [
      'evidence that is too long',
      {
        task_id: 'a',
        claim_type: 'wrong_model',
        evidence: { note: 'x'.repeat(disputeLimits.evidence_bytes_max) },
      },
      'evidence',
    ],
    ['evidence with U+0000', { task_id: 'a', claim_type: 'wrong_model', evidence: { note: 'a\0' } }, 'evidence'],
    ['a member that there is none of', { task_id: 'a', claim_type: 'wrong_model', outcome: 'refund' }, 'outcome'],
    [
      'evidence with a member that there is none of',
      { task_id: 'a', claim_type: 'wrong_model', evidence: { requested: 'beta-1' } },
      'evidence.requested',
    ],
    [
      'evidence of another claim type',
      { task_id: 'a', claim_type: 'output_missing', evidence: { task_id: 'b' } },
      'evidence.task_id',
    ],
    [
      'evidence whose model is no text',
      { task_id: 'a', claim_type: 'wrong_model', evidence: { requested_model: 5 } },
      'evidence.requested_model',
    ],
    [
      'evidence that names two models',
      { task_id: 'a', claim_type: 'wrong_model', evidence: { requested_model: 'beta-1', model: 'alpha-1' } },
      'evidence.model',
    ],
  ])('400 on %s, with its name', async (_, body, param) => {
    const before = await eventsOf(agent);
    expect(await file(agent, body)).toMatchObject({ status: 400, body: { code: 'invalid_request', error: { param } } });
    expect(await eventsOf(agent)).toEqual(before);
  });

  it('201 by a proof of possession', async () => {
    const proof = bookProof(agent.session, agent.agent_id, proofWindow(Date.now()));
    const { status } = await service.post(path(agent), { proof, ...missing({ evidence: { note: 'proof' } }) });
    expect(status).toBe(201);
  });

  it('404 on a task of no row, and on one of another book’s', async () => {
    const gone = { status: 404, body: { code: 'not_found', detail: 'The book has no row with this task_id.' } };
    expect(await file(agent, missing({ task_id: 'task_of_nobody' }))).toMatchObject(gone);
    expect(await file(stranger, missing())).toMatchObject(gone);
  });

  it('409 beyond so many kinds of evidence for one claim of one row; what was filed is told as ever', async () => {
    const own = await service.newAgent();
    const claim = (n: number) => file(own, { task_id: own.task_id, claim_type: 'wrong_model', evidence: { note: n } });
    for (let n = 0; n < disputeLimits.per_claim_max; n++) expect((await claim(n)).status).toBe(201);
    expect(await claim(-1)).toMatchObject({ status: 409, body: { code: 'disputes_full' } });
    expect((await claim(0)).status).toBe(200);
    expect((await file(own, { task_id: own.task_id, claim_type: 'output_missing' })).status).toBe(201);
  });

  it('429 beyond so many of one book in an hour, with Retry-After; another book is not held up', async () => {
    const own = await service.newAgent();
    const claim = { task_id: own.task_id, claim_type: 'output_missing' };
    await file(own, claim);
    await service.query(
      `insert into dispute select dispute_id || n, agent_id, seq, task_id || n, claim_type, evidence_hash, outcome, reason,
        position, filed_at, judged_at, verdict from dispute, generate_series(2, $2) n where agent_id = $1`,
      [own.agent_id, disputeLimits.filed_per_book_hour_max],
    );
    const heard = await file(own, { ...claim, evidence: { note: 'one more' } });
    expect(heard).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    expect(Number(heard.headers.get('retry-after'))).toBeGreaterThan(3_000);
    expect((await file(own, claim)).status).toBe(200);
    expect((await file(stranger, { ...claim, task_id: stranger.task_id })).status).toBe(201);
  });

  it('503 on a book that its audit has closed', async () => {
    const own = await service.newAgent();
    await service.query(`update book set damage = '{"what":"row_missing","place":1}' where agent_id = $1`, [
      own.agent_id,
    ]);
    const heard = await file(own, { task_id: own.task_id, claim_type: 'output_missing' });
    expect(heard).toMatchObject({ status: 503, body: { code: 'book_damaged' } });
    expect(await list(own)).toMatchObject({ status: 503 });
  });
});

describe('GET /v1/agents/{agent_id}/book/dispute', () => {
  it('200: newest first, page by page, without the documents; each page says where the next begins', async () => {
    const own = await service.newAgent();
    expect((await list(own)).body).toEqual({ agent_id: own.agent_id, disputes: [], next: null });
    const filed = [];
    for (const n of [1, 2, 3])
      filed.push((await file(own, { task_id: own.task_id, claim_type: 'output_missing', evidence: { note: n } })).body);
    const expected = filed.map(({ verdict: _, ...summary }) => summary).reverse();
    expect((await list(own)).body.disputes).toEqual(expected);
    for (const limit of [3, 3_000_000_000]) expect((await list(own, `?limit=${limit}`)).body.next).toBeNull();
    const { body: page } = await list(own, '?limit=2');
    expect([page.disputes, page.next]).toEqual([expected.slice(0, 2), expected[1]?.dispute_id]);
    const { body: last } = await list(own, `?limit=2&before=${page.next}`);
    expect([last.disputes, last.next]).toEqual([expected.slice(2), null]);
  });

  it('400 on a limit that is none, and on what is no member', async () => {
    expect(await list(agent, '?limit=0')).toMatchObject({ status: 400, body: { error: { param: 'limit' } } });
    expect(await list(agent, '?task_id=a')).toMatchObject({ status: 400, body: { error: { param: 'task_id' } } });
  });

  it.each(['', 'dispute_x', 'escrow_0123456789abcdefghjkmnpqrs', 'dispute_0123456789ABCDEFGHJKMNPQRS'])(
    '400 on a `before` that is no id of a dispute: %j',
    async before => {
      expect(await list(agent, `?before=${before}`)).toMatchObject({
        status: 400,
        body: { error: { param: 'before' } },
      });
    },
  );
});

describe('GET /v1/agents/{agent_id}/book/dispute/{dispute_id}', () => {
  it('200 as it was answered; 404 for another book’s, or none', async () => {
    const { body } = await file(agent, missing({ evidence: { note: 'one' } }));
    expect((await one(agent, body.dispute_id)).body).toEqual(body);
    expect(await one(stranger, body.dispute_id)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await one(agent, 'dispute_none')).toMatchObject({ status: 404 });
  });
});

describe('GET /dispute/{dispute_id}', () => {
  it('200 to anybody: which judgement is the latest, by its hash, and nothing of what was claimed; 404 for none', async () => {
    const { body } = await file(agent, missing({ evidence: { note: 'status' } }));
    const told = await service.get<JsonObject>(`/dispute/${body.dispute_id}`);
    expect(told).toMatchObject({ status: 200 });
    expect(told.body).toEqual({
      dispute_id: body.dispute_id,
      revision: 1,
      verdict_hash: canonicalHash(body.verdict),
      final: false,
      judged_at: body.judged_at,
    });
    expect(await service.get('/dispute/dispute_none')).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });
});

describe('GraphQL fileDispute and disputes', () => {
  it('200 lists the verdicts, which no door does', async () => {
    const { body } = await file(agent, missing({ evidence: { note: 'listed' } }));
    const query = `{ disputes(agentId: ${agent.agent_id}, limit: 1) { agentId disputes { disputeId verdict } } }`;
    expect((await onGraph(service, query, {}, agent.session)).data).toEqual({
      disputes: {
        agentId: agent.agent_id,
        disputes: [{ disputeId: body.dispute_id, verdict: body.verdict }],
      },
    });
  });
});
