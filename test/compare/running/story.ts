import { createHash } from 'node:crypto';
import { privateKeyToAccount } from 'viem/accounts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { sha256Hex } from '../../../schema/digest.ts';
import { approvalText, approvalWebhookText } from '../../../schema/session/approval.ts';
import { registrationOf } from '../../harness/buyer.ts';
import { audioForm } from '../../harness/doors/audio-form.ts';
import { requestOfChat } from '../../harness/doors/disputes.ts';
import { taskOf } from '../../harness/doors/tasks.ts';
import { invoiceOf, sendOf, transferOf } from '../../harness/ingest/transfer-source.ts';
import { delegate, nowSeconds, signAct, signRevocation } from '../../harness/session/delegate.ts';
import { BASE_URL, secrets, wallets } from './fixed-service.ts';
import { type RecordedAnswer, type StoryAgent, sessionHeader, type Teller } from './teller.ts';

/* The story that each service runs: every writing endpoint in its normal use, and calls that books refuse. */

const DAY_MS = 86_400_000;
const HASH = '0'.repeat(64);
const ask = (content: string, members: JsonObject = {}): JsonObject => ({
  messages: [{ role: 'user', content }],
  ...members,
});
const book = ({ agent_id }: StoryAgent) => ({ agent_id });
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const keyNamed = (name: string) => privateKeyToAccount(`0x${sha256Hex(`session key of ${name}`)}`);

export type StoryAgents = Awaited<ReturnType<typeof register>>;
/** Ids of the story's objects by their names in paths. */
export type StoryIds = Readonly<Record<string, string | number>>;

/** Runs the whole story. Returns its agents and the ids by which their data can be read. */
export async function tellStory(teller: Teller): Promise<{ cast: StoryAgents; things: StoryIds }> {
  const cast = await register(teller);
  await listen(teller, cast);
  const bought = await buy(teller, cast);
  const kept = await keepBook(teller, cast);
  const asked = await approve(teller, cast);
  const disputed = await dispute(teller, cast, bought);
  const held = await hold(teller, cast, bought);
  const delegated = await delegateSessions(teller, cast);
  const ingested = await ingest(teller, cast);
  const posted = await post(teller, cast, ingested);
  const worked = await work(teller, cast);
  const routed = await route(teller, cast);
  const reported = await report(teller, cast);
  const things = {
    agent_id: cast.alice.agent_id,
    ...bought,
    ...kept,
    ...asked,
    ...disputed,
    ...held,
    ...delegated,
    ...ingested,
    ...posted,
    ...worked,
    ...routed,
    ...reported,
  };
  return { cast, things: things as unknown as StoryIds };
}

async function register({ tell }: Teller) {
  const agents: StoryAgent[] = [];
  const names = ['alice', 'bob', 'carol', 'dave', 'erin'] as const;
  for (const [index, name] of names.entries()) {
    const account = wallets[index];
    if (!account) throw new Error(`there is no wallet for ${name}`);
    const body = await signedRegistration(account);
    const { fields } = await tell(`${name} registers`, { door: 'register_agent', body, payer: account });
    agents.push({ account, agent_id: Number(fields.agent_id), session: String(fields.session) });
  }
  const [alice, bob, carol, dave, erin] = agents as [StoryAgent, StoryAgent, StoryAgent, StoryAgent, StoryAgent];
  const rotated = await tell('carol rotates her session', {
    door: 'rotate_session',
    params: book(carol),
    headers: sessionHeader(carol),
  });
  carol.session = String(rotated.fields.session);
  return { alice, bob, carol, dave, erin };
}

/** Registers at the story's time, because by default the harness never signs two equal times. */
const signedRegistration = async (account: StoryAgent['account']) =>
  (await registrationOf(account, { at: nowSeconds() })) as unknown as JsonObject;

