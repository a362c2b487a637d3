import { decodePaymentRequiredHeader, decodePaymentResponseHeader } from '@x402/core/http';
import type { PaymentRequired } from '@x402/core/types';
import {
  type DecodedOffer,
  decodeSignedOffers,
  type EIP712SignedOffer,
  extractOffersFromPaymentRequired,
  extractReceiptFromResponse,
  findAcceptsObjectFromSignedOffer,
  isEIP712SignedOffer,
  isJWSSignedReceipt,
  type JWSSignedReceipt,
  verifyOfferSignatureEIP712,
  verifyReceiptMatchesOffer,
  verifyReceiptSignatureJWS,
} from '@x402/extensions/offer-receipt';
import { beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../schema/limits.ts';
import { nowSeconds, payingFetch, registrationOf } from '../harness/buyer.ts';
import { askToStream, listen } from '../harness/doors/listen.ts';
import { makePayment } from '../harness/doors/make-payment.ts';
import { ask, CHAT, type Chat, REGISTER, type Service, sharedService } from '../harness/doors/open-service.ts';
import { identifierFetch, newIdentifier } from '../harness/doors/payment-identifiers.ts';

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});

/** The signed offers of a 402 as the official package reads them. */
async function signedOffers(path: string, headers: Record<string, string> = {}) {
  const heard = await service.knock('POST', path, { headers });
  const header = heard.headers.get('PAYMENT-REQUIRED') ?? '';
  const required = decodePaymentRequiredHeader(header) as PaymentRequired;
  return { header, required, offers: extractOffersFromPaymentRequired(required).filter(isEIP712SignedOffer) };
}

/** The address that the did:web document allows to sign for the service's host. */
async function signerInDid(): Promise<string | undefined> {
  const { body } = await service.get<{ verificationMethod: { blockchainAccountId?: string }[] }>(
    '/.well-known/did.json',
  );
  return body.verificationMethod
    .find(method => method.blockchainAccountId)
    ?.blockchainAccountId?.split(':')
    .at(-1);
}

async function offerOf(path: string): Promise<DecodedOffer> {
  const [offer] = decodeSignedOffers((await signedOffers(path)).offers);
  if (!offer) throw new Error(`no signed offer at ${path}`);
  return offer;
}

/** The signed receipt in an answer to a payment. */
function receiptIn({ headers }: { headers: Headers }): JWSSignedReceipt {
  const receipt = extractReceiptFromResponse(new Response(null, { headers }));
  if (!receipt || !isJWSSignedReceipt(receipt)) throw new Error('no signed receipt');
  return receipt;
}

describe.each([CHAT, REGISTER])('the 402 of %s', path => {
  it('has a signed offer for each it accepts, which the official package verifies: its signer is the one of did.json', async () => {
    const { required, offers } = await signedOffers(path);
    const signer = await signerInDid();
    expect(offers).toHaveLength(required.accepts.length);
    for (const [index, offer] of offers.entries()) {
      const { payload, ...recovered } = await verifyOfferSignatureEIP712(offer);
      expect(recovered.signer).toBe(signer);
      expect(payload.resourceUrl).toBe(service.url + path);
      expect(findAcceptsObjectFromSignedOffer(offer, required.accepts)).toEqual(required.accepts[index]);
      expect(payload.validUntil).toBeGreaterThan(nowSeconds() + limits.payment_timeout_seconds_max);
    }
  });

  it('brings the same signed offers to whoever asks, whatever the reason: nothing is signed per request', async () => {
    const [one, two] = [await signedOffers(path), await signedOffers(path)];
    expect(two.header).toBe(one.header);
    const poor = await service.chain.newWallet(0n);
    const { headers } = await makePayment(service, poor, { accepted: { asset: poor.address } });
    const refused = await service.post(path, path === CHAT ? ask() : await registrationOf(poor), headers);
    const told = decodePaymentRequiredHeader(refused.headers.get('PAYMENT-REQUIRED') ?? '') as PaymentRequired;
    expect(extractOffersFromPaymentRequired(told)).toEqual(one.offers);
  });
});

it('an offer that was touched is not of that signer', async () => {
  const [offer] = (await signedOffers(CHAT)).offers;
  const { payload, signature } = offer as EIP712SignedOffer;
  const cheaper: EIP712SignedOffer = { format: 'eip712', payload: { ...payload, amount: '1' }, signature };
  expect((await verifyOfferSignatureEIP712(cheaper)).signer).not.toBe(await signerInDid());
});

it('GET /.well-known/did.json 200: the keys by which they verify, also where did:web looks below a path', async () => {
  const { body } = await service.get('/.well-known/did.json');
  expect(body).toMatchObject({ id: `did:web:${encodeURIComponent(new URL(service.url).host)}` });
  expect((await service.get('/did.json')).body).toEqual(body);
  expect(JSON.stringify(body)).not.toMatch(/"d":/);
});

describe('PAYMENT-RESPONSE', () => {
  it('to a paid chat has a signed receipt that matches the offer, and the same bytes when it is delivered again', async () => {
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, CHAT);
    const first = await service.post<Chat>(CHAT, ask('Receipt'), payment);
    const receipt = receiptIn(first);
    const facts = await verifyReceiptSignatureJWS(receipt);
    expect(facts).toMatchObject({
      transaction: first.body.svc.payment_ref.replace('base:', ''),
      network: 'eip155:8453',
    });
    expect(verifyReceiptMatchesOffer(receipt, await offerOf(CHAT), [payer.address])).toBe(true);
    expect(verifyReceiptMatchesOffer(receipt, await offerOf(REGISTER), [payer.address])).toBe(false);
    expect(receiptIn(await service.post(CHAT, ask('Receipt'), payment))).toEqual(receipt);
  });

  it('to a stream has one before the text', async () => {
    const payer = await service.chain.newWallet();
    const stream = await listen(service, askToStream('Spoken'), { by: payingFetch(payer) });
    expect(verifyReceiptMatchesOffer(receiptIn(stream), await offerOf(CHAT), [payer.address])).toBe(true);
    await stream.rest();
  });

  it('on /graphql has one of that resource', async () => {
    const payer = await service.chain.newWallet();
    const query = `mutation ($input: ChatCompletionInput!) { createChatCompletion(input: $input) { id } }`;
    const body = { query, variables: { input: ask('Graph') } };
    const heard = await service.knock('POST', '/graphql', { body, by: identifierFetch(payer, newIdentifier()) });
    expect(heard.status).toBe(200);
    const facts = await verifyReceiptSignatureJWS(receiptIn(heard));
    expect(facts.resourceUrl).toBe(`${service.url}/graphql`);
  });

  it('to v1 has none, and to a payment that was refused neither', async () => {
    const payer = await service.chain.newWallet();
    const v1 = await service.knock('POST', CHAT, { body: ask('Old'), by: payingFetch(payer, 1) });
    expect(v1.status).toBe(200);
    const told = decodePaymentResponseHeader(v1.headers.get('X-PAYMENT-RESPONSE') ?? '');
    expect(told).not.toHaveProperty('extensions');
    const poor = await service.chain.newWallet(0n);
    const refused = await service.post(CHAT, ask('Poor'), (await makePayment(service, poor)).headers);
    expect([refused.status, refused.headers.get('PAYMENT-RESPONSE')]).toEqual([402, null]);
  });
});
