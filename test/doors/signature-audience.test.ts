import { hash } from 'node:crypto';
import { generateKeyPairSigner, getBase58Decoder, signBytes } from '@solana/kit';
import { Agent as Dispatcher, fetch as undiciFetch } from 'undici';
import { beforeAll, describe, expect, it } from 'vitest';
import { isTextSignedOnSolana as signedOnSolana } from '../../gateway/rails/solana/solana-rail.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import type { ErrorCode } from '../../schema/errors.ts';
import { firstDomain, type SessionDomain, sessionDomain } from '../../schema/session/typed-data.ts';
import { type SignedText, type SignedWord, signedText, signedWords } from '../../schema/signed-words.ts';
import { type Fetch, payingFetch } from '../harness/buyer.ts';
import { approvalDoorsOf } from '../harness/doors/approvals.ts';
import { inflowDoorsOf, signedBy } from '../harness/doors/inflows.ts';
import { makePayment } from '../harness/doors/make-payment.ts';
import { ask, CHAT, openService, type Service } from '../harness/doors/open-service.ts';
import { reconciliationDoorsOf } from '../harness/doors/reconciliations.ts';
import { webhookDoorsOf } from '../harness/doors/webhooks.ts';
import { invoiceOf, openTransferSource, transferOf } from '../harness/ingest/transfer-source.ts';
import { atEnd } from '../harness/release.ts';
import { delegate, hex32, nowSeconds, signAct, signRevocation } from '../harness/session/delegate.ts';
import { below, bindRoot, newKey, sessionPath } from '../harness/session/trees.ts';

/* A signature of a wallet or of a session's key for another service is refused in every kind of request. */

const FORMER = 'https://former.example';
const ELSEWHERE = 'https://other.example';
const world = openTransferSource();
const transfers = {
  ...world.transfers,
  verifySigner: async (text: string, by: Parameters<typeof world.transfers.verifySigner>[1]) => {
    if (by.network !== 'solana') return world.transfers.verifySigner(text, by);
    return (await signedOnSolana({ ...by, text })) ? ('valid' as const) : ('invalid' as const);
  },
};

type Agent = Awaited<ReturnType<Service['newAgent']>>;
let service: Service;
let agent: Agent;
beforeAll(async () => {
  service = await openService({ FORMER_BASE_URLS: FORMER, WAIVER_KEYS: 'a-waiver-key' }, { transfers });
  agent = await service.newAgent();
});

const here = () => service;
const possessed = () => ({ 'X-SVC-Session': agent.session });
const book = (beneath: string) => `/v1/agents/${agent.agent_id}/book${beneath}`;
const approvals = approvalDoorsOf(here);
const inflows = inflowDoorsOf(here);
const webhooks = webhookDoorsOf(here);
const reconciliations = reconciliationDoorsOf(here);

interface AnswerParts {
  readonly status: number;
  readonly body: unknown;
}
/** Sends a request to this service that was signed for the service at that base URL. */
type Ask = (base_url: string) => Promise<AnswerParts>;

/** A text that the agent's wallet has signed, with its time. */
async function signed<K extends SignedText>(
  kind: K,
  base_url: string,
  parts: Omit<Parameters<typeof signedText<K>>[2], 'unix_seconds'>,
  account: Pick<Agent['account'], 'signMessage'> = agent.account,
) {
  const at = nowSeconds();
  const message = signedText(kind, base_url, { ...parts, unix_seconds: at } as never);
  return { at, signature: await account.signMessage({ message }) };
}

async function answered(decision: 'approve' | 'deny', base_url: string): Promise<AnswerParts> {
  const cautious = await approvals.cautious();
  const { request } = await approvals.callToApprove(cautious, `${decision} ${base_url}`);
  const { approval_id, request_hash } = request;
  const { at, signature } = await signed(decision, base_url, { approval_id, request_hash }, cautious.account);
  const body = { decision, wallet_signature: signature, signature_timestamp: at };
  return approvals.answer(cautious, approval_id, body);
}

let named = 0;
const newStatement = (iss: string) => ({ iss, agent_id: agent.agent_id, signed_at: new Date().toISOString() });

