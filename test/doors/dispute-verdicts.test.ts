import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { beforeAll, describe, expect, it } from 'vitest';
import { canonicalHash, type JsonObject } from '../../schema/canonical-json.ts';
import { verifyDispute } from '../../subgraphs/receipt/verify/dispute.ts';
import { runCommand } from '../harness/commands/run.ts';
import { type DisputeAnswer, disputeDoorsOf, requestOfChat } from '../harness/doors/disputes.ts';
import { inflowDoorsOf } from '../harness/doors/inflows.ts';
import { askToStream, listen } from '../harness/doors/listen.ts';
import { ask, CHAT, resetHubsBeforeEach, type Service, sharedService } from '../harness/doors/open-service.ts';
import { policyDoorsOf } from '../harness/doors/policies.ts';
import { openSocket } from '../harness/doors/socket.ts';
import { ROOT } from '../harness/root.ts';
import { ownFolder } from '../harness/scratch.ts';
import { delegate } from '../harness/session/delegate.ts';

/* Verdicts on disputes of real rows. The verifier checks each verdict and applies its rule again. */

let service: Service;
let agent: Awaited<ReturnType<Service['newAgent']>>;
let jwks: JsonObject;
beforeAll(async () => {
  service = await sharedService();
  agent = await service.newAgent();
  jwks = (await service.get<JsonObject>('/.well-known/jwks.json')).body;
});
resetHubsBeforeEach(() => service);

const { file, bought } = disputeDoorsOf(() => service);
const { record } = inflowDoorsOf(() => service);

/** Files a dispute and expects a valid verdict. Returns the answer. */
async function verdictOn(task_id: string, claim_type: string, evidence: JsonObject = {}): Promise<DisputeAnswer> {
  const { body, status, text } = await file(agent, { task_id, claim_type, evidence });
  expect(status, text).toBe(201);
  const verified = verifyDispute(body.verdict, jwks);
  expect(verified, JSON.stringify(verified)).toMatchObject({ kind: 'valid' });
  return body;
}

const twice = ask('Twice', { model: 'beta-1', intent_id: 'bill-1', attempt_index: 0 });