/** Sets webhooks for all kinds of events except for alice's approvals, which need a signature of her wallet. */
async function listen({ tell, service }: Teller, { alice, bob, dave }: StoryAgents): Promise<void> {
  const kinds = ['settle', 'inflow', 'policy_blocked', 'collected', 'alert', 'given_up', 'bid', 'escrow_offer'];
  for (const [name, agent] of Object.entries({ alice, bob })) {
    await tell(`${name} sets a webhook`, {
      door: 'set_webhook',
      params: book(agent),
      headers: sessionHeader(agent),
      body: { url: `${service.receiver.url}/${name}`, events: kinds },
    });
  }
  const url = new URL(`${service.receiver.url}/dave`).href;
  const at = nowSeconds();
  await tell('dave sets a webhook of approvals', {
    door: 'set_webhook',
    method: 'POST',
    params: book(dave),
    headers: sessionHeader(dave),
    body: {
      url,
      events: ['approval', 'policy_blocked'],
      wallet_signature: await dave.account.signMessage({
        message: approvalWebhookText(BASE_URL, { agent_id: dave.agent_id, url }, at),
      }),
      signature_timestamp: at,
    },
  });
  await tell('alice pings her webhook', { door: 'ping_webhook', params: book(alice), headers: sessionHeader(alice) });
}

interface Bought {
  readonly task_id: string;
  readonly other_task_id: string;
  readonly commitment: string;
  readonly salt: string;
  readonly payment_id: string;
}

const taskIn = ({ fields }: RecordedAnswer): string => String((fields.svc as JsonObject | undefined)?.task_id ?? '');

async function buy({ tell }: Teller, { alice, bob }: StoryAgents): Promise<Bought> {
  const pays = { payer: alice.account };
  const first = await tell('a chat of an intent', {
    door: 'chat_completions',
    headers: sessionHeader(alice),
    body: ask('One', { intent_id: 'bill', attempt_index: 0, model: 'alpha-1' }),
    ...pays,
  });
  const task_id = taskIn(first);
  const payment = first.payment ?? {};
  await tell('the same payment again', {
    door: 'chat_completions',
    headers: { ...sessionHeader(alice), ...payment },
    body: ask('One', { intent_id: 'bill', attempt_index: 0, model: 'alpha-1' }),
  });
  await tell(
    'the same payment for another request',
    {
      door: 'chat_completions',
      headers: { ...sessionHeader(alice), ...payment },
      body: ask('Something else'),
    },
    409,
  );
  const second = await tell('a chat that follows from the first', {
    door: 'chat_completions',
    headers: { ...sessionHeader(alice), 'X-SVC-Parent': task_id, 'X-SVC-Intent': 'bill', 'X-SVC-Attempt': '1' },
    body: ask('Two'),
    ...pays,
  });
  await tell('a streamed chat', { door: 'chat_completions', body: ask('Three', { stream: true }), ...pays });
  await tell('a response', { door: 'create_response', body: { input: 'Four' }, ...pays });
  await tell('a message', {
    door: 'create_message',
    body: { max_tokens: 16, messages: [{ role: 'user', content: 'Five' }] },
    ...pays,
  });
  await tell('an A2A message', { door: 'a2a_message', body: ask('Six'), ...pays });
  await tell('an image', { door: 'generate_image', body: { prompt: 'Seven' }, ...pays });
  await tell('embeddings', { door: 'create_embeddings', body: { input: 'Eight' }, ...pays });
  await tell('a transcription', { door: 'transcribe_audio', form: audioForm(), ...pays });
  await tell('a task', { door: 'request_task', body: taskOf(alice.account, 'Nine'), ...pays });
  await tell('a quote', { door: 'quote_task', body: taskOf(alice.account, 'Ten'), ...pays });
  await tell('a chat by a key, on a book', {
    door: 'chat_completions',
    headers: { ...sessionHeader(bob), authorization: `Bearer ${secrets.live_key}` },
    body: ask('Eleven'),
  });
  const named = {
    door: 'chat_completions',
    headers: { authorization: `Bearer ${secrets.live_key}`, 'Idempotency-Key': 'a-name-of-a-call' },
    body: ask('Named'),
  };
  await tell('a chat by a key under a name', named);
  await tell('the same name again', named);
  await tell(
    'a chat of nobody known',
    {
      door: 'chat_completions',
      headers: { ...sessionHeader({ session: 'a-guess' }) },
      body: ask('Twelve'),
      ...pays,
    },
    403,
  );
  const receipt = await tell('the receipt of the first', {
    door: 'get_receipt',
    params: { task_id },
    headers: { accept: 'application/json' },
  });
  const { payload } = receipt.fields as unknown as { payload: Payload };
  const { kind, hash } = payload.fulfillment.output_commitment;
  return {
    task_id,
    other_task_id: taskIn(second),
    commitment: `${kind}:${hash}`,
    salt: String(first.headers['x-svc-request-salt'] ?? ''),
    payment_id: payload.payment.payment_id,
  };
}

