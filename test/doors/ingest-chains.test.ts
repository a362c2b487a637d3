import { getBase58Decoder, signBytes } from '@solana/kit';
import { beforeAll, describe, expect, it } from 'vitest';
import { openFeePayer } from '../../gateway/rails/solana/settler.ts';
import { networks } from '../../schema/network.ts';
import { nowSeconds, payingFetch } from '../harness/buyer.ts';
import type { Service } from '../harness/doors/open-service.ts';
import { newestBlock, reconciliationDoorsOf, sendUsdc } from '../harness/doors/reconciliations.ts';
import { type IngestedRow } from '../harness/ingest/open-ingest.ts';
import { makeSend, newNanoWallet, TEST_WORK_MIN } from '../harness/nano/blocks.ts';
import { startNanoNode } from '../harness/nano/node.ts';
import { openSolanaService, type SolanaService } from '../harness/solana/open-service.ts';
import { makeTransaction } from '../harness/solana/wallet.ts';

/*
 * Payments recorded from local chains (Base, Solana, Nano). test/doors/ingest.test.ts has the same tests with a made-up source of
 * transfers.
 */

let house: SolanaService;
let agent: Awaited<ReturnType<Service['newAgent']>>;
let nano: Awaited<ReturnType<typeof startNanoNode>>;
beforeAll(async () => {
  nano = await startNanoNode();
  const meant = /the Nano node responded with HTTP 500/;
  house = await openSolanaService({ NANO_RPC_URL: nano.url }, { nano_work_min: TEST_WORK_MIN, meant });
  agent = await house.newAgent();
});

const ingest = (body: object) =>
  house.knock<IngestedRow>('POST', `/v1/agents/${agent.agent_id}/book/ingest`, {
    body,
    headers: { 'X-SVC-Session': agent.session },
    by: payingFetch(agent.account),
  });
const rowOf = async (task_id: string) => {
  const path = `/v1/agents/${agent.agent_id}/book`;
  const { body } = await house.get<{ entries: { task_id: string }[] }>(path, { 'X-SVC-Session': agent.session });
  return body.entries.find(entry => entry.task_id === task_id);
};
const textFor = (reference: string, at: number) => `svc.ingest|${house.url}|${agent.agent_id}|${reference}|${at}`;

