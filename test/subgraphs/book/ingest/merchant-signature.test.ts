import { generateKeyPairSigner } from '@solana/kit';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { describe, expect, it } from 'vitest';
import { networks } from '../../../../schema/network.ts';
import { parseRequest } from '../../../../schema/requests/parse.ts';
import { OfferReceipt } from '../../../../schema/requests/signed-artifact.ts';
import { merchantVerdict } from '../../../../subgraphs/book/ingest/merchant-signature.ts';
import { SHOP, signAsShop, signAsSolanaShop } from '../../../harness/ingest/merchant.ts';
import { newAddress, transferOf } from '../../../harness/ingest/transfer-source.ts';

const shop = privateKeyToAccount(generatePrivateKey());
const stranger = privateKeyToAccount(generatePrivateKey());
const transfer = transferOf({ pay_to: shop.address });
const verdict = async (shown: object, of = transfer, resource: string | null = SHOP) => {
  const found = await merchantVerdict(parseRequest(OfferReceipt, shown), resource, of);
  return found.kind === 'signed' ? 'signed' : found.reason;
};

describe('what whoever was paid has signed, on Base', () => {
  it('is believed by its offer, its receipt or both, as the official package makes them', async () => {
    const { offer, receipt } = await signAsShop(shop, transfer);
    for (const shown of [{ offer, receipt }, { offer }, { receipt }]) expect(await verdict(shown)).toBe('signed');
    const unnamed = await signAsShop(shop, transfer, { transaction: '' });
    expect(await verdict({ receipt: unnamed.receipt })).toBe('signed');
  });

  it.each([
    ['another amount', 'offer', { amount: '1' }, 'other_payment'],
    ['another payee', 'offer', { payTo: newAddress() }, 'other_payment'],
    ['another payer', 'receipt', { payer: newAddress() }, 'other_payment'],
    ['another transaction', 'receipt', { transaction: `0x${'9'.repeat(64)}` }, 'other_payment'],
    ['another chain', 'offer', { network: 'eip155:84532' }, 'other_network'],
    ['another chain', 'receipt', { network: 'eip155:1' }, 'other_network'],
    ['another host', 'offer', { resource: 'https://shop.example.evil.example/v1/x' }, 'other_resource'],
    ['another path', 'receipt', { resource: 'https://shop.example/v1/y' }, 'other_resource'],
    ['no URL', 'receipt', { resource: 'shop' }, 'other_resource'],
  ] as const)('is not where it is of %s in the %s', async (_, artifact, said, reason) => {
    const signed = await signAsShop(shop, transfer, said);
    expect(await verdict({ [artifact]: signed[artifact] })).toBe(reason);
  });

  it('is not by another key than that of the wallet that was paid, nor where it was touched', async () => {
    const { offer, receipt } = await signAsShop(stranger, transfer);
    const right = await signAsShop(shop, transfer);
    expect(await verdict({ offer })).toBe('signature_invalid');
    expect(await verdict({ receipt })).toBe('signature_invalid');
    expect(await verdict({ offer: right.offer, receipt })).toBe('signature_invalid');
    const cheaper = { ...right.offer, payload: { ...right.offer.payload, amount: '1' } };
    expect(await verdict({ offer: cheaper }, { ...transfer, amount: '1' })).toBe('signature_invalid');
    expect(await verdict(right, transfer, null)).toBe('other_resource');
  });

  it('is not by a key that somebody would have to fetch', async () => {
    const { keyPair } = await generateKeyPairSigner();
    expect(await verdict(await signAsSolanaShop(keyPair, transfer))).toBe('signer_unknown');
  });
});

describe('what whoever was paid has signed, on Solana', () => {
  it('is believed by the key that is the address, and by no other', async () => {
    const [{ address, keyPair }, other] = [await generateKeyPairSigner(), await generateKeyPairSigner()];
    const sent = transferOf({
      network: 'solana',
      asset: networks.solana.usdc,
      pay_to: address,
      payer: other.address,
      transaction: '5'.repeat(88),
    });
    const signed = await signAsSolanaShop(keyPair, sent);
    expect(await verdict(signed, sent)).toBe('signed');
    expect(await verdict(signed, { ...sent, pay_to: other.address })).toBe('signature_invalid');
    expect(await verdict(signed, { ...sent, amount: '1' })).toBe('other_payment');
    expect(await verdict({ receipt: { format: 'jws', signature: 'a.b.c' } }, sent)).toBe('signature_invalid');
    expect(await verdict(await signAsShop(shop, transfer), sent)).toBe('signer_unknown');
  });
});