/** Members of a signed receipt that later calls of the story need. */
interface Payload {
  readonly fulfillment: { readonly output_commitment: { readonly kind: string; readonly hash: string } };
  readonly payment: { readonly payment_id: string };
}

async function keepBook({ tell, service }: Teller, { alice, bob, erin }: StoryAgents) {
  const mine = { params: book(alice), headers: sessionHeader(alice) };
  await tell('a budget', { door: 'get_agent_book', method: 'POST', ...mine, body: { budget: '9000000' } });
  const policies = {
    daily_cap: '7000000',
    hourly_cap: '6000000',
    model_allowlist: ['alpha-1', 'alpha-2', 'alpha-image', 'alpha-audio', 'alpha-embedding'],
    risk_tiers: { high: ['submit_inference'], low: ['quote_task'] },
    approval_ttl: 120,
  };
  for (const [policy_type, value] of Object.entries(policies))
    await tell(`the policy ${policy_type}`, { door: 'set_book_policy', ...mine, body: { policy_type, value } });
  await tell('a policy that is tried', {
    door: 'set_book_policy',
    ...mine,
    body: { policy_type: 'daily_cap', value: '1', mode: 'shadow' },
  });
  await tell('a chat that it would block', {
    door: 'chat_completions',
    headers: sessionHeader(alice),
    body: ask('Would be blocked'),
    payer: alice.account,
  });
  await tell('the policy cleared', {
    door: 'set_book_policy',
    ...mine,
    body: { policy_type: 'risk_tiers', value: null },
  });
  await tell(
    'a policy that there is none of',
    { door: 'set_book_policy', ...mine, body: { policy_type: 'none', value: 1 } },
    400,
  );
  await tell('a simulation', { door: 'simulate_book_policy', ...mine, body: { policy: { daily_cap: '3000' } } });
  await tell('alerts', { door: 'set_book_alerts', ...mine, body: { burn_factor: 5, thresholds_percent: [1, 2, 50] } });
  await tell('a chat that brings an alert', {
    door: 'chat_completions',
    headers: sessionHeader(alice),
    body: ask('Alerts'),
    payer: alice.account,
  });
  const inflow = (
    label: string,
    body: JsonObject,
    headers = sessionHeader(alice) as Readonly<Record<string, string>>,
  ) => tell(label, { door: 'record_inflow', params: book(alice), headers, body });
  await inflow('an inflow', { allocation: '2000', task_id: 'inflow-one', bucket: 'research', model: 'm', hub: 'h' });
  await inflow('another inflow', { allocation: '3000' });
  const named = { ...sessionHeader(alice), 'Idempotency-Key': 'a-name-of-a-write' };
  await inflow('an inflow under a name', { allocation: '3500' }, named);
  await inflow('the same inflow again', { allocation: '3500' }, named);
  const correct = (label: string, body: JsonObject) => tell(label, { door: 'correct_inflow', ...mine, body });
  const one = await correct('a correction', { task_id: 'inflow-one', reason: 'It was less', allocation: '1500' });
  const other = await correct('a correction that forks', {
    task_id: 'inflow-one',
    reason: 'It was more',
    allocation: '2500',
  });
  await correct('a correction that merges', {
    task_id: correctionIn(one),
    merges: [correctionIn(other)],
    reason: 'Both',
  });
  const read = await tell('an assignment', {
    door: 'create_assignment',
    ...mine,
    body: { grantee: 'an auditor', slice: { limit: 5 } },
  });
  const collects = await tell('an assignment that collects', {
    door: 'create_assignment',
    ...mine,
    body: { grant_type: 'collect', expires_at: new Date(service.now() + DAY_MS).toISOString() },
  });
  const { token } = collects.fields;
  await inflow('an inflow by a slice', { allocation: '4000' }, { authorization: `Bearer ${token}` });
  await tell('an assignment revoked', {
    door: 'revoke_assignment',
    params: { ...book(alice), assignment_id: String(read.fields.assignment_id) },
    headers: sessionHeader(alice),
  });
  const theirs = { params: book(erin), headers: sessionHeader(erin) };
  await service.heardOfBlock();
  const refused = async (label: string, policy_type: string, value: JsonObject[string]) => {
    await tell(`${label} is set`, { door: 'set_book_policy', ...theirs, body: { policy_type, value } });
    const call = { door: 'chat_completions', headers: sessionHeader(erin), body: ask(label), payer: erin.account };
    const answer = await tell(`${label} refuses`, call, 403);
    await tell(`${label} is cleared`, { door: 'set_book_policy', ...theirs, body: { policy_type, value: null } });
    return answer;
  };
  const killed = await refused('kill switch', 'kill_switch', true);
  await refused('daily cap', 'daily_cap', '100');
  await refused('hourly cap', 'hourly_cap', '100');
  await refused('allowlist', 'model_allowlist', ['none-at-all']);
  await tell('a budget of nothing', { door: 'get_agent_book', method: 'POST', ...theirs, body: { budget: '1' } });
  await tell(
    'the budget refuses',
    { door: 'chat_completions', headers: sessionHeader(erin), body: ask('Too much'), payer: erin.account },
    403,
  );
  await tell('no budget', { door: 'get_agent_book', method: 'POST', ...theirs, body: { budget: null } });
  await tell('a book of another', { door: 'get_agent_book', params: book(bob), headers: sessionHeader(alice) }, 403);
  const refusal_id = refusalIn(killed);
  return { inflow_task_id: 'inflow-one', token, refusal_id };
}

