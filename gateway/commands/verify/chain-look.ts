import { randomInt } from 'node:crypto';
import { isJsonObject, type Json, type JsonObject, jsonObjectIn } from '../../../schema/canonical-json.ts';
import { keccak256 } from '../../../schema/digest.ts';
import { networks } from '../../../schema/network.ts';
import { signedPayment } from '../../../schema/receipt-payload.ts';
import { lookUpOf } from '../../../schema/transfer-look-up.ts';
import { OperatorFault } from '../../config/fault.ts';
import { boundedText, reasonOf } from './source.ts';

/* Checks by a node of the chain whether USDC moved on Base according to a receipt. */

/** Result of the check. Programs can rely on `code`; the sentences may change. */
export type ChainLook =
  | {
      readonly outcome: 'moved';
      readonly code: 'transfer_found';
      readonly sentence: string;
      readonly tx_hash: string;
      readonly block_number: number;
      readonly log_index: number;
      /** Number of confirmations. The transaction's block counts as the first. */
      readonly confirmations: number;
    }
  /** No payment was made, because an API key was used. */
  | { readonly outcome: 'nothing_paid'; readonly code: 'nothing_paid'; readonly sentence: string }
  /** The chain contradicts the receipt. */
  | { readonly outcome: 'contradicted'; readonly code: ContradictedCode; readonly sentence: string }
  /** The transfer is neither proven nor refuted. */
  | { readonly outcome: 'unknown'; readonly code: UnknownCode; readonly sentence: string };

type ContradictedCode = 'asset_foreign' | 'transaction_reverted' | 'authorization_unused' | 'transfer_missing';
type UnknownCode =
  | 'transfer_unsigned'
  | 'network_unsupported'
  | 'rpc_unavailable'
  | 'rpc_malformed'
  | 'rpc_other_chain'
  | 'transaction_unknown'
  | 'transaction_unconfirmed';

const AUTHORIZATION_USED = `0x${Buffer.from(keccak256(Buffer.from('AuthorizationUsed(address,bytes32)'))).toString('hex')}`;

const RPC_TIMEOUT_MS = 10_000;

const contradicted = (code: ContradictedCode, sentence: string): ChainLook => ({
  outcome: 'contradicted',
  code,
  sentence,
});
const unknown = (code: UnknownCode, sentence: string): ChainLook => ({ outcome: 'unknown', code, sentence });

/** The node did not respond, or not with a usable response. */
class Unanswered extends Error {
  readonly code: UnknownCode;
  constructor(code: UnknownCode, sentence: string) {
    super(sentence);
    this.code = code;
  }
}

/**
 * Looks for the transfer of a valid receipt.
 * @param claims the members that were signed
 * @param ingress_receipt the unsigned transfer that the service has named since then, if only a facilitator had reported the
 * payment at signing
 */
export async function lookAtChain(rpc_url: string, claims: JsonObject, ingress_receipt: unknown): Promise<ChainLook> {
  const payment = signedPayment(claims);
  if (payment === null && claims.payment_ref !== undefined)
    return unknown('transfer_unsigned', 'The receipt signs where a payment was made, but not what was transferred.');
  if (payment === null)
    return {
      outcome: 'nothing_paid',
      code: 'nothing_paid',
      sentence: 'Nothing was paid, so there is no transfer to look up.',
    };
  const wanted = lookUpOf(claims, ingress_receipt);
  if (wanted?.network !== 'base')
    return unknown(
      'network_unsupported',
      `Only payments on Base can be looked up; this one is on ${String(payment.network)}.`,
    );
  // The issuer's name for the token does not count, because USDC on Base is one contract.
  if (String(wanted.contract).toLowerCase() !== networks.base.usdc.toLowerCase())
    return contradicted('asset_foreign', `${String(wanted.contract)} is not USDC on Base.`);
  try {
    return await lookUpTransaction(rpc_url, wanted, payment.payment_id);
  } catch (fault) {
    if (fault instanceof Unanswered) return unknown(fault.code, fault.message);
    throw fault;
  }
}

async function lookUpTransaction(rpc_url: string, wanted: JsonObject, nonce: Json | undefined): Promise<ChainLook> {
  const tx_hash = String(wanted.tx_hash);
  const chain_id = quantity(await ask(rpc_url, 'eth_chainId', []));
  if (chain_id !== networks.base.chain_id)
    throw new Unanswered('rpc_other_chain', `The node serves chain ${chain_id}, not Base (${networks.base.chain_id}).`);
  const receipt = await ask(rpc_url, String(wanted.rpc_method), wanted.rpc_params as Json[]);
  if (receipt === null)
    throw new Unanswered(
      'transaction_unknown',
      `The node does not have the transaction ${tx_hash}: not mined, not synced, or pruned.`,
    );
  if (!isJsonObject(receipt) || same(receipt.transactionHash, tx_hash) === false || !Array.isArray(receipt.logs))
    throw new Unanswered('rpc_malformed', `The node answered for ${tx_hash} with something else.`);
  const status = quantity(receipt.status);
  const block_number = quantity(receipt.blockNumber);
  if (status !== 1) return contradicted('transaction_reverted', `${tx_hash} was reverted: it transferred nothing.`);
  const logs = receipt.logs.filter(isJsonObject);
  const used = logs.find(each => isUseOf(each, nonce, wanted));
  // If the nonce were not compared, another payment of the same payer would match, because many calls cost the same. Early receipt versions
  // have no nonce.
  if (used === undefined && nonce !== undefined)
    return contradicted(
      'authorization_unused',
      `${tx_hash} did not use the authorization that paid: ${String(nonce)}.`,
    );
  const log = used === undefined ? logs.find(each => isTransfer(each, wanted)) : transferAfter(used, logs, wanted);
  if (log === undefined)
    return contradicted(
      'transfer_missing',
      `${tx_hash} did not transfer this amount of USDC from this payer to this payee.`,
    );
  const head = quantity(await ask(rpc_url, 'eth_blockNumber', []));
  const confirmations = head - block_number + 1;
  if (confirmations < 1)
    throw new Unanswered(
      'transaction_unconfirmed',
      `The node's newest block, ${head}, is older than the transfer's block, ${block_number}.`,
    );
  return {
    outcome: 'moved',
    code: 'transfer_found',
    sentence: `${String(wanted.amount)} atomic USDC moved from ${String(wanted.payer)} to ${String(wanted.payee)}, ${confirmations} confirmations.`,
    tx_hash,
    block_number,
    log_index: quantity(log.logIndex),
    confirmations,
  };
}