describe('double_charge', () => {
  it('refund: one request, paid twice under one intent and attempt, each proven by its salt; the first stands', async () => {
    const [first, second] = [await bought(agent, twice), await bought(agent, twice)];
    expect(first.svc.payment_ref).not.toBe(second.svc.payment_ref);
    const request = requestOfChat(twice);
    const proof = { task_id: first.task_id, request, salt: second.salt, other_salt: first.salt };
    for (const wrong of [{ salt: first.salt }, { other_salt: second.salt }, { request: requestOfChat(ask('Else')) }])
      expect(await verdictOn(second.task_id, 'double_charge', { ...proof, ...wrong })).toMatchObject({
        outcome: null,
        reason: 'request_not_proven',
      });
    const { verdict, ...refund } = await verdictOn(second.task_id, 'double_charge', proof);
    expect(refund).toMatchObject({ final: true, standing_task_id: first.task_id });
    expect(verdict).toMatchObject({
      outcome: 'refund',
      reason: 'charged_twice',
      standing_task_id: first.task_id,
      owed_back: { task_id: second.task_id, amount: '2000' },
      final: true,
      means: expect.stringContaining('No money moves'),
      receipts: { disputed: { task_id: second.task_id }, other: { task_id: first.task_id } },
      facts: expect.arrayContaining([
        { name: 'disputed.intent_id', value: 'bill-1', from: 'receipt_payload' },
        { name: 'other.leaf_index', value: expect.any(Number), from: 'log_leaf' },
      ]),
    });
    const other_way = { task_id: second.task_id, request, salt: first.salt, other_salt: second.salt };
    expect(await verdictOn(first.task_id, 'double_charge', other_way)).toMatchObject({
      outcome: 'stand',
      reason: 'first_charge',
    });
    // A charge is refunded once, even if several claims are made about it.
    for (const [claim_type, evidence] of [
      ['double_charge', { ...proof, note: 'again' }],
      ['wrong_model', { requested_model: 'alpha-1' }],
      ['output_missing', {}],
    ] as const)
      expect(await verdictOn(second.task_id, claim_type, evidence)).toMatchObject({
        outcome: 'stand',
        reason: 'already_refunded',
      });
    // A verdict adds no row and moves no money.
    expect((await policyDoorsOf(service).bookOf(agent)).spent).toBe('6000');
  });

  it('stand: the same request, paid for four times under one intent and attempt, and answered differently each time', async () => {
    let said = 0;
    service.hubs[1].behave(() => {
      const message = { role: 'assistant', content: `Answer ${++said}` };
      const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
      const choices = [{ index: 0, message, finish_reason: 'stop' }];
      return { kind: 'status', status: 200, body: { id: 'x', object: 'chat.completion', created: 1, choices, usage } };
    });
    const body = ask('Four times', { model: 'beta-1', intent_id: 'bill-4', attempt_index: 0 });
    const [first, ...later] = [
      await bought(agent, body),
      await bought(agent, body),
      await bought(agent, body),
      await bought(agent, body),
    ];
    const request = requestOfChat(body);
    for (const { task_id, salt } of later)
      expect(
        await verdictOn(task_id, 'double_charge', { task_id: first.task_id, request, salt, other_salt: first.salt }),
      ).toMatchObject({ outcome: 'stand', reason: 'output_of_its_own', final: false });
  });

  it('stand: without the other row, where no charge shares intent and attempt; open where one does', async () => {
    const alone = await bought(agent, ask('Alone', { model: 'beta-1' }));
    const shared = await bought(agent, twice);
    await bought(agent, twice);
    expect(await verdictOn(alone.task_id, 'double_charge')).toMatchObject({
      outcome: 'stand',
      reason: 'no_common_intent',
    });
    const only = await bought(agent, ask('Only', { model: 'beta-1', intent_id: 'only', attempt_index: 3 }));
    expect(await verdictOn(only.task_id, 'double_charge')).toMatchObject({
      outcome: 'stand',
      reason: 'no_common_intent',
    });
    expect(await verdictOn(shared.task_id, 'double_charge')).toMatchObject({ reason: 'other_charge_not_named' });
  });

  it.each<[string, JsonObject, string]>([
    ['without an intent', {}, 'no_common_intent'],
    ['under another intent', { intent_id: 'bill-2', attempt_index: 0 }, 'no_common_intent'],
    ['as another attempt', { intent_id: 'bill-1', attempt_index: 1 }, 'attempts_differ'],
  ])('stand: bought again %s', async (_, members, reason) => {
    const first = await bought(agent, twice);
    const { task_id } = await bought(agent, ask('Twice', { model: 'beta-1', ...members }));
    const verdict = await verdictOn(task_id, 'double_charge', { task_id: first.task_id });
    expect(verdict).toMatchObject({ outcome: 'stand', reason });
  });

  it('open: no other row is named, or none of this book; stand: the same, or one that nothing was charged for', async () => {
    const { task_id } = await bought(agent, twice);
    const stranger = await service.newAgent();
    const { body: inflow } = await record(agent, { allocation: '5' });
    const of = async (evidence: JsonObject) => (await verdictOn(task_id, 'double_charge', evidence)).reason;
    expect(await of({})).toBe('other_charge_not_named');
    expect(await of({ task_id: stranger.task_id })).toBe('other_not_on_book');
    expect(await of({ task_id })).toBe('same_row');
    expect(await of({ task_id: inflow.task_id ?? '' })).toBe('other_not_charged');
  });
});