/** Task of the newest correction of an inflow. */
function correctionIn({ fields }: RecordedAnswer): string {
  const { inflow_corrections: all } = fields.row as unknown as { inflow_corrections: { task_id: string }[] };
  return all.at(-1)?.task_id ?? '';
}

/** Id of the refusal, which the graph reports in the extensions of an error. */
function refusalIn({ exchanges }: RecordedAnswer): string {
  const [, id = ''] = /"refusal_id":"([^"]+)"/.exec(JSON.stringify(exchanges.at(-1))) ?? [];
  return id;
}

async function approve({ tell, service }: Teller, { dave }: StoryAgents) {
  const mine = { params: book(dave), headers: sessionHeader(dave) };
  await tell('dave wants approvals', {
    door: 'set_book_policy',
    ...mine,
    body: { policy_type: 'tier2_above', value: '1000' },
  });
  const call = (words: string) => ({
    door: 'chat_completions',
    headers: sessionHeader(dave),
    body: ask(words),
    payer: dave.account,
  });
  const first = await tell('a call that waits', call('To be approved'), 403);
  const listed = await tell('approvals', { door: 'list_approvals', ...mine });
  const [request] = listed.fields.approvals as unknown as { approval_id: string; request_hash: string }[];
  const approval_id = request?.approval_id ?? '';
  const at = nowSeconds();
  const named = { approval_id, request_hash: request?.request_hash ?? '' };
  const wallet_signature = await dave.account.signMessage({
    message: approvalText(BASE_URL, named as never, 'approve', at),
  });
  await tell('the wallet approves', {
    door: 'answer_approval',
    params: { ...book(dave), approval_id },
    body: { decision: 'approve', wallet_signature, signature_timestamp: at },
  });
  await tell('the call passes', {
    door: 'chat_completions',
    headers: { ...sessionHeader(dave), ...first.payment },
    body: ask('To be approved'),
  });
  await service.heardOfBlock();
  await tell('another call that waits', call('To be denied'), 403);
  await service.settled();
  const link = /"approval_link":"[^"#]*#([^".]+)\.([^"]+)"/.exec(service.receiver.delivered.at(-1)?.body ?? '');
  const [, linked_id = '', secret = ''] = link ?? [];
  const linked = { params: { approval_id: linked_id }, headers: { 'X-SVC-Approval': secret } };
  await tell('what a link is for', { door: 'get_linked_approval', ...linked });
  await tell('the link denies', { door: 'answer_linked_approval', ...linked, body: { decision: 'deny' } });
  await tell('dave wants approvals no more', {
    door: 'set_book_policy',
    ...mine,
    body: { policy_type: 'tier2_above', value: null },
  });
  return { approval_id };
}

async function dispute({ tell }: Teller, { alice }: StoryAgents, { task_id, other_task_id, salt }: Bought) {
  const file = (label: string, body: JsonObject) =>
    tell(label, { door: 'file_dispute', params: book(alice), headers: sessionHeader(alice), body });
  const { fields } = await file('nothing came', {
    task_id,
    claim_type: 'output_missing',
    evidence: { note: { inner: [1] } },
  });
  const request = requestOfChat(ask('One', { intent_id: 'bill', attempt_index: 0, model: 'alpha-1' }));
  await file('another model', {
    task_id,
    claim_type: 'wrong_model',
    evidence: { requested_model: 'alpha-2', request, salt },
  });
  await file('charged twice', {
    task_id: other_task_id,
    claim_type: 'double_charge',
    evidence: { task_id },
  });
  return { dispute_id: String(fields.dispute_id) };
}

