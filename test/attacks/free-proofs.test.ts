import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { beforeAll, describe, expect, it } from 'vitest';
import { sessionDomain } from '../../schema/session/typed-data.ts';
import { reconciliationText } from '../../schema/wallet-receipts.ts';
import { approvalDoorsOf } from '../harness/doors/approvals.ts';
import { inflowDoorsOf, signedBy } from '../harness/doors/inflows.ts';
import { ask, openService, type Service } from '../harness/doors/open-service.ts';
import { reconciliationDoorsOf } from '../harness/doors/reconciliations.ts';
import { webhookDoorsOf } from '../harness/doors/webhooks.ts';
import { delegate, nowSeconds, signRevocation } from '../harness/session/delegate.ts';
import { below } from '../harness/session/trees.ts';

/*
 * Proofs that make the service call the chain and that cost the sender nothing, so an address may send only a limited number of wrong ones.
 * Addresses are those that the trusted proxy names.
 */

const UNPROVEN = 3;
const FORMER = ['https://former.example', 'https://first.example'];
let service: Service;
beforeAll(async () => {
  const variables = { FORMER_BASE_URLS: FORMER.join(','), RATE_UNPROVEN: `${UNPROVEN}/3600` };
  service = await openService({ TRUSTED_PROXIES: '127.0.0.1', ...variables });
});

let next = 0;
const newAddress = () => ({ 'X-Forwarded-For': `198.51.100.${++next}` });
const limited = { status: 429, body: { code: 'rate_limited' } };
const stranger = privateKeyToAccount(generatePrivateKey());

/** Sends wrong proofs up to the limit, after which only proofs signed by the right key are checked. */
async function bounded(
  wrong: (from: object) => Promise<ProofAnswer>,
  right: (from: object) => Promise<ProofAnswer>,
  code: string,
  passed = [200],
) {
  const mine = newAddress();
  for (let count = 0; count < UNPROVEN; count++) expect((await wrong(mine)).body).toMatchObject({ code });
  const beyond = await wrong(mine);
  expect(beyond).toMatchObject(limited);
  expect(Number(beyond.headers.get('Retry-After'))).toBeGreaterThan(0);
  // A proof by the right signer is never counted, even if it is repeated and other proofs of the same address were refused.
  for (let count = 0; count <= UNPROVEN; count++) expect(passed).toContain((await right(mine)).status);
}
type ProofAnswer = Awaited<ReturnType<Service['post']>>;
type Signer = Pick<typeof stranger, 'signMessage'>;