describe('output_missing', () => {
  it('stand: the receipt commits to an output', async () => {
    const { task_id } = await bought(agent, ask('There'));
    expect(await verdictOn(task_id, 'output_missing')).toMatchObject({ outcome: 'stand', reason: 'output_committed' });
  });

  it('partial: the hub broke off in the midst of a stream', async () => {
    service.hubs[1].behave({ kind: 'answer', in_stream: { after_words: 2, does: 'close' } });
    const payment = await service.payment(agent.account, CHAT);
    const body = askToStream('Broken', { model: 'beta-1' });
    const { svc } = await (await listen(service, body, { headers: payment })).rest();
    const { verdict } = await verdictOn(svc?.task_id ?? '', 'output_missing');
    expect(verdict).toMatchObject({ outcome: 'partial', reason: 'output_broke_off' });
  });

  it('stand: what was bought has no output', async () => {
    const { verdict } = await verdictOn(agent.task_id ?? '', 'output_missing');
    expect(verdict).toMatchObject({ outcome: 'stand', reason: 'no_output_sold' });
  });
});

describe('wrong_model', () => {
  it('stand: the model that was requested answered, or the choice was left to the service', async () => {
    const body = ask('Which', { model: 'beta-1' });
    const { task_id, salt } = await bought(agent, body);
    const named_by: readonly JsonObject[] = [
      { requested_model: 'beta-1' },
      { requested_model: 'beta-1', model: 'beta-1', note: ['x'] },
    ];
    for (const evidence of named_by)
      expect(await verdictOn(task_id, 'wrong_model', evidence)).toMatchObject({ reason: 'model_as_requested' });
    const named = await verdictOn(task_id, 'wrong_model', { model: 'beta-1' });
    expect(named).toMatchObject({ outcome: 'stand', reason: 'model_as_requested' });
    const proven = await verdictOn(task_id, 'wrong_model', { model: 'other', request: requestOfChat(body), salt });
    expect(proven).toMatchObject({ outcome: 'stand', reason: 'model_as_requested' });
    const auto = await bought(agent, ask('Any'));
    const left = { request: requestOfChat(ask('Any')), salt: auto.salt };
    expect(await verdictOn(auto.task_id, 'wrong_model', left)).toMatchObject({ reason: 'model_delegated' });
  });

  it('stand: a request is proven as the page of disputes shows it, whole and streamed, by what was sent alone', async () => {
    const page = await readFile(join(ROOT, 'subgraphs/book/dispute/README.md'), 'utf8');
    const [, shown = ''] = page.match(/```json\n([\s\S]*?)```/) ?? [];
    const { field, args } = JSON.parse(shown) as { field: string; args: JsonObject };
    const model = 'beta-1';
    const sent = { model, messages: args.messages ?? [] };
    const provenBy = async ({ task_id, salt }: { task_id: string; salt: string }, request: JsonObject) =>
      (await verdictOn(task_id, 'wrong_model', { model: 'other', request, salt })).reason;
    expect(await provenBy(await bought(agent, sent), { field, args: { ...args, model } })).toBe('model_as_requested');

    const payment = await service.payment(agent.account, CHAT);
    const body = { ...sent, stream: true, intent_id: 'page' };
    const heard = await listen(service, body, { headers: payment });
    const { svc } = await heard.rest();
    const streamed = { task_id: svc?.task_id ?? '', salt: heard.headers.get('x-svc-request-salt') ?? '' };
    const request = { field: 'Subscription.chatCompletionStream', args: { ...args, ...body } };
    expect(await provenBy(streamed, request)).toBe('model_as_requested');
  });

  it('open: another one is only said to have been requested, or none; stand: no model was sold', async () => {
    const body = ask('Which', { model: 'beta-1' });
    const { task_id } = await bought(agent, body);
    const of = async (evidence: JsonObject, task = task_id) => (await verdictOn(task, 'wrong_model', evidence)).reason;
    expect(await of({ model: 'alpha-1' })).toBe('request_not_proven');
    const request = requestOfChat({ ...body, model: 'alpha-1' });
    expect(await of({ request, salt: '0'.repeat(32) })).toBe('request_not_proven');
    expect(await of({})).toBe('requested_model_not_named');
    expect(await of({ model: 'alpha-1' }, agent.task_id ?? '')).toBe('no_model_sold');
  });
});

