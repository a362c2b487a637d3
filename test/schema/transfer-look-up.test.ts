import { describe, expect, it } from 'vitest';
import { networks } from '../../schema/network.ts';
import { lookUpOf, transferLookUp } from '../../schema/transfer-look-up.ts';
import { foreignPayment, paidCall } from '../harness/vectors/receipt-facts.ts';

const payment = { ...paidCall.payment };

describe('the transfer to look up', () => {
  it('on Base is a log of its receipt, by the topics of ERC-20', () => {
    expect(transferLookUp({ ...payment, payer: `0x${'A'.repeat(40)}` }, null)).toMatchObject({
      network: 'base',
      chain: 'eip155:8453',
      rpc_method: 'eth_getTransactionReceipt',
      rpc_params: [String(paidCall.payment?.ref).replace('base:', '')],
      topics: [
        // Of every ERC-20.
        '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
        `0x${'0'.repeat(24)}${'a'.repeat(40)}`,
        expect.stringMatching(/^0x0{24}[0-9a-f]{40}$/),
      ],
      log_index: paidCall.payment?.transfer_index ?? null,
    });
  });

  it('on Solana is a finalized transaction', () => {
    const on_solana = { ...payment, network: networks.solana.name, ref: 'solana:5igned', asset: networks.solana.usdc };
    expect(transferLookUp(on_solana, null)).toMatchObject({
      rpc_method: 'getTransaction',
      rpc_params: ['5igned', { commitment: 'finalized' }],
      contract: networks.solana.usdc,
    });
  });

  it.each([
    [networks.base.name, { rpc_method: 'eth_getTransactionReceipt', log_index: 5, amount: '1500000' }],
    [
      networks.solana.name,
      { rpc_method: 'getTransaction', expect: expect.stringContaining('a transfer or transferChecked') },
    ],
    ['nano', { rpc_method: 'block_info', rpc_params: { hash: '5een' }, chain: 'nano' }],
  ])('of a book chain on %s is the one that it signs', (network, wanted) => {
    const observed_transfer = { ...foreignPayment.observed_transfer, network };
    expect(lookUpOf({ observed_transfer, payment_ref: `${network}:5een` }, null)).toMatchObject({
      network,
      tx_hash: '5een',
      payee: observed_transfer.pay_to,
      ...wanted,
    });
  });

  it('is where it was seen since, if it was only vouched for', () => {
    const ingress = { ref: 'base:0x5een', confirmed_at: '2026-01-02T03:04:06.000Z' };
    expect(lookUpOf({ payment }, ingress)).toMatchObject({ tx_hash: '0x5een', rpc_params: ['0x5een'] });
    expect(lookUpOf({ payment }, { ref: 1 })).toMatchObject({ tx_hash: expect.not.stringContaining('5een') });
  });

  it.each([
    ['nothing was paid', {}],
    ['the network is not known', { payment: { ...payment, network: 'other' } }],
    ['the payment is none', { payment: 'much' }],
  ])('is none where %s', (_, claims) => {
    expect(lookUpOf(claims as never, null)).toBeNull();
  });
});
