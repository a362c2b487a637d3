import type { KeyPairSigner } from '@solana/kit';
import { decodePaymentRequiredHeader } from '@x402/core/http';
import type { PaymentHeaders } from '../buyer.ts';
import { encodeBase64, paymentHeaders } from '../doors/make-payment.ts';
import { CHAT } from '../doors/open-service.ts';
import type { SolanaService } from './open-service.ts';
import { makeTransaction, type TransactionParts } from './wallet.ts';

/** Changes to a payment that would otherwise be valid. */
export interface SolanaPaymentChange {
  readonly version?: 1 | 2;
  readonly made?: Partial<TransactionParts>;
  /** Members of the offer that a v2 payment accepts. */
  readonly accepted?: object;
  /** Changes the transaction's base64 text in the payload. */
  transaction?(text: string): string;
}

/** A payment for a chat whose transaction is made without the official client. A test can change each part. */
export async function makeSolanaPayment(
  service: SolanaService,
  payer: KeyPairSigner,
  { version = 2, made = {}, accepted = {}, transaction = text => text }: SolanaPaymentChange = {},
): Promise<PaymentHeaders> {
  const offered = { payer, fee_payer: service.svm.fee_payer.address, pay_to: service.treasury };
  const text = await makeTransaction({ ...offered, blockhash: await blockhashOf(service), ...made });
  const terms = version === 2 ? { accepted: { ...(await offerOf(service)), ...accepted } } : V1;
  return paymentHeaders(
    version,
    encodeBase64({ x402Version: version, ...terms, payload: { transaction: transaction(text) } }),
  );
}

const V1 = { scheme: 'exact', network: 'solana' };

async function blockhashOf({ svm }: Pick<SolanaService, 'svm'>): Promise<string> {
  const options = { commitment: 'confirmed' };
  const { value } = await svm.call<{ value: { blockhash: string } }>('getLatestBlockhash', options);
  return value.blockhash;
}

/** The offer for Solana in the v2 challenge of a chat. */
async function offerOf(service: SolanaService): Promise<object> {
  const { headers } = await service.knock('POST', CHAT);
  const { accepts } = decodePaymentRequiredHeader(headers.get('PAYMENT-REQUIRED') ?? '');
  return accepts.find(({ network }) => network.startsWith('solana:')) ?? {};
}
