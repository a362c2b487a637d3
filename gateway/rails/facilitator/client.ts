import type { SettleRequest } from '@x402/core/types';
import { Agent, request } from 'undici';
import { z } from 'zod';
import { type NetworkName, networkNamed, networks } from '../../../schema/network.ts';
import type { Authorize } from './auth.ts';

/* An x402 facilitator over HTTP: requests, and the shapes of its responses. */

/**
 * The facilitator's result of a check before anything is sent. `unreachable`: no usable response, which is not the payment's fault.
 */
type FacilitatorVerdict =
  | { readonly kind: 'valid' }
  | { readonly kind: 'invalid'; readonly reason: string }
  | { readonly kind: 'unreachable'; readonly cause: unknown }
  /** 401 or 403: the facilitator rejects our credentials, which is not the payment's fault. */
  | { readonly kind: 'unauthorized'; readonly cause: unknown };

/** The facilitator's result of a settlement. It proves nothing; only the chain does. */
export type FacilitatorAnswer =
  | { readonly kind: 'success'; readonly tx_hash: string }
  /** The reason proves that the facilitator has sent nothing. */
  | { readonly kind: 'failure'; readonly reason: string }
  /** The facilitator has sent a transaction, or may have, and its outcome is unknown. */
  | { readonly kind: 'pending'; readonly tx_hash: string | null; readonly cause: unknown }
  /** No connection was made, so the facilitator cannot have received the payment. */
  | { readonly kind: 'unsent'; readonly cause: unknown }
  /** The facilitator rejects our credentials and processes none of our payments. */
  | { readonly kind: 'unauthorized'; readonly cause: unknown }
  /** No readable response was received, so the facilitator may or may not have sent a transaction. */
  | { readonly kind: 'silent'; readonly cause: unknown };

/** An x402 facilitator over HTTP. Never throws; every response has bounded time and size. */
export interface Facilitator {
  verify(payment: SettleRequest): Promise<FacilitatorVerdict>;
  settle(payment: SettleRequest): Promise<FacilitatorAnswer>;
  /**
   * Whether the facilitator responds and settles payments on our network. The result is kept for a moment, so the number of callers
   * does not matter.
   */
  reachable(): Promise<boolean>;
  /**
   * The facilitator's fee payer on this network, with `address` null if fees have none there; also null if it does not settle on
   * this network.
   */
  feePayer(): Promise<{ readonly address: string | null } | 'unreachable'>;
  /** Aborts open requests. */
  close(): Promise<void>;
}

interface FacilitatorOptions {
  readonly url: string;
  /** Network of the payments that it settles. */
  readonly network: NetworkName;
  readonly verify_ms: number;
  /** Time limit for /settle. A facilitator responds only when the transaction is mined. */
  readonly settle_ms: number;
  /** Returns the Authorization header; without it none is sent. */
  readonly authorize?: Authorize;
}

const CONNECT_MS = 5_000;
const LOOK_MS = 2_000;
const LOOK_AGE_MS_MAX = 2_000;
const ANSWER_BYTES_MAX = 64 * 1024;
/** Limit of connections. Each is in use until its settlement is mined. */
const CONNECTIONS_MAX = 256;

export function openFacilitator(options: FacilitatorOptions): Facilitator {
  const { network, verify_ms, settle_ms } = options;
  const { ask, close } = openLine(options);
  const supported = async () => kindsIn(await ask('/supported', null, LOOK_MS));
  let looked = { at_ms: Number.NEGATIVE_INFINITY, found: Promise.resolve(false) };
  return {
    close,
    verify: async payment => verdictOf(await ask('/verify', payment, verify_ms)),
    settle: async payment => settlementAnswer(await ask('/settle', payment, settle_ms), network),
    reachable() {
      const now_ms = performance.now();
      if (now_ms - looked.at_ms > LOOK_AGE_MS_MAX)
        looked = {
          at_ms: now_ms,
          found: supported().then(kinds => kinds !== null && ourKind(kinds, network) !== null),
        };
      return looked.found;
    },
    async feePayer() {
      const kinds = await supported();
      return kinds === null ? 'unreachable' : { address: ourKind(kinds, network)?.extra?.feePayer ?? null };
    },
  };
}