/** One request for each kind of signed text, except for the texts of registration, whose wording the specification fixes. */
const requestsByWord: Readonly<Record<Exclude<SignedWord, 'register_pay' | 'register_recover'>, Ask>> = {
  async receipts(base_url) {
    const { address } = agent.account;
    const { at, signature } = await signed('receipts', base_url, { checksum_address: address });
    return service.post(`/v1/wallets/${address}/receipts`, { signed_at: at, signature });
  },
  async reconcile(base_url) {
    const wallet = await service.chain.newWallet(0n);
    // A new agent, because an agent can have only one running report.
    const other = await service.newAgent();
    const parts = { agent_id: other.agent_id, checksum_address: wallet.address };
    const { at, signature } = await signed('reconcile', base_url, parts, wallet);
    const body = { from_block: 1, to_block: 1, wallet: wallet.address, signed_at: at, signature };
    return reconciliations.start(other, body);
  },
  async tasks(base_url) {
    const { address } = agent.account;
    const { at, signature } = await signed('tasks', base_url, { network: 'base', wallet: address });
    const payer = `base:${address}:${at}:${signature}`;
    const query = 'query ($payer: String) { boughtTasks(payer: $payer) { tasks { taskId } } }';
    const heard = await service.post<{ errors?: unknown[] }>('/graphql', { query, variables: { payer } });
    return { status: heard.body.errors ? 401 : heard.status, body: heard.body };
  },
  async redeliver(base_url) {
    const account = await service.chain.newWallet();
    const { headers, message } = await makePayment(service, account);
    const show = (content: string, by: Fetch = fetch, more = {}) =>
      service.knock('POST', CHAT, { body: ask(content), headers: { ...headers, ...more }, by });
    expect((await show(`For ${base_url}`)).status).toBe(200);
    const dispatcher = new Dispatcher({ localAddress: '127.0.3.7' });
    atEnd(() => dispatcher.close());
    const stranger = ((url: string, init: object) =>
      undiciFetch(url, { ...init, dispatcher } as never)) as unknown as Fetch;
    for (let guess = 0; guess < 5; guess++) await show(`Guess ${guess}`, stranger);
    const { at, signature } = await signed(
      'redeliver',
      base_url,
      { network: 'base', payment_id: message.nonce },
      account,
    );
    return show(`For ${base_url}`, stranger, { 'X-SVC-Redeliver': `${at}:${signature}` });
  },
  async ingest(base_url) {
    const payer = await service.chain.newWallet(0n);
    const transfer = world.show(transferOf({ payer: payer.address }));
    const parts = { agent_id: agent.agent_id, 'network:transaction': `base:${transfer.transaction}` };
    const { at, signature } = await signed('ingest', base_url, parts, payer);
    const body = { ...invoiceOf(transfer), payer_signature: signature, payer_signature_timestamp: at };
    return service.post(book('/ingest'), body, { ...possessed(), 'X-API-Key': 'a-waiver-key' });
  },
  async payout(base_url) {
    const poster = await service.newAgent();
    const stamped = (who: Agent, path: string, body: JsonObject) =>
      service.knock<JsonObject>('POST', path, {
        body,
        headers: { 'X-SVC-Session': who.session },
        by: payingFetch(who.account),
      });
    const deadline = new Date(Date.now() + 86_400_000).toISOString();
    const { body } = await stamped(poster, '/v1/board/jobs', { text: 'A job', budget: '5000000', deadline });
    const { address, keyPair } = await generateKeyPairSigner();
    const at = nowSeconds();
    const parts = { job_id: String(body.job_id), agent_id: agent.agent_id, address, unix_seconds: at };
    const text = new TextEncoder().encode(signedText('payout', base_url, parts));
    const signature = getBase58Decoder().decode(await signBytes(keyPair.privateKey, text));
    const payout = { network: 'solana', address, signature, signature_timestamp: at };
    return stamped(agent, `/v1/board/jobs/${parts.job_id}/bid`, { price: '1', payout });
  },
  approve: base_url => answered('approve', base_url),
  deny: base_url => answered('deny', base_url),
  async approval_webhook(base_url) {
    const url = `https://hooks.invalid/${hash('sha256', base_url)}`;
    const { at, signature } = await signed('approval_webhook', base_url, { agent_id: agent.agent_id, url });
    const word = { wallet_signature: signature, signature_timestamp: at };
    return webhooks.put(agent, { url, events: ['approval'], ...word });
  },
  async inflow(base_url) {
    const own = { allocation: '100', task_id: `signed_${++named}` };
    const inflow_claim = await signedBy(agent.account, 'inflow', {
      ...newStatement(base_url),
      bucket: 'patron',
      ...own,
    });
    return inflows.record(agent, { ...own, inflow_claim });
  },
  async correction(base_url) {
    const { body } = await inflows.record(agent, { allocation: '100' });
    const own = { task_id: String(body.task_id), reason: 'The invoice said otherwise.', allocation: '5' };
    const correction = await signedBy(agent.account, 'correction', { ...newStatement(base_url), ...own });
    return inflows.correct(agent, { ...own, correction });
  },
  async AuthorizeSession(base_url) {
    const { account } = agent;
    const session = await delegate(account, account, newKey(), {}, sessionDomain(base_url));
    return service.buy(account, ask(`Binds for ${base_url}`), session.headers);
  },
  async SessionAct(base_url) {
    const session = await bindRoot(service, agent.account);
    const act = await signAct(session, { action: 'read_private', resource: 'book' }, sessionDomain(base_url));
    return service.post(sessionPath(session.delegation_hash, 'act'), act);
  },
  async RevokeSession(base_url) {
    const { delegation_hash } = await bindRoot(service, agent.account);
    const word = await signRevocation(agent.account, delegation_hash, nowSeconds(), sessionDomain(base_url));
    return service.post(sessionPath(delegation_hash, 'revoke'), word);
  },
};