describe('a row for which nothing was charged', () => {
  it('stand: an inflow, a call by key, a refused call', async () => {
    const { body: inflow } = await record(agent, { allocation: '5' });
    const by_key = await service.post<{ svc: { task_id: string } }>(CHAT, ask('By key'), {
      authorization: 'Bearer a-live-key',
      'X-SVC-Session': agent.session,
    });
    const { set, chatToRefusal } = policyDoorsOf(service);
    await set(agent, 'kill_switch', true);
    const blocked = (await chatToRefusal(agent)).heard.body.task_id;
    await set(agent, 'kill_switch', null);
    for (const task_id of [inflow.task_id ?? '', by_key.body.svc.task_id, blocked])
      for (const claim_type of ['output_missing', 'wrong_model', 'double_charge'])
        expect(await verdictOn(task_id, claim_type)).toMatchObject({ outcome: 'stand', reason: 'nothing_charged' });
  });
});

describe('what else hears of a dispute', () => {
  it('a live reader of the book, with the row', async () => {
    const { task_id } = await bought(agent, ask('Followed'));
    const filed = await verdictOn(task_id, 'output_missing', { note: 'live' });
    const query = `subscription { bookRows(agentId: ${agent.agent_id}, after: ${filed.position - 1}) { kind taskId
      row { taskId } dispute { disputeId claimType outcome reason verdictHash } } }`;
    expect(await openSocket(service, { session: agent.session }).first(query)).toMatchObject({
      data: {
        bookRows: {
          kind: 'dispute',
          taskId: task_id,
          row: { taskId: task_id },
          dispute: {
            disputeId: filed.dispute_id,
            claimType: 'output_missing',
            outcome: 'stand',
            reason: 'output_committed',
            verdictHash: canonicalHash(filed.verdict),
          },
        },
      },
    });
  });
});

describe('npm run verify', () => {
  it('runs a verdict again from a file, and says what is wrong with one that was touched', async () => {
    const [first, second] = [await bought(agent, twice), await bought(agent, twice)];
    const proof = { request: requestOfChat(twice), salt: second.salt, other_salt: first.salt };
    const filed = await verdictOn(second.task_id, 'double_charge', { task_id: first.task_id, ...proof });
    const folder = await ownFolder();
    const verify = async (document: unknown) => {
      const at = join(folder, 'verdict.json');
      await writeFile(at, JSON.stringify(document));
      return runCommand('gateway/commands/verify.ts', [at]);
    };
    const sound = await verify(filed);
    expect(sound).toMatchObject({ code: 0, text: expect.stringContaining(`Valid: ${filed.dispute_id}`) });
    expect(sound.text).toContain('The outcome follows: refund (charged_twice). A verdict moves no money.');
    const touched = { ...filed.verdict, outcome: 'stand' };
    expect(await verify(touched)).toMatchObject({
      code: 1,
      text: expect.stringContaining('the document was altered'),
    });
  });
});

describe('a call that was made under a session', () => {
  it('refund: the request is proven with its session, and without it not', async () => {
    const key = privateKeyToAccount(generatePrivateKey());
    const session = await delegate(agent.account, agent.account, key);
    const body = ask('Twice under a session', { intent_id: 'bill-session', attempt_index: 0 });
    const buy = async () => {
      const { body: chat, headers } = await service.buy(agent.account, body, session.headers);
      return { task_id: chat.svc.task_id, salt: headers.get('x-svc-request-salt') ?? '' };
    };
    const [first, second] = [await buy(), await buy()];
    const proof = { task_id: first.task_id, salt: second.salt, other_salt: first.salt };
    const request = requestOfChat(body);
    expect(await verdictOn(second.task_id, 'double_charge', { ...proof, request })).toMatchObject({
      reason: 'request_not_proven',
    });
    const { delegation_hash } = session;
    const under = { ...proof, request: { ...request, delegation_hash } };
    expect(await verdictOn(second.task_id, 'double_charge', under)).toMatchObject({ reason: 'charged_twice' });
  });
});