async function hold({ tell }: Teller, { alice, bob }: StoryAgents, { task_id, other_task_id, commitment }: Bought) {
  const ledger = (label: string, body: JsonObject) =>
    tell(label, { door: 'ledger_escrow', params: book(alice), headers: sessionHeader(alice), body });
  const one = await ledger('a hold', {
    action: 'open',
    task_id,
    amount: '2000',
    required: { output_hash: commitment },
  });
  await ledger('a hold released', { action: 'release', escrow_id: String(one.fields.escrow_id) });
  await ledger('another hold', { action: 'open', task_id: other_task_id });
  await ledger('a hold taken back', {
    action: 'clawback',
    task_id: other_task_id,
    claim_type: 'output_missing',
    evidence: { why: 'nothing' },
  });
  await ledger('how a hold stands', { action: 'status', task_id });
  const a2a = (label: string, agent: StoryAgent, body: JsonObject) =>
    tell(label, { door: 'a2a_escrow', params: book(agent), headers: sessionHeader(agent), body });
  const spent: string[] = [];
  for (const words of ['To fund it', 'To fund the other', 'To deliver']) {
    const payer = words === 'To deliver' ? bob : alice;
    const body = ask(words);
    const answer = await tell(words, {
      door: 'chat_completions',
      headers: sessionHeader(payer),
      body,
      payer: payer.account,
    });
    spent.push(taskIn(answer));
  }
  const terms = {
    action: 'open',
    job_spec_hash: HASH,
    amount: '2000',
    parties: { principal_agent_id: alice.agent_id, counterparty_agent_id: bob.agent_id },
  };
  const opened = await a2a('an escrow of two', alice, { ...terms, job_id: 'a-job' });
  await a2a('funded', alice, { action: 'fund', job_id: 'a-job', task_id: spent[0] ?? '' });
  const late = await tell('what is delivered', {
    door: 'chat_completions',
    headers: sessionHeader(bob),
    body: ask('Delivered'),
    payer: bob.account,
  });
  const delivered = taskIn(late);
  const receipt = await tell('the receipt of what is delivered', {
    door: 'get_receipt',
    params: { task_id: delivered },
    headers: { accept: 'application/json' },
  });
  const { kind, hash } = (receipt.fields as unknown as { payload: Payload }).payload.fulfillment.output_commitment;
  await a2a('submitted', bob, {
    action: 'submit',
    job_id: 'a-job',
    fulfillment_receipt_id: delivered,
    output_commitment: `${kind}:${hash}`,
  });
  await a2a('released', alice, { action: 'release', job_id: 'a-job' });
  await a2a('another escrow of two', alice, { ...terms, job_id: 'another-job' });
  await a2a('funded, too', alice, { action: 'fund', job_id: 'another-job', task_id: spent[1] ?? '' });
  const more = await tell('what fails', {
    door: 'chat_completions',
    headers: sessionHeader(bob),
    body: ask('Fails'),
    payer: bob.account,
  });
  const failing = await tell('the receipt of what fails', {
    door: 'get_receipt',
    params: { task_id: taskIn(more) },
    headers: { accept: 'application/json' },
  });
  const committed = (failing.fields as unknown as { payload: Payload }).payload.fulfillment.output_commitment;
  await a2a('submitted, too', bob, {
    action: 'submit',
    job_id: 'another-job',
    fulfillment_receipt_id: taskIn(more),
    output_commitment: `${committed.kind}:${committed.hash}`,
  });
  await a2a('challenged', alice, {
    action: 'challenge',
    job_id: 'another-job',
    claim_type: 'output_missing',
    evidence: { why: 'nothing' },
  });
  await a2a('a third escrow of two', alice, { ...terms, job_id: 'third-job' });
  await a2a('taken back', alice, { action: 'clawback', job_id: 'third-job', claim_type: 'output_missing' });
  await a2a('how it stands', bob, { action: 'status', job_id: 'a-job' });
  return { escrow_id: String(opened.fields.escrow_id) };
}