/** The code of the refusal if the signature is for another service. */
const codes: Readonly<Record<keyof typeof requestsByWord, ErrorCode>> = {
  receipts: 'control_proof_invalid',
  reconcile: 'control_proof_invalid',
  tasks: 'control_proof_invalid',
  redeliver: 'payer_proof_required',
  ingest: 'payer_signature_invalid',
  payout: 'payout_not_proven',
  approve: 'control_proof_invalid',
  deny: 'control_proof_invalid',
  approval_webhook: 'control_proof_invalid',
  inflow: 'inflow_claim_invalid',
  correction: 'inflow_claim_invalid',
  AuthorizeSession: 'delegation_invalid',
  SessionAct: 'act_signature_invalid',
  RevokeSession: 'revocation_invalid',
};

describe.each(Object.entries(requestsByWord))('%s', (kind, request) => {
  it('signed for this service is taken, for one of its former base URLs too, and for another one refused', async () => {
    for (const base_url of [service.url, FORMER]) {
      const { status, body } = await request(base_url);
      expect([200, 201, 202], `${base_url}: ${JSON.stringify(body)}`).toContain(status);
    }
    const refused = await request(ELSEWHERE);
    expect(refused.status).toBeGreaterThanOrEqual(400);
    expect(JSON.stringify(refused.body)).toContain(`"${codes[kind as keyof typeof codes]}"`);
  });
});

it('each text, claim and type that is signed names its service, but for the two register texts', () => {
  const unnamed = Object.entries(signedWords).filter(([, { names }]) => names === 'specified');
  expect(unnamed.map(([kind]) => kind)).toEqual(['register_pay', 'register_recover']);
});

it('the act beside a payment, and a child’s grant, are for this service too', async () => {
  const cautious = await approvals.cautious();
  const root = await delegate(cautious.account, cautious.account, newKey());
  const { message, headers } = await makePayment(service, cautious.account);
  const parts = { action: 'pay', resource: `payment/${message.nonce}` };
  const beside = async (base_url: string) => {
    const act = await signAct(root, parts, sessionDomain(base_url));
    const { nonce, deadline, signature } = act as unknown as JsonObject;
    const { grant, signature: granted } = root;
    const shown = { grant, signature: granted, act: { nonce, deadline, signature } };
    const header = Buffer.from(JSON.stringify(shown)).toString('base64url');
    return service.post<JsonObject>(CHAT, ask('Approved'), { ...headers, 'X-SVC-Delegation': header });
  };
  expect(await beside(ELSEWHERE)).toMatchObject({ status: 401, body: { code: 'act_signature_invalid' } });
  expect((await beside(service.url)).status).toBe(200);
  const child = async (base_url: string) => {
    const { account } = await service.newAgent();
    const session = await delegate(root.agent, account, newKey(), below(root), sessionDomain(base_url));
    return service.buy(account, ask('A child'), session.headers);
  };
  expect(await child(ELSEWHERE)).toMatchObject({ status: 400, body: { code: 'delegation_invalid', charged: false } });
  expect((await child(FORMER)).status).toBe(200);
});

