import { decodePaymentResponseHeader } from '@x402/core/http';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { verify } from '../../subgraphs/receipt/verify/module.ts';
import { type Fetch, payingFetch } from '../harness/buyer.ts';
import {
  invoiceOf,
  openTransferSource,
  sendOf,
  type TransferSource,
  transferOf,
} from '../harness/ingest/transfer-source.ts';
import { solanaPayingFetch } from '../harness/solana/buyer.ts';
import { openSolanaService, type SolanaService } from '../harness/solana/open-service.ts';

type Agent = Awaited<ReturnType<SolanaService['newAgent']>>;
let service: SolanaService;
let world: TransferSource;
let agent: Agent;
let buyers: Readonly<Record<string, Fetch>>;
beforeAll(async () => {
  world = openTransferSource();
  service = await openSolanaService({}, { transfers: world.transfers });
  agent = await service.newAgent();
  const { signer } = await service.svm.newWallet();
  buyers = {
    'base v2': payingFetch(agent.account, 2),
    'base v1': payingFetch(agent.account, 1),
    'solana v2': solanaPayingFetch(service.svm, signer, 2),
    'solana v1': solanaPayingFetch(service.svm, signer, 1),
  };
});

const door = () => `/v1/agents/${agent.agent_id}/book/ingest`;

describe('POST /v1/agents/{agent_id}/book/ingest, paid by the official client at the first try', () => {
  it.each(
    ['base', 'solana'].flatMap(network =>
      [1, 2].flatMap(version => ['header', 'body'].map(where => [network, version, where] as const)),
    ),
  )('on %s in version %i, with the session in the %s', async (network, version, where) => {
    const body = invoiceOf(world.show(transferOf({ payer: agent.account.address })));
    const { session } = agent;
    const shown = where === 'body' ? { body: { ...body, session } } : { body, headers: { 'X-SVC-Session': session } };
    const heard = await service.knock('POST', door(), { ...shown, by: buyers[`${network} v${version}`] });
    expect(heard).toMatchObject({ status: 201, body: { payment: { amount: '2500000', collected: true } } });
    const name = version === 1 ? 'X-PAYMENT-RESPONSE' : 'PAYMENT-RESPONSE';
    const settled = decodePaymentResponseHeader(heard.headers.get(name) ?? '');
    expect(settled).toMatchObject({ success: true });
  });
});

describe('what was ingested', () => {
  const ingested = async (body: JsonObject) => {
    const headers = { 'X-SVC-Session': agent.session };
    const heard = await service.knock('POST', door(), { body, headers, by: buyers['base v2'] });
    return String(heard.body.task_id);
  };
  const settlementOf = async (task_id: string) =>
    (await service.get(`/prove-result?task_id=${task_id}&requested=true`)).body.settlement;

  it('can be looked up: its audit and its proof name the transfer, and never say that nothing was paid', async () => {
    const transfer = world.show(transferOf());
    const task_id = await ingested(invoiceOf(transfer));
    const audit = (await service.get(`/receipt/${task_id}?format=auditor`)).body;
    expect(verify(audit, (await service.get('/.well-known/jwks.json')).body).fault).toBeNull();
    expect(verify(audit, null).fault).toBeNull();
    const { transaction, index, pay_to, payer, amount } = transfer;
    expect(audit.transfer).toMatchObject({ network: 'base', tx_hash: transaction, payee: pay_to, amount });
    expect(audit.does_not_prove).toEqual(
      expect.arrayContaining([
        'That USDC moved: the chain alone says so. Look the transfer up.',
        'That the agent of the book paid it: nobody has shown that, and it counts in no sum.',
        'That model, hub and resource are correct: others named them, and this service has not seen the work.',
      ]),
    );
    expect(String(audit.does_not_prove)).not.toContain('no payment stands behind it');
    const settlement = { tx_hash: transaction, transfer_index: index, payer, amount, payment_id: null };
    expect(await settlementOf(task_id)).toMatchObject(settlement);
  });

  it('as a send of XNO is shown in whole ones', async () => {
    const { transaction, pay_to, amount } = world.show(sendOf());
    const task_id = await ingested({
      nano: { block: transaction, recipient: pay_to, amount, description: 'Two hours of work' },
    });
    expect((await service.get(`/receipt/${task_id}?format=html`)).text).toContain('0.50 XNO');
    expect(await settlementOf(task_id)).toMatchObject({ network: 'nano', tx_hash: transaction, amount });
  });
});