describe('201 at POST /v1/agents/{agent_id}/book/ingest', () => {
  it('of a shop that was paid on Base, by its own settlement header', async () => {
    const shop = await house.chain.newWallet();
    const { tx_hash, log_index } = await sendUsdc(house.chain, agent.account.address, shop.address, 90_000n);
    const required = { resource: 'https://shop.example/x', amount: '90000', payTo: shop.address };
    const settled = { success: true, transaction: tx_hash, network: 'eip155:8453', payer: agent.account.address };
    const payment_response = Buffer.from(JSON.stringify(settled)).toString('base64');
    const { status, body } = await ingest({ payment_required: required, payment_response });
    expect([status, body]).toMatchObject([201, { payment: { ref: `base:${tx_hash}`, amount: '90000' } }]);
    const { body: receipt } = await house.get(`/receipt/${body.task_id}.json`);
    expect(receipt).toMatchObject({
      payload_version: 4,
      payer_proven: true,
      observed_transfer: { index: log_index, payer: agent.account.address, pay_to: shop.address, amount: '90000' },
      local_check: { payee: shop.address, amount: '90000', asset: networks.base.usdc },
    });
    expect(await rowOf(body.task_id)).toMatchObject({ payment: { amount: '90000' }, payer_proven: true });

    const { start, ended } = reconciliationDoorsOf(() => house as unknown as Service);
    const to_block = await newestBlock(house.chain);
    const { body: asked } = await start(agent, { wallet: agent.account.address, from_block: 0, to_block });
    const { report } = await ended(agent, asked.report_id);
    const used = { by: 'ingest', book: 'own', task_id: body.task_id };
    expect(report?.transfers.find(transfer => transfer.tx_hash === tx_hash)).toMatchObject({
      class: 'ingested',
      used,
    });
  });

  it('of a shop that was paid on Solana, by a wallet that has signed for it', async () => {
    const { svm } = house;
    const [payer, shop] = [await svm.newWallet(), await svm.newTreasury()];
    const { value } = await svm.call<{ value: { blockhash: string } }>('getLatestBlockhash', {
      commitment: 'confirmed',
    });
    const fee_payer = openFeePayer(svm.fee_payer.private_key);
    const terms = { payer: payer.signer, fee_payer: fee_payer.address, pay_to: shop, blockhash: value.blockhash };
    const transaction = await makeTransaction({ ...terms, amount_atomic: 70_000n });
    const { raw, signature: tx } = fee_payer.sign({ kind: 'partial', transaction });
    await svm.call('sendTransaction', raw, { encoding: 'base64', skipPreflight: true });
    await svm.advance(2);

    const at = nowSeconds();
    const text = new TextEncoder().encode(textFor(`solana:${tx}`, at));
    const signed = await signBytes(payer.signer.keyPair.privateKey, text);
    const { status, body } = await ingest({
      foreign_invoice: {
        network: 'solana',
        tx,
        payer: payer.address,
        payTo: shop,
        amount: '70000',
        hub: 'shop',
        omit_deliverable: true,
      },
      payer_signature: getBase58Decoder().decode(signed),
      payer_signature_timestamp: at,
    });
    expect([status, body]).toMatchObject([201, { payment: { ref: `solana:${tx}`, rail: 'usdc', amount: '70000' } }]);
    expect(await rowOf(body.task_id)).toMatchObject({ payer_proven: true, payer_wallet: payer.address });
  });

  it('of a cemented send of XNO, by the account that has signed for it', async () => {
    const [payer, shop] = [newNanoWallet(), newNanoWallet()];
    const { before, send } = makeSend(payer, shop);
    nano.keep({ block: before, subtype: 'receive' }, { block: send, subtype: 'send' });
    const at = nowSeconds();
    const amount = (2n * 10n ** 30n).toString();
    const { status, body } = await ingest({
      nano: { block: send.hash.toLowerCase(), recipient: shop.address, amount, description: 'a scrape' },
      payer_signature: payer.signText(textFor(`nano:${send.hash}`, at)),
      payer_signature_timestamp: at,
    });
    expect([status, body]).toMatchObject([201, { payment: { ref: `nano:${send.hash}`, rail: 'xno', amount } }]);
    expect(await rowOf(body.task_id)).toMatchObject({ payer_proven: true, payer_wallet: payer.address });
  });

  it('and never of what a node of Nano tells otherwise than it was signed, nor while none answers', async () => {
    const [payer, shop] = [newNanoWallet(), newNanoWallet()];
    const { before, send } = makeSend(payer, shop);
    nano.keep({ block: before, subtype: 'receive' }, { block: send, subtype: 'send' });
    const ingestAmount = (amount: bigint) =>
      ingest({ nano: { block: send.hash, recipient: shop.address, amount: amount.toString(), description: 'x' } });
    nano.lie((told, hash) => (hash === send.hash ? { ...told, amount: (4n * 10n ** 30n).toString() } : told));
    expect((await ingestAmount(4n * 10n ** 30n)).body).toMatchObject({ code: 'transfer_not_believed', charged: false });
    nano.tellTruth();
    nano.behave('error');
    expect((await ingestAmount(2n * 10n ** 30n)).body).toMatchObject({ code: 'chain_unavailable', charged: false });
    nano.tellTruth();
    expect((await ingestAmount(2n * 10n ** 30n)).status).toBe(201);
    expect(house.gateway.logs.join('\n')).not.toContain('a-key-that-nobody-may-read');
  });
});
