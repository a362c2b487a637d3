import { retryHeaders } from '../../rest-compat/problem.ts';
import { type JsonObject } from '../../schema/canonical-json.ts';
import { type ErrorCode, paymentStateAfter, Refusal } from '../../schema/errors.ts';
import { type TaskId, taskMs } from '../../schema/ids.ts';
import { networks } from '../../schema/network.ts';
import { type Context } from '../../subgraphs/context.ts';
import { DatabaseAway } from '../../subgraphs/outage.ts';
import { transactionOf } from '../../subgraphs/receipt/claim/settlement/read.ts';
import { paymentNameIn } from '../rails/named-payment.ts';
import { signedReceipt } from '../x402/extensions.ts';
import { settlementHeaders } from '../x402/payment-header.ts';
import { type CallParts } from './parts.ts';
import { type Landing } from './record/facts.ts';
import { type Authorized } from './states.ts';

/** Facts of the payment that are reported to its payer. */
interface PayersPayment extends Pick<Authorized, 'x402_version'> {
  readonly authorization: Pick<Authorized['authorization'], 'network' | 'payer'>;
}

/** A payment that has moved, and the call that it paid for. */
interface PaidFor {
  readonly payment: PayersPayment;
  readonly task_id: TaskId;
  readonly transaction: string;
  /** Null if the transfer was not observed. */
  readonly transfer_index: number | null;
  readonly landing: JsonObject;
}

/** Reports the payment's result to an x402 client, in the header of its x402 version. In version 2 it has a signed receipt. */
export function announce(
  { issuer, base_url }: Pick<CallParts, 'issuer' | 'base_url'>,
  context: Context,
  { payment, task_id, transaction, transfer_index, landing }: PaidFor,
): void {
  const { x402_version, authorization } = payment;
  const { network, payer } = authorization;
  // The receipt names the requested URL, like the offer, and the time of the call, which the task id contains.
  const receipt = () =>
    signedReceipt(issuer, {
      resource: context.resource ?? `${base_url}/graphql`,
      network: networks[network].caip2,
      payer,
      transaction,
      at_seconds: Math.floor(taskMs(task_id) / 1_000),
    });
  const extensions = x402_version === 2 ? { extensions: receipt() } : {};
  const index = transfer_index === null ? {} : { transfer_index };
  const answer = { success: true, transaction, network, payer, ...index, ...extensions };
  Object.assign(context.response.headers, settlementHeaders(x402_version, answer));
  announceSalt(context, landing);
}

/** Sends the salt to the caller. Only with it can a request be shown to be the one of the receipt's request_hash. */
export function announceSalt({ response }: Pick<Context, 'response'>, landing: JsonObject): void {
  response.headers['x-svc-request-salt'] = (landing as Landing).request_salt;
}

/** Adds to an unknown outcome the transaction that was sent for the payment, if any, so that its payer can look it up. */
export async function withTransaction(
  { database }: Pick<CallParts, 'database'>,
  { payment }: Context,
  error: unknown,
): Promise<unknown> {
  if (!(error instanceof Refusal) || error.code !== 'settlement_pending' || error.extensions.transaction) return error;
  if (error.originalError instanceof DatabaseAway) return error;
  const named = payment && paymentNameIn(payment);
  const transaction = named && (await transactionOf(database, named.claim_key).catch(() => null));
  if (!transaction) return error;
  const { code: _, status: _status, ...facts } = error.extensions;
  return new Refusal(error.code, {
    detail: error.message,
    facts: { ...facts, transaction },
    cause: error.originalError,
  });
}

interface Refused {
  readonly code: ErrorCode;
  readonly facts: JsonObject;
}

type Answering = Pick<Context, 'payment' | 'response'>;

/** Headers of a refusal about the payment that came with its request. None if the payment is known to be unused. */
export function refusalHeaders(context: Answering, refused: Refused | undefined): Record<string, string> {
  if (!refused || context.payment === null) return {};
  const { code, facts } = refused;
  const left = paymentStateAfter(code, facts.charged, true);
  if (left === 'unused') return {};
  const outcome = left === 'open' ? outcomeOpen(context, facts.transaction) : {};
  return { ...retryHeaders(refused, true), ...outcome };
}

/**
 * Headers that report an unknown outcome. x402's code for it is not a refusal, so that the payer does not sign another payment.
 * `transaction` is the one that was sent for the payment, if any.
 */
function outcomeOpen({ payment, response }: Answering, transaction: unknown): Record<string, string> {
  const named = payment && paymentNameIn(payment);
  const told = 'PAYMENT-RESPONSE' in response.headers || 'X-PAYMENT-RESPONSE' in response.headers;
  if (!named || told) return {};
  const { network, payer } = named;
  const sent = typeof transaction === 'string' ? transaction : '';
  const answer = { success: false, error_reason: 'settlement_pending', transaction: sent, network, payer };
  return settlementHeaders(payment.x402_version, answer);
}