/** Sends requests with our credentials. */
function openLine({ url, authorize = async () => null }: FacilitatorOptions) {
  const dispatcher = new Agent({
    connections: CONNECTIONS_MAX,
    connect: { timeout: CONNECT_MS },
    maxResponseSize: ANSWER_BYTES_MAX,
  });
  const closing = new AbortController();
  const ask = async (path: string, payment: SettleRequest | null, timeout_ms: number): Promise<HttpAnswer> => {
    const method = payment === null ? 'GET' : 'POST';
    try {
      const authorization = await authorize(method, url + path);
      const { statusCode, body } = await request(url + path, {
        method,
        dispatcher,
        headers: {
          accept: 'application/json',
          ...(payment && { 'content-type': 'application/json' }),
          ...(authorization && { authorization }),
        },
        body: payment && JSON.stringify(payment),
        signal: AbortSignal.any([closing.signal, AbortSignal.timeout(timeout_ms)]),
      });
      return { kind: 'answered', status: statusCode, text: withoutSecret(await body.text(), authorization) };
    } catch (cause) {
      return { kind: 'broken', cause };
    }
  };
  return {
    ask,
    async close() {
      closing.abort();
      await dispatcher.destroy();
    },
  };
}

/** Removes our own token from a text for the log, in case the facilitator returns it. */
function withoutSecret(text: string, authorization: string | null): string {
  const token = authorization?.slice('Bearer '.length);
  return token ? text.replaceAll(token, '[secret]') : text;
}

type HttpAnswer =
  | { readonly kind: 'answered'; readonly status: number; readonly text: string }
  | { readonly kind: 'broken'; readonly cause: unknown };

function kindsIn(posted: HttpAnswer): Supported | null {
  const read = readAnswer(posted, supportedAnswer);
  return read.kind === 'read' && read.ok ? read.answer : null;
}

/**
 * Whether the facilitator rejects our credentials (RFC 9110 15.5.2 and 15.5.4), so that the rest of its response says nothing about
 * the payment.
 */
function isRefused(posted: HttpAnswer): posted is Extract<HttpAnswer, { kind: 'answered' }> {
  return posted.kind === 'answered' && (posted.status === 401 || posted.status === 403);
}

function unauthorizedOutcome({ status }: Extract<HttpAnswer, { kind: 'answered' }>) {
  const cause = new Error(
    `the facilitator refused our credentials (HTTP ${status}): FACILITATOR_AUTH is missing or wrong`,
  );
  return { kind: 'unauthorized', cause } as const;
}

function verdictOf(posted: HttpAnswer): FacilitatorVerdict {
  if (isRefused(posted)) return unauthorizedOutcome(posted);
  const read = readAnswer(posted, verifyAnswer);
  if (read.kind !== 'read') return { kind: 'unreachable', cause: read.cause };
  const { isValid, invalidReason } = read.answer;
  if (!isValid) return { kind: 'invalid', reason: invalidReason ?? 'invalid_payload' };
  return read.ok
    ? { kind: 'valid' }
    : { kind: 'unreachable', cause: new Error('the facilitator reports a valid payment with an error status') };
}

function settlementAnswer(posted: HttpAnswer, network: NetworkName): FacilitatorAnswer {
  if (posted.kind === 'broken' && isUnsent(posted.cause)) return { kind: 'unsent', cause: posted.cause };
  const read = readAnswer(posted, settleAnswerShape(network));
  // A facilitator whose response names a transaction has sent it, whatever the status.
  const names = read.kind === 'read' && (read.answer.success || read.answer.tx_hash !== null);
  if (isRefused(posted) && !names) return unauthorizedOutcome(posted);
  if (read.kind !== 'read') return { kind: 'silent', cause: read.cause };
  const { success, reason, tx_hash } = read.answer;
  if (success && read.ok && tx_hash) return { kind: 'success', tx_hash };
  if (success)
    return {
      kind: 'silent',
      cause: new Error('the facilitator reports success without a transaction, or with an error status'),
    };
  if (tx_hash === null && reason !== null && refusedBeforeSending.has(reason)) return { kind: 'failure', reason };
  return {
    kind: 'pending',
    tx_hash,
    cause: new Error(
      `the facilitator reported ${reason ?? 'a failure without a reason'}; it may have sent a transaction`,
    ),
  };
}

type ReadOutcome<T> =
  | { readonly kind: 'read'; readonly ok: boolean; readonly answer: T }
  | { readonly kind: 'unreadable'; readonly cause: unknown };

/** Reads a response of a facilitator. A refusal may have a 4xx status; a response with a 5xx status is not used. */
function readAnswer<T>(posted: HttpAnswer, shape: z.ZodType<T>): ReadOutcome<T> {
  if (posted.kind === 'broken') return { kind: 'unreadable', cause: posted.cause };
  const { status, text } = posted;
  const ok = status >= 200 && status < 300;
  try {
    if (!ok && (status < 400 || status >= 500)) throw new Error(`HTTP ${status}`);
    return { kind: 'read', ok, answer: shape.parse(JSON.parse(text)) };
  } catch (cause) {
    return { kind: 'unreadable', cause: new Error(`HTTP ${status}: ${text.slice(0, 200)}`, { cause }) };
  }
}