async function delegateSessions({ tell, service }: Teller, { alice, bob }: StoryAgents) {
  const under = async (
    label: string,
    signer: Parameters<typeof delegate>[0],
    name: string,
    more = {},
    payer = alice,
  ) => {
    await service.step(`${label}, granted`);
    const session = await delegate(signer, payer.account, keyNamed(name), more);
    const headers = { ...sessionHeader(payer), ...session.headers };
    const answer = await tell(label, { door: 'chat_completions', headers, body: ask(label), payer: payer.account });
    return { ...session, task_id: taskIn(answer) };
  };
  const act = async (label: string, session: Parameters<typeof signAct>[0], parts: Parameters<typeof signAct>[1]) => {
    await service.step(`${label}, signed`);
    return tell(label, {
      door: 'act_in_session',
      params: { delegation_hash: session.delegation_hash },
      body: (await signAct(session, parts)) as unknown as JsonObject,
    });
  };
  const root = await under('a session is bound', alice.account, 'alice');
  const { capAtomic, validAfter, sessionExpiry } = root.grant;
  const below = { capAtomic, validAfter, sessionExpiry, parentDelegationHash: root.delegation_hash };
  const child = await under('a child of it is bound', root.agent, 'the child', below);
  const theirs = await under('a session of bob is bound', bob.account, 'bob', {}, bob);
  const challenged = await tell('a challenge', {
    door: 'challenge_session',
    params: { delegation_hash: root.delegation_hash },
    body: { ttl_seconds: 120 },
  });
  const { challenge_id, nonce, deadline } = challenged.fields;
  await act('reads its book, by the challenge', root, {
    action: 'read_private',
    resource: 'book',
    challenge_id: String(challenge_id),
    nonce: String(nonce),
    deadline: Number(deadline),
  });
  await act('reads its export', root, { action: 'read_private', resource: 'book/export' });
  await act('reads a receipt', root, { action: 'read_private', resource: `receipt/${root.task_id}` });
  const handed = await act('hands a receipt on', root, {
    action: 'handoff',
    resource: `receipt/${root.task_id}`,
    target_agent: bob.agent_id,
  });
  const handed_task = String((handed.fields.receipt as JsonObject | undefined)?.task_id);
  await act('redeems it', theirs, { action: 'redeem', resource: `receipt/${handed_task}` });
  await tell('alice wants approvals', {
    door: 'set_book_policy',
    params: book(alice),
    headers: sessionHeader(alice),
    body: { policy_type: 'tier2_above', value: '1000' },
  });
  await service.heardOfBlock();
  const waiting = {
    door: 'chat_completions',
    headers: { ...sessionHeader(alice), ...child.headers },
    body: ask('Approved from above'),
    payer: alice.account,
  };
  await tell('a call below it waits', waiting, 403);
  const listed = await tell('approvals of alice', {
    door: 'list_approvals',
    params: book(alice),
    headers: sessionHeader(alice),
  });
  const [request] = listed.fields.approvals as unknown as { request_hash: string }[];
  await act('approves it', root, { action: 'approve', resource: `call/${request?.request_hash}` });
  await tell('alice wants approvals no more', {
    door: 'set_book_policy',
    params: book(alice),
    headers: sessionHeader(alice),
    body: { policy_type: 'tier2_above', value: null },
  });
  await service.step('a revocation, signed');
  await tell('the session is revoked', {
    door: 'revoke_session',
    params: { delegation_hash: root.delegation_hash },
    body: (await signRevocation(alice.account, root.delegation_hash)) as unknown as JsonObject,
  });
  return { delegation_hash: theirs.delegation_hash, revoked_hash: root.delegation_hash, handed_task };
}