describe('version 1 of the domain', () => {
  /** A session that was bound with version 1 of the domain, with its row as it was stored. */
  async function boundBefore() {
    const { account } = await service.newAgent();
    const now = await bindRoot(service, account);
    const before = await delegate(account, account, newKey(), {}, firstDomain);
    const { payer, agentPubkey, capAtomic, validAfter, sessionExpiry, salt } = before.grant;
    await service.query(
      `insert into delegation (delegation_hash, payer, agent_pubkey, agent_address, cap_atomic, valid_after, session_expiry,
        parent_hash, path, models, doors, salt, signature, spent_atomic, created_at, bound_at)
       select $1, $2, $3, $4, $5, $6, $7, null, $8::jsonb, '[]', '[]', $9, $10, 0, now(), now()`,
      [
        before.delegation_hash,
        payer,
        agentPubkey,
        before.agent.address,
        capAtomic,
        validAfter,
        sessionExpiry,
        JSON.stringify([before.delegation_hash]),
        salt,
        before.signature,
      ],
    );
    return { account, before, now };
  }

  it('binds no new session: 400, uncharged, and the payment is usable', async () => {
    const { account } = await service.newAgent();
    const session = await delegate(account, account, newKey(), {}, firstDomain);
    const { headers } = await makePayment(service, account);
    const refused = await service.post<JsonObject>(CHAT, ask('Old'), { ...headers, ...session.headers });
    expect(refused).toMatchObject({ status: 400, body: { code: 'delegation_invalid', charged: false } });
    expect(refused.body.detail).toContain('version 1');
    expect((await service.get(sessionPath(session.delegation_hash))).status).toBe(404);
    expect((await service.post(CHAT, ask('Old'), headers)).status).toBe(200);
  });

  it('of a session that was bound before: it pays, its acts take version 2 alone', async () => {
    const { account, before } = await boundBefore();
    const { status, body } = await service.buy(account, ask('Still pays'), before.headers);
    expect([status, (body.svc as JsonObject).delegation_hash]).toEqual([200, before.delegation_hash]);
    const path = sessionPath(before.delegation_hash, 'act');
    const parts = { action: 'read_private', resource: 'book' };
    const old = await service.post(path, await signAct(before, parts, firstDomain));
    expect(old).toMatchObject({ status: 401, body: { code: 'act_signature_invalid' } });
    expect((await service.post(path, await signAct(before, parts))).status).toBe(200);
    // The same grant with a new signature is a different session.
    const anew = await delegate(account, account, before.agent, before.grant);
    const paid = await service.buy(account, ask('Pays anew'), anew.headers);
    expect((paid.body.svc as JsonObject).delegation_hash).toBe(anew.delegation_hash);
    expect(anew.delegation_hash).not.toBe(before.delegation_hash);
  });

  it.each([
    ['1', () => firstDomain],
    ['2', () => sessionDomain(service.url)],
  ])('of a session that was bound before: it is revoked by version %s', async (_, domain) => {
    const { account, before } = await boundBefore();
    const path = sessionPath(before.delegation_hash, 'revoke');
    const word = await signRevocation(account, before.delegation_hash, nowSeconds(), domain());
    expect(await service.post(path, word)).toMatchObject({ status: 200, body: { status: 'revoked' } });
    expect((await service.buy(account, ask('No more'), before.headers)).status).toBe(403);
  });

  it('revokes no session of version 2, and its parent bears children of version 2 alone', async () => {
    const { account, before, now } = await boundBefore();
    const word = await signRevocation(account, now.delegation_hash, nowSeconds(), firstDomain);
    expect(await service.post(sessionPath(now.delegation_hash, 'revoke'), word)).toMatchObject({
      status: 400,
      body: { code: 'revocation_invalid' },
    });
    const child = (domain: SessionDomain = sessionDomain(service.url)) =>
      delegate(before.agent, account, newKey(), { ...below(before), salt: hex32() }, domain);
    const old = await service.buy(account, ask('An old child'), (await child(firstDomain)).headers);
    expect(old).toMatchObject({ status: 400, body: { code: 'delegation_invalid' } });
    expect((await service.buy(account, ask('A child'), (await child()).headers)).status).toBe(200);
  });
});