/**
 * Error codes of a host that is unknown or unreachable. After a connection was made, an error does not show what was received.
 */
const UNSENT = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/;

function isUnsent(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && UNSENT.test(String(cause.code));
}

/** The facilitator's reason, if it has a form that may be shown to a caller. */
const reason = z
  .string()
  .regex(/^[\w.-]{1,100}$/)
  .nullish()
  .catch(null);

const verifyAnswer = z.object({ isValid: z.boolean(), invalidReason: reason });

/** Reads a transaction id in the form of each network; null if it has another form. */
const transactions: Record<NetworkName, (named: string) => string | null> = {
  base: named => (/^0x[0-9a-fA-F]{64}$/.test(named) ? named.toLowerCase() : null),
  solana: named => (/^[1-9A-HJ-NP-Za-km-z]{64,88}$/.test(named) ? named : null),
};

/** Shape of a response to /settle. If it names a network, that must be the requested one. */
function settleAnswerShape(network: NetworkName) {
  return z
    .object({
      success: z.boolean(),
      errorReason: reason,
      transaction: z.string().max(200).nullish(),
      network: z
        .string()
        .refine(name => networkNamed(name) === network)
        .nullish(),
    })
    .transform(({ success, errorReason, transaction }) => ({
      success,
      reason: errorReason ?? null,
      tx_hash: transactions[network](transaction ?? ''),
    }));
}

const supportedAnswer = z.object({
  kinds: z.array(
    z.object({
      x402Version: z.number(),
      scheme: z.string(),
      network: z.string(),
      extra: z.object({ feePayer: z.string().nullish() }).nullish().catch(null),
    }),
  ),
});
type Supported = z.infer<typeof supportedAnswer>;

/**
 * The facilitator's entry for our payments on that network: `exact` in v2; null if there is none. One entry may name all networks
 * of a family.
 */
function ourKind({ kinds }: Supported, network: NetworkName): Supported['kinds'][number] | null {
  const family = `${networks[network].caip2.split(':')[0]}:*`;
  const ours = kinds.find(
    ({ x402Version, scheme, network: named }) =>
      x402Version === 2 && scheme === 'exact' && (networkNamed(named) === network || named === family),
  );
  return ours ?? null;
}

/**
 * Reasons that prove that the payment is at fault and nothing was sent: those of x402's specification (v2, section 9) and of its
 * packages. All others may hide a transaction whose hash was lost. `transaction_failed` and `unexpected_settle_error` are also used
 * when a node's response broke off, and `nonce_already_used` may mean the transfer that the facilitator has just made.
 */
const refusedBeforeSending: ReadonlySet<string> = new Set([
  'insufficient_funds',
  'insufficient_balance',
  'invalid_exact_evm_insufficient_balance',
  'invalid_exact_evm_signature',
  'invalid_exact_evm_payload_signature',
  'invalid_exact_evm_failed_to_parse_signature',
  'invalid_exact_evm_authorization_value',
  'invalid_exact_evm_payload_authorization_value',
  'invalid_exact_evm_payload_authorization_value_mismatch',
  'invalid_exact_evm_payload_authorization_valid_after',
  'invalid_exact_evm_payload_authorization_valid_before',
  'invalid_exact_evm_recipient_mismatch',
  'invalid_exact_evm_payload_recipient_mismatch',
  'invalid_exact_evm_network_mismatch',
  'invalid_exact_evm_scheme',
  'invalid_exact_evm_missing_eip712_domain',
  'invalid_exact_evm_token_name_mismatch',
  'invalid_exact_evm_token_version_mismatch',
  'invalid_exact_evm_eip3009_not_supported',
  'eip6492_factory_not_allowed',
  'invalid_exact_svm_network_mismatch',
  'invalid_exact_svm_fee_payer_not_managed_by_facilitator',
  'invalid_exact_svm_fee_payer_mismatch',
  'invalid_exact_svm_payload_missing_fee_payer',
  'invalid_exact_svm_payload_transaction',
  'invalid_exact_svm_payload_transaction_could_not_be_decoded',
  'invalid_exact_svm_payload_signature_invalid',
  'invalid_exact_svm_payload_amount_mismatch',
  'invalid_exact_svm_payload_mint_mismatch',
  'invalid_exact_svm_payload_recipient_mismatch',
  'invalid_exact_svm_payload_no_transfer_instruction',
  'invalid_exact_svm_payload_transaction_instructions_length',
  'invalid_exact_svm_unsupported_scheme',
  'invalid_network',
  'invalid_payload',
  'invalid_payment_requirements',
  'invalid_scheme',
  'invalid_x402_version',
  'unsupported_scheme',
  'unsupported_payload_type',
]);