/** Ingests payments to other services that the source of transfers confirms. */
async function ingest({ tell, service: { world } }: Teller, { alice, bob, carol, dave, erin }: StoryAgents) {
  const shown = (number: number, members: Parameters<typeof transferOf>[0]) =>
    world.show(
      transferOf({
        transaction: `0x${String(number).padStart(64, '5')}`,
        pay_to: wallets[4]?.address ?? '',
        ...members,
      }),
    );
  const of = (label: string, agent: StoryAgent, body: JsonObject, waived = true, status?: number) =>
    tell(
      label,
      {
        door: 'ingest_foreign_x402',
        params: book(agent),
        headers: { ...sessionHeader(agent), ...(waived && { 'X-API-Key': secrets.waiver_key }) },
        body,
        ...(!waived && { payer: agent.account }),
      },
      status,
    );
  const members = {
    resource: 'https://shop.example/v1/x',
    hub: 'shop',
    model: 'm',
    intent_id: 'foreign',
    job_kind: 'research',
  };
  const invoice = (transfer: ReturnType<typeof shown>) => invoiceOf(transfer, members) as unknown as JsonObject;
  const one = await of('a payment to another', alice, invoice(shown(1, { payer: alice.account.address })), false);
  const backs: string[] = [];
  for (const [index, agent] of [bob, carol].entries())
    backs.push(
      String(
        (await of(`another, ${index}`, agent, invoice(shown(2 + index, { payer: agent.account.address })))).fields
          .task_id,
      ),
    );
  await of('one whose payer is not proven', dave, invoice(shown(4, { payer: erin.account.address })));
  const sent = world.show(sendOf({ transaction: 'AB'.repeat(32) }));
  await of('a send on Nano', alice, {
    nano: { block: sent.transaction, recipient: sent.pay_to, amount: sent.amount, description: 'Coffee' },
  });
  await of('one that is not there', alice, invoice({ ...shown(6, {}), transaction: `0x${'6'.repeat(64)}` }), true, 400);
  return { ingested_task_id: String(one.fields.task_id), bobs_receipt: backs[0] ?? '', carols_receipt: backs[1] ?? '' };
}

async function post(
  { tell }: Teller,
  { alice, bob, carol }: StoryAgents,
  receipts: { bobs_receipt: string; carols_receipt: string },
) {
  const stamped = (label: string, door: string, agent: StoryAgent, params: StoryIds, body: JsonObject) =>
    tell(label, { door, params, headers: sessionHeader(agent), body, payer: agent.account });
  const free = (label: string, door: string, agent: StoryAgent, params: StoryIds, body: JsonObject = {}) =>
    tell(label, { door, params, headers: sessionHeader(agent), body });
  const endpoint = 'https://shop.example/v1/x';
  const posted = await stamped(
    'a post',
    'create_board_post',
    bob,
    {},
    {
      endpoint,
      outcome: 'success',
      receipt_ref: receipts.bobs_receipt,
      latency_ms: 120,
      text: 'It answered at once.',
    },
  );
  const id = String(posted.fields.post_id);
  const plain = await stamped(
    'a post backed by its stamp',
    'create_board_post',
    alice,
    {},
    { endpoint, outcome: 'error' },
  );
  const plain_id = String(plain.fields.post_id);
  const said = await stamped('a comment', 'create_board_comment', alice, { id }, { text: 'So it is here.' });
  const commentId = String(said.fields.comment_id);
  const kept = await stamped('another comment', 'create_board_comment', carol, { id }, { text: 'And here.' });
  await free('a like', 'like_post', alice, { id });
  await free('a confirm', 'confirm_post', carol, { id }, { receipt_ref: receipts.carols_receipt });
  await stamped('a post flagged', 'flag_board_post', alice, { id }, { reason: 'Too short' });
  await stamped('a comment flagged', 'flag_board_comment', bob, { id, commentId }, {});
  const ops = (label: string, door: string, params: StoryIds) =>
    tell(label, { door, params, headers: { 'X-SVC-Board-Ops': secrets.ops }, body: {} });
  await ops('a post hidden', 'hide_post', { id });
  await ops('a post shown again', 'unhide_post', { id });
  await ops('a comment hidden', 'hide_comment', { id, commentId });
  await ops('a comment shown again', 'unhide_comment', { id, commentId });
  await free('a comment taken down', 'take_down_board_comment', alice, { id, commentId });
  await free('a post taken down', 'take_down_board_post', alice, { id: plain_id });
  await tell('a completion elsewhere', {
    door: 'record_completion',
    headers: { 'X-SVC-Board-Inbound': secrets.inbound },
    body: {
      source: 'acp.example',
      external_id: 'job-1',
      payer: alice.account.address,
      payee: bob.account.address,
      amount: '90000',
      payment_tx: `0x${'a'.repeat(64)}`,
      output_hash: 'ab'.repeat(32),
    },
  });
  return { post_id: id, commentId: String(kept.fields.comment_id) };
}

const OUTPUT = 'The whole of it';