describe('429 beyond so many signatures of one address that are nobody’s', () => {
  it('POST /v1/sessions/{delegation_hash}/revoke: each payer over the session that is asked about counts', async () => {
    const { account } = await service.newAgent();
    const [key, child_key] = [privateKeyToAccount(generatePrivateKey()), privateKeyToAccount(generatePrivateKey())];
    const parent = await delegate(account, account, key);
    expect((await service.buy(account, ask('Binds'), parent.headers)).status).toBe(200);
    const path = `/v1/sessions/${parent.delegation_hash}/revoke`;
    const by = (signer: typeof stranger) => async (from: object) =>
      service.post(path, await signRevocation(signer, parent.delegation_hash), { ...from });
    // A child session of another payer has two wallets to check, so its second wrong signature causes the fourth check.
    const other = await service.chain.newWallet();
    const { grant } = parent;
    const child = await delegate(key, other, child_key, {
      parentDelegationHash: parent.delegation_hash as never,
      capAtomic: '500000',
      validAfter: grant.validAfter,
      sessionExpiry: grant.sessionExpiry,
    });
    expect((await service.buy(other, ask('Binds the child'), child.headers)).status).toBe(200);
    const from = newAddress();
    const wrong = async () =>
      service.post(
        `/v1/sessions/${child.delegation_hash}/revoke`,
        await signRevocation(stranger, child.delegation_hash),
        from,
      );
    expect(await wrong()).toMatchObject({ status: 400, body: { code: 'revocation_invalid' } });
    expect(await wrong()).toMatchObject(limited);
    await bounded(by(stranger), by(account), 'revocation_invalid');
  });

  it('…, and what the right key has signed for a former base URL counts as little, whatever neighbours do', async () => {
    const { account } = await service.newAgent();
    const key = privateKeyToAccount(generatePrivateKey());
    const parent = await delegate(account, account, key);
    expect((await service.buy(account, ask('Binds'), parent.headers)).status).toBe(200);
    const other = await service.chain.newWallet();
    const child_key = privateKeyToAccount(generatePrivateKey());
    const child = await delegate(key, other, child_key, below(parent));
    expect((await service.buy(other, ask('Binds the child'), child.headers)).status).toBe(200);
    const revoked = (signer: typeof stranger) => async (from: object) => {
      const { delegation_hash } = child;
      const domain = sessionDomain(String(FORMER[1]));
      const word = await signRevocation(signer, delegation_hash, nowSeconds(), domain);
      return service.post(`/v1/sessions/${delegation_hash}/revoke`, word, { ...from });
    };
    const mine = newAddress();
    await revoked(stranger)(mine);
    expect(await revoked(stranger)(mine)).toMatchObject(limited);
    // Signed by the payer of the parent session, which is checked first.
    expect((await revoked(account)(mine)).status).toBe(200);
    const receipts = (signer: Signer) => async (from: object) => {
      const signed_at = nowSeconds();
      const message = `svc.receipts|${FORMER[1]}|${account.address}|${signed_at}`;
      const shown = { signed_at, signature: await signer.signMessage({ message }) };
      return service.post(`/v1/wallets/${account.address}/receipts`, shown, { ...from });
    };
    await bounded(receipts(stranger), receipts(account), 'control_proof_invalid');
  });

  it('PUT /v1/agents/{agent_id}/book/webhook with the kind `approval`', async () => {
    const { shown, put, consent } = webhookDoorsOf(() => service);
    const agent = await service.newAgent();
    const url = 'https://hooks.invalid/in';
    const by = (account: typeof agent.account) => async (from: object) =>
      put(
        agent,
        { url, events: ['approval'], ...(await consent({ ...agent, account }, url)) },
        { ...shown(agent), ...from },
      );
    await bounded(by({ ...stranger, private_key: '0x' }), by(agent.account), 'control_proof_invalid');
  });

  it('POST /v1/agents/{agent_id}/book/approvals/{approval_id}', async () => {
    const { cautious, callToApprove, answer, walletAnswer } = approvalDoorsOf(() => service);
    const agent = await cautious();
    const { request } = await callToApprove(agent, 'Answered');
    const by = (account: Pick<typeof stranger, 'signMessage'>) => async (from: object) =>
      answer(agent, request.approval_id, await walletAnswer(account, request), from);
    await bounded(by(stranger), by(agent.account), 'control_proof_invalid');
  });

  it('POST /v1/wallets/{wallet}/receipts', async () => {
    const { account } = await service.newAgent();
    const by = (signer: Signer) => async (from: object) => {
      const signed_at = Math.floor(Date.now() / 1000);
      const message = `svc.receipts|${service.url}|${account.address}|${signed_at}`;
      const shown = { signed_at, signature: await signer.signMessage({ message }) };
      return service.post(`/v1/wallets/${account.address}/receipts`, shown, { ...from });
    };
    await bounded(by(stranger), by(account), 'control_proof_invalid');
  });

  it('POST /v1/agents/{agent_id}/book/inflow, and …/correct by the same count', async () => {
    const { record, correct } = inflowDoorsOf(() => service);
    const agent = await service.newAgent();
    const newStatement = () => ({ iss: service.url, agent_id: agent.agent_id, signed_at: new Date().toISOString() });
    const claimed = (by: Signer) => async (from: object) => {
      const own = { allocation: '100', task_id: `claimed_${++next}` };
      const inflow_claim = await signedBy(by, 'inflow', { ...newStatement(), bucket: 'patron', ...own });
      return record(agent, { ...own, inflow_claim }, from);
    };
    const { body } = await record(agent, { allocation: '100' });
    const reason = 'The invoice said otherwise.';
    const corrected = (by: Signer) => async (from: object) => {
      const own = { task_id: String(body.task_id), reason, allocation: String(++next) };
      const correction = await signedBy(by, 'correction', { ...newStatement(), ...own });
      return correct(agent, { ...own, correction }, from);
    };
    await bounded(claimed(stranger), claimed(agent.account), 'inflow_claim_invalid', [201]);
    await bounded(corrected(stranger), corrected(agent.account), 'inflow_claim_invalid');
  });

  it('POST /v1/agents/{agent_id}/book/reconciliation', async () => {
    const { start } = reconciliationDoorsOf(() => service);
    const agent = await service.newAgent();
    const { account } = await service.newAgent();
    const by = (signer: Signer) => async (from: object) => {
      const signed_at = Math.floor(Date.now() / 1000);
      const message = reconciliationText(service.url, agent.agent_id, account.address, signed_at);
      const shown = { wallet: account.address, signed_at, signature: await signer.signMessage({ message }) };
      return start(agent, { from_block: 1, to_block: 1, ...shown }, from);
    };
    // An agent can have only one running report, and only a caller that has proven the wallet is answered 409 for that.
    await bounded(by(stranger), by(account), 'control_proof_invalid', [202, 409]);
  });
});