/** Whether a log is a USDC Transfer (EIP-20) of this amount from this payer to this payee, at its log index if that is known. */
function isTransfer(log: JsonObject, { topics, amount, log_index, tx_hash }: JsonObject): boolean {
  const wanted = Array.isArray(topics) ? topics : [];
  return (
    same(log.address, networks.base.usdc) &&
    log.removed !== true &&
    same(log.transactionHash, tx_hash) &&
    Array.isArray(log.topics) &&
    log.topics.length === wanted.length &&
    wanted.every((topic, at) => same((log.topics as Json[])[at], topic)) &&
    /^0x[0-9a-f]{64}$/i.test(String(log.data)) &&
    BigInt(String(log.data)).toString() === amount &&
    (log_index === null || quantity(log.logIndex) === log_index)
  );
}

/** The transfer of an authorization, which is the first transfer after its AuthorizationUsed event. */
function transferAfter(used: JsonObject, logs: readonly JsonObject[], wanted: JsonObject): JsonObject | undefined {
  const [event] = Array.isArray(wanted.topics) ? wanted.topics : [];
  const from = quantity(used.logIndex);
  const [next] = logs
    .filter(
      ({ address, topics }) => same(address, networks.base.usdc) && Array.isArray(topics) && same(topics[0], event),
    )
    .map(log => ({ log, at: quantity(log.logIndex) }))
    .filter(({ at }) => at > from)
    .sort((one, other) => one.at - other.at);
  return next && isTransfer(next.log, wanted) ? next.log : undefined;
}

/** Whether a log is EIP-3009's AuthorizationUsed of USDC, by this payer. */
function isUseOf(log: JsonObject, nonce: Json | undefined, { topics, tx_hash }: JsonObject): boolean {
  const payer = Array.isArray(topics) ? topics[1] : undefined;
  const shown = Array.isArray(log.topics) ? log.topics : [];
  const wanted = [AUTHORIZATION_USED, payer, nonce];
  return (
    same(log.address, networks.base.usdc) &&
    log.removed !== true &&
    same(log.transactionHash, tx_hash) &&
    shown.length === wanted.length &&
    wanted.every((topic, at) => same(shown[at], topic))
  );
}

const same = (one: Json | undefined, other: Json | undefined) =>
  typeof one === 'string' && typeof other === 'string' && one.toLowerCase() === other.toLowerCase();

/** Reads a hexadecimal quantity of JSON-RPC. */
function quantity(value: Json | undefined): number {
  const number = typeof value === 'string' && /^0x[0-9a-f]{1,13}$/i.test(value) ? Number(value) : Number.NaN;
  if (!Number.isSafeInteger(number))
    throw new Unanswered('rpc_malformed', 'The node answered with something that is not a number.');
  return number;
}

async function ask(rpc_url: string, method: string, params: readonly Json[]): Promise<Json> {
  const id = randomInt(1, 2 ** 31);
  const text = await post(rpc_url, JSON.stringify({ jsonrpc: '2.0', id, method, params }));
  const answer = jsonObjectIn(text);
  if (answer?.id !== id || (answer.result === undefined && answer.error === undefined))
    throw new Unanswered('rpc_malformed', `The node's answer to ${method} is not JSON-RPC 2.0.`);
  if (answer.error !== undefined) throw new Unanswered('rpc_unavailable', `The node refused ${method}.`);
  return answer.result ?? null;
}

async function post(rpc_url: string, body: string): Promise<string> {
  try {
    const signal = AbortSignal.timeout(RPC_TIMEOUT_MS);
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(rpc_url, { method: 'POST', headers, body, signal });
    if (!answer.ok || !answer.body)
      throw new Unanswered('rpc_unavailable', `The node answered with status ${answer.status}.`);
    return await boundedText('the answer', answer.body);
  } catch (fault) {
    if (fault instanceof Unanswered) throw fault;
    if (fault instanceof OperatorFault)
      throw new Unanswered('rpc_malformed', 'The node sent a response that is too long.');
    // The URL is left out because it may contain a key.
    throw new Unanswered('rpc_unavailable', `The node does not answer (${reasonOf(fault)}).`);
  }
}