async function work({ tell, service }: Teller, { alice, bob, carol }: StoryAgents) {
  const stamped = (
    label: string,
    door: string,
    agent: StoryAgent,
    params: StoryIds,
    body: JsonObject,
    status?: number,
  ) => tell(label, { door, params, headers: sessionHeader(agent), body, payer: agent.account }, status);
  const free = (label: string, door: string, agent: StoryAgent, id: string, body: JsonObject = {}) =>
    tell(label, { door, params: { id }, headers: sessionHeader(agent), body });
  const deadline = new Date(service.now() + DAY_MS).toISOString();
  const newJob = async (label: string) => {
    const body = { text: 'Sum up three papers', budget: '5000000', deadline, acceptance_test: 'All three are there' };
    return String((await stamped(label, 'post_job', alice, {}, body)).fields.job_id);
  };
  const bid = async (label: string, agent: StoryAgent, id: string, price: string) =>
    String((await stamped(label, 'bid_on_job', agent, { id }, { price, eta: 'soon', pitch: 'well' })).fields.bid_id);
  const id = await newJob('a job');
  await bid('a bid of carol', carol, id, '1600000');
  await bid('a bid', bob, id, '1600001');
  const bid_id = await bid('a bid revised', bob, id, '1500001');
  await free('a bid picked', 'pick_bid', alice, id, { bid_id });
  await free('a delivery', 'deliver_job', bob, id, { output_sha256: sha256('not it'), preview: 'A part' });
  await free('a delivery refused', 'refuse_delivery', alice, id, {
    output_sha256: sha256('not it'),
    reason: 'Not all',
  });
  await free('another delivery', 'deliver_job', bob, id, { output_sha256: sha256(OUTPUT) });
  await stamped('the winner is paid', 'pay_job', alice, { id }, {}, 402);
  await stamped('the fee is paid', 'pay_job', alice, { id }, {});
  await free('a challenge', 'challenge_job', alice, id, { reason: 'Nothing came' });
  await free('a reveal', 'reveal_job', bob, id, { output: OUTPUT });
  await stamped('a job flagged', 'flag_job', carol, { id }, {});
  const ops = (label: string, door: string) =>
    tell(label, { door, params: { id }, headers: { 'X-SVC-Board-Ops': secrets.ops }, body: {} });
  await ops('a job hidden', 'hide_job');
  await ops('a job shown again', 'unhide_job');
  const cancelled = await newJob('a job to be cancelled');
  await free('a job cancelled', 'cancel_job', alice, cancelled);
  return { job_id: id };
}

async function route({ tell }: Teller, { bob }: StoryAgents) {
  const opened = await tell('a router book', {
    door: 'open_router_book',
    headers: sessionHeader(bob),
    body: { agent_id: bob.agent_id, label: 'mine' },
  });
  const book_id = String(opened.fields.book_id);
  const headers = { authorization: `Bearer ${opened.fields.ingest_key}` };
  await tell('its key', { door: 'set_router_key', params: { book_id }, headers, body: { key: 'a-router-key' } });
  const generation = { generation_id: 'gen-1', model: 'some/model', amount: '1250', rail: 'credits' };
  await tell('a generation', { door: 'broadcast_generation', headers, body: generation });
  await tell('the same generation', { door: 'broadcast_generation', headers, body: generation });
  return { book_id, ingest_key: String(opened.fields.ingest_key) };
}

async function report({ tell, service }: Teller, { alice }: StoryAgents) {
  const mine = { params: book(alice), headers: sessionHeader(alice) };
  const to_block = await service.chain.height();
  await service.chain.mine(2);
  const wallet = alice.account.address;
  const started = await tell('a reconciliation', {
    door: 'start_reconciliation',
    ...mine,
    body: { wallet, from_block: 0, to_block },
  });
  const published = await tell('a published export', { door: 'publish_book_export', ...mine, body: {} });
  return { report_id: String(started.fields.report_id), slug: String(published.fields.slug) };
}

/** Ends everything that is still open, after all reads. */
export async function tellEnd({ tell }: Teller, { alice, bob }: StoryAgents): Promise<void> {
  const mine = { params: book(alice), headers: sessionHeader(alice) };
  await tell('another secret', { door: 'rotate_webhook_secret', ...mine, body: {} });
  await tell('messages again', { door: 'redeliver_webhook', ...mine, body: { from_position: 1, to_position: 9 } });
  await tell('the webhook removed', { door: 'remove_webhook', params: book(bob), headers: sessionHeader(bob) });
  await tell('the export withdrawn', { door: 'withdraw_book_export', ...mine });
}
