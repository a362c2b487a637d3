import { randomBytes } from 'node:crypto';
import type { Hex, PrivateKeyAccount } from 'viem';
import { developmentBuyers } from '../../../gateway/development/chain/accounts.ts';
import { type BaseAuthorization, baseClaimKey } from '../../../gateway/rails/base/authorization.ts';
import { transferCall } from '../../../gateway/rails/base/contracts.ts';
import { readSignature } from '../../../gateway/rails/base/signature.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { limits } from '../../../schema/limits.ts';
import { networks } from '../../../schema/network.ts';
import { signTransfer } from '../base/wallet.ts';
import { eventually, type Ground } from './ground.ts';

/** One paid request. It can be sent to any process any number of times, always with the same payment and the same bytes. */
export interface Order {
  readonly path: string;
  readonly body: string;
  /** Content type of the body. Default: JSON. */
  readonly content_type?: string;
  readonly payment: string;
  readonly claim_key: string;
  readonly authorization: BaseAuthorization;
  readonly signature: Hex;
  /** Session of the book that records it. Default: the payer's book. */
  readonly session?: string;
}

/** The parts of an order that are sent, on any network. */
export type Sendable = Omit<Order, 'authorization' | 'signature'>;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: JsonObject & { readonly code?: string };
}

/** A wallet with USDC that pays by x402 v1. It signs without an x402 library, so that a test has the authorization itself. */
export async function newBuyer(ground: Ground, wallet?: PrivateKeyAccount) {
  const account = wallet ?? (await ground.chain.newWallet());
  const pay = async (
    path: string,
    request: JsonObject | FormData,
    valid_seconds = 300,
    terms: Partial<Pick<BaseAuthorization, 'pay_to' | 'amount_atomic'>> = {},
  ): Promise<Order> => {
    const authorization: BaseAuthorization = {
      network: 'base',
      payer: account.address,
      pay_to: ground.pay_to,
      amount_atomic: limits.call_price_atomic,
      valid_after_seconds: 0,
      valid_before_seconds: Math.floor(Date.now() / 1000) + valid_seconds,
      nonce: `0x${randomBytes(32).toString('hex')}`,
      ...terms,
    };
    const signature = await signTransfer(account, messageOf(authorization));
    const payment = header(authorization, signature);
    return {
      path,
      ...(await bytesOf(request)),
      payment,
      claim_key: baseClaimKey(authorization),
      authorization,
      signature,
    };
  };
  return {
    address: account.address,
    /** A paid request to any endpoint. */
    pay: (path: string, request: JsonObject | FormData) => pay(path, request),
    /** A payment whose amount and recipient differ from those in a 402. */
    payAs: (path: string, terms: Pick<BaseAuthorization, 'pay_to' | 'amount_atomic'>, valid_seconds = 90) =>
      pay(path, {}, valid_seconds, terms),
    chat: (content: string, valid_seconds?: number) => pay(CHAT, chatOf(content), valid_seconds),
    stream: (content: string) => pay(CHAT, { ...chatOf(content), stream: true }),
    async registration() {
      const at = Math.floor(Date.now() / 1000);
      const wallet_signature = await account.signMessage({ message: `svc.register.pay|${account.address}|${at}` });
      const request = { agentWallet: account.address, wallet_signature, signature_timestamp: at };
      return pay('/v1/agents/register', request);
    },
  };
}

/** Serialises a request once, because a form would choose a new boundary each time it is sent. */
async function bytesOf(request: JsonObject | FormData): Promise<Pick<Order, 'body' | 'content_type'>> {
  if (!(request instanceof FormData)) return { body: JSON.stringify(request) };
  const sent = new Response(request);
  return { content_type: sent.headers.get('content-type') ?? '', body: await sent.text() };
}

const CHAT = '/v1/chat/completions';
const chatOf = (content: string) => ({ model: 'test/model', messages: [{ role: 'user', content }] });

function messageOf({ payer, pay_to, nonce, ...rest }: BaseAuthorization) {
  const [value, validAfter] = [rest.amount_atomic, BigInt(rest.valid_after_seconds)];
  return { from: payer, to: pay_to, value, validAfter, validBefore: BigInt(rest.valid_before_seconds), nonce };
}

function header(authorization: BaseAuthorization, signature: Hex): string {
  const { from, to, nonce, ...numbers } = messageOf(authorization);
  const [value, validAfter, validBefore] = [numbers.value, numbers.validAfter, numbers.validBefore].map(String);
  const payload = { signature, authorization: { from, to, value, validAfter, validBefore, nonce } };
  const envelope = { x402Version: 1, scheme: 'exact', network: 'base', payload };
  return Buffer.from(JSON.stringify(envelope)).toString('base64');
}

/** Submits an authorization from another account, as EIP-3009 allows any account with gas to do. */
export async function submitElsewhere({ chain }: Ground, { authorization, signature }: Order): Promise<void> {
  const read = readSignature(signature);
  if (read.kind !== 'read') throw new Error(read.kind);
  const [stranger] = developmentBuyers;
  const data = transferCall(authorization, read.signature);
  const transaction = { from: stranger?.address ?? null, to: networks.base.usdc, data };
  const hash = await chain.call<string>('eth_sendTransaction', transaction);
  await eventually('the transaction mined', () => chain.call<object | null>('eth_getTransactionReceipt', hash));
}

/** @throws if no answer comes because the process died */
export async function send({ url }: { readonly url: string }, order: Sendable): Promise<Answer> {
  const { path, body, content_type = 'application/json', payment, session } = order;
  const possession = session === undefined ? {} : { 'x-svc-session': session };
  const headers = { 'content-type': content_type, 'x-payment': payment, ...possession };
  const response = await fetch(url + path, { method: 'POST', headers, body });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text ? JSON.parse(text) : {} };
}

/** Sends an order. Null if no answer came. */
export function trySend(gateway: { readonly url: string }, order: Sendable): Promise<Answer | null> {
  return send(gateway, order).catch(() => null);
}

/** Sends an order with the same payment until it is answered, because a busy service may defer its answer. */
export function answerTo(gateway: { readonly url: string }, order: Sendable): Promise<Answer> {
  return eventually('an answer', async () => {
    const answer = await send(gateway, order);
    return answer.status !== 200 && harmless.has(nameOf(answer)) ? null : answer;
  });
}

/** The JWS of a chat's receipt. */
export function jwsOf({ body }: Answer): string {
  const { svc } = body as { svc?: { issuer_signature: { jws: string } } };
  if (!svc) throw new Error(`no receipt in ${JSON.stringify(body)}`);
  return svc.issuer_signature.jws;
}

export function nameOf({ status, body }: Answer): string {
  return status === 200 ? '200' : `${status} ${body.code}`;
}

/**
 * Answers that a caller may receive while the same payment is in progress. 402 is not among them, because it would make the caller pay
 * again.
 */
export const harmless: ReadonlySet<string> = new Set(['200', '409 payment_in_flight', '503 settlement_pending']);
